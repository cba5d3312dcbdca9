"""What the outbox and its writer promise: accepted is not proven, and only a proof lets go."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import pytest

from bot.store.migrations import migrate
from bot.store.port import Database
from memory import Entry, Line, LinesRefused, Memory, MemoryUnavailable, Pace, ReadResult, Sql
from memory import outbox as outbox_sql
from memory.backends.sql import SqlBackend
from memory.port import Address, Row
from memory.schema import FOLDER
from tests.contracts.conftest import Connect
from tests.lying_backend import Killed, LyingBackend
from tests.memory_lines import a_line

ALICE, BOB = "a1" * 16, "b2" * 16
NOW = 1_796_000_100.0  # 100 s after the time of the lines
PACE = Pace()
T = TypeVar("T")


class Backend(LyingBackend):
    """Honest, but for what a test asks of it."""

    def __init__(self) -> None:
        super().__init__(honest=True)
        self.failing: Exception | None = None
        self.invisible = False
        self.poison = ""  # an id that breaks every call it is part of
        self.refuses: frozenset[Address] = frozenset()
        self.sizes: list[int] = []

    async def write(self, entries: Sequence[Entry]) -> None:
        self.sizes.append(len(entries))
        if self.failing:
            raise self.failing
        if self.poison in {entry.line.id for entry in entries}:
            raise MemoryUnavailable("500")
        if self.refuses & {entry.address for entry in entries}:
            raise LinesRefused("too long", refused=self.refuses)
        await super().write(entries)

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        if self.failing:
            raise self.failing
        return frozenset() if self.invisible else await super().visible(entries)

    async def read(self, namespace: str) -> ReadResult:
        return ReadResult(()) if self.invisible else await super().read(namespace)


class Counted:
    """A database that counts its transactions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.writes = 0
        self.reads = 0

    async def transact(self, work: Callable[[Sql], T]) -> T:
        self.writes += 1
        return await self._database.transact(work)

    async def read(self, work: Callable[[Sql], T]) -> T:
        self.reads += 1
        return await self._database.read(work)

    async def all(self, text: str) -> Sequence[Row]:
        return await self._database.read(lambda sql: sql.rows(text))

    async def states(self) -> dict[str, str]:
        return dict(await self.all("SELECT line_id, state FROM memory_outbox"))


@pytest.fixture
async def open_counted(connect: Connect) -> Callable[[], Awaitable[Counted]]:
    """Each is like a process of its own, on the same data."""

    async def opened() -> Counted:
        database = await connect()
        await migrate(database, [("memory", FOLDER)], now=0.0)
        return Counted(database)

    return opened


@pytest.fixture
async def database(open_counted: Callable[[], Awaitable[Counted]]) -> Counted:
    return await open_counted()


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
def memory(database: Counted, backend: Backend) -> Memory:
    return Memory(database, backend, pace=PACE, sleep=no_wait)


async def no_wait(_: float) -> None:
    """Reads that seem to lie are tried in test_memory_reads.py."""


def lines(count: int, name: str = "l") -> list[Line]:
    return [a_line(id=f"{name}{n}", ordinal=n) for n in range(count)]


async def drain(memory: Memory, now: float, most: int = 60) -> float:
    """Flush, each time when it is due, until nothing waits; return the time it took."""
    start = now
    for _ in range(most):
        due = await memory.flush(now)
        if due is None:
            return now - start
        now = max(now, due)
    raise AssertionError("never empty")


async def test_lines_exist_only_if_the_transaction_around_them_commits(
    memory: Memory, database: Counted
) -> None:
    def fails(sql: Sql) -> None:
        memory.put(sql, ALICE, lines(2))
        raise KeyError

    with pytest.raises(KeyError):
        await database.transact(fails)
    assert (await memory.status(NOW)).pending == 0
    await database.transact(lambda sql: memory.put(sql, ALICE, lines(2)))
    assert (await memory.status(NOW)).pending == 2


async def test_putting_again_adds_nothing_before_and_after_the_proof(
    memory: Memory, backend: Backend
) -> None:
    await memory.append(ALICE, lines(2))
    await memory.append(ALICE, [a_line(id="l0", text="repeated later"), *lines(2)])
    assert (await memory.status(NOW)).pending == 2
    await drain(memory, NOW)
    await memory.append(ALICE, [a_line(id="l0", at_us=9 * 10**15, text="repeated even later")])
    assert len((await memory.read(ALICE)).lines) == 2
    await drain(memory, NOW)
    reading = await memory.read(ALICE)
    assert reading.complete
    assert list(reading.lines) == lines(2)


async def test_an_unsafe_namespace_is_refused(memory: Memory, database: Counted) -> None:
    with pytest.raises(ValueError, match="namespace"):
        await memory.append("../x", lines(1))


