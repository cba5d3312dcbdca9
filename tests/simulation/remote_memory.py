"""A memory store far away: accepts at once, shows late, answers short, empty or not at all."""

import asyncio
from collections.abc import Sequence
from random import Random

from memory.line import Line
from memory.port import Address, Entry, MemoryUnavailable, ReadResult
from tests.simulation.loop import SimulatedLoop


class RemoteMemory:
    def __init__(self, loop: SimulatedLoop, random: Random, *, faulty: bool, rate: float) -> None:
        self.faulty = faulty
        self.held: dict[Address, Line] = {}
        self.visible_at: dict[Address, float] = {}
        self._loop = loop
        self._random = random
        self._rate = rate

    async def write(self, entries: Sequence[Entry]) -> None:
        await self._reached(0.08)
        for entry in entries:
            if self._chance(0.05):  # accepted, and the job fails afterwards
                continue
            self.held.setdefault(entry.address, entry.line)
            late = self._random.uniform(5.0, 40.0) if self._chance(0.5) else 0.0
            self.visible_at.setdefault(entry.address, self._loop.time() + late)
        if self._chance(0.03):
            raise MemoryUnavailable("the answer was lost")

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        await self._reached(0.05)
        shown = self._shown()
        return frozenset(entry.address for entry in entries if entry.address in shown)

    async def read(self, namespace: str) -> ReadResult:
        await self._reached(0.05)
        if self._chance(0.05):
            return ReadResult(())
        lines = [self.held[each] for each in self._shown() if each.namespace == namespace]
        if self._chance(0.05):
            lines = [line for line in lines if self._random.random() < 0.5]
        return ReadResult(tuple(lines))

    async def count(self, namespace: str) -> int | None:
        await self._reached(0.05)
        if self._chance(0.3):
            return None
        return sum(each.namespace == namespace for each in self._shown())

    async def close(self) -> None:
        pass

    def _shown(self) -> dict[Address, Line]:
        now = self._loop.time()
        return {each: line for each, line in self.held.items() if self.visible_at[each] <= now}

    async def _reached(self, fails: float) -> None:
        await asyncio.sleep(self._random.uniform(0.01, 0.3))
        if self._chance(fails):
            raise MemoryUnavailable("simulated")

    def _chance(self, share: float) -> bool:
        return self.faulty and self._random.random() < share * self._rate
