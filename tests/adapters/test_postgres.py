"""PostgreSQL's misfortunes: what is repeated, what never is, and what is told."""

import asyncio
import threading
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import errors

from bot.errors import Misconfigured, StatementRefused, StoreUnavailable
from bot.store.port import Sql
from bot.store.postgres import WRITERS, PostgresDatabase
from bot.store.postgres_faults import Conflict, Lost, Place
from bot.store.postgres_text import psycopg_text
from tests.postgres_server import PostgresServer, postgres_server

__all__ = ["postgres_server"]

Open = Callable[..., Awaitable[PostgresDatabase]]
PASSWORD = "sek" + "ret"
UNREACHABLE = f"postgresql://someone:{PASSWORD}@127.0.0.1:1/dabir"


@pytest.fixture
def url(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
async def database(url: str) -> AsyncIterator[PostgresDatabase]:
    database = await PostgresDatabase.open(url)
    await database.transact(
        lambda sql: sql.run("CREATE TABLE notes (id BIGINT PRIMARY KEY, body TEXT NOT NULL)")
    )
    yield database
    await database.close()


def add(number: int, sql: Sql) -> int:
    return sql.run("INSERT INTO notes (id, body) VALUES (:id, 'text')", {"id": number})


async def count(database: PostgresDatabase) -> int:
    row = await database.read(lambda sql: sql.row("SELECT count(*) FROM notes"))
    assert row
    return int(row[0])


# Lost connections


async def test_idle_connections_that_were_cut_are_replaced(
    database: PostgresDatabase, postgres_server: PostgresServer, url: str
) -> None:
    await asyncio.gather(*(database.transact(partial(add, n)) for n in range(8)), count(database))
    postgres_server.cut_connections(url)
    await asyncio.gather(*(database.transact(partial(add, n)) for n in range(10, 18)))
    assert await count(database) == 16


async def test_one_lost_connection_is_enough_to_distrust_the_others(
    url: str, postgres_server: PostgresServer
) -> None:
    hasty = await PostgresDatabase.open(url, patience_seconds=0)
    all_busy = threading.Barrier(WRITERS)
    await asyncio.gather(*(hasty.transact(lambda sql: all_busy.wait(30)) for _ in range(WRITERS)))
    postgres_server.cut_connections(url)
    await hasty.transact(lambda sql: sql.run("CREATE TABLE notes (id BIGINT)"))
    await hasty.close()


async def test_a_unit_cut_before_its_commit_runs_again(
    database: PostgresDatabase, postgres_server: PostgresServer, url: str
) -> None:
    runs: list[int] = []

    def cut_once(sql: Sql) -> int:
        runs.append(1)
        add(1, sql)
        if len(runs) == 1:
            postgres_server.cut_connections(url)
        return add(2, sql)

    assert await database.transact(cut_once) == 1
    assert len(runs) == 2
    assert await count(database) == 2


async def test_a_cut_that_the_unit_swallows_does_not_commit_half_of_it(
    database: PostgresDatabase, postgres_server: PostgresServer, url: str
) -> None:
    runs: list[int] = []

    def swallow(sql: Sql) -> None:
        runs.append(1)
        add(1, sql)
        if len(runs) == 1:
            postgres_server.cut_connections(url)
            with pytest.raises(StoreUnavailable):
                sql.attempt(partial(add, 2))

    await database.transact(swallow)
    assert len(runs) == 2
    assert await count(database) == 1


async def test_a_commit_without_an_answer_is_told_and_never_repeated(
    database: PostgresDatabase, postgres_server: PostgresServer, url: str
) -> None:
    runs: list[int] = []

    def cut_at_the_end(sql: Sql) -> None:
        runs.append(1)
        add(1, sql)
        postgres_server.cut_connections(url)

    with pytest.raises(StoreUnavailable, match="may or may not") as caught:
        await database.transact(cut_at_the_end)
    assert caught.value.outcome_unknown
    assert len(runs) == 1
    assert await database.transact(partial(add, 2)) == 1


async def test_closing_does_not_wait_for_a_server_that_is_gone(
    database: PostgresDatabase,
) -> None:
    lost = PostgresDatabase(UNREACHABLE, patience_seconds=3600)
    waiting = asyncio.create_task(lost.transact(lambda sql: None))
    await asyncio.sleep(0)
    await lost.close()
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await waiting


# Conflicts


async def test_a_deadlock_is_resolved_by_running_one_again(database: PostgresDatabase) -> None:
    await database.transact(lambda sql: (add(1, sql), add(2, sql)))
    both_hold_one = threading.Barrier(2)
    runs: list[int] = []

    def lock(first: int, second: int, sql: Sql) -> None:
        runs.append(first)
        text = "SELECT id FROM notes WHERE id = :id"
        sql.lock_row(text, {"id": first})
        if len(runs) <= 2:
            both_hold_one.wait(30)
        sql.lock_row(text, {"id": second})

    units = (partial(lock, 1, 2), partial(lock, 2, 1))
    await asyncio.gather(*map(database.transact, units))
    assert len(runs) >= 3


# Start


async def test_an_unreachable_server_is_told_without_the_password() -> None:
    with pytest.raises(Misconfigured) as caught:
        await PostgresDatabase.open(UNREACHABLE, patience_seconds=0)
    assert str(caught.value) == (
        "The PostgreSQL database dabir at 127.0.0.1:1 cannot be reached: "
        "check that the server runs."
    )
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://someone:{PASSWORD}%zz@host/name",
        f"postgresql://someone:{PASSWORD}@host/name?nope=1",
        f"postgresql://someone:{PASSWORD}@[::1/name",
    ],
)
async def test_a_malformed_address_is_told_without_the_password(url: str) -> None:
    with pytest.raises(Misconfigured, match="is not a PostgreSQL address") as caught:
        await PostgresDatabase.open(url)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_the_password_is_in_no_repr() -> None:
    assert PASSWORD not in repr(PostgresDatabase(UNREACHABLE))