async def test_a_row_goes_only_when_a_read_shows_the_line(
    memory: Memory, backend: Backend, database: Counted
) -> None:
    await memory.append(ALICE, lines(1))
    assert await database.states() == {"l0": "pending"}
    backend.invisible = True
    due = await memory.flush(NOW)
    assert await database.states() == {"l0": "uploaded"}
    assert due == NOW + PACE.check_delays[0]
    assert await memory.flush(due) == due + PACE.check_delays[1]
    assert (await memory.read(ALICE)).lines == tuple(lines(1))  # own write, still readable
    backend.invisible = False
    assert await memory.flush(due + 60) is None
    assert await database.states() == {}
    assert backend.calls.count("write") == 1


async def test_a_line_lost_after_it_was_accepted_is_sent_again(
    memory: Memory, backend: Backend
) -> None:
    await memory.append(ALICE, lines(3))
    backend.invisible = True
    await memory.flush(NOW)
    backend.held.clear()  # the job failed
    backend.invisible = False
    took = await drain(memory, NOW)
    assert len(backend.held) == 3
    assert backend.calls.count("write") == 2
    assert PACE.patience_seconds <= took <= PACE.patience_seconds + 2 * PACE.check_delays[-1]


async def test_patience_grows_with_every_upload(memory: Memory, backend: Backend) -> None:
    await memory.append(ALICE, lines(1))
    backend.invisible = True
    uploads: list[float] = []
    now = NOW
    while len(uploads) < 6:
        due = await memory.flush(now)
        assert due is not None
        assert due >= now
        while len(uploads) < backend.calls.count("write"):
            uploads.append(now)
        now = due
    waits = [after - before for before, after in pairwise(uploads)]
    wanted = [300, 600, 1200, 2400, 3600]
    for wait, least in zip(waits, wanted, strict=True):
        assert least <= wait <= least + 61


async def test_a_pass_that_died_is_repeated_by_another(
    memory: Memory, backend: Backend, database: Counted
) -> None:
    await memory.append(ALICE, lines(40))
    backend.kill_next_write = True
    with pytest.raises(Killed):
        await memory.flush(NOW)
    assert set((await database.states()).values()) == {"running"}
    other = Memory(database, backend, pace=PACE)
    due = await other.flush(NOW + 1)
    assert due == NOW + PACE.lease_seconds
    assert await other.flush(due) is None
    assert len(backend.held) == 40


async def test_two_writers_share_the_rows(
    backend: Backend, open_counted: Callable[[], Awaitable[Counted]]
) -> None:
    pace = Pace(batch_lines=10)
    first, second = [Memory(await open_counted(), backend, pace=pace) for _ in range(2)]
    await first.append(ALICE, lines(40))
    while None not in await asyncio.gather(*(m.flush(NOW) for m in (first, second))):
        pass
    assert sum(backend.sizes) == 40
    assert len(backend.held) == 40


async def test_a_claimed_row_is_in_one_pass_only(database: Counted) -> None:
    await database.transact(lambda sql: outbox_sql.put(sql, ALICE, lines(30)))

    async def claim(now: float) -> list[str]:
        taken = await database.transact(lambda sql: outbox_sql.claim(sql, now, now + 60, 20))
        return [row.entry.line.id for row in taken]

    first, second, third = await claim(NOW), await claim(NOW), await claim(NOW + 59)
    assert (len(first), len(second), len(third)) == (20, 10, 0)
    assert not set(first) & set(second)
    assert len(await claim(NOW + 60)) == 20


async def test_a_pass_that_wakes_late_changes_no_row_of_another(
    database: Counted,
) -> None:
    await database.transact(lambda sql: outbox_sql.put(sql, ALICE, lines(1)))
    late = await database.transact(lambda sql: outbox_sql.claim(sql, NOW, NOW + 60, 9))
    await database.transact(lambda sql: outbox_sql.claim(sql, NOW + 60, NOW + 120, 9))
    before = await database.all("SELECT * FROM memory_outbox")

    def wake(sql: Sql) -> None:
        outbox_sql.reschedule(sql, [late[0].accepted(NOW)], NOW + 60, NOW + 70, PACE)
        outbox_sql.release(sql, [late[0].entry.address], NOW + 60, NOW + 70)

    await database.transact(wake)
    assert await database.all("SELECT * FROM memory_outbox") == before


async def test_a_backend_that_is_out_for_a_day_costs_only_lag(
    backend: Backend, database: Counted
) -> None:
    memory = Memory(database, backend, pace=Pace(outage_delays=(1.0, 60.0, 3600.0)))
    await memory.append(ALICE, lines(500))
    backend.failing = MemoryUnavailable("connection refused")
    now, day = NOW, NOW + 86_400
    while now < day:
        due = await memory.flush(now)
        assert due is not None
        assert due > now
        now = due
    assert len(backend.sizes) < 28  # once an hour in the end
    assert (await memory.status(day)).pending == 500
    assert (await memory.status(day)).oldest_seconds == day - NOW + 100
    backend.failing = None
    await drain(memory, now, most=500)
    assert len(backend.held) == 500


async def test_while_the_backend_is_out_a_pass_touches_nothing(
    memory: Memory, backend: Backend, database: Counted
) -> None:
    await memory.append(ALICE, lines(1))
    backend.failing = MemoryUnavailable("429", retry_after_seconds=90)
    assert await memory.flush(NOW) == NOW + 90
    database.reads = database.writes = 0
    assert await memory.flush(NOW + 89) == NOW + 90
    assert (database.reads, database.writes) == (0, 0)


