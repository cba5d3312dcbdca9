"""Characters as Telegram sees them: UTF-16 units, what is invisible, where a text may be cut.

Pure functions about plain text, used by everything that reads or writes messages.
"""

import re
import unicodedata

MESSAGE_UNITS = 4096  # https://core.telegram.org/bots/api#sendmessage

# Letters and marks by category, yet drawn as nothing.
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
JOINERS = frozenset("\u200c\u200d")  # the half-space of Persian; what ties emoji together
ISOLATE, POP_ISOLATE = "\u2068", "\u2069"

# Telegram turns control characters into blanks, drops carriage returns and removes
# U+2028..U+202E (separators and the marks that override direction).
_LINE_ENDS = re.compile("\r\n|[\r\u2028\u2029\x85]")
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x84\x86-\x9f]")
_OVERRIDES = re.compile("[\u202a-\u202e]")
# Marks that Telegram removes because they draw over the lines next to theirs.
_OVERDRAWN = re.compile("[\u0333\u033f\u030a]")
_RINGS = re.compile("[AUWYauwy]\u030a")  # å and its kin, two characters that have one of their own
_SURROGATES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def units(text: str) -> int:
    """Return the length in UTF-16 units, as Telegram counts."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def is_visible(character: str) -> bool:
    return not (
        unicodedata.category(character) in INVISIBLE_CATEGORIES
        or character in BLANKS
        or "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
    )


def has_visible(text: str) -> bool:
    """Whether a reader would see anything: not blanks, zero-width or control characters alone."""
    return any(map(is_visible, text))


def sendable(text: str) -> str:
    """Return the text as Telegram would store it, so that what we keep is what it shows."""
    text = _LINE_ENDS.sub("\n", _SURROGATES.sub(REPLACEMENT, text))
    text = _RINGS.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)
    return _OVERRIDES.sub("", _CONTROLS.sub(" ", _OVERDRAWN.sub("", text.replace("\t", "    "))))


def storable(text: str) -> str:
    """Return received text unchanged but for what no database takes: NUL and lone surrogates."""
    return _SURROGATES.sub(REPLACEMENT, text).replace("\0", REPLACEMENT)


def is_joint(text: str, index: int) -> bool:
    """Whether cutting before `index` would tear one drawn character (emoji, accent, flag) apart.

    A simplification of https://unicode.org/reports/tr29/ that errs towards not cutting.
    """
    if not 0 < index < len(text):
        return False
    before, after = text[index - 1], text[index]
    if before in JOINERS or after in JOINERS or unicodedata.category(after)[0] == "M":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if _is_flag_half(before) and _is_flag_half(after):
        return _flag_halves_before(text, index) % 2 == 1
    return "\u1160" <= after <= "\u11ff"  # a Hangul vowel or final of a syllable


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, index: int) -> int:
    start = index
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return index - start


def is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def is_left_to_right(character: str) -> bool:
    return unicodedata.bidirectional(character) == "L"
