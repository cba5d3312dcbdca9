"""Brings texts that look alike to one form, so that a rule cannot be dodged by spelling.

Persian is typed with Arabic letters (ي ك), with and without vowel marks, with zero-width
non-joiners or spaces or neither; any text can be split by invisible characters.
"""

import re
import unicodedata

ZWNJ = "\u200c"
INVISIBLE = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]")  # fmt: skip  # noqa: E501
MARKS = re.compile("[\u0640\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")  # tatweel and vowels
LETTERS = str.maketrans("يىكةۀأإٱؤ", "ییکههاااو")
SPACES = re.compile(r"\s+")
NOT_LETTERS = re.compile(r"[\W_]+")


def visible(text: str) -> str:
    """The text without characters that show nothing (zero-width non-joiners included)."""
    return INVISIBLE.sub("", text)


def normal(text: str, *, joiner: str = " ") -> str:
    """Letters, case, digits and spaces made alike. `joiner` replaces zero-width non-joiners."""
    composed = unicodedata.normalize("NFKC", text.replace(ZWNJ, joiner))
    plain = MARKS.sub("", visible(composed)).translate(LETTERS).casefold()
    digits = "".join(_ascii_digit(char) for char in plain)
    return SPACES.sub(" ", digits).strip()


def words(text: str) -> list[str]:
    """The words of a text in normal form, without punctuation and markup."""
    return NOT_LETTERS.sub(" ", normal(text)).split()


def squeezed(text: str) -> str:
    """Only the letters and digits, so that spacing, dashes, markup and accents do not matter."""
    apart = unicodedata.normalize("NFKD", normal(text, joiner=""))
    return NOT_LETTERS.sub("", "".join(c for c in apart if not unicodedata.combining(c)))


def _ascii_digit(char: str) -> str:
    return str(unicodedata.digit(char)) if char.isdigit() and not char.isascii() else char
