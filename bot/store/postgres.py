"""The database in PostgreSQL: when one machine is not enough. Needs the extra `postgres`.

Rule 1: a unit of work is the same plain function as for SQLite; it runs on a thread of ours, with
        a synchronous connection that is its own until the transaction ends.
Rule 2: a transaction that was surely not committed is run again (lost connection, deadlock). One
        whose COMMIT got no answer never is.
Rule 3: units that read have threads of their own, so they do not queue behind writers that wait.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Self, TypeAlias, TypeVar

import psycopg
import structlog
from psycopg import conninfo

from bot.errors import DabirError, Misconfigured, StoreUnavailable
from bot.store.handle import Handle, Result, carry_out
from bot.store.port import Sql, Values
from bot.store.postgres_faults import SETTING, Conflict, Lost, Place
from bot.store.postgres_text import adapt, psycopg_text

T = TypeVar("T")
Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
log = structlog.get_logger(__name__)

WRITERS, READERS = 4, 2
PATIENCE_SECONDS = 8.0  # how long a lost server is waited for, so that a stop within 10 s is kept
_DELAYS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # then the last one again and again
_CONFLICT_DELAY = 0.02
_DEFAULTS = {  # what the URL does not say itself
    "connect_timeout": "4",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "application_name": "dabir",
}
# So that no paused process keeps all others waiting for ever. Not as `options` of the connection,
# which connection poolers refuse.
_SESSION = """
SELECT set_config('lock_timeout', '10s', false),
       set_config('idle_in_transaction_session_timeout', '60s', false)
