"""Which lines of an index a question is about.

The numbers below were chosen on three of the ten LoCoMo conversations and measured on the other
seven (docs/memory.md). A line is seldom about what it says alone: what was said right before and
after it says what it answers, so every hit lends some of its score to its neighbours.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import islice

from memory.index import QUESTION, TIMED, Index
from memory.lexicon import same_meaning
from memory.normalise import canonical
from memory.timespans import Span
from memory.words import terms

K1, B = 0.9, 0.3
FORWARD = (0.6, 0.25, 0.12, 0.06)  # lent to the next lines of the conversation
BACKWARD = (0.4, 0.2, 0.1)  # and to the lines before
SESSION = 0.2  # of the best score of its conversation, to every hit
NAMED = 1.0  # more, if it was said by whoever the question names
TIMELY = 0.2  # more, if it names a time and the question asks when
ASKING = 0.2  # less, if it is a question itself
IN_SPAN = 1.0  # more, if it is from the time that the question names
OTHER_LANGUAGE = 0.6  # a word of the same meaning counts as much of the word itself
MOST_POSTINGS = 20_000  # bounds the time a question takes, however long the log
MOST_LENDING = 1000
_WHEN = re.compile(
    r"(?:when|how long|since when|what (?:date|day|month|year|time))\b|.*\b(?:کی|چه وقت|چه زمانی"
    r"|چه روزی|چه تاریخی|چند وقت)\b"
)


@dataclass(frozen=True, slots=True)
class Query:
    """`speakers`: the numbers, as given to Index.add, of those whom the question may name."""

    words: str
    span: Span | None = None
    speakers: Mapping[str, int] = field(default_factory=dict)  # folded name -> number


@dataclass(frozen=True, slots=True)
class Hit:
    number: int
    score: float


def rank(
    index: Index,
    query: Query,
    limit: int,
    *,
    neighbours: bool = True,
    allowed: Callable[[int], bool] | None = None,
) -> tuple[Hit, ...]:
    """The best first, of equals the newest. A line that shares no word can be found by its
    neighbours, never by nothing: () if no line and no time answers. Without `neighbours` only
    lines that share a word are found. `allowed` says of a line's number whether it may be found; it
    lends to others all the same."""
    own = index.scores(_wanted(query.words), k1=K1, b=B, most=MOST_POSTINGS)
    if not own and query.span is not None:
        found = index.between(query.span.since_us, query.span.until_us)
        newest = (number for number in reversed(found) if allowed is None or allowed(number))
        return tuple(Hit(number, 1.0) for number in islice(newest, limit))
    scores = own
    if neighbours:
        scores = _lent(index, own)
        _weigh(index, query, scores)
    if allowed is not None:
        scores = {number: score for number, score in scores.items() if allowed(number)}
    best = nlargest(limit, scores.items(), key=lambda hit: (round(hit[1], 9), hit[0]))
    return tuple(Hit(number, score) for number, score in best)


def _wanted(words: str) -> list[tuple[str, float]]:
    wanted = dict.fromkeys(terms(words), 1.0)
    for term in list(wanted):
        for other in same_meaning(term):
            wanted.setdefault(other, OTHER_LANGUAGE)
    return sorted(wanted.items())  # sums of floats in one order, so that equal scores are equal


def _lent(index: Index, own: dict[int, float]) -> dict[int, float]:
    scores = dict(own)
    sessions, lines = index.sessions, len(index)
    lending = sorted(nlargest(MOST_LENDING, own.items(), key=lambda hit: (hit[1], hit[0])))
    best: dict[int, float] = {}
    steps = [
        *((distance, share) for distance, share in enumerate(FORWARD, 1)),
        *((-distance, share) for distance, share in enumerate(BACKWARD, 1)),
    ]
    for number, score in lending:
        session = sessions[number]
        best[session] = max(score, best.get(session, 0.0))
        for distance, share in steps:
            other = number + distance
            if 0 <= other < lines and sessions[other] == session:
                scores[other] = scores.get(other, 0.0) + share * score
    for number in scores:
        scores[number] += SESSION * best.get(sessions[number], 0.0)
    return scores


def _weigh(index: Index, query: Query, scores: dict[int, float]) -> None:
    asked = canonical(query.words.replace("'s", "").replace("’s", ""))
    named = {query.speakers[word] for word in asked.split() if word in query.speakers}
    speaker = named.pop() if len(named) == 1 else None
    when = bool(_WHEN.match(asked))
    for number in scores:
        factor = 1.0
        if speaker is not None and index.speakers[number] == speaker:
            factor += NAMED
        marks = index.marks[number]
        if when and marks & TIMED:
            factor *= 1 + TIMELY
        if marks & QUESTION:
            factor *= 1 - ASKING
        if query.span is not None and query.span.holds(index.times[number]):
            factor *= 1 + IN_SPAN
        scores[number] *= factor
