"""Recognises the system prompt in a draft: long verbatim overlap, whatever its spacing and case.

Rule 1: a run of `LEAKED_WORDS` words in a row, or of `LEAKED_CHARACTERS` characters, is a leak.
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
        self._words_in_a_row = min(LEAKED_WORDS, len(said))
        if len(said) < WHOLE_PROMPT_WORDS:
            self._words_in_a_row = LEAKED_WORDS
        self._word_runs = _runs(said, self._words_in_a_row)
        self._character_runs = _runs(normal(prompt), LEAKED_CHARACTERS)
        self._letter_runs = _runs(squeezed(prompt), LEAKED_LETTERS)

    def shown(self, draft: str) -> bool:
        return (
            _overlaps(self._word_runs, words(draft), self._words_in_a_row)
            or _overlaps(self._character_runs, normal(draft), LEAKED_CHARACTERS)
            or _overlaps(self._letter_runs, squeezed(draft), LEAKED_LETTERS)
        )


def _runs(sequence: Sequence[str], length: int) -> frozenset[Hashable]:
    return frozenset(_windows(sequence, length))


def _overlaps(runs: frozenset[Hashable], sequence: Sequence[str], length: int) -> bool:
    return bool(runs) and any(window in runs for window in _windows(sequence, length))


def _windows(sequence: Sequence[str], length: int) -> Iterator[Hashable]:
    for at in range(len(sequence) - length + 1):
        window = sequence[at : at + length]
        yield window if isinstance(window, str) else tuple(window)
