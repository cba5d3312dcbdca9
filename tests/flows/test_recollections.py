"""A memory that was read once is kept in mind: a turn reads what is new; forgetting is whole."""

import asyncio

import pytest

from memory import Line, Memory, ReadResult, keys
from memory.recollection import FRESH_SECONDS, Recollections
from tests.lying_backend import LyingBackend
from tests.memory_database import SqliteDatabase
from tests.memory_lines import a_line

ALICE, BOB = "a1" * 16, "b2" * 16
NOW = 1_796_000_100.0


class Counted(LyingBackend):
    def __init__(self) -> None:
        super().__init__(honest=True)
        self.readings = 0
        self.gate: asyncio.Event | None = None
        self.begun = asyncio.Event()

    async def read(self, namespace: str) -> ReadResult:
        self.readings += 1
        self.begun.set()
        found = await super().read(namespace)
        if self.gate is not None:
            await self.gate.wait()
        return found


class Rig:
    def __init__(self) -> None:
        self.database, self.backend = SqliteDatabase(), Counted()
        self.memory = Memory(self.database, self.backend)
        self.minds = Recollections(self.memory)

    async def put(self, *turns: int, namespace: str = ALICE, memory: Memory | None = None) -> None:
        lines = [line(turn) for turn in turns]
        await (memory or self.memory).append(namespace, lines)

    async def prove(self) -> None:
        assert await self.memory.flush(NOW) is None

    async def ids(self, now: float = NOW) -> list[str]:
        before = self.backend.readings
        mind = await self.minds.of(ALICE, now)
        self.asked = self.backend.readings - before
        return [each.id for each in mind.lines]


def line(turn: int) -> Line:
    return a_line(id=f"l{turn}", turn=turn, at_us=turn * 1000, text=f"word{turn}")


@pytest.fixture
async def rig() -> Rig:
    return Rig()


async def test_later_turns_do_not_ask_the_store_again(rig: Rig) -> None:
    await rig.put(1, 2)
    await rig.prove()
    assert await rig.ids() == ["l1", "l2"]
    assert rig.asked == 1
    for turn in range(3, 40):
        await rig.put(turn)
        if turn % 2:
            await rig.prove()
        assert (await rig.ids())[-1] == f"l{turn}"
        assert rig.asked == 0
    assert len(await rig.ids()) == 39


async def test_a_line_of_another_process_is_read_from_the_store(rig: Rig) -> None:
    await rig.put(1)
    await rig.ids()
    other = Memory(rig.database, rig.backend)
    await rig.put(2, memory=other)
    assert await rig.ids() == ["l1", "l2"], "it waits in the outbox that both share"
    await rig.put(3, memory=other)
    await rig.prove()
    assert await rig.ids() == ["l1", "l2", "l3"]
    assert rig.asked == 1


async def test_after_a_while_it_is_read_in_full_again(rig: Rig) -> None:
    await rig.put(1)
    await rig.prove()
    await rig.ids()
    await rig.ids(NOW + FRESH_SECONDS - 1)
    assert rig.asked == 0
    await rig.ids(NOW + FRESH_SECONDS)
    assert rig.asked == 1


async def test_a_rolled_back_line_is_not_remembered(rig: Rig) -> None:
    await rig.put(1)
    await rig.ids()

    def fails(sql: object) -> None:
        rig.memory.put(sql, ALICE, [line(2)])  # type: ignore[arg-type]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await rig.database.transact(fails)
    assert await rig.ids() == ["l1"]
    other = a_line(id="l2b", turn=2, at_us=2000, text="what came instead")
    await rig.memory.append(ALICE, [other])
    await rig.prove()
    assert await rig.ids() == ["l1", "l2b"]


async def test_what_is_forgotten_is_not_kept_in_mind(rig: Rig) -> None:
    await rig.put(1)
    await rig.prove()
    await rig.ids()
    await rig.minds.destroy(ALICE)
    assert len(rig.minds) == 0


async def test_what_is_read_while_it_is_forgotten_is_not_kept(rig: Rig) -> None:
    await rig.put(1)
    await rig.prove()
    rig.backend.gate = asyncio.Event()
    rig.backend.begun.clear()
    reading = asyncio.create_task(rig.minds.of(ALICE, NOW))
    await rig.backend.begun.wait()
    await rig.minds.destroy(ALICE)
    rig.backend.gate.set()
    await reading
    assert len(rig.minds) == 0


async def test_of_many_the_ones_used_last_are_kept(rig: Rig) -> None:
    minds = Recollections(rig.memory, most_lines=3)
    for namespace in (ALICE, BOB):
        await rig.put(1, 2, namespace=namespace)
    await rig.prove()
    await minds.of(ALICE, NOW)
    await minds.of(BOB, NOW)
    assert len(minds) == 2
    before = rig.backend.readings
    await minds.of(BOB, NOW)
    assert rig.backend.readings == before


async def test_what_another_process_destroyed_is_dropped_when_it_is_asked_for(rig: Rig) -> None:
    vault = await rig.database.transact(lambda sql: keys.found(sql, b"a secret of sixteen"))
    here, elsewhere = (Memory(rig.database, rig.backend, vault=vault) for _ in range(2))
    minds = Recollections(here)
    await here.append(ALICE, [line(1)])
    assert await here.flush(NOW) is None
    assert len(await minds.of(ALICE, NOW)) == 1
    await here.append(ALICE, [line(2)])
    assert await here.flush(NOW) is None
    assert len(await minds.of(ALICE, NOW)) == 2
    await rig.database.transact(lambda sql: elsewhere.destroy(sql, ALICE))
    assert len(await minds.of(ALICE, NOW)) == 0
    assert len(minds) == 0