async def test_an_outage_between_handing_over_and_looking_does_not_hand_over_twice(
    memory: Memory, backend: Backend, database: Counted
) -> None:
    await memory.append(ALICE, lines(1))
    backend.invisible = True
    due = await memory.flush(NOW)
    backend.failing = MemoryUnavailable("down")
    for _ in range(40):  # far beyond all patience
        assert due is not None
        due = await memory.flush(due)
    assert await database.states() == {"l0": "uploaded"}
    backend.failing, backend.invisible = None, False
    assert due is not None
    assert await memory.flush(due) is None
    assert backend.sizes == [1]


async def test_a_refused_line_does_not_keep_the_others_back(
    memory: Memory, backend: Backend, database: Counted
) -> None:
    await memory.append(ALICE, lines(5))
    backend.refuses = frozenset({Address(ALICE, "l2")})
    due = await memory.flush(NOW)
    assert due == NOW
    assert await memory.flush(NOW) == NOW + PACE.refused_seconds
    assert await database.states() == {"l2": "pending"}
    assert len((await memory.read(ALICE)).lines) == 5


async def test_a_refusal_that_names_no_line_does_not_spin(memory: Memory, backend: Backend) -> None:
    await memory.append(ALICE, lines(2))
    backend.failing = LinesRefused("no reason", refused=frozenset())
    due = await memory.flush(NOW)
    assert due is not None
    assert due > NOW


async def test_one_line_that_breaks_every_call_is_isolated(
    memory: Memory, backend: Backend, database: Counted
) -> None:
    await memory.append(ALICE, lines(300))
    backend.poison = "l0"
    now = NOW
    for _ in range(60):
        due = await memory.flush(now)
        now = max(now, due or now)
        if (await database.states()).keys() == {"l0"}:
            break
    assert (await database.states()).keys() == {"l0"}
    assert now < NOW + 3600


async def test_a_damaged_row_stays_and_does_not_stop_the_others(
    memory: Memory, backend: Backend, database: Counted
) -> None:
    await memory.append(ALICE, lines(3))
    await database.transact(
        lambda sql: sql.run("UPDATE memory_outbox SET line = 'half' WHERE line_id = 'l1'")
    )
    assert await memory.flush(NOW) == NOW + PACE.lease_seconds
    assert (await database.states()).keys() == {"l1"}
    reading = await memory.read(ALICE)
    assert len(reading.lines) == 2
    assert not reading.complete


async def test_status_counts_and_ages_what_waits(memory: Memory, backend: Backend) -> None:
    await memory.append(ALICE, lines(2), now=NOW - 30)
    await memory.append(BOB, lines(1))
    everything = await memory.status(NOW)
    assert (everything.pending, everything.uploaded, everything.oldest_seconds) == (3, 0, 100)
    alice = await memory.status(NOW, ALICE)
    assert (alice.pending, alice.oldest_seconds) == (2, 30)
    backend.invisible = True
    await memory.flush(NOW)
    assert (await memory.status(NOW, BOB)).uploaded == 1
    assert (await memory.status(NOW, "nobody")).oldest_seconds == 0


async def test_idle_costs_one_small_read(memory: Memory, database: Counted) -> None:
    assert await memory.flush(NOW) is None
    assert (database.reads, database.writes) == (1, 0)


async def test_hundreds_of_lines_of_many_chats_take_a_handful_of_transactions(
    database: Counted,
) -> None:
    memory = Memory(database, SqlBackend(database), pace=Pace(batch_lines=500))
    for chat in range(100):
        await memory.append(f"{chat:032x}", lines(4))
    database.reads = database.writes = 0
    assert await memory.flush(NOW) is None
    assert database.writes <= 3
    assert database.reads <= 2
    assert (await memory.read(f"{7:032x}")).lines == tuple(lines(4))


async def test_a_turn_that_is_proven_bit_by_bit_is_known_whole(database: Counted) -> None:
    for line in lines(4):
        entry = Entry(ALICE, line)
        await database.transact(lambda sql, e=entry: outbox_sql.prove(sql, [e]))  # type: ignore[misc]
    known = await database.read(lambda sql: outbox_sql.local(sql, ALICE))
    assert known.proven == {line.place for line in lines(4)}


async def test_places_far_apart_are_remembered_exactly(database: Counted) -> None:
    far = [
        a_line(id=f"f{turn}.{ordinal}", turn=turn, ordinal=ordinal)
        for turn in (0, 2**63 - 1)
        for ordinal in (0, 61, 62, 63, 2**63 - 1)
    ]
    for _ in range(2):
        entries = [Entry(ALICE, line) for line in far]
        await database.transact(lambda sql, e=entries: outbox_sql.prove(sql, e))  # type: ignore[misc]
    known = await database.read(lambda sql: outbox_sql.local(sql, ALICE))
    assert known.proven == {line.place for line in far}
    nothing = await database.read(lambda sql: outbox_sql.local(sql, BOB))
    assert nothing.proven == frozenset()
