"""A small SQLite database for the tests of memory/, which must not need the bot's."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from memory.port import Row, Sql
from memory.schema import scripts

T = TypeVar("T")


class SqliteSql:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, text: str, values: Mapping[str, Any] = {}, /) -> int:
        return self._connection.execute(text, values).rowcount

    def rows(self, text: str, values: Mapping[str, Any] = {}, /) -> Sequence[Row]:
        return self._connection.execute(text, values).fetchall()


class SqliteDatabase:
    """Implements memory.port.Database and counts its transactions."""

    def __init__(self, path: Path | str = ":memory:", *, create: bool = True) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.writes = 0
        self.reads = 0
        self.broken: Exception | None = None
        if create:
            for _, text in scripts():
                for statement in filter(str.strip, text.split(";")):
                    self._connection.execute(statement)

    async def transact(self, work: Callable[[Sql], T]) -> T:
        self.writes += 1
        return self._run("BEGIN IMMEDIATE", work)

    async def read(self, work: Callable[[Sql], T]) -> T:
        self.reads += 1
        return self._run("BEGIN", work)

    def _run(self, begin: str, work: Callable[[Sql], T]) -> T:
        if self.broken is not None:
            raise self.broken
        self._connection.execute(begin)
        try:
            result = work(SqliteSql(self._connection))
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return result

    def all(self, text: str) -> list[Row]:
        return self._connection.execute(text).fetchall()

    async def close(self) -> None:
        self._connection.close()
