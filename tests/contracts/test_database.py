"""The contract of bot.store.port.Database, for every adapter."""

import asyncio
import threading
import traceback
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

import pytest

from bot.errors import StatementRefused, StoreUnavailable
from bot.store.port import Database, Row, Sql, Values
from bot.store.postgres import WRITERS
from tests.contracts.conftest import Connect

NOTES = "CREATE TABLE notes (id BIGINT PRIMARY KEY, body TEXT NOT NULL)"
ADD = "INSERT INTO notes (id, body) VALUES (:id, :body)"


@pytest.fixture
async def notes(database: Database) -> Database:
    await database.transact(lambda sql: sql.run(NOTES))
    return database


def add(number: int, sql: Sql, body: str = "text") -> int:
    return sql.run(ADD, {"id": number, "body": body})


def add_and_fail(number: int, sql: Sql) -> None:
    add(number, sql)
    raise LookupError(str(number))


def run(text: str, values: Values, sql: Sql) -> int:
    return sql.run(text, values)


def rows(text: str, sql: Sql) -> Sequence[Row]:
    return sql.rows(text)


async def ids(database: Database) -> list[int]:
    rows = await database.read(lambda sql: sql.rows("SELECT id FROM notes ORDER BY id"))
    return [row[0] for row in rows]


# Transactions


async def test_what_was_committed_is_seen_by_others(notes: Database, connect: Connect) -> None:
    assert await notes.transact(partial(add, 1)) == 1
    assert await ids(await connect()) == [1]


async def test_a_unit_that_raises_is_undone_and_its_error_passed_on(notes: Database) -> None:
    with pytest.raises(LookupError, match="7"):
        await notes.transact(partial(add_and_fail, 7))
    assert await ids(notes) == []


async def test_of_many_units_at_once_only_the_failing_ones_are_undone(notes: Database) -> None:
    units = [notes.transact(partial((add, add_and_fail)[n % 2], n)) for n in range(60)]
    results = await asyncio.gather(*units, return_exceptions=True)
    assert [str(r) for r in results if isinstance(r, LookupError)] == [
        str(n) for n in range(1, 60, 2)
    ]
    assert await ids(notes) == list(range(0, 60, 2))


async def test_a_unit_that_violates_a_constraint_harms_no_other(notes: Database) -> None:
    await notes.transact(partial(add, 5))
    units = [notes.transact(partial(add, n)) for n in range(10)]
    results = await asyncio.gather(*units, return_exceptions=True)
    assert [type(r) for r in results].count(StatementRefused) == 1
    assert isinstance(results[5], StatementRefused)
    assert await ids(notes) == list(range(10))


async def test_a_constraint_checked_at_commit_fails_only_its_own_unit(notes: Database) -> None:
    await notes.transact(
        lambda sql: sql.run(
            "CREATE TABLE replies (note BIGINT NOT NULL"
            " REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)"
        )
    )

    def orphan(sql: Sql) -> None:
        sql.run("INSERT INTO replies (note) VALUES (99)")

    works: list[Callable[[Sql], Any]] = [partial(add, 1), orphan, partial(add, 2)]
    results = await asyncio.gather(*map(notes.transact, works), return_exceptions=True)
    assert results[0] == results[2] == 1
    assert isinstance(results[1], StatementRefused)
    assert await ids(notes) == [1, 2]


async def test_no_increment_is_lost_between_connections(connect: Connect) -> None:
    databases = [await connect() for _ in range(3)]
    await databases[0].transact(lambda sql: sql.run(NOTES))
    await databases[0].transact(partial(add, 1, body="0"))

    def increment(sql: Sql) -> None:
        row = sql.lock_row("SELECT body FROM notes WHERE id = :id;\n", {"id": 1})
        assert row
        sql.run("UPDATE notes SET body = :body WHERE id = 1", {"body": str(int(row[0]) + 1)})

    await asyncio.gather(*(d.transact(increment) for d in databases for _ in range(30)))
    assert await databases[1].read(lambda sql: sql.row("SELECT body FROM notes")) == ("90",)


async def test_a_unit_that_raises_stopiteration_fails_instead_of_hanging(notes: Database) -> None:
    def exhausted(sql: Sql) -> None:
        next(iter(sql.rows("SELECT id FROM notes")))

    for run in (notes.transact, notes.read):
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.wait_for(run(exhausted), 10)


# Failing statements


async def test_attempt_undoes_only_its_own_writes(notes: Database) -> None:
    def work(sql: Sql) -> None:
        add(1, sql)
        with pytest.raises(StatementRefused):
            sql.attempt(lambda inner: (add(2, inner), add(1, inner)))
        with pytest.raises(LookupError):
            sql.attempt(partial(add_and_fail, 3))
        assert sql.attempt(partial(add, 4)) == 1

    await notes.transact(work)
    assert await ids(notes) == [1, 4]


