"""Before and after: what a naive reader and ours see on a store that lies.

    python -m memory.before_after

Three lies that distributed stores tell (see backoff.py), one scene each, side by side:

1. an empty list right after a write, although the store holds lines;
2. a job that was accepted and fails later, so that its line never appears;
3. lines with equal times, in whatever order the store returns them.

Deterministic: no clock, no chance, and the waits are written down instead of waited for.
"""

import asyncio
import logging
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import structlog

from memory.backoff import Pace
from memory.fold import fold
from memory.line import Author, Kind, Line
from memory.port import Address, Entry, ReadResult, Row, Sql, T, Values
from memory.reader import Reach, Reading
from memory.schema import scripts
from memory.service import Memory

NAMESPACE = "a1" * 16
BEGIN_US = 1_796_000_000_000_000
BEGIN = BEGIN_US / 1e6
WIDTH = 34
NO_VALUES: Values = {}


@dataclass(slots=True)
class Store:
    """A backend that holds lines and answers as it is told to."""

    held: list[Line] = field(default_factory=list)
    empty_answers: int = 0
    failing_jobs: int = 0
    reversed_answers: bool = False

    async def write(self, entries: Sequence[Entry]) -> None:
        if self.failing_jobs:
            self.failing_jobs -= 1
            return
        known = {line.id for line in self.held}
        self.held += [entry.line for entry in entries if entry.line.id not in known]

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        known = {line.id for line in self.held}
        return frozenset(entry.address for entry in entries if entry.line.id in known)

    async def read(self, namespace: str) -> ReadResult:
        if self.empty_answers:
            self.empty_answers -= 1
            return ReadResult(())
        lines = self.held[::-1] if self.reversed_answers else self.held
        return ReadResult(tuple(lines))

    async def count(self, namespace: str) -> int | None:
        return None

    async def close(self) -> None:
        """Nothing is open."""


class Ledger:
    """The smallest database that memory can stand on: SQLite in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        for _, text in scripts():
            connection.executescript(text)

    def run(self, text: str, values: Values = NO_VALUES, /) -> int:
        return self._connection.execute(text, values).rowcount

    def rows(self, text: str, values: Values = NO_VALUES, /) -> Sequence[Row]:
        return self._connection.execute(text, values).fetchall()

    async def transact(self, work: Callable[[Sql], T]) -> T:
        with self._connection:
            return work(self)

    async def read(self, work: Callable[[Sql], T]) -> T:
        return work(self)


@dataclass(slots=True)
class Scene:
    """Two stores that tell the same lies: one used naively, one through our memory."""

    plain: Store
    store: Store
    memory: Memory
    waits: list[float]

    def each(self) -> tuple[Store, Store]:
        return self.plain, self.store

    async def put(self, lines: Sequence[Line]) -> float | None:
        """Write the naive way (handed over, so it is kept) and ours; return when ours goes on."""
        await self.plain.write([Entry(NAMESPACE, line) for line in lines])
        await self.memory.append(NAMESPACE, lines, now=BEGIN)
        return await self.memory.flush(BEGIN)

    async def naive(self) -> tuple[Line, ...]:
        """What a reader sees that takes the first answer for the truth."""
        return (await self.plain.read(NAMESPACE)).lines


def said(text: str, ordinal: int = 0, at_us: int = 0, key: str = "") -> Line:
    """A fact of turn 1."""
    return Line(
        id=f"{at_us}.1.{ordinal}",
        at_us=BEGIN_US + at_us,
        turn=1,
        ordinal=ordinal,
        kind=Kind.FACT,
        author=Author.USER,
        text=text,
        key=key,
    )


def scene(connection: sqlite3.Connection) -> Scene:
    store = Store()
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    pace = Pace(patience_seconds=5.0)
    return Scene(Store(), store, Memory(Ledger(connection), store, pace=pace, sleep=wait), waits)


def words(lines: Sequence[Line]) -> str:
    return "; ".join(line.text for line in lines) or "(nothing)"


def described(reading: Reading) -> str:
    if reading.reach is Reach.UNREAD:
        return "(could not be read: ask again)"
    return words(reading.lines)


Compared = list[tuple[str, str, str]]  # what was done, the naive view, ours


async def empty_illusion(at: Scene) -> Compared:
    await at.put([said("I am allergic to nuts")])
    found: Compared = []
    for lies, what in ((1, "one empty answer"), (4, "nothing but empty answers")):
        for store in at.each():
            store.empty_answers = lies
        at.waits.clear()
        naive = words(await at.naive())
        ours = described(await at.memory.read(NAMESPACE))
        waited = f", asked again after {', '.join(f'{each:g} s' for each in at.waits)}"
        found.append((what, naive, ours + waited))
    return found


async def late_job(at: Scene) -> Compared:
    for store in at.each():
        store.failing_jobs = 1
    due = await at.put([said("My sister is Ana")])
    found = [("accepted; its job has failed", *(await _both(at)))]
    while due is not None:
        due = await at.memory.flush(due)
    found.append(("a minute later", *(await _both(at))))
    status = await at.memory.status(BEGIN + 60)
    kept = [f"{len(store.held)} of 1 line is in the store" for store in at.each()]
    found.append(("and in the end", kept[0], f"{kept[1]}, {status.pending} waiting"))
    return found


async def ties(at: Scene) -> Compared:
    lives = [
        said("I live in Rome", 0, key="fact:home"),
        said("I live in Oslo", 1, key="fact:home"),
    ]
    await at.put(lives)
    found: Compared = []
    for backwards, what in ((False, "in the order written"), (True, "in reverse")):
        for store in at.each():
            store.reversed_answers = backwards
        naive = (await at.naive())[-1].text
        ours = words(fold((await at.memory.read(NAMESPACE)).lines).facts)
        found.append((what, naive, ours))
    return found


async def _both(at: Scene) -> tuple[str, str]:
    return words(await at.naive()), described(await at.memory.read(NAMESPACE))


SCENES = (
    ("An empty list that is none", empty_illusion),
    ("A job that fails after it was accepted", late_job),
    ("Two lines of the same microsecond", ties),
)


async def compare() -> list[tuple[str, Compared]]:
    """Play all scenes, each on a store of its own."""
    found = []
    for title, play in SCENES:
        with closing(sqlite3.connect(":memory:")) as connection:
            found.append((title, await play(scene(connection))))
    return found


def drawn(scenes: Sequence[tuple[str, Compared]]) -> str:
    lines = []
    for title, compared in scenes:
        lines += [title, f"  {'':30} {'a naive reader sees':{WIDTH}} Dabir's memory sees"]
        lines += [f"  {what:30} {naive:{WIDTH}} {ours}" for what, naive, ours in compared]
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    quiet = structlog.make_filtering_bound_logger(logging.CRITICAL)
    structlog.configure(wrapper_class=quiet)
    sys.stdout.write(drawn(asyncio.run(compare())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
