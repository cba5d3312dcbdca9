"""Reading memory through a backend that lies: own writes, retries, and never a false "nothing"."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memory import Line, Memory, MemoryUnavailable, Place, Reach, ReadResult, fold
from memory.order import arranged
from memory.port import Address
from tests.lying_backend import Killed, LyingBackend
from tests.memory_database import SqliteDatabase
from tests.memory_lines import a_line

ALICE, BOB = "a1" * 16, "b2" * 16
NOW = 1_796_000_100.0
ALL_WAITS = [0.6, 2.0, 3.0]

Answer = ReadResult | MemoryUnavailable


class Scripted(LyingBackend):
    """Keeps lines honestly, and answers reads from a script while there is one."""

    def __init__(self) -> None:
        super().__init__(honest=True)
        self.script: list[Answer] = []
        self.counted: int | MemoryUnavailable | None = 0
        self.count_from_lines = True

    async def read(self, namespace: str) -> ReadResult:
        truth = await super().read(namespace)
        answer = self.script.pop(0) if self.script else truth
        if isinstance(answer, MemoryUnavailable):
            raise answer
        return answer

    async def count(self, namespace: str) -> int | None:
        truth = await super().count(namespace)
        answer = truth if self.count_from_lines else self.counted
        if isinstance(answer, MemoryUnavailable):
            raise answer
        return answer


class Rig:
    def __init__(self) -> None:
        self.database = SqliteDatabase()
        self.backend = Scripted()
        self.waited: list[float] = []
        self.memory = self.restart()

    def restart(self) -> Memory:
        self.memory = Memory(self.database, self.backend, sleep=self.sleep)
        return self.memory

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def proven(self, lines: Iterable[Line]) -> None:
        await self.memory.append(ALICE, list(lines))
        assert await self.memory.flush(NOW) is None
        self.backend.calls.clear()

    def lost_database(self) -> None:
        self.database = SqliteDatabase()
        self.restart()


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    made = Rig()
    yield made
    await made.database.close()


LINES = tuple(a_line(id=f"l{n}", turn=n // 3, ordinal=n % 3, at_us=n) for n in range(6))
EMPTY = ReadResult(())
DOWN = MemoryUnavailable("no answer")


async def test_a_new_user_never_waits(rig: Rig) -> None:
    reading = await rig.memory.read(ALICE)
    assert reading.nothing_known
    assert rig.waited == []
    assert rig.backend.calls == ["count"]  # the cheap probe was enough


@pytest.mark.parametrize("counted", [None, DOWN])
async def test_a_new_user_never_waits_when_the_probe_cannot_say(
    rig: Rig, counted: int | MemoryUnavailable | None
) -> None:
    rig.backend.count_from_lines, rig.backend.counted = False, counted
    assert (await rig.memory.read(ALICE)).nothing_known
    assert rig.waited == []


async def test_i9_own_writes_are_read_before_any_backend_has_them(rig: Rig) -> None:
    await rig.memory.append(ALICE, LINES)
    rig.backend.script = [DOWN] * 9
    reading = await rig.memory.read(ALICE)
    assert reading.lines == LINES
    assert reading.waiting == 6
    assert reading.complete
    assert rig.waited == []


async def test_i10_a_reading_holds_lines_of_its_own_namespace_only(rig: Rig) -> None:
    await rig.proven(LINES[:3])
    await rig.memory.append(ALICE, LINES[3:])
    assert (await rig.memory.read(BOB)).nothing_known


async def test_an_honest_answer_is_taken_at_once(rig: Rig) -> None:
    await rig.proven(LINES)
    reading = await rig.memory.read(ALICE)
    assert (reading.lines, reading.reach, reading.gaps) == (LINES, Reach.COMPLETE, ())
    assert rig.waited == []
    assert rig.backend.calls == ["read"]  # no probe where lines are known


@pytest.mark.parametrize("lies", [1, 2, 3])
@pytest.mark.parametrize("lie", [EMPTY, DOWN, ReadResult((), dropped=6), ReadResult(LINES[:5])])
async def test_a_lie_is_outwaited(rig: Rig, lie: Answer, lies: int) -> None:
    await rig.proven(LINES)
    rig.backend.script = [lie] * lies
    reading = await rig.memory.read(ALICE)
    assert reading.lines == LINES
    assert reading.complete
    assert rig.waited == ALL_WAITS[:lies]


@pytest.mark.parametrize("lie", [EMPTY, DOWN, ReadResult((), dropped=6)])
async def test_nothing_found_is_never_said_when_the_store_was_not_read(
    rig: Rig, lie: Answer
) -> None:
    await rig.proven(LINES)
    rig.backend.script = [lie] * 4
    reading = await rig.memory.read(ALICE)
    assert reading.reach is Reach.UNREAD
    assert not reading.nothing_known
    assert rig.waited == ALL_WAITS
    assert reading.gaps == tuple(line.place for line in LINES)


async def test_an_unread_store_still_gives_own_writes(rig: Rig) -> None:
    await rig.proven(LINES[:3])
    await rig.memory.append(ALICE, LINES[3:])
    rig.backend.script = [DOWN] * 4
    reading = await rig.memory.read(ALICE)
    assert reading.lines == LINES[3:]
    assert reading.reach is Reach.UNREAD


@pytest.mark.parametrize("missing", range(6))
async def test_a_partial_list_names_the_gap_wherever_it_is(rig: Rig, missing: int) -> None:
    await rig.proven(LINES)
    short = tuple(line for n, line in enumerate(LINES) if n != missing)
    rig.backend.script = [ReadResult(short)] * 4
    reading = await rig.memory.read(ALICE)
    assert reading.reach is Reach.PARTIAL
    assert reading.gaps == (LINES[missing].place,)
    assert reading.lines == short


async def test_partial_answers_add_up(rig: Rig) -> None:
    await rig.proven(LINES)
    rig.backend.script = [ReadResult(LINES[:2]), ReadResult(LINES[4:], 1), ReadResult(LINES[1:5])]
    reading = await rig.memory.read(ALICE)
    assert reading.lines == LINES
    assert reading.complete
    assert rig.waited == ALL_WAITS[:2]


async def test_repeated_and_reordered_answers_come_out_in_order_and_once(rig: Rig) -> None:
    await rig.proven(LINES)
    rig.backend.script = [ReadResult((*LINES[::-1], *LINES[2:4]))]
    assert (await rig.memory.read(ALICE)).lines == LINES


async def test_dropped_lines_where_nothing_is_known_are_not_an_empty_memory(rig: Rig) -> None:
    rig.backend.count_from_lines, rig.backend.counted = False, None
    rig.backend.script = [ReadResult((), dropped=4)] * 4
    reading = await rig.memory.read(ALICE)
    assert reading.reach is Reach.UNREAD
    assert reading.dropped == 4


async def test_the_probe_outlives_a_lost_database(rig: Rig) -> None:
    await rig.proven(LINES)
    rig.lost_database()
    rig.backend.script = [EMPTY, EMPTY]
    reading = await rig.memory.read(ALICE)
    assert reading.lines == LINES
    assert rig.waited == ALL_WAITS[:2]
    rig.backend.script = [EMPTY] * 4
    assert (await rig.memory.read(ALICE)).reach is Reach.UNREAD  # learned from the first reading


async def test_own_lines_that_are_late_do_not_make_a_new_user_wait(rig: Rig) -> None:
    await rig.memory.append(ALICE, LINES)

    async def unseen(entries: object) -> frozenset[Address]:
        return frozenset()

    rig.backend.visible = unseen  # type: ignore[method-assign]
    await rig.memory.flush(NOW)
    rig.backend.script = [EMPTY] * 4
    assert (await rig.memory.read(ALICE)).lines == LINES
    assert rig.waited == []


async def test_a_hole_in_a_turn_reveals_a_short_list_after_a_lost_database(rig: Rig) -> None:
    await rig.proven(LINES)
    rig.lost_database()
    rig.backend.script = [ReadResult((*LINES[:1], *LINES[2:]))]
    reading = await rig.memory.read(ALICE)
    assert reading.complete
    assert rig.waited == ALL_WAITS[:1]


async def test_a_turn_that_really_has_a_hole_is_waited_for_once(rig: Rig) -> None:
    await rig.proven([LINES[0], LINES[2]])
    rig.lost_database()
    first = await rig.memory.read(ALICE)
    assert (first.reach, first.gaps) == (Reach.PARTIAL, (Place(0, 1),))
    rig.waited.clear()
    assert (await rig.memory.read(ALICE)).complete
    assert rig.waited == []


async def test_a_line_proven_during_a_reading_is_not_missed(rig: Rig) -> None:
    await rig.memory.append(ALICE, LINES)

    class Racing(Scripted):
        async def count(self, namespace: str) -> int | None:
            await rig.memory.flush(NOW)  # moves every line from the outbox to the backend
            return 0

    racing = Racing()
    racing.script = [EMPTY] * 4
    reader = Memory(rig.database, racing, sleep=rig.sleep)
    rig.memory = Memory(rig.database, rig.backend)
    assert (await reader.read(ALICE)).lines == LINES


async def test_close_closes_the_backend(rig: Rig) -> None:
    await rig.memory.close()
    assert rig.backend.closed


class LyingMemory(RuleBasedStateMachine):
    """I9: whatever the backend does, every accepted line is readable exactly once in the end."""

    @initialize(seed=st.integers(0, 2**32))
    def start(self, seed: int) -> None:
        self.runner = asyncio.Runner()
        self.database = SqliteDatabase()
        self.backend = LyingBackend(Random(seed))
        self.memories = [self.opened(), self.opened()]  # two processes
        self.accepted: dict[str, dict[str, Line]] = {ALICE: {}, BOB: {}}
        self.now = NOW
        self.turn = 0

    def opened(self) -> Memory:
        return Memory(self.database, self.backend, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    @rule(namespace=st.sampled_from([ALICE, BOB]), count=st.integers(1, 4))
    def accept(self, namespace: str, count: int) -> None:
        self.turn += 1
        texts = ("Berlin", "Paris", "Rome")
        lines = [
            a_line(
                id=f"t{self.turn}.{n}",
                turn=self.turn,
                ordinal=n,
                at_us=int(self.now * 1e6),
                key=f"fact:{n % 2}",
                text=texts[self.turn % 3],
            )
            for n in range(count)
        ]
        self.runner.run(self.memories[0].append(namespace, lines))
        self.accepted[namespace] |= {line.id: line for line in lines}

    @rule(namespace=st.sampled_from([ALICE, BOB]))
    def accept_again_after_a_crash(self, namespace: str) -> None:
        again = [
            replace(line, at_us=line.at_us + 10**6)
            for line in list(self.accepted[namespace].values())[-3:]
        ]
        self.runner.run(self.memories[0].append(namespace, again))

    @rule(who=st.sampled_from([0, 1]), later=st.sampled_from([0.0, 1.0, 30.0, 400.0]))
    def flush(self, who: int, later: float) -> None:
        self.now += later
        self.runner.run(self.memories[who].flush(self.now))

    @rule(who=st.sampled_from([0, 1]))
    def die_while_flushing(self, who: int) -> None:
        self.backend.kill_next_write = True
        try:
            self.runner.run(self.memories[who].flush(self.now))
        except Killed:
            self.memories[who] = self.opened()
        self.backend.kill_next_write = False

    @rule(namespace=st.sampled_from([ALICE, BOB]))
    def read(self, namespace: str) -> None:
        accepted = self.accepted[namespace]
        own = {row[0] for row in self.waiting(namespace)}
        reading = self.runner.run(self.memories[0].read(namespace))
        ids = [line.id for line in reading.lines]
        assert len(ids) == len(set(ids))
        assert own <= set(ids) <= accepted.keys()
        assert list(reading.lines) == list(arranged(reading.lines))
        if not reading.complete:
            assert len(reading.gaps) <= len(accepted.keys() - set(ids))
        if reading.complete:
            assert set(ids) == accepted.keys()
        if reading.nothing_known:
            assert not accepted

    def waiting(self, namespace: str) -> list[tuple[str]]:
        rows = self.database.all("SELECT line_id, namespace FROM memory_outbox")
        return [(line_id,) for line_id, ns in rows if ns == namespace]

    @invariant()
    @precondition(lambda self: hasattr(self, "accepted"))
    def no_accepted_line_is_lost(self) -> None:
        for namespace, accepted in self.accepted.items():
            waiting = {row[0] for row in self.waiting(namespace)}
            held = {a.line_id for a in self.backend.held if a.namespace == namespace}
            assert accepted.keys() <= waiting | held

    def teardown(self) -> None:
        if not hasattr(self, "accepted"):
            return
        try:
            self.every_line_is_readable_once_in_the_end()
        finally:
            self.runner.run(self.database.close())
            self.runner.close()

    def every_line_is_readable_once_in_the_end(self) -> None:
        self.backend.honest = True
        self.flush_until_empty()
        for namespace, accepted in self.accepted.items():
            reading = self.runner.run(self.memories[1].read(namespace))
            assert reading.complete
            assert reading.lines == arranged(accepted.values())
            assert fold(reading.lines) == fold(reversed(list(accepted.values())))
            assert {a for a in self.backend.held if a.namespace == namespace} == {
                Address(namespace, line_id) for line_id in accepted
            }
        assert self.runner.run(self.memories[0].status(self.now)).pending == 0

    def flush_until_empty(self) -> None:
        for _ in range(300):
            due = self.runner.run(self.memories[1].flush(self.now))
            if due is None:
                return
            self.now = max(self.now, due)
        raise AssertionError("the outbox never became empty")


TestLyingMemory = LyingMemory.TestCase
TestLyingMemory.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)
