"""Languages by their codes, and whether a text can be in one, judged by its letters.

Source of codes: ISO 639-1. Names are those that speakers use, so they need no translation.
"""

import re
import unicodedata
from dataclasses import dataclass

LEAST_LETTERS = 4  # fewer say nothing about a language: OK, a name, a plate
WORTH = 1 / 3  # of the letters that have to be of the language's script: names are often foreign


@dataclass(frozen=True, slots=True)
class Language:
    code: str
    name: str  # as its speakers write it
    english: str
    scripts: tuple[str, ...]  # as Unicode names of letters begin

    @property
    def label(self) -> str:
        return f"{self.name} ({self.code})"


_TABLE = """
ar العربية|Arabic|ARABIC
az Azərbaycanca|Azerbaijani|LATIN
be Беларуская|Belarusian|CYRILLIC
bg Български|Bulgarian|CYRILLIC
bn বাংলা|Bengali|BENGALI
bs Bosanski|Bosnian|LATIN,CYRILLIC
ca Català|Catalan|LATIN
cs Čeština|Czech|LATIN
cy Cymraeg|Welsh|LATIN
da Dansk|Danish|LATIN
de Deutsch|German|LATIN
el Ελληνικά|Greek|GREEK
en English|English|LATIN
eo Esperanto|Esperanto|LATIN
es Español|Spanish|LATIN
et Eesti|Estonian|LATIN
eu Euskara|Basque|LATIN
fa فارسی|Persian|ARABIC
fi Suomi|Finnish|LATIN
fr Français|French|LATIN
ga Gaeilge|Irish|LATIN
gl Galego|Galician|LATIN
gu ગુજરાતી|Gujarati|GUJARATI
he עברית|Hebrew|HEBREW
hi हिन्दी|Hindi|DEVANAGARI
hr Hrvatski|Croatian|LATIN
hu Magyar|Hungarian|LATIN
hy Հայերեն|Armenian|ARMENIAN
id Indonesia|Indonesian|LATIN
is Íslenska|Icelandic|LATIN
it Italiano|Italian|LATIN
ja 日本語|Japanese|CJK,HIRAGANA,KATAKANA
ka ქართული|Georgian|GEORGIAN
kk Қазақша|Kazakh|CYRILLIC,LATIN
km ខ្មែរ|Khmer|KHMER
kn ಕನ್ನಡ|Kannada|KANNADA
ko 한국어|Korean|HANGUL
ku Kurdî|Kurdish|LATIN,ARABIC
ky Кыргызча|Kyrgyz|CYRILLIC
lt Lietuvių|Lithuanian|LATIN
lv Latviešu|Latvian|LATIN
mk Македонски|Macedonian|CYRILLIC
ml മലയാളം|Malayalam|MALAYALAM
mn Монгол|Mongolian|CYRILLIC,MONGOLIAN
mr मराठी|Marathi|DEVANAGARI
ms Melayu|Malay|LATIN
my မြန်မာ|Burmese|MYANMAR
nb Norsk bokmål|Norwegian|LATIN
ne नेपाली|Nepali|DEVANAGARI
nl Nederlands|Dutch|LATIN
no Norsk|Norwegian|LATIN
pa ਪੰਜਾਬੀ|Punjabi|GURMUKHI,ARABIC
pl Polski|Polish|LATIN
ps پښتو|Pashto|ARABIC
pt Português|Portuguese|LATIN
ro Română|Romanian|LATIN
ru Русский|Russian|CYRILLIC
si සිංහල|Sinhala|SINHALA
sk Slovenčina|Slovak|LATIN
sl Slovenščina|Slovenian|LATIN
so Soomaali|Somali|LATIN
sq Shqip|Albanian|LATIN
sr Српски|Serbian|CYRILLIC,LATIN
sv Svenska|Swedish|LATIN
sw Kiswahili|Swahili|LATIN
ta தமிழ்|Tamil|TAMIL
te తెలుగు|Telugu|TELUGU
tg Тоҷикӣ|Tajik|CYRILLIC
th ไทย|Thai|THAI
tk Türkmen|Turkmen|LATIN
tl Tagalog|Tagalog|LATIN
tr Türkçe|Turkish|LATIN
uk Українська|Ukrainian|CYRILLIC
ur اردو|Urdu|ARABIC
uz Oʻzbek|Uzbek|LATIN,CYRILLIC
vi Tiếng Việt|Vietnamese|LATIN
yi ייִדיש|Yiddish|HEBREW
zh 中文|Chinese|CJK
"""


def _read_table() -> dict[str, Language]:
    languages: dict[str, Language] = {}
    for row in _TABLE.strip().splitlines():
        code, _, rest = row.partition(" ")
        name, english, scripts = rest.split("|")
        languages[code] = Language(code, name, english, tuple(scripts.split(",")))
    return languages


LANGUAGES = _read_table()
_NAMES = {
    word.casefold(): language.code
    for language in LANGUAGES.values()
    for word in (language.code, language.name, language.english)
}
_BETWEEN = re.compile(r"\s*(?:[\s>→:,/]|->)+\s*")


def language_of(word: str) -> Language | None:
    """By code (also "pt-BR"), by its own name or its English one; None if there is none such."""
    word = word.strip().casefold()
    code = _NAMES.get(word) or _NAMES.get(word.replace("_", "-").partition("-")[0])
    return LANGUAGES[code] if code else None


def words_of(argument: str) -> tuple[str, ...]:
    """The languages named in "fa en", "fa>en" or "fa → en", as they were written."""
    return tuple(filter(None, _BETWEEN.split(argument.strip().replace("->", ">"))))


def has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def could_be(text: str, language: Language) -> bool:
    """Whether the letters allow for this language. True where too few say anything."""
    letters = [each for each in text if each.isalpha()]
    if len(letters) < LEAST_LETTERS:
        return True
    fitting = sum(_script(letter) in language.scripts for letter in letters)
    return fitting >= WORTH * len(letters)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