"""
HOLDS_WORDS = (
    "messages",
    "drafts",
    "effects",
    "outbox",
    "inbox",
    "conversations",
    "suggestions",
    "translations",
    "memory_outbox",
    "memory_lines",
    "memory_keys",
)
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresDatabase:
    """Contract: tests/contracts/test_database.py."""

    def __init__(self, url: str, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._place = Place.of(url)
        self._url = url
        self._patience_seconds = patience_seconds
        self._writers = _Lane("dabir-write", WRITERS)
        self._readers = _Lane("dabir-read", READERS)
        self._stopping = threading.Event()
        self._closing: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<PostgresDatabase: {self._place.name}>"

    @classmethod
    async def open(cls, url: str, *, patience_seconds: float = PATIENCE_SECONDS) -> Self:
        """Connect. Raises Misconfigured with one sentence if the server cannot be used."""
        database = cls(url, patience_seconds=patience_seconds)
        try:
            await database.transact(lambda sql: None)
        except BaseException as error:
            await database.close()
            if isinstance(error, StoreUnavailable):
                raise Misconfigured(str(error), setting=SETTING) from error
            raise
        return database

    async def transact(self, work: Callable[[Sql], T]) -> T:
        return await self._submit(self._writers, partial(self._transact, work))

    async def read(self, work: Callable[[Sql], T]) -> T:
        return await self._submit(self._readers, partial(self._read, work))

    async def scrub(self) -> bool:
        """Old versions of rows are let go of now and not when autovacuum comes by. Their bytes stay
        until the pages are used again, in the log of the server until it is recycled, and in
        backups; only the host can do more (VACUUM FULL)."""
        await self._submit(self._writers, self._vacuum)
        return True

    async def close(self) -> None:
        if self._closing is None:
            self._stopping.set()
            self._closing = asyncio.create_task(self._finish())
        await asyncio.shield(self._closing)

    async def _finish(self) -> None:
        await asyncio.to_thread(self._writers.close)
        await asyncio.to_thread(self._readers.close)

    async def _submit(self, lane: "_Lane", unit: Callable[[Connection], T]) -> T:
        if self._closing is not None:
            raise StoreUnavailable(f"{self._place.name} was closed: Dabir is stopping.")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(lane.threads, self._persist, lane, unit)

    # All that follows runs on a lane's thread

    def _persist(self, lane: "_Lane", unit: Callable[[Connection], T]) -> T:
        """Run `unit`, again and again while it surely was not committed and there is hope."""
        deadline = time.monotonic() + self._patience_seconds
        delays = deque(_DELAYS)
        while True:
            try:
                return self._once(lane, unit)
            except (Lost, Conflict) as error:
                delay = delays.popleft() if len(delays) > 1 else delays[0]
                if isinstance(error, Conflict):  # or it would take the same lock again at once
                    delay = max(delay, _CONFLICT_DELAY)
                if time.monotonic() + delay > deadline and delay:
                    raise
                log.warning("transaction_repeated", reason=type(error).__name__)
                if self._stopping.wait(delay):
                    raise

    def _once(self, lane: "_Lane", unit: Callable[[Connection], T]) -> T:
        connection = lane.idle.pop() if lane.idle else self._connect()
        try:
            return unit(connection)
        finally:
            if connection.closed:
                lane.forget()  # if one is gone, the others of this lane probably are
            else:
                lane.idle.append(connection)

    def _transact(self, work: Callable[[Sql], T], connection: Connection) -> T:
        execute = partial(self._execute, connection)
        execute(_WRITE)
        try:
            result = carry_out(work, Handle(execute, row_lock=" FOR UPDATE"))
        except BaseException:
            _roll_back(connection)
            raise
        self._commit(connection)
        return result

    def _read(self, work: Callable[[Sql], T], connection: Connection) -> T:
        execute = partial(self._execute, connection, reading=True)
        execute(_READ)
        try:
            return carry_out(work, Handle(execute, row_lock=None))
        finally:
            _roll_back(connection)

    def _vacuum(self, connection: Connection) -> None:
        for table in HOLDS_WORDS:
            self._execute(connection, f"VACUUM {table}")

    def _commit(self, connection: Connection) -> None:
        try:
            connection.execute("COMMIT")
        except psycopg.Error as error:
            if connection.closed or not error.sqlstate:
                connection.close()
                raise self._place.outcome_unknown() from error
            _roll_back(connection)
            raise self._place.translate(error) from None

    def _execute(
        self,
        connection: Connection,
        text: str,
        values: Values | None = None,
        *,
        reading: bool = False,
    ) -> Result:
        try:
            cursor = connection.execute(psycopg_text(text), values or {})
            rows = cursor.fetchall() if cursor.description else ()
            return rows, max(cursor.rowcount, 0)
        except psycopg.Error as error:
            raise self._ours(error, connection, reading=reading) from None

    def _ours(self, error: psycopg.Error, connection: Connection, *, reading: bool) -> DabirError:
        if connection.closed:
            return self._place.lost()
        return self._place.translate(error, reading=reading)

    def _connect(self) -> Connection:
        try:
            parameters: dict[str, Any] = {**_DEFAULTS, **conninfo.conninfo_to_dict(self._url)}
            connection = psycopg.connect(**parameters, autocommit=True)
        except psycopg.Error as error:
            raise self._place.translate_refused_connection(error) from None
        adapt(connection)
        try:
            self._execute(connection, _SESSION)
        except DabirError:
            connection.close()
            raise
        return connection


class _Lane:
    """A few threads, and as many connections at most, since each thread uses one at a time."""

    def __init__(self, name: str, size: int) -> None:
        self.threads = ThreadPoolExecutor(size, thread_name_prefix=name)
        self.idle: deque[Connection] = deque()

    def forget(self) -> None:
        """Close the idle connections."""
        while self.idle:
            with suppress(IndexError):  # another thread was quicker
                self.idle.pop().close()

    def close(self) -> None:
        self.threads.shutdown(wait=True)
        self.forget()


def _roll_back(connection: Connection) -> None:
    with suppress(psycopg.Error):  # then the connection is gone, and the transaction with it
        connection.execute("ROLLBACK")
        return
    connection.close()
