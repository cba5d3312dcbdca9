"""Reads a namespace from a backend that may lie: late, empty, short, repeated, reordered.

How a short list gives itself away. Every place (turn, ordinal) that a read has ever shown is
known here (memory_proofs). Nothing is ever deleted, so an answer that lacks such a place is
partial, and the answers of several looks add up. Where nothing is known here (a lost database),
the backend's count tells an empty namespace from an empty answer, and a hole in the ordinals of
a turn tells a short list.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from memory import outbox
from memory.backoff import Sleep, look_until
from memory.line import Line, Place
from memory.order import arranged
from memory.outbox import Local
from memory.port import Database, MemoryBackend, MemoryUnavailable

Opened: TypeAlias = Callable[[Line], Line | None]
MOST_ORDINALS = 1000  # nobody writes more lines in a turn; a damaged number must not cost memory


def as_it_is(line: Line) -> Line:
    """For a memory without seals."""
    return line


class Reach(StrEnum):
    """How far a reading got."""

    COMPLETE = "complete"  # every line that is known to have been accepted is here
    PARTIAL = "partial"  # some are missing; what is here is true
    UNREAD = "unread"  # the store was not read: never say that nothing was found


@dataclass(frozen=True, slots=True)
class Reading:
    """Lines in order, each id once: the backend's and those that still wait for it."""

    lines: tuple[Line, ...]
    reach: Reach
    gaps: tuple[Place, ...] = ()  # places that must hold a line and do not
    dropped: int = 0  # lines the backend admitted to hold back, in its last answer
    waiting: int = 0  # lines that only the outbox knows for sure
    damaged: int = 0  # lines that are there and cannot be read any more, here or in the backend

    @property
    def complete(self) -> bool:
        return self.reach is Reach.COMPLETE

    @property
    def nothing_known(self) -> bool:
        """True only when the store was read to the end and there is no line."""
        return self.complete and not self.lines


@dataclass(slots=True)
class _Gathered:
    """What the looks at one namespace have shown so far; they add up."""

    local: Local
    expects_lines: bool  # the backend said that it holds more than our own
    found: list[Line] = field(default_factory=list)
    answered: bool = False
    dropped: int = 0
    damaged: int = 0

    def gaps(self) -> frozenset[Place]:
        shown = {line.place for line in (*self.found, *self.local.own)}
        return (self.local.proven or _holes(self.found)) - shown

    def enough(self) -> bool:
        if not self.answered or len(self.gaps()) > self.damaged:
            return False  # what is missing because it is damaged does not come with patience
        if self.local.proven:  # all that is known is here; what was dropped is not ours to miss
            return True
        return not self.dropped and (bool(self.found) or not self.expects_lines)

    def reach(self, damaged: int) -> Reach:
        if self.enough():
            return Reach.PARTIAL if damaged else Reach.COMPLETE
        return Reach.PARTIAL if self.found else Reach.UNREAD


class Reader:
    def __init__(self, database: Database, backend: MemoryBackend, sleep: Sleep) -> None:
        self._database = database
        self._backend = backend
        self._sleep = sleep

    async def read(self, namespace: str, opened: Opened = as_it_is) -> Reading:
        """Backend and outbox together; up to 5.6 s when the backend seems to lie, else at once.

        `opened` unseals a line; None: it is damaged. Looks are judged by the sealed lines.

        The outbox is read before the backend: a line moves from the one to the other, so in this
        order it cannot be missed by both.
        """
        local = await self._database.read(lambda sql: outbox.local(sql, namespace))
        count = None if local.proven else await self._count(namespace)
        gathered = _Gathered(local, expects_lines=(count or 0) > local.handed_over)
        if count == 0:
            gathered.answered = True
        else:
            await look_until(
                lambda: self._look(namespace, gathered), _Gathered.enough, sleep=self._sleep
            )
            await self._learn(namespace, gathered)
        return _reading(gathered, opened)

    async def _count(self, namespace: str) -> int | None:
        try:
            return await self._backend.count(namespace)
        except MemoryUnavailable:
            return None

    async def _look(self, namespace: str, gathered: _Gathered) -> _Gathered:
        try:
            answer = await self._backend.read(namespace)
        except MemoryUnavailable:
            return gathered
        gathered.answered = True
        gathered.dropped = answer.dropped
        gathered.damaged = answer.damaged
        gathered.found += answer.lines
        return gathered

    async def _learn(self, namespace: str, gathered: _Gathered) -> None:
        """Remember places first seen now: lines from before this database, or brought by others."""
        local = gathered.local
        mine = {line.id for line in local.own}
        shown = {line.place for line in gathered.found if line.id not in mine}
        new = [(namespace, place) for place in sorted(shown - local.proven)]
        if new:
            await self._database.transact(lambda sql: outbox.learn(sql, new))


def _holes(lines: Iterable[Line]) -> frozenset[Place]:
    """The ordinals below the highest of their turn that no line has."""
    turns: dict[int, set[int]] = defaultdict(set)
    for line in lines:
        turns[line.turn].add(line.ordinal)
    return frozenset(
        Place(turn, ordinal)
        for turn, ordinals in turns.items()
        for ordinal in range(min(max(ordinals), MOST_ORDINALS))
        if ordinal not in ordinals
    )


def _reading(gathered: _Gathered, opened: Opened) -> Reading:
    lines, closed = [], set()
    for line in (*gathered.found, *gathered.local.own):
        inside = opened(line)
        lines.append(inside) if inside is not None else closed.add(line.id)
    closed -= {line.id for line in lines}  # one good copy is enough
    damaged = len(closed) + gathered.damaged + gathered.local.unreadable
    return Reading(
        lines=arranged(lines),
        reach=gathered.reach(damaged),
        gaps=tuple(sorted(gathered.gaps())),
        dropped=gathered.dropped,
        waiting=len(gathered.local.own),
        damaged=damaged,
    )
