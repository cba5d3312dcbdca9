"""Makes names and other people's words safe to stand in a sentence of ours.

Nobody may turn a sentence round with direction marks, hide text, break its line, flood it, or put
a link, a mention or a command into it by being called so.
"""

import re
import unicodedata

from bot.telegram.characters import (
    ISOLATE,
    JOINERS,
    POP_ISOLATE,
    has_visible,
    is_joint,
    is_left_to_right,
    is_right_to_left,
    sendable,
)

NAME_LENGTH = 48
LINE_LENGTH = 400
_MARK = "[\u0300-\u036f\u0483-\u0489\u0610-\u061a\u064b-\u065f]"
STACKED_MARKS = re.compile(f"({_MARK}{{2}}){_MARK}+")  # more would be drawn over other lines
# Telegram finds addresses, mentions, commands and tags by itself; a word joiner hides them.
TRIGGERS = re.compile(r"(?<=[@/#$])(?=\w)|(?<=\w)(?=[.:]\w)|(?<=:)(?=/)")
NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9:._#-]")
WORD_JOINER = "\u2060"


def name(value: str, language: str) -> str:
    """A name: short, on one line, nothing that Telegram would make clickable."""
    return TRIGGERS.sub(WORD_JOINER, line(value, language, NAME_LENGTH))


def line(value: str, language: str, length: int = LINE_LENGTH) -> str:
    """Other people's words on one line, kept together where their direction differs from ours."""
    words = " ".join(_harmless(value).split())
    if not has_visible(words):
        return "–"
    return _kept_together(_shortened(words, length), language)


def identifier(value: str) -> str:
    """An id of ours, which people copy into commands: nothing may be added to it."""
    return NO_IDENTIFIER.sub("", value)[:NAME_LENGTH] or "–"


def lines(value: str) -> str:
    """A list that we made: its line breaks stay."""
    kept = (" ".join(_harmless(each).split()) for each in sendable(value).split("\n"))
    return "\n".join(kept)


def _harmless(value: str) -> str:
    """Without control and format characters, but for the joiners that Persian and emoji need."""
    value = "".join(
        character
        for character in sendable(value)
        if character == "\n" or character in JOINERS or unicodedata.category(character) != "Cf"
    )
    return STACKED_MARKS.sub(r"\1", value)


def _shortened(words: str, length: int) -> str:
    if len(words) <= length:
        return words
    end = length - 1
    while end > length // 2 and is_joint(words, end):
        end -= 1
    return words[:end].rstrip() + "…"


def _kept_together(words: str, language: str) -> str:
    foreign = is_left_to_right if language == "fa" else is_right_to_left
    return f"{ISOLATE}{words}{POP_ISOLATE}" if any(map(foreign, words)) else words
