"""Lines in a SQL database: the default, in the bot's own. Same text for SQLite and PostgreSQL.

A row is written once. Nothing in this file changes or removes one, and a test reads it to be sure;
what seals up and forgets is in sql_upkeep.py.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from memory.backends import sql_upkeep
from memory.batches import tuples
from memory.line import Line, LineError, format_line, parse_line
from memory.port import Address, Database, Entry, MemoryUnavailable, ReadResult, Row, Sql

T = TypeVar("T")

APPEND = """
INSERT INTO memory_lines (namespace, line_id, line) VALUES {rows}
ON CONFLICT (namespace, line_id) DO NOTHING
"""
SHOWN = "SELECT namespace, line FROM memory_lines WHERE (namespace, line_id) IN (VALUES {rows})"
LINES = "SELECT line FROM memory_lines WHERE namespace = :namespace"
COUNT = "SELECT COUNT(*) FROM memory_lines WHERE namespace = :namespace"


class _Ask(Protocol):
    async def __call__(self, work: Callable[[Sql], T], /) -> T: ...


class SqlBackend:
    """`unavailable` names what the database raises when it cannot be read or written."""

    def __init__(
        self, database: Database, *, unavailable: tuple[type[Exception], ...] = ()
    ) -> None:
        self._database = database
        self._unavailable = unavailable

    async def write(self, entries: Sequence[Entry]) -> None:
        rows = [(e.namespace, e.line.id, format_line(e.line)) for e in entries]

        def append(sql: Sql) -> None:
            for text, values in tuples(sorted(rows)):  # one lock order for all writers
                sql.run(APPEND.format(rows=text), values)

        await self._ask(self._database.transact, append)

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        wanted = sorted({tuple(entry.address) for entry in entries})

        def shown(sql: Sql) -> list[Row]:
            found = (sql.rows(SHOWN.format(rows=text), values) for text, values in tuples(wanted))
            return [row for rows in found for row in rows]

        rows = await self._ask(self._database.read, shown)
        return frozenset(
            Address(namespace, line.id) for namespace, text in rows for line in parsed([text]).lines
        )

    async def read(self, namespace: str) -> ReadResult:
        def written(sql: Sql) -> list[str]:
            return [row[0] for row in sql.rows(LINES, {"namespace": namespace})]

        return parsed(await self._ask(self._database.read, written))

    async def count(self, namespace: str) -> int | None:
        def counted(sql: Sql) -> int:
            return int(sql.rows(COUNT, {"namespace": namespace})[0][0])

        return await self._ask(self._database.read, counted)

    async def close(self) -> None:
        """The database is its owner's to close."""

    async def namespaces(self) -> frozenset[str]:
        return await self._ask(self._database.read, sql_upkeep.namespaces)

    async def rewrite(self, namespace: str, change: Callable[[Line], Line]) -> int:
        """Each batch is a transaction."""
        changed, after = 0, ""
        while True:
            step = partial(sql_upkeep.rewrite, namespace, after, change)
            done, last = await self._ask(self._database.transact, step)
            changed += done
            if last is None:
                return changed
            after = last

    async def erase(self, namespace: str) -> int:
        return await self._ask(self._database.transact, partial(sql_upkeep.erase, namespace))

    async def _ask(self, ask: _Ask, work: Callable[[Sql], T]) -> T:
        try:
            return await ask(work)
        except self._unavailable as error:
            raise MemoryUnavailable("the database of the memory does not answer") from error


def parsed(written: Sequence[str]) -> ReadResult:
    """What can be parsed; the rest is counted as dropped."""
    lines, dropped = [], 0
    for text in written:
        try:
            lines.append(parse_line(text))
        except LineError:
            dropped += 1
    return ReadResult(tuple(lines), dropped, damaged=dropped)
