"""What a backend on this machine can do with the lines that it holds: list, rewrite, erase."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import StoreUnavailable
from bot.store.migrations import migrate
from bot.store.url import open_database
from memory import Entry, Line
from memory.backends.file import FileBackend
from memory.backends.sql import SqlBackend
from memory.port import OwnStore
from memory.schema import FOLDER
from tests.memory_lines import a_line
from tests.postgres_server import PostgresServer

ALICE, BOB = "a1" * 16, "b2" * 16
MANY = 700  # more than one batch of a database


@pytest.fixture(params=["sqlite", "postgres", "file"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[SqlBackend | FileBackend]:
    async with AsyncExitStack() as stack:
        if request.param == "file":
            yield FileBackend(tmp_path / "memory")
            return
        url = f"sqlite:///{tmp_path}/memory.db"
        if request.param == "postgres":
            server: PostgresServer = request.getfixturevalue("postgres_server")
            url = server.create_database()
            stack.callback(server.drop_database, url)
        database = await open_database(url)
        stack.push_async_callback(database.close)
        await migrate(database, [("memory", FOLDER)], now=0.0)
        yield SqlBackend(database, unavailable=(StoreUnavailable,))


def lines(count: int) -> list[Line]:
    return [a_line(id=f"chat.1.{n:04d}", ordinal=n, text=f"line {n}") for n in range(count)]


def loud(line: Line) -> Line:
    return replace(line, text=line.text.upper())


async def test_it_lists_who_has_lines(store: SqlBackend | FileBackend) -> None:
    assert isinstance(store, OwnStore)
    assert set(await store.namespaces()) == set()
    await store.write([Entry(ALICE, a_line()), Entry(BOB, a_line())])
    assert set(await store.namespaces()) == {ALICE, BOB}


async def test_every_line_is_rewritten_and_no_other_namespace(
    store: SqlBackend | FileBackend,
) -> None:
    await store.write([*(Entry(ALICE, each) for each in lines(MANY)), Entry(BOB, a_line())])
    assert await store.rewrite(ALICE, loud) == MANY
    assert set((await store.read(ALICE)).lines) == {loud(each) for each in lines(MANY)}
    assert (await store.read(BOB)).lines == (a_line(),)
    assert await store.rewrite(ALICE, loud) == 0, "nothing differs any more"


async def test_a_rewriting_that_broke_off_is_done_again(store: SqlBackend | FileBackend) -> None:
    await store.write([Entry(ALICE, each) for each in lines(MANY)])
    seen = 0

    def breaks_off(line: Line) -> Line:
        nonlocal seen
        seen += 1
        if seen > MANY - 5:
            raise RuntimeError("the process dies here")
        return loud(line)

    with pytest.raises(RuntimeError):
        await store.rewrite(ALICE, breaks_off)
    assert len((await store.read(ALICE)).lines) == MANY, "nothing is lost half-way"
    await store.rewrite(ALICE, loud)
    assert set((await store.read(ALICE)).lines) == {loud(each) for each in lines(MANY)}


async def test_erased_is_gone_and_only_that(store: SqlBackend | FileBackend) -> None:
    await store.write([*(Entry(ALICE, each) for each in lines(3)), Entry(BOB, a_line())])
    assert await store.erase(ALICE) == 3
    assert await store.erase(ALICE) == 0
    assert (await store.read(ALICE)).lines == ()
    assert set(await store.namespaces()) == {BOB}
