"""What a check of `dabir doctor` found: one line, and whether it needs a hand."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    FINE = "✓"
    LOOK = "!"  # works, but worth a look
    WRONG = "✗"


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    sentence: str  # what was found and, unless fine, what to do


def fine(sentence: str) -> Finding:
    return Finding(State.FINE, sentence)


def look(sentence: str) -> Finding:
    return Finding(State.LOOK, sentence)


def wrong(sentence: str) -> Finding:
    return Finding(State.WRONG, sentence)
