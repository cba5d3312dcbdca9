"""What recall costs when there is a lot: python -m tests.bench.recall_scale [CHATS] [LINES_EACH]

By default 1,000 chats of 1,000 lines, all kept in mind at once, and one chat of 100,000 lines.
Prints median and 99th percentile of a recall, of an append and of a cold chat, and the memory used.
The words are drawn as words of a language are: few common ones, many rare ones.
"""

import resource
import sys
import time
from datetime import UTC, datetime
from random import Random
from statistics import median, quantiles

from memory.line import Author, Kind, Line
from memory.reader import Reach, Reading
from memory.recollection import Recollection

WORDS = 20_000
WORDS_A_LINE = 14
NOW = datetime(2026, 12, 1, tzinfo=UTC)
BEGIN_US = round(NOW.timestamp()) * 1_000_000 - 300 * 86_400_000_000
APART_US = 20 * 60_000_000
ASKED = 2000
LARGE = 100_000


class Speech:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._weights = [1 / (rank + 10) for rank in range(WORDS)]
        self._words = [f"w{number:x}q" for number in range(WORDS)]

    def text(self, words: int = WORDS_A_LINE) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=words))

    def lines(self, count: int, first: int = 0) -> tuple[Line, ...]:
        drawn = self._random.choices(self._words, self._weights, k=WORDS_A_LINE * count)
        return tuple(
            Line(
                id=f"{number}",
                at_us=BEGIN_US + number * APART_US,
                turn=number,
                ordinal=0,
                kind=Kind.SAID if number % 10 else Kind.FACT,
                author=Author.USER if number % 2 else Author.AI,
                text=" ".join(drawn[place : place + WORDS_A_LINE]),
                key="" if number % 10 else f"fact:{number}",
            )
            for number, place in enumerate(range(0, len(drawn), WORDS_A_LINE), first)
        )


def report(chats: int, lines_each: int) -> None:
    speech = Speech(1)
    before = _megabytes()
    taken, minds = [], []
    for _ in range(chats):
        reading = Reading(speech.lines(lines_each), Reach.COMPLETE)
        begin = time.perf_counter()
        minds.append(Recollection(reading))
        taken.append(time.perf_counter() - begin)
    print(f"{chats} chats of {lines_each} lines in mind: {_megabytes() - before:.0f} MB more")
    _tell(f"taking up a chat of {lines_each} lines", taken)
    choice = Random(2)
    _tell("recall", [_recall(choice.choice(minds), speech) for _ in range(ASKED)])
    _tell("append of one line", [_append(choice.choice(minds), speech) for _ in range(ASKED)])
    del minds
    reading = Reading(speech.lines(LARGE), Reach.COMPLETE)
    begin = time.perf_counter()
    mind = Recollection(reading)
    print(f"index of {LARGE} lines rebuilt in {time.perf_counter() - begin:.1f} s")
    _tell(f"recall from {LARGE} lines", [_recall(mind, speech) for _ in range(200)])
    print(f"most memory of the process: {_megabytes():.0f} MB")


def _recall(mind: Recollection, speech: Speech) -> float:
    question = speech.text(6)
    begin = time.perf_counter()
    mind.recall(question, NOW, limit=12, said_since=0.0)
    return time.perf_counter() - begin


def _append(mind: Recollection, speech: Speech) -> float:
    lines = speech.lines(1, mind.turn + 1)
    begin = time.perf_counter()
    mind.take(lines)
    return time.perf_counter() - begin


def _tell(what: str, seconds: list[float]) -> None:
    last = quantiles(seconds, n=100)[98]
    print(f"{what}: median {1000 * median(seconds):.2f} ms, 99 % under {1000 * last:.2f} ms")


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:3]]
    report(*(numbers if len(numbers) == 2 else (1000, 1000)))
