"""The host's own words and patterns that a reply must not contain.

Words match as words, in any spelling `normal_form` knows. Patterns are Python regular expressions;
a pattern can be written so that it never ends, so its time is bounded.
"""

import re
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from bot.errors import Misconfigured
from bot.model.normal_form import ZWNJ, normal

MAX_PATTERN_LENGTH = 1000
PATTERN_SECONDS = 0.25
# Without a timer (Windows, a thread) the text is what bounds a pattern.
SEARCHED_WITHOUT_TIMER = 2000


class TooSlow(Exception):
    """A pattern did not end in its time. `rule` is its number, never its text."""

    def __init__(self, rule: str = "") -> None:
        super().__init__(rule)
        self.rule = rule


class WordList:
    def __init__(self, listed: Iterable[str]) -> None:
        self._words = [
            (number, _as_word(word)) for number, word in enumerate(listed, 1) if normal(word)
        ]

    def found(self, text: str) -> Iterator[str]:
        """Names of the words in the text, by their place in the list."""
        forms = {normal(text), normal(text, joiner="")}
        for number, word in self._words:
            if any(word.search(form) for form in forms):
                yield f"word_{number}"


class PatternList:
    def __init__(self, listed: Iterable[str], *, seconds: float = PATTERN_SECONDS) -> None:
        self._seconds = seconds
        self._patterns = [(n, _compiled(n, pattern)) for n, pattern in enumerate(listed, 1)]

    def found(self, text: str) -> Iterator[str]:
        """Names of the patterns that match. Raises TooSlow if one does not end in its time."""
        for number, pattern in self._patterns:
            try:
                with _bounded(self._seconds) as timed:
                    searched = text if timed else text[:SEARCHED_WITHOUT_TIMER]
                    matches = pattern.search(searched) is not None
            except TooSlow:
                raise TooSlow(f"pattern_{number}") from None
            if matches:
                yield f"pattern_{number}"


def _as_word(word: str) -> re.Pattern[str]:
    parts = normal(word.replace(ZWNJ, " ")).split(" ")
    joined = r"\s*" if ZWNJ in word else r"\s+"
    return re.compile(rf"(?<!\w){joined.join(map(re.escape, parts))}(?!\w)")


def _compiled(number: int, pattern: str) -> re.Pattern[str]:
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise Misconfigured(f"Pattern {number} is longer than {MAX_PATTERN_LENGTH} characters.")
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise Misconfigured(f"Pattern {number} is no regular expression: {error}.") from None


@contextmanager
def _bounded(seconds: float) -> Iterator[bool]:
    """Interrupt the block after `seconds`; yields False where that cannot be done.

    The matcher looks for pending signals while it backtracks, and so a timer can end it; it holds
    the interpreter all the while, and so another thread could not.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield False
        return
    handler_before = signal.signal(signal.SIGALRM, _ring)
    timer_before = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield True
    finally:
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler_before)
        _restart(timer_before, passed=seconds - left)


def _restart(timer: tuple[float, float], *, passed: float) -> None:
    """Give somebody else's timer back what remained of it."""
    delay, interval = timer
    if delay:
        signal.setitimer(signal.ITIMER_REAL, max(delay - passed, 0.001), interval)


def _ring(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow
