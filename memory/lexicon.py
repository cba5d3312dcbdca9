"""Everyday words in English and Persian, so that a question in one finds a line in the other.

What people have an assistant keep is a small world: family, home, health, food, work, money,
travel, days. A word that is not here is found across languages only with an embedding. One group a
line; the words of a group stand for one another.
"""

from functools import cache

from memory.words import terms

GROUPS = """
sister خواهر
brother برادر داداش
mother mom مادر مامان
father dad پدر بابا
wife همسر زن
husband شوهر همسر
son پسر
daughter دختر
child kid بچه فرزند
grandmother مادربزرگ
grandfather پدربزرگ
uncle عمو دایی
aunt خاله عمه
cousin پسرخاله دخترخاله پسرعمو دخترعمو
friend دوست رفیق
neighbour neighbor همسایه
colleague coworker همکار
boss رئیس مدیر
teacher معلم استاد
name called نام اسم
born birthday تولد متولد
age old سن
wedding marriage married عروسی ازدواج
home house خانه منزل
apartment flat آپارتمان
address آدرس نشانی
street خیابان
city town شهر
country کشور
live lives زندگی ساکن
move moved اسباب‌کشی
work job کار شغل
company شرکت
office دفتر اداره
meeting جلسه قرار
salary حقوق دستمزد
money پول
price cost قیمت هزینه
rent اجاره
bank بانک
account حساب
card کارت
password رمز گذرواژه
phone تلفن موبایل
number شماره
email ایمیل
doctor دکتر پزشک
dentist دندانپزشک دندان‌پزشکی
hospital بیمارستان
medicine pill دارو قرص
allergy allergic حساسیت آلرژی
blood خون
pain درد
headache سردرد
tea چای
coffee قهوه
water آب
milk شیر
bread نان
rice برنج
meat گوشت
chicken مرغ
fish ماهی
fruit میوه
apple سیب
nut walnut گردو
peanut بادام‌زمینی
sugar شکر قند
salt نمک
breakfast صبحانه
lunch ناهار
dinner شام
food meal غذا
restaurant رستوران
vegetarian گیاهخوار
book کتاب
film movie فیلم
music موسیقی آهنگ
song ترانه آهنگ
school مدرسه
university دانشگاه
exam test امتحان آزمون
class lesson کلاس درس
language زبان
english انگلیسی
persian farsi فارسی
german آلمانی
germany آلمان
iran ایران
tehran تهران
turkey ترکیه
train قطار
bus اتوبوس
car ماشین خودرو
bicycle bike دوچرخه
plane flight هواپیما پرواز
airport فرودگاه
ticket بلیت بلیط
hotel هتل
trip travel journey سفر مسافرت
passport پاسپورت گذرنامه
visa ویزا روادید
key کلید
dog سگ
cat گربه
bird پرنده
garden باغ باغچه
flower گل
color colour رنگ
red قرمز
blue آبی
green سبز
black سیاه مشکی
white سفید
shoe کفش
size سایز اندازه
gift present هدیه کادو
party مهمانی جشن
sport ورزش
football soccer فوتبال
swim swimming شنا
run running دویدن
gym باشگاه
sea beach دریا ساحل
mountain کوه
computer کامپیوتر رایانه
laptop لپتاپ
internet اینترنت
morning صبح
evening عصر
night شب
week هفته
month ماه
year سال
monday دوشنبه
tuesday سه‌شنبه
wednesday چهارشنبه
thursday پنجشنبه
friday جمعه
saturday شنبه
sunday یکشنبه
like love prefer دوست علاقه ترجیح
favourite favorite محبوب
hate متنفر
buy bought خریدن خرید
pay paid پرداخت
call تماس زنگ
"""


@cache
def _meanings() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in GROUPS.split("\n"):
        group = frozenset(terms(line))
        for term in group:
            found[term] = (found.get(term, frozenset()) | group) - {term}
    return found


def same_meaning(term: str) -> frozenset[str]:
    """Terms that stand for `term` (as memory/words.py makes them), itself left out."""
    return _meanings().get(term, frozenset())
