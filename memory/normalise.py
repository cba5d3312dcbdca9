"""One way to compare words, for keys, for ties and for search.

Two texts that a person would call the same wording come out equal: case, width, punctuation,
spacing, Persian and Arabic letter variants, vowel marks, digits of any script, zero-width joiners.
Never shown to anybody and never stored as text: a line keeps the words as they were written.
"""

import hashlib
import unicodedata
from functools import lru_cache

KEY_LENGTH = 64  # characters; a longer text is cut and its hash is added
MEANT = frozenset("#%&@")  # punctuation by category, but C# is not C and 5% is not 5
SILENT = frozenset("'’ʼ`´ـ")  # dropped without parting the word: don't, tatweel
LETTERS = str.maketrans(
    {
        "ي": "ی",
        "ى": "ی",
        "ئ": "ی",
        "ك": "ک",
        "ة": "ه",
        "ۀ": "ه",
        "أ": "ا",
        "إ": "ا",
        "ٱ": "ا",
        "ؤ": "و",
    }
)
ZWNJ = "\u200c"


@lru_cache(maxsize=16384)
def canonical(text: str) -> str:
    """The words of `text`, folded, with one space between them; "" when there are none."""
    return " ".join(_fold(text).split())


@lru_cache(maxsize=16384)
def tokens(text: str) -> tuple[str, ...]:
    """The words to search by. A word written with ZWNJ counts whole and in its parts."""
    found = canonical(text).split()
    if ZWNJ in text:
        found += [part for part in canonical(text.replace(ZWNJ, " ")).split() if part not in found]
    return tuple(found)


def key_of(text: str) -> str:
    """A short stable name for the wording of `text`, without spaces; never empty.

    Words are joined by "-", but Persian words by nothing: space, ZWNJ and neither are
    three spellings of one word there.
    """
    words = canonical(text).split()
    if not words:
        return "~" + _digest(text)
    name = words[0]
    for word in words[1:]:
        name += word if _is_arabic(name[-1]) and _is_arabic(word[0]) else "-" + word
    return name if len(name) <= KEY_LENGTH else f"{name[:KEY_LENGTH]}~{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _fold(text: str) -> str:
    if text.isascii():
        return "".join(map(_folded_character, text.lower()))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(map(_folded_character, folded.translate(LETTERS)))


@lru_cache(maxsize=4096)
def _folded_character(character: str) -> str:
    if character in MEANT:
        return character
    if character in SILENT or _is_vowel_mark(character):
        return ""
    category = unicodedata.category(character)
    if category == "Cf":  # ZWNJ, ZWJ, soft hyphen, direction marks
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    return " " if category[0] in "PZC" else character


def _is_vowel_mark(character: str) -> bool:
    return "\u064b" <= character <= "\u065f" or character == "\u0670"


def _is_arabic(character: str) -> bool:
    return "\u0600" <= character <= "\u06ff" and character.isalpha()
