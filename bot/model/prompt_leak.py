"""Recognises the system prompt in a draft: long verbatim overlap, whatever its spacing and case.

Rule 1: a run of `LEAKED_WORDS` words in a row, or of `LEAKED_CHARACTERS` characters, is a leak.
        Of a long prompt it takes a tenth: hosts put opening hours and answers to common questions
        there, and those are meant to be said.
Rule 2: a prompt shorter than that leaks only as a whole, and only if it says enough to be
        recognised: "You are a helpful assistant." may be said by anybody.
"""

from collections.abc import Hashable, Iterator, Sequence

from bot.model.normal_form import normal, squeezed, words

LEAKED_WORDS = 12
LEAKED_CHARACTERS = 80
# What is left of 80 characters of prose without spaces and punctuation.
LEAKED_LETTERS = 64
WHOLE_PROMPT_WORDS = 8


class PromptLeak:
    def __init__(self, prompt: str) -> None:
        said = words(prompt)
        self._words = _Runs(said, _word_run(len(said)))
        self._characters = _Runs(normal(prompt), max(LEAKED_CHARACTERS, len(normal(prompt)) // 10))
        self._letters = _Runs(squeezed(prompt), max(LEAKED_LETTERS, len(squeezed(prompt)) // 10))

    def shown(self, draft: str) -> bool:
        return (
            self._words.overlap(words(draft))
            or self._characters.overlap(normal(draft))
            or self._letters.overlap(squeezed(draft))
        )


def _word_run(count: int) -> int:
    """How many words in a row give a prompt of `count` words away."""
    if count < WHOLE_PROMPT_WORDS:
        return LEAKED_WORDS
    return max(min(LEAKED_WORDS, count), count // 10)


class _Runs:
    """All runs of one length in a sequence."""

    def __init__(self, sequence: Sequence[str], length: int) -> None:
        self._length = length
        self._known = frozenset(_windows(sequence, length))

    def overlap(self, sequence: Sequence[str]) -> bool:
        return bool(self._known) and any(
            window in self._known for window in _windows(sequence, self._length)
        )


def _windows(sequence: Sequence[str], length: int) -> Iterator[Hashable]:
    for at in range(len(sequence) - length + 1):
        window = sequence[at : at + length]
        yield window if isinstance(window, str) else tuple(window)
