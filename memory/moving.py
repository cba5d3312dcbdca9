"""Copy every line of one backend to another and prove it. The source is only read.

Nothing is noted down on the way: what the target shows is what is done, so a move that was killed
at any moment is simply begun again and goes on where it was.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TypeVar

from memory.backoff import Pace, Sleep, look_until
from memory.port import (
    Address,
    Entry,
    ListedBackend,
    MemoryBackend,
    MemoryFailure,
    MemoryMisconfigured,
    MemoryThrottled,
    MemoryUnavailable,
    ReadResult,
)

T = TypeVar("T")

FAILURES_MOST = 8  # in a row, before the move gives up (and can be begun again)
LOOKS_MOST = 40  # at lines that were handed over, before they are handed over again
HAND_OVERS_MOST = 5


@dataclass(frozen=True, slots=True)
class Step:
    """How far the move has got."""

    namespaces: int
    namespaces_done: int
    lines_proven: int


@dataclass(slots=True)
class Moved:
    """`unreadable`: lines the source admits to have and cannot give. `different`: ids under which
    the target holds something else. Both must be 0 before the source may be given up."""

    namespaces: int = 0
    lines: int = 0
    copied: int = 0
    unreadable: int = 0
    different: int = 0

    @property
    def whole(self) -> bool:
        return not (self.unreadable or self.different)


class Mover:
    """`told` is called after each batch. `sleep` passes the waits between looks."""

    def __init__(
        self,
        source: ListedBackend,
        target: MemoryBackend,
        *,
        told: Callable[[Step], None] = lambda step: None,
        pace: Pace | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._source = source
        self._target = target
        self._told = told
        self._pace = pace or Pace()
        self._sleep = sleep
        self._moved = Moved()
        self._names = 0

    async def move(self) -> Moved:
        """Raises MemoryFailure when it cannot go on; what was moved until then stays moved."""
        names = sorted(await self._patiently(self._source.namespaces))
        self._names = len(names)
        for name in names:
            await self._one(name)
            self._moved.namespaces += 1
            self._tell()
        return self._moved

    async def _one(self, namespace: str) -> None:
        held = await self._read_whole(self._source, namespace)
        self._moved.unreadable += held.dropped
        entries = [Entry(namespace, line) for line in {x.id: x for x in held.lines}.values()]
        for batch in _batches(entries, self._pace.batch_lines):
            await self._carry(batch)
            self._moved.lines += len(batch)
            self._tell()
        there = {x.id: x for x in (await self._read_whole(self._target, namespace)).lines}
        self._moved.different += sum(there.get(e.line.id) != e.line for e in entries)

    async def _carry(self, batch: Sequence[Entry]) -> None:
        """Hand over what the target does not show, until it shows everything."""
        missing = await self._missing(batch)
        self._moved.copied += len(missing)
        for _ in range(HAND_OVERS_MOST):
            if not missing:
                return
            await self._patiently(partial(self._target.write, missing))
            for look in range(1, LOOKS_MOST + 1):
                missing = await self._missing(missing)
                if not missing:
                    return
                await self._sleep(self._pace.check_delay(look))
        raise MemoryUnavailable(
            f"{len(missing)} lines do not appear at the new place; begin the move again later"
        )

    async def _missing(self, entries: Sequence[Entry]) -> list[Entry]:
        shown: frozenset[Address] = await self._patiently(lambda: self._target.visible(entries))
        return [entry for entry in entries if entry.address not in shown]

    async def _read_whole(self, backend: MemoryBackend, namespace: str) -> ReadResult:
        return await look_until(
            lambda: self._patiently(lambda: backend.read(namespace)),
            lambda seen: not seen.dropped,
            sleep=self._sleep,
        )

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask again where that may help. Raises MemoryFailure where it does not."""
        for failures in count(1):
            try:
                return await ask()
            except MemoryMisconfigured:
                raise
            except MemoryThrottled as error:
                await self._sleep(max(1.0, error.retry_after_seconds))
            except MemoryUnavailable as error:
                if failures >= FAILURES_MOST:
                    raise
                delay = self._pace.outage_delay(failures)
                await self._sleep(max(delay, error.retry_after_seconds))
        raise MemoryFailure  # never reached

    def _tell(self) -> None:
        self._told(Step(self._names, self._moved.namespaces, self._moved.lines))


def _batches(entries: Sequence[Entry], most: int) -> list[Sequence[Entry]]:
    return [entries[start : start + most] for start in range(0, len(entries), most)]
