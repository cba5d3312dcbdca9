"""Our own lines and questions, in English, in Persian and across the two: 60 lines, 120 questions.

Each line is what somebody could have said to an assistant; each question is asked with other words
where people would use other words.
(line, English question, Persian question)
"""

PAIRS: tuple[tuple[str, str, str], ...] = (
    (
        "My sister Leila lives in Hamburg and works as a nurse",
        "Where does my sister live?",
        "خواهرم کجا زندگی می‌کند؟",
    ),
    ("I am allergic to peanuts", "Which nuts am I allergic to?", "به چه چیزی حساسیت دارم؟"),
    (
        "The wifi password of the office is kept in the blue folder",
        "Where is the office wifi password?",
        "رمز اینترنت دفتر کجاست؟",
    ),
    (
        "Our wedding anniversary is on the 14th of June",
        "When is our anniversary?",
        "سالگرد ازدواج ما کی است؟",
    ),
    ("My dentist is Dr. Karimi, in Valiasr street", "Who is my dentist?", "دندانپزشک من کیست؟"),
    (
        "I take a blood pressure pill every morning",
        "Which medicine do I take in the morning?",
        "صبح‌ها چه قرصی می‌خورم؟",
    ),
    (
        "Sam prefers the window seat on long flights",
        "Which seat does Sam want on a flight?",
        "Sam در پرواز کدام صندلی را ترجیح می‌دهد؟",
    ),
    (
        "The rent of the apartment is 900 euros a month",
        "How much rent do we pay?",
        "اجاره آپارتمان چقدر است؟",
    ),
    ("My son's shoe size is 34", "What size are my son's shoes?", "سایز کفش پسرم چند است؟"),
    (
        "The car has to go to the garage before the winter",
        "When does the car need servicing?",
        "ماشین کی باید به تعمیرگاه برود؟",
    ),
    (
        "Grandmother's recipe uses saffron and a spoon of rose water",
        "What goes into grandmother's recipe?",
        "در دستور مادربزرگ چه چیزی می‌ریزند؟",
    ),
    (
        "I left the spare key with our neighbour Mrs. Brown",
        "Who has the spare key?",
        "کلید یدک پیش کیست؟",
    ),
    (
        "Our train to Vienna leaves at 07:42 from platform 9",
        "When does the train to Vienna leave?",
        "قطار وین ساعت چند حرکت می‌کند؟",
    ),
    (
        "My favourite film is Children of Heaven",
        "Which film do I like best?",
        "فیلم محبوب من کدام است؟",
    ),
    (
        "The cat gets half a tin of food in the evening",
        "How much does the cat eat?",
        "گربه چقدر غذا می‌خورد؟",
    ),
    (
        "I am learning German for the B2 exam in March",
        "Which exam am I preparing for?",
        "برای کدام امتحان آلمانی می‌خوانم؟",
    ),
    ("Father was born in Tabriz in 1951", "Where was my father born?", "پدرم کجا متولد شد؟"),
    ("We paid 240 dollars for the bicycle", "What did the bike cost?", "قیمت دوچرخه چقدر بود؟"),
    (
        "My passport expires in September 2027",
        "When does my passport run out?",
        "پاسپورت من تا کی اعتبار دارد؟",
    ),
    ("The gym is closed on Fridays", "On which day is the gym closed?", "باشگاه چه روزی بسته است؟"),
    (
        "I broke my left arm when I was nine years old",
        "What happened to my arm?",
        "دست چپم کی شکست؟",
    ),
    (
        "Please answer me in short sentences",
        "How do I want answers to be?",
        "جواب‌ها را چطور می‌خواهم؟",
    ),
    (
        "The plants on the balcony need water twice a week",
        "How often should the plants be watered?",
        "گیاه‌های بالکن هفته‌ای چند بار آب می‌خواهند؟",
    ),
    (
        "Uncle Reza will bring the tent for the trip",
        "Who brings the tent?",
        "چادر سفر را چه کسی می‌آورد؟",
    ),
    ("My boss is on holiday until Monday", "When is my boss back?", "رئیسم تا کی مرخصی است؟"),
    (
        "I donated the old sofa to a charity",
        "What did I do with the old sofa?",
        "مبل قدیمی را چه کار کردم؟",
    ),
    (
        "The flight to Istanbul was cancelled because of fog",
        "Why was the flight cancelled?",
        "پرواز استانبول چرا لغو شد؟",
    ),
    (
        "She is running the half marathon for the second time",
        "Which race is she taking part in?",
        "او برای بار دوم در چه مسابقه‌ای می‌دود؟",
    ),
    (
        "The landlord repaired the heating yesterday",
        "Who fixed the heater?",
        "شوفاژ را چه کسی تعمیر کرد؟",
    ),
    ("I drink my coffee without sugar", "How do I take my coffee?", "قهوه‌ام را چطور می‌خورم؟"),
    ("خواهرم مریم در شیراز معلم است", "What does my sister do?", "مریم چه کاره است؟"),
    ("من به گردو حساسیت دارم", "What am I allergic to?", "به كدام خوراکی حساسيت دارم؟"),
    (
        "تولد مادرم ۲۳ آذر است",
        "When is my mother's birthday?",
        "مادرم چه روزی به دنیا آمده؟ تولدش کی است؟",
    ),
    ("شماره پلاک خانهٔ ما ۱۴ است", "What is our house number?", "پلاک خانه‌مان چند بود؟"),
    (
        "کلاس زبان دخترم سه‌شنبه‌ها ساعت ۵ است",
        "When is my daughter's language class?",
        "دخترم چه روزهایی کلاس زبان دارد؟",
    ),
    (
        "داروی فشار خون پدر باید با غذا خورده شود",
        "How must father's medicine be taken?",
        "داروهای پدرم را چطور باید بخورد؟",
    ),
    ("قرار است پنجشنبه مهمانی برگزار کنیم", "When is the party?", "مهمانی چه روزی است؟"),
    (
        "قیمت بلیط قطار مشهد ۸۵۰ هزار تومان بود",
        "How much was the train ticket to Mashhad?",
        "بلیت مشهد چقدر شد؟",
    ),
    (
        "کتاب‌های دانشگاه را به امیر امانت دادم",
        "Whom did I lend the university books to?",
        "کتابهای دانشگاهم پیش کیست؟",
    ),
    (
        "همکارم سارا ماه آینده ازدواج می‌کند",
        "Which colleague is getting married?",
        "کدام همکارم عروسی می‌کند؟",
    ),
    ("من گیاهخوار هستم و گوشت نمی‌خورم", "Do I eat meat?", "آیا گوشت می‌خورم؟"),
    ("ماشین را در پارکینگ طبقهٔ دوم گذاشتم", "Where did I park the car?", "ماشینم کجا پارک شده؟"),
    (
        "دکتر گفت هر شب قرص آهن بخورم",
        "What did the doctor tell me to take at night?",
        "پزشک چه قرصی تجویز کرد؟",
    ),
    (
        "آدرس دفتر جدید خیابان حافظ، کوچهٔ ششم است",
        "What is the address of the new office?",
        "نشانی دفتر جدید چیست؟",
    ),
    (
        "برادرم در آلمان مهندس کامپیوتر است",
        "Where does my brother work?",
        "برادرم در کدام کشور کار می‌کند؟",
    ),
    ("رنگ مورد علاقهٔ من سبز است", "What is my favourite colour?", "چه رنگی را دوست دارم؟"),
    ("هفتهٔ پیش لپ‌تاپ جدید خریدم", "What did I buy last week?", "لپتاپ را کی خریدم؟"),
    (
        "جلسه با شرکت نور به یکشنبه افتاد",
        "When is the meeting with Nour company?",
        "جلسهٔ شرکت نور چه روزی است؟",
    ),
    ("کفش سایز ۴۲ می‌پوشم", "What is my shoe size?", "سایز کفشم چند است؟"),
    ("گربه‌مان اسمش پشمک است", "What is our cat called?", "اسم گربه‌ی ما چیست؟"),
    ("پاسپورتم در کشوی میز است", "Where is my passport?", "گذرنامه‌ام کجاست؟"),
    (
        "مادربزرگ چای را با نبات می‌خورد",
        "How does grandmother drink her tea?",
        "مادربزرگ با چای چه می‌خورد؟",
    ),
    (
        "فیلم جدایی را سه بار دیده‌ام",
        "Which film have I seen three times?",
        "کدام فیلم را چند بار دیدم؟",
    ),
    (
        "شنا را از بچگی دوست داشتم",
        "Which sport have I liked since childhood?",
        "از کودکی چه ورزشی را دوست داشتم؟",
    ),
    (
        "حقوقم روز ۲۵ هر ماه واریز می‌شود",
        "On which day is my salary paid?",
        "حقوق من چندم ماه می‌آید؟",
    ),
    ("کلید باغ دست عمو حسن است", "Who has the key of the garden?", "کلید باغچه را چه کسی دارد؟"),
    (
        "سفر کیش را به خاطر باران لغو کردیم",
        "Why did we cancel the trip to Kish?",
        "سفرِ کیش چرا لغو شد؟",
    ),
    ("پسرم از سگ می‌ترسد", "What is my son afraid of?", "پسرم از چی می‌ترسه؟"),
    ("نان تازه را از نانوایی سر کوچه می‌خریم", "Where do we buy bread?", "نان را از کجا می‌خریم؟"),
    ("گوشی من سامسونگ است و صفحه‌اش شکسته", "What is wrong with my phone?", "صفحهٔ گوشی‌ام چه شده؟"),
)


def is_persian(line: str) -> bool:
    return any("\u0600" <= character <= "\u06ff" for character in line)