async def test_attempts_may_be_nested(notes: Database) -> None:
    def outer(sql: Sql) -> None:
        add(1, sql)
        with pytest.raises(LookupError):
            sql.attempt(partial(add_and_fail, 2))
        add(3, sql)

    await notes.transact(lambda sql: sql.attempt(outer))
    assert await ids(notes) == [1, 3]


async def test_after_a_failed_statement_nothing_runs_outside_an_attempt(notes: Database) -> None:
    def work(sql: Sql) -> None:
        add(1, sql)
        with pytest.raises(StatementRefused):
            add(1, sql)
        add(2, sql)

    with pytest.raises(RuntimeError, match="attempt"):
        await notes.transact(work)
    assert await ids(notes) == []


async def test_a_swallowed_failure_still_fails_its_unit(notes: Database) -> None:
    def swallow(sql: Sql) -> str:
        add(1, sql)
        try:
            add(1, sql)
        except StatementRefused:
            return "as if nothing had happened"
        return ""

    with pytest.raises(StatementRefused):
        await notes.transact(swallow)
    with pytest.raises(StatementRefused):
        await notes.transact(lambda sql: sql.attempt(swallow))
    assert await ids(notes) == []


async def test_a_refused_statement_shows_no_value(notes: Database) -> None:
    number, body = 77_000 + 123, " ".join(["a", "private", "thing"])
    await notes.transact(partial(add, number))
    for values in ({"id": number, "body": body}, {"id": number + 1, "body": None}):
        with pytest.raises(StatementRefused) as caught:
            await notes.transact(partial(run, ADD, values))
        shown = "".join(traceback.format_exception(caught.value))
        assert body not in shown
        assert "7712" not in shown
        assert caught.value.code


async def test_wrong_sql_is_refused(notes: Database) -> None:
    for text in ("SELEC 1", "SELECT * FROM nowhere", "SELECT :missing"):
        with pytest.raises(StatementRefused):
            await notes.transact(partial(rows, text))


@pytest.mark.parametrize("text", ["BEGIN", " commit", "\nROLLBACK", "End", "SAVEPOINT unit"])
async def test_a_unit_neither_begins_nor_ends_a_transaction(notes: Database, text: str) -> None:
    with pytest.raises(StatementRefused, match="transaction"):
        await notes.transact(lambda sql: (add(1, sql), sql.run(text)))
    assert await ids(notes) == []


async def test_the_handle_is_dead_after_its_unit(notes: Database) -> None:
    for run in (notes.transact, notes.read):
        handle = await run(lambda sql: sql)
        with pytest.raises(RuntimeError, match="outlived"):
            handle.rows("SELECT 1")


# Statements and values


async def test_run_counts_the_changed_rows(notes: Database) -> None:
    def work(sql: Sql) -> list[int]:
        for number in range(3):
            add(number, sql)
        return [
            sql.run("UPDATE notes SET body = 'x' WHERE id > 0"),
            sql.run("UPDATE notes SET body = 'y' WHERE id > 0 RETURNING id"),
            sql.run(ADD + " ON CONFLICT (id) DO NOTHING", {"id": 1, "body": ""}),
            sql.run("DELETE FROM notes WHERE id = 9"),
            sql.run("CREATE TABLE other (id BIGINT)"),
        ]

    assert await notes.transact(work) == [2, 2, 0, 0, 0]


async def test_rows_and_row_return_what_was_asked(notes: Database) -> None:
    def work(sql: Sql) -> None:
        assert sql.row("SELECT id FROM notes") is None
        assert list(sql.rows("SELECT id FROM notes")) == []
        assert sql.row(ADD + " RETURNING id, body", {"id": 1, "body": "a"}) == (1, "a")
        add(2, sql)
        assert list(sql.rows("SELECT id FROM notes ORDER BY id")) == [(1,), (2,)]
        assert sql.row("SELECT id FROM notes ORDER BY id DESC") == (2,)
        assert sql.lock_row("SELECT id FROM notes WHERE id = :id", {"id": 3}) is None

    await notes.transact(work)


class Phase(StrEnum):
    IDLE = "idle"


VALUES = [
    ("BIGINT", 2**62, 2**62),
    ("BIGINT", -1, -1),
    ("BIGINT", True, 1),
    ("BOOLEAN", False, False),
    ("DOUBLE PRECISION", 1766000000.123456, 1766000000.123456),
    ("DOUBLE PRECISION", 30, 30.0),
    ("TEXT", "سلام 👋🏽 'it''s' \"so\" :name %s 100% \\ ;\n--", None),
    ("TEXT", Phase.IDLE, "idle"),
    ("TEXT", "", ""),
    ("TEXT", None, None),
    ("BYTEA", b"\x00\xff'", b"\x00\xff'"),
]


@pytest.mark.parametrize(("kind", "given", "expected"), VALUES)
async def test_a_value_comes_back_as_it_went_in(
    database: Database, kind: str, given: Any, expected: Any
) -> None:
    def work(sql: Sql) -> tuple[Any, ...] | None:
        sql.run(f"CREATE TABLE t (v {kind})")
        sql.run("INSERT INTO t (v) VALUES (:v)", {"v": given})
        return sql.row("SELECT v FROM t WHERE v = :v OR v IS NULL", {"v": given})

    row = await database.transact(work)
    assert row == (given if expected is None else expected,)


