"""Drills about memory: a store that answers empty, and one that loses what it accepted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.app import Parts
from bot.lab.drills.record import DrillStage
from bot.lab.stage import USER
from memory import Entry, MemoryBackend, Pace, ReadResult
from memory.port import Address

NOTE = "I am vegetarian"
NOTHING = "do not remember anything"
ANSWERS = ("what I remember", NOTHING, "cannot read my memory")


@dataclass(slots=True)
class Faulty:
    """Passes everything on to a real backend, but for what it is told to get wrong."""

    real: MemoryBackend
    empty_answers: int = 0  # so many reads answer with nothing
    lost_jobs: int = 0  # so many writes are accepted and never carried out
    asked: list[str] = field(default_factory=list)
    written: asyncio.Event = field(default_factory=asyncio.Event)

    async def write(self, entries: Sequence[Entry]) -> None:
        self.asked.append("write")
        self.written.set()
        if self.lost_jobs:
            self.lost_jobs -= 1
            return
        await self.real.write(entries)

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        return await self.real.visible(entries)

    async def read(self, namespace: str) -> ReadResult:
        self.asked.append("read")
        if self.empty_answers:
            self.empty_answers -= 1
            return ReadResult(())
        return await self.real.read(namespace)

    async def count(self, namespace: str) -> int | None:
        return await self.real.count(namespace)

    async def close(self) -> None:
        await self.real.close()


def _parts(made: list[Faulty], *, lost_jobs: int = 0) -> Parts:
    def wrapped(real: MemoryBackend) -> MemoryBackend:
        made.append(Faulty(real, lost_jobs=lost_jobs))
        return made[-1]

    pace = Pace(check_delays=(0.1, 0.3), patience_seconds=0.6)
    return Parts(memory_backend=wrapped, memory_pace=pace)


async def answers_empty(stage: DrillStage) -> None:
    made: list[Faulty] = []
    async with stage.bot(parts=_parts(made)):
        stage.telegram.user_starts(USER)
        stage.telegram.user_sends(USER, f"/remember {NOTE}")
        await stage.shows(USER, "I will remember")
        await stage.until_rows("SELECT 1 FROM memory_proofs")
        await stage.step("a note is kept; a read has shown it")
        [store] = made
        store.asked.clear()
        store.empty_answers = 1
        await _look(stage)
        await stage.step("the store answers empty, then right")
    said = stage.sent(USER, NOTHING)
    stage.check("“I remember nothing” was never said", said == 0, said)
    stage.check("the note is shown", _shown(stage))
    asked = store.asked.count("read")
    stage.check("the store was asked again", asked == 2, asked)


async def _look(stage: DrillStage) -> None:
    stage.telegram.user_sends(USER, "/memory")
    await stage.until(lambda: any(stage.count(USER, each) for each in ANSWERS) or None)


def _shown(stage: DrillStage) -> bool:
    return any(NOTE in m.text and "what I remember" in m.text for m in stage.from_bot(USER))


async def job_fails(stage: DrillStage) -> None:
    made: list[Faulty] = []
    async with stage.bot(parts=_parts(made, lost_jobs=1)):
        stage.telegram.user_starts(USER)
        stage.telegram.user_sends(USER, f"/remember {NOTE}")
        await stage.shows(USER, "I will remember")
        [store] = made
        await store.written.wait()
        await stage.step("the store accepts the note; its job fails")
        await _look(stage)
        early = _shown(stage)
        await stage.step("the user looks at once")
        await stage.until_rows("SELECT 1 WHERE (SELECT count(*) FROM memory_outbox) = 0")
        await stage.step("the note was handed over again")
        copies = sum(NOTE in line.text for line in await stage.lines())
        writes = store.asked.count("write")
    stage.check("own words are readable at once", early)
    stage.check("the line was handed over again", writes == 2, writes)
    stage.check("it is kept exactly once", copies == 1, copies)
