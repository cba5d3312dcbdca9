"""What the Walrus backend makes of a relayer that is late, lies, refuses or is away."""

import pytest

from bot.lab.relayer import LAB_ACCOUNT, Limits, Relayer, Timing
from memory import Entry, Line, Memory, MemoryBackend, MemoryUnavailable
from memory.port import MemoryMisconfigured, MemoryThrottled
from tests.memory_database import SqliteDatabase
from tests.memory_lines import a_line
from tests.relayer import UNLIMITED, HandClock, walrus_backend

ALICE = "a1" * 16
ONE = [Entry(ALICE, a_line(id="one"))]
DAY = 86_400.0


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def world(clock: HandClock) -> Relayer:
    return Relayer(clock=clock)


async def put(memory: Memory, database: SqliteDatabase, line: Line, now: float) -> None:
    await database.transact(lambda sql: memory.put(sql, ALICE, [line], now=now))


async def settle(memory: Memory, clock: HandClock, *, until: float) -> None:
    """Let the writer pass whenever it wants to, up to a time."""
    while clock.now < until:
        due = await memory.flush(clock.now)
        if due is None:
            return
        clock.now = min(until, max(due, clock.now + 0.01))


async def test_only_a_recall_proves_a_line(world: Relayer, clock: HandClock) -> None:
    backend = walrus_backend(world)
    await backend.write(ONE)
    seen = []
    for _ in range(6):
        seen.append(
            (world.state(next(iter(world.jobs.values()))), bool(await backend.visible(ONE)))
        )
        clock.now += 5
    assert ("done", False) in seen
    assert seen[-1] == ("done", True)
    assert all(state == "done" for state, shown in seen if shown)


async def test_a_slow_line_is_never_sent_twice_and_a_failed_one_is(
    world: Relayer, clock: HandClock
) -> None:
    backend = walrus_backend(world)
    world.faults.fail_next = 1
    await backend.write(ONE)
    await backend.write(ONE)
    assert len(world.jobs) == 1  # under way
    clock.now += 60
    assert await backend.visible(ONE) == frozenset()
    await backend.write(ONE)
    assert len(world.jobs) == 2
    clock.now += 60
    assert await backend.visible(ONE)


async def test_dropped_is_neither_empty_nor_read(clock: HandClock) -> None:
    world = Relayer(clock=clock, timing=Timing(0, 0, 0))
    backend = walrus_backend(world)
    await backend.write(ONE)
    world.faults.drop_next = 1
    assert await backend.count(ALICE) is None
    world.faults.drop_next = 1
    answer = await backend.read(ALICE)
    assert (answer.lines, answer.dropped) == ((), 1)
    world.faults.empty_next = 2
    assert (await backend.read(ALICE)).dropped == 1  # the list of namespaces knows better
    assert (await backend.read(ALICE)).lines == (ONE[0].line,)


async def test_duplicates_are_one_line(clock: HandClock) -> None:
    world = Relayer(clock=clock, timing=Timing(0, 0, 0))
    world.faults.duplicates = True
    backend = walrus_backend(world)
    await backend.write(ONE)
    assert (await backend.read(ALICE)).lines == (ONE[0].line,)


async def test_a_clock_that_is_off_is_corrected_by_the_relayers(world: Relayer) -> None:
    backend = walrus_backend(world, clock=lambda: world.clock() - 3 * 3600)
    await backend.write(ONE)
    assert len(world.jobs) == 1


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("full", MemoryMisconfigured, "full or unpaid"),
        ("upgrade", MemoryMisconfigured, "update Dabir"),
        ("auth_down", MemoryUnavailable, "503"),
        ("down", MemoryUnavailable, "503"),
        ("answers_namespace", MemoryMisconfigured, "another namespace"),
        ("limit_next", MemoryThrottled, "pause"),
        ("cut_next", MemoryUnavailable, "500"),
        ("revoked", MemoryMisconfigured, "revoked"),
    ],
)
async def test_each_refusal_has_its_kind_and_sentence_and_the_line_waits(
    world: Relayer, clock: HandClock, fault: str, kind: type[Exception], words: str
) -> None:
    backend = walrus_backend(world)
    if fault == "revoked":
        world.revoke(LAB_ACCOUNT)
    else:
        now: object = getattr(world.faults, fault)
        setattr(world.faults, fault, "other" if now == "" else 1 if now == 0 else True)
    with pytest.raises(kind, match=words):
        await backend.write(ONE)
    database = SqliteDatabase()
    memory = Memory(database, walrus_backend(world))
    await put(memory, database, ONE[0].line, clock.now)
    await memory.flush(clock.now)
    assert (await memory.status(clock.now)).pending == 1
    await memory.close()
    await database.close()


async def test_i9_a_relayer_that_is_down_for_a_day_costs_nothing_but_lag(
    world: Relayer, clock: HandClock
) -> None:
    world.limits = Limits()
    database = SqliteDatabase()
    backend: MemoryBackend = walrus_backend(world)
    memory = Memory(database, backend)
    world.faults.down = True
    start = clock.now
    lines = [a_line(id=f"l{n}", turn=n) for n in range(240)]
    for n, line in enumerate(lines):
        await put(memory, database, line, clock.now)
        await settle(memory, clock, until=start + (n + 1) * DAY / len(lines))
    calls = len(world.calls)
    status = await memory.status(clock.now)
    assert status.pending == 240
    assert calls < 2 * DAY / 300 + 20  # it is asked every five minutes, whatever waits
    world.faults.down = False
    await settle(memory, clock, until=clock.now + 3 * 3600)
    assert (await memory.status(clock.now)).pending == 0
    world.limits = None
    held = await walrus_backend(world, points=UNLIMITED).read(ALICE)
    assert sorted(line.id for line in held.lines) == sorted(line.id for line in lines)
    await memory.close()
    await database.close()


async def test_leases_are_told_soonest_first(clock: HandClock) -> None:
    world = Relayer(clock=clock, timing=Timing(0, 0, 0, lease_seconds=DAY))
    backend = walrus_backend(world)
    await backend.write(ONE)
    [lease] = await backend.leases()
    assert lease.ends.timestamp() == clock.now + DAY


async def test_many_texts_fill_shelves_and_all_are_read(clock: HandClock) -> None:
    world = Relayer(clock=clock, timing=Timing(0, 0, 0))
    backend = walrus_backend(world, points=UNLIMITED)
    for n in range(150):
        await backend.write([Entry(ALICE, a_line(id=f"l{n}", turn=n))])
    assert len({job.namespace for job in world.jobs.values()}) > 1
    assert len((await backend.read(ALICE)).lines) == 150
