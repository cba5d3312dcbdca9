"""A memory that is as slow and as unreliable as a distributed one, on purpose.

Nothing is lost in it: it only answers late, or, while a file says so, with nothing at all. Lines
are kept by the backend behind it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from memory.line import Line
from memory.port import Address, Entry, MemoryBackend, ReadResult

LAG_SECONDS = 2.5  # a line that was accepted is not readable before
LIE_FILE = "memory-answers-empty"  # as long as it is there, every answer is empty
MICROSECONDS = 1_000_000


class ForgetfulBackend:
    def __init__(self, behind: MemoryBackend, lie: Path, clock: Callable[[], float]) -> None:
        self._behind = behind
        self._lie = lie
        self._clock = clock

    async def write(self, entries: Sequence[Entry]) -> None:
        await self._behind.write(entries)

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        if self._lie.exists():
            return frozenset()
        return await self._behind.visible([each for each in entries if self._shows(each.line)])

    async def read(self, namespace: str) -> ReadResult:
        if self._lie.exists():
            return ReadResult(())
        found = await self._behind.read(namespace)
        return ReadResult(tuple(filter(self._shows, found.lines)), found.dropped)

    async def count(self, namespace: str) -> int | None:
        return None if self._lie.exists() else await self._behind.count(namespace)

    async def close(self) -> None:
        await self._behind.close()

    def _shows(self, line: Line) -> bool:
        return line.at_us <= (self._clock() - LAG_SECONDS) * MICROSECONDS
