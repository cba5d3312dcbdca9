"""All that the practice model can translate: a handful of phrases and words, three languages."""

import re
from collections.abc import Mapping

PHRASES = """
hello|سلام|Hallo
hi|سلام|Hallo
good morning|صبح به‌خیر|Guten Morgen
good evening|شب به‌خیر|Guten Abend
thank you|ممنون|Danke
thank you very much|خیلی ممنون|Vielen Dank
thanks|ممنون|Danke
you are welcome|خواهش می‌کنم|Gern geschehen
please|لطفاً|Bitte
yes|بله|Ja
no|نه|Nein
goodbye|خداحافظ|Auf Wiedersehen
sorry|ببخشید|Entschuldigung
how are you?|حالتان چطور است؟|Wie geht es Ihnen?
i am fine|خوبم|Mir geht es gut
i have a question|یک سؤال دارم|Ich habe eine Frage
can you help me?|می‌توانید کمکم کنید؟|Können Sie mir helfen?
of course|البته|Natürlich
one moment, please|یک لحظه، لطفاً|Einen Moment, bitte
what is your name?|اسم شما چیست؟|Wie heißen Sie?
when do you open?|کی باز می‌کنید؟|Wann öffnen Sie?
we open at nine|ما ساعت نه باز می‌کنیم|Wir öffnen um neun
when are you open?|چه ساعتی باز هستید؟|Wann haben Sie geöffnet?
where is my order?|سفارش من کجاست؟|Wo ist meine Bestellung?
where is my parcel?|بسته‌ٔ من کجاست؟|Wo ist mein Paket?
your order is on its way|سفارش شما در راه است|Ihre Bestellung ist unterwegs
your parcel is on its way|بسته‌ٔ شما در راه است|Ihr Paket ist unterwegs
it arrives tomorrow|فردا می‌رسد|Es kommt morgen an
how much is it?|قیمتش چند است؟|Wie viel kostet es?
that is all|همین|Das ist alles
i would like to cancel|می‌خواهم لغو کنم|Ich möchte stornieren
i will look into it|بررسی می‌کنم|Ich sehe nach
"""
WORDS = """
bread|نان|Brot
book|کتاب|Buch
house|خانه|Haus
order|سفارش|Bestellung
parcel|بسته|Paket
water|آب|Wasser
tea|چای|Tee
today|امروز|heute
tomorrow|فردا|morgen
"""
LANGUAGES = ("en", "fa", "de")
SENTENCE = re.compile(r"[^.!?؟\n]+[.!?؟]*|\n+")
EZAFE = re.compile("\u200c?\u0654|\u200cی(?!\\w)")  # two ways to write it, or none
ALIKE = str.maketrans({"ي": "ی", "ك": "ک", "ة": "ه", "\u0654": None, "\u200c": " ", "،": ","})


def translate(text: str, source: str, target: str) -> str | None:
    """The text sentence by sentence; words that the dictionary lacks stay, in brackets.

    None: not between these languages, or nothing of it is known.
    """
    if source not in LANGUAGES or target not in LANGUAGES or source == target:
        return None
    known = _dictionary(source, target)
    said = [_said(part, known) for part in SENTENCE.findall(text)]
    found = [text for text, understood in said if understood]
    return "".join(text for text, _ in said).strip() if found else None


def _said(part: str, known: Mapping[str, str]) -> tuple[str, bool]:
    bare = part.strip()
    if not bare:
        return part, False
    lead = " " if part[0] == " " else ""
    whole = known.get(_alike(bare))
    if whole is not None:
        ending = bare[-1] if bare[-1] in ".!" and whole[-1] not in ".!?؟" else ""
        return f"{lead}{whole}{ending}", True
    words = [(known.get(_alike(word)), word) for word in bare.split()]
    told = " ".join(found or f"[{word}]" for found, word in words)
    return f"{lead}{told}", any(found for found, _ in words)


def _dictionary(source: str, target: str) -> dict[str, str]:
    known: dict[str, str] = {}
    for row in (PHRASES + WORDS).split("\n"):
        if row:
            said = dict(zip(LANGUAGES, row.split("|"), strict=True))
            told = said[target]
            known.setdefault(_alike(said[source]), told[:1].upper() + told[1:])
    return known


def _alike(text: str) -> str:
    """What counts for being the same: no case, no ending, one way to write each letter."""
    words = EZAFE.sub("", text).translate(ALIKE).casefold().strip(" .!?؟")
    return " ".join(words.split())