async def test_a_database_or_user_that_does_not_exist_is_told_at_once(url: str) -> None:
    for wrong, sentence in (
        (url.replace("/test_", "/nowhere_"), "does not exist: create it"),
        (url.replace("postgres:@", f"nobody:{PASSWORD}@"), "refuses the user name"),
    ):
        with pytest.raises(Misconfigured, match=sentence) as caught:
            await PostgresDatabase.open(wrong, patience_seconds=3600)
        assert PASSWORD not in "".join(traceback.format_exception(caught.value))


# Every kind of error

PLACE = Place.of(UNREACHABLE)
STATEMENT_ERRORS: list[tuple[type[psycopg.Error], type[Exception]]] = [
    (errors.DeadlockDetected, Conflict),
    (errors.SerializationFailure, Conflict),
    (errors.AdminShutdown, Lost),
    (errors.CrashShutdown, Lost),
    (errors.CannotConnectNow, Lost),
    (errors.IdleSessionTimeout, Lost),
    (errors.ConnectionFailure, Lost),
    (errors.DiskFull, StoreUnavailable),
    (errors.OutOfMemory, StoreUnavailable),
    (errors.TooManyConnections, StoreUnavailable),
    (errors.LockNotAvailable, StoreUnavailable),
    (errors.QueryCanceled, StoreUnavailable),
    (errors.ReadOnlySqlTransaction, StoreUnavailable),
    (errors.InsufficientPrivilege, StoreUnavailable),
    (errors.IoError, StoreUnavailable),
    (errors.DataCorrupted, StoreUnavailable),
    (errors.IndexCorrupted, StoreUnavailable),
    (errors.InternalError_, StoreUnavailable),
    (errors.UniqueViolation, StatementRefused),
    (errors.NotNullViolation, StatementRefused),
    (errors.ForeignKeyViolation, StatementRefused),
    (errors.SyntaxError, StatementRefused),
    (errors.UndefinedTable, StatementRefused),
    (errors.NumericValueOutOfRange, StatementRefused),
    (psycopg.DataError, StatementRefused),
    (psycopg.ProgrammingError, StatementRefused),
]


@pytest.mark.parametrize(("theirs", "ours"), STATEMENT_ERRORS)
def test_every_error_of_a_statement_becomes_one_sentence(
    theirs: type[psycopg.Error], ours: type[Exception]
) -> None:
    translated = PLACE.translate(theirs("low-level words"))
    assert type(translated) is ours
    assert str(translated).endswith(".")
    assert "low-level words" not in str(translated)


@pytest.mark.parametrize(
    ("words", "sentence", "hopeful"),
    [
        ('FATAL:  password authentication failed for user "x"', "refuses the user name", False),
        ("fe_sendauth: no password supplied", "refuses the user name", False),
        ('FATAL:  no pg_hba.conf entry for host "1.2.3.4"', "refuses the user name", False),
        ('FATAL:  database "x" does not exist', "does not exist", False),
        ("FATAL:  sorry, too many clients already", "no connection left", True),
        ("FATAL:  remaining connection slots are reserved", "no connection left", True),
        ("FATAL:  the database system is starting up", "cannot be reached", True),
        ("connection timeout expired", "cannot be reached", True),
    ],
)
def test_every_refused_connection_becomes_one_sentence(
    words: str, sentence: str, hopeful: bool
) -> None:
    translated = PLACE.translate_refused_connection(psycopg.OperationalError(words))
    assert sentence in str(translated)
    assert isinstance(translated, Lost) is hopeful


# The text

LITERAL = st.text(alphabet=":%'\"-ab1 \n", max_size=12).map(lambda s: s.replace("'", "''"))


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("SELECT :a, :long_name2", "SELECT %(a)s, %(long_name2)s"),
        ("SELECT :a::text, 1::int", "SELECT %(a)s::text, 1::int"),
        ("SELECT 5 % 3, ':a %', :b", "SELECT 5 %% 3, ':a %%', %(b)s"),
        ("SELECT 'it''s :a' -- :b\n, :c", "SELECT 'it''s :a' -- :b\n, %(c)s"),
        ('SELECT ":a" /* :b\n :c */', 'SELECT ":a" /* :b\n :c */'),
        ("DO $$ :a $$", "DO $$ :a $$"),
    ],
)
def test_parameters_are_translated_and_nothing_else(text: str, translated: str) -> None:
    assert psycopg_text(text) == translated


@given(LITERAL, LITERAL)
def test_a_literal_keeps_its_meaning(first: str, second: str) -> None:
    text = psycopg_text(f"SELECT '{first}', :a, '{second}'")
    literals = (part.replace("%", "%%") for part in (first, second))
    assert text == "SELECT '{}', %(a)s, '{}'".format(*literals)
