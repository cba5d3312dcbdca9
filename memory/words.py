"""The terms of a text: what lines and questions are compared by. Pure, any script.

Wording is folded by memory/normalise.py first. Then words that say nothing are dropped, and what is
left is cut to its stem: Latin script as English, Cyrillic as Russian (Snowball), Arabic script as
Persian (the endings below). Scripts without spaces are taken two characters at a time.

Terms are for comparing only: never shown, never stored.
"""

import re
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import snowballstemmer

from memory.normalise import canonical, tokens

ENGLISH_EMPTY = frozenset(
    canonical(
        """a about above after again against all am an and any are as at be because been
        before being below between both but by can could did do does doing down during
        each few for from further had has have having he her here hers herself him
        himself his how i if in into is it its itself just me more most my myself no nor
        not now of off on once only or other our ours out over own same she should so
        some such than that the their theirs them then there these they this those
        through to too under until up very was we were what when where which while who
        whom why will with would you your yours yourself im ive dont youre thats didnt
        doesnt isnt wasnt id ill s t re ve ll d m"""
    ).split()
)
PERSIAN_EMPTY = frozenset(
    canonical(
        """و در به از که این آن را با است هست بود شد برای تا یا هم نیز اما ولی اگر چون پس هر هیچ
        من تو او ما شما آنها ایشان خود خودم خودت مرا ترا چه چی چیست کیست کی کجا کجاست چرا چطور چگونه
        چند کدام آیا رو تون مون یک یه می نمی ام ات اش ای اند ایم اید ها های هایی باشد باشم بودم بودی
        هستم هستی هستند بودند شده کرد کردم کردی کرده کند کنم کنی شود بر روی همین همان دیگر خیلی
        میشه داره دارم داری دارد
        """
    ).split()
)
EMPTY = ENGLISH_EMPTY | PERSIAN_EMPTY
# Longest first. One-letter endings only leave a stem of four letters or more.
PERSIAN_ENDINGS = (
    *("هایمان", "هایتان", "هایشان", "ترین", "هایم", "هایت", "هایش", "هایی"),
    *("های", "مان", "تان", "شان", "ها", "ام", "ات", "اش", "تر", "ای", "م", "ت", "ش", "ی"),
)
LEAST_STEM = 3
_one_at_a_time = Lock()  # a stemmer keeps the word it works on in itself
_OWNED = re.compile(r"['’]s\b")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]+")


@lru_cache(maxsize=4096)
def terms(text: str) -> tuple[str, ...]:
    """In the order of the text, with repetitions; () if it says nothing."""
    found: list[str] = []
    for word in tokens(_OWNED.sub("", text)):
        if word not in EMPTY:
            found += _pairs(word) if _UNSPACED.search(word) else (stem(word),)
    return tuple(found)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The part of a folded word that its forms have in common."""
    first = word[0]
    if first.isascii():
        return _snowball("english", word) if word.isascii() else word
    if "\u0600" <= first <= "\u06ff":
        return _persian_stem(word)
    if "\u0400" <= first <= "\u04ff":
        return _snowball("russian", word)
    return word


def _persian_stem(word: str) -> str:
    for ending in PERSIAN_ENDINGS:
        least = LEAST_STEM + (len(ending) == 1)
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word


def _pairs(word: str) -> tuple[str, ...]:
    return tuple(word[n : n + 2] for n in range(len(word) - 1)) or (word,)


def _snowball(language: str, word: str) -> str:
    with _one_at_a_time:
        stemmed: str = _stemmer(language).stemWord(word)
    return stemmed


@cache
def _stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(language)
