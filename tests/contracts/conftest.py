"""Every contract runs on both databases; each test gets an empty one of its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from bot.store.port import Database
from bot.store.url import open_database
from tests.postgres_server import PostgresServer, postgres_server

__all__ = ["postgres_server"]


class Connect(Protocol):
    async def __call__(self) -> Database: ...


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/data/test.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database()
    yield url
    server.drop_database(url)


@pytest.fixture
async def connect(database_url: str) -> AsyncIterator[Connect]:
    """Opens one more `Database` on the same data; each is like a process of its own."""
    opened: list[Database] = []

    async def open_another() -> Database:
        database = await open_database(database_url)
        opened.append(database)
        return database

    yield open_another
    for database in opened:
        await database.close()


@pytest.fixture
async def database(connect: Connect) -> Database:
    return await connect()
