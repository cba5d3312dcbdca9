"""The door to memory: accept lines, read them, hand them over in the background."""

import asyncio
from collections.abc import Sequence

from memory import outbox
from memory.backoff import Pace, Sleep
from memory.line import Line
from memory.outbox import Status
from memory.port import Database, MemoryBackend, Sql
from memory.reader import Reader, Reading
from memory.writer import Writer


class Memory:
    """`database` holds the outbox and stays the caller's to close; `backend` is closed here."""

    def __init__(
        self,
        database: Database,
        backend: MemoryBackend,
        *,
        pace: Pace | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._database = database
        self._backend = backend
        self._reader = Reader(database, backend, sleep)
        self._writer = Writer(database, backend, pace or Pace())

    def put(
        self, sql: Sql, namespace: str, lines: Sequence[Line], *, now: float | None = None
    ) -> None:
        """Accept lines inside the transaction of `sql` (see outbox.put). Readable once committed.

        Wake whoever calls `flush` afterwards.
        """
        outbox.put(sql, namespace, lines, now=now)

    async def append(
        self, namespace: str, lines: Sequence[Line], *, now: float | None = None
    ) -> None:
        """`put` in a transaction of its own."""
        await self._database.transact(lambda sql: outbox.put(sql, namespace, lines, now=now))

    async def read(self, namespace: str) -> Reading:
        """All lines of a namespace, own writes included; see Reading.reach before saying "none"."""
        return await self._reader.read(namespace)

    async def flush(self, now: float) -> float | None:
        """One pass of the background writer; returns when to call again, None: after a `put`.

        `now` is seconds since 1970. A time that is not later than `now` means: at once.
        """
        return await self._writer.flush(now)

    async def status(self, now: float, namespace: str | None = None) -> Status:
        """What waits to be proven, in one namespace or in all."""
        return await self._database.read(lambda sql: outbox.status(sql, now, namespace))

    async def close(self) -> None:
        await self._backend.close()
