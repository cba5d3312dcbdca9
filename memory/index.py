"""An index of the lines of one namespace, in this process only and never on a disk.

Built for many of them: a line costs some 60 bytes beside its text, whatever its words, because
words are kept as numbers (Python's own hash, keyed anew in every process) in flat arrays. Nothing
here can be read as text, and `recollection.py` drops it with what it was made from.
"""

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from memory.normalise import canonical
from memory.words import stem, terms

TIMES_BITS = 4
MOST_TIMES = (1 << TIMES_BITS) - 1  # a word said more often in a line counts as often as this
LONGEST = 255  # terms of a line that its length counts
WORD_MASK = (1 << 32) - 1
SESSION_GAP_US = 3 * 3600 * 1_000_000  # a pause of three hours begins another conversation
LEAST_FRESH = 4096
QUESTION, TIMED = 1, 2  # marks of a line

TIME_TERMS = frozenset(
    stem(word)
    for word in canonical(
        """yesterday today tomorrow last ago week month year weekend monday tuesday wednesday
        thursday friday saturday sunday next recently january february march april may june july
        august september october november december summer winter spring fall morning night
        دیروز امروز فردا پریروز پیش گذشته قبل هفته ماه سال شنبه یکشنبه دوشنبه جمعه پارسال امسال
        صبح شب عصر دیشب بهار تابستان پاییز زمستان فروردین اردیبهشت خرداد تیر مرداد شهریور مهر
        آبان آذر دی بهمن اسفند"""
    ).split()
)
_WORDS = re.compile(r"\w+")


class Index:
    """Lines are numbered from 0 in the order they are added, which must be that of time."""

    __slots__ = (
        "_fresh",
        "_fresh_size",
        "_last_us",
        "_lengths",
        "_postings",
        "_starts",
        "_total",
        "_words",
        "marks",
        "sessions",
        "speakers",
        "times",
    )

    def __init__(self) -> None:
        self.times = array("q")
        self.sessions = array("I")
        self.speakers = array("B")
        self.marks = array("B")
        self._lengths = array("B")
        self._total = 0
        self._last_us: int | None = None
        self._words = array("I")  # sorted; postings of word k: _postings[_starts[k]:_starts[k+1]]
        self._starts = array("I", [0])
        self._postings = array("I")  # number of the line, and how often it has the word
        self._fresh: dict[int, list[int]] = {}  # of the lines added since `settle`
        self._fresh_size = 0

    def __len__(self) -> int:
        return len(self.times)

    def add(self, text: str, *, at_us: int, speaker: int = 0) -> None:
        """`speaker` is any number up to 255 that the caller gives meaning to."""
        number = len(self.times)
        found = terms(text)
        self.times.append(at_us)
        new = self._last_us is not None and at_us - self._last_us > SESSION_GAP_US
        self.sessions.append((self.sessions[-1] if number else 0) + new)
        self._last_us = at_us
        self.speakers.append(speaker)
        self.marks.append(_marks(text))
        length = min(LONGEST, len(found))
        self._lengths.append(length)
        self._total += length
        for word, times in Counter(found).items():
            posting = number << TIMES_BITS | min(times, MOST_TIMES)
            self._fresh.setdefault(hash(word) & WORD_MASK, []).append(posting)
            self._fresh_size += 1
        if self._fresh_size > max(LEAST_FRESH, len(self._postings) // 2):
            self.settle()

    def settle(self) -> None:
        """Move fresh postings into the flat arrays. Costs as much as the index is long."""
        words = sorted({*self._words, *self._fresh})
        postings, starts = array("I"), array("I", [0])
        for word in words:
            postings.extend(self._settled(word))
            postings.extend(array("I", self._fresh.get(word, ())))
            starts.append(len(postings))
        self._words, self._starts, self._postings = array("I", words), starts, postings
        self._fresh, self._fresh_size = {}, 0

    def scores(
        self, wanted: Iterable[tuple[str, float]], *, k1: float, b: float, most: int
    ) -> dict[int, float]:
        """BM25 of every line that has one of the terms, each with its weight.

        Rare terms first; once `most` postings were read, commoner terms are left out.
        """
        by_term = [(self._of(hash(term) & WORD_MASK), weight) for term, weight in wanted]
        found = sorted(
            ((postings, weight) for postings, weight in by_term if postings),
            key=lambda pair: len(pair[0]),
        )
        lines = len(self.times)
        average = self._total / lines if lines and self._total else 1.0
        norms = [k1 * (1 - b + b * length / average) for length in range(LONGEST + 1)]
        scores: dict[int, float] = {}
        lengths, read = self._lengths, 0
        for postings, weight in found:
            if read and read + len(postings) > most:
                break
            read += len(postings)
            rarity = log(1 + (lines - len(postings) + 0.5) / (len(postings) + 0.5))
            factor = weight * rarity * (k1 + 1)
            for posting in postings:
                number, times = posting >> TIMES_BITS, posting & MOST_TIMES
                gained = factor * times / (times + norms[lengths[number]])
                scores[number] = scores.get(number, 0.0) + gained
        return scores

    def between(self, since_us: int, until_us: int) -> range:
        """The numbers of the lines of a stretch of time."""
        return range(bisect_left(self.times, since_us), bisect_left(self.times, until_us))

    def _of(self, word: int) -> Sequence[int]:
        fresh = self._fresh.get(word)
        settled = self._settled(word)
        return [*settled, *fresh] if fresh else settled

    def _settled(self, word: int) -> Sequence[int]:
        at = bisect_left(self._words, word)
        if at == len(self._words) or self._words[at] != word:
            return ()
        return self._postings[self._starts[at] : self._starts[at + 1]]


def _marks(text: str) -> int:
    asks = text.rstrip().endswith(("?", "؟", "？"))
    timed = any(stem(word) in TIME_TERMS for word in _WORDS.findall(canonical(text)))
    return asks * QUESTION | timed * TIMED