async def test_a_sum_is_a_number_that_json_knows(notes: Database) -> None:
    await notes.transact(partial(add, 4))
    row = await notes.read(lambda sql: sql.row("SELECT sum(id), count(*), avg(id) FROM notes"))
    assert row == (4, 1, 4)
    assert [type(value) for value in row] in ([int, int, int], [int, int, float])


async def test_text_that_looks_like_a_parameter_is_left_alone(database: Database) -> None:
    text = "SELECT ':a %s', CAST(:n AS BIGINT) % 4, 'it''s :b' /* :c 5% */ -- :d"
    row = await database.read(lambda sql: sql.row(text, {"n": 7}))
    assert row == (":a %s", 3, "it's :b")


# Reading


async def test_a_reader_neither_writes_nor_locks(notes: Database) -> None:
    with pytest.raises(StatementRefused):
        await notes.read(partial(add, 1))
    with pytest.raises(StatementRefused):
        await notes.read(lambda sql: sql.lock_row("SELECT id FROM notes"))
    assert await ids(notes) == []
    assert await notes.transact(partial(add, 1)) == 1


async def test_a_reader_does_not_wait_for_a_writer(notes: Database) -> None:
    go_on = threading.Event()

    def slow(sql: Sql) -> None:
        add(1, sql)
        assert go_on.wait(30)

    writing = asyncio.create_task(notes.transact(slow))
    await asyncio.sleep(0)
    assert await ids(notes) == []
    go_on.set()
    await writing
    assert await ids(notes) == [1]


async def test_a_reader_sees_one_moment(notes: Database, connect: Connect) -> None:
    other = await connect()
    between, go_on = threading.Event(), threading.Event()

    def count_twice(sql: Sql) -> list[Any]:
        first = sql.row("SELECT count(*) FROM notes")
        between.set()
        assert go_on.wait(30)
        return [first, sql.row("SELECT count(*) FROM notes")]

    reading = asyncio.create_task(notes.read(count_twice))
    await asyncio.to_thread(between.wait)
    await other.transact(partial(add, 1))
    go_on.set()
    assert await reading == [(0,), (0,)]


# Cancelling and closing


class Gate:
    """A unit of work that starts, says so, and waits."""

    def __init__(self) -> None:
        self.started, self.go_on = threading.Event(), threading.Event()

    def unit(self, number: int, sql: Sql) -> int:
        self.started.set()
        assert self.go_on.wait(30)
        return add(number, sql)


async def test_a_unit_that_started_commits_though_its_caller_was_cancelled(
    notes: Database,
) -> None:
    gate = Gate()
    task = asyncio.create_task(notes.transact(partial(gate.unit, 1)))
    await asyncio.to_thread(gate.started.wait)
    beside = asyncio.create_task(notes.transact(partial(add, 2)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.go_on.set()
    assert await beside == 1
    await notes.close()  # waits for what was started
    assert beside.done()


async def test_close_finishes_what_was_started(notes: Database, connect: Connect) -> None:
    gate = Gate()
    task = asyncio.create_task(notes.transact(partial(gate.unit, 1)))
    await asyncio.to_thread(gate.started.wait)
    task.cancel()
    closing = asyncio.create_task(notes.close())
    await asyncio.sleep(0)
    gate.go_on.set()
    await closing
    assert await ids(await connect()) == [1]


async def test_a_unit_cancelled_while_it_waits_never_runs(notes: Database) -> None:
    gate = Gate()
    blockers = [asyncio.create_task(notes.transact(partial(gate.unit, n))) for n in range(WRITERS)]
    await asyncio.to_thread(gate.started.wait)
    waiting = asyncio.create_task(notes.transact(partial(add, 99)))
    beside = asyncio.create_task(notes.transact(partial(add, 50)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.sleep(0)
    gate.go_on.set()
    await asyncio.gather(*blockers, beside)
    assert await ids(notes) == [*range(WRITERS), 50]


async def test_close_may_be_repeated_and_ends_all_threads(connect: Connect) -> None:
    before = set(threading.enumerate())
    database = await connect()
    await database.transact(lambda sql: sql.run(NOTES))
    await database.read(lambda sql: sql.rows("SELECT id FROM notes"))
    await asyncio.gather(database.close(), database.close())
    await database.close()
    left = [t for t in set(threading.enumerate()) - before if not t.name.startswith("asyncio")]
    for thread in left:
        thread.join(timeout=10)
    assert not [thread for thread in left if thread.is_alive()]


async def test_a_closed_database_is_unavailable(notes: Database) -> None:
    await notes.close()
    for run in (notes.transact, notes.read):
        with pytest.raises(StoreUnavailable, match="closed"):
            await run(lambda sql: None)
