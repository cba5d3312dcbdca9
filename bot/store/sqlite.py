"""The database in one SQLite file: the default, for one machine.

Rule 1: one connection writes. Units of work that wait while a commit is on its way to the disk
        are committed together by the next one, so that 200 chats share one fsync.
Rule 2: in such a group everybody is alone with their fate: a unit that raises is undone by itself,
        and if the group cannot be committed each unit is tried by itself.
Rule 3: a second connection reads, from the last commit; it never waits for the writer.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Generic, Self, TypeAlias, TypeVar

import aiosqlite
import structlog

from bot.errors import DabirError, Misconfigured, StatementRefused, StoreUnavailable
from bot.store.handle import Handle, Result, carry_out
from bot.store.port import Sql, Values
from bot.store.sqlite_faults import Busy, translate

T = TypeVar("T")
log = structlog.get_logger(__name__)

BUSY_SECONDS = 10.0
GROUP_LIMIT = 256  # units a commit; bounds how long the first of them waits for the last
SCRUB_BUSY_MS = 500  # a scrub holds up whoever writes, so it rather comes again
VACUUM_BYTES = 256 * 1024 * 1024  # a larger file would be held up for seconds
_OPEN_DELAY = 0.05
_WAL_BYTES = 32 * 1024 * 1024  # a log that grew larger is cut back to this


@dataclass(frozen=True, slots=True)
class _Unit(Generic[T]):
    work: Callable[[Sql], T]
    future: "asyncio.Future[T]"


@dataclass(frozen=True, slots=True)
class _Done:
    value: Any


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


_Outcome: TypeAlias = _Done | _Failed
_Work: TypeAlias = Callable[[Sql], Any]


class SqliteDatabase:
    """Contract: tests/contracts/test_database.py."""

    def __init__(
        self,
        path: Path,
        *,
        writer: aiosqlite.Connection,
        reader: aiosqlite.Connection,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._writer = writer
        self._reader = reader
        self._identity = _identity(path)
        self._waiting: list[_Unit[Any]] = []
        self._committing: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.commits = 0  # how many groups reached the disk; for the benchmarks

    @classmethod
    async def open(cls, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> Self:
        """Open or create the file. Raises Misconfigured with one sentence if that cannot be."""
        _prepare(path)
        try:
            writer = await _connect(path, busy_seconds, _ready_to_write)
            try:
                reader = await _connect(path, busy_seconds, _ready_to_read)
            except BaseException:
                await writer.close()
                raise
        except sqlite3.Error as error:
            sentence = str(translate(error, path))
            raise Misconfigured(sentence, setting="DATABASE_URL") from error
        return cls(path, writer=writer, reader=reader, busy_seconds=busy_seconds)

    async def transact(self, work: Callable[[Sql], T]) -> T:
        self._refuse_if_closed()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Unit(work, future))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_waiting())
        return await future

    async def read(self, work: Callable[[Sql], T]) -> T:
        self._refuse_if_closed()
        return await _on_thread(self._reader, partial(self._read, work))

    async def scrub(self) -> bool:
        """Deleted text is overwritten as it is deleted (secure_delete); what is left of it in the
        log goes by a checkpoint. A file that is small enough is written anew as well, because a
        page that was rearranged may keep what once stood on it."""
        self._refuse_if_closed()
        return await _on_thread(self._writer, self._scrub)

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._finish())
        await asyncio.shield(self._closing)

    def _refuse_if_closed(self) -> None:
        if self._closing is not None:
            raise StoreUnavailable(f"{self._path} was closed: Dabir is stopping.")

    async def _finish(self) -> None:
        try:
            if self._committing is not None:
                await self._committing
        finally:  # a connection left open would keep the process from exiting
            await self._reader.close()
            await self._writer.close()  # the last to close folds the log into the file

    # The event loop's side of a commit

    async def _commit_waiting(self) -> None:
        try:
            while self._waiting:
                await self._commit_group(self._take_group())
        finally:
            self._committing = None

    async def _commit_group(self, group: "Sequence[_Unit[Any]]") -> None:
        works = [unit.work for unit in group]
        outcomes: Sequence[_Outcome] = ()
        try:
            outcomes = await _on_thread(self._writer, partial(self._commit, works))
        except Exception as error:  # noqa: BLE001 - a fault of ours; nobody may wait for ever
            outcomes = [_Failed(error) for _ in group]
        finally:  # without outcomes: this task was cancelled, and the thread commits regardless
            for unit, outcome in zip_longest(group, outcomes):
                unit.future.cancel() if outcome is None else _settle(unit.future, outcome)

    def _take_group(self) -> list[_Unit[Any]]:
        group, self._waiting = self._waiting[:GROUP_LIMIT], self._waiting[GROUP_LIMIT:]
        return [unit for unit in group if not unit.future.cancelled()]

    # The connection's side, on its thread

    def _commit(self, works: Sequence[_Work], connection: sqlite3.Connection) -> list[_Outcome]:
        try:
            return self._commit_together(works, connection)
        except DabirError as error:
            _roll_back(connection)
            if len(works) == 1 or isinstance(error, Busy):
                log.warning("commit_failed", units=len(works), reason=str(error))
                return [_Failed(_again(error)) for _ in works]
        return [self._commit([work], connection)[0] for work in works]

    def _commit_together(
        self, works: Sequence[_Work], connection: sqlite3.Connection
    ) -> list[_Outcome]:
        execute = partial(self._execute, connection)
        if not works:
            return []
        self._refuse_if_moved()
        execute("BEGIN IMMEDIATE")
        outcomes = [self._run_unit(work, execute) for work in works]
        execute("COMMIT")
        self.commits += 1
        return outcomes

    def _run_unit(self, work: _Work, execute: "partial[Result]") -> _Outcome:
        execute("SAVEPOINT unit")
        try:
            result = carry_out(work, Handle(execute, row_lock=""))
        except StoreUnavailable:
            raise  # SQLite may have undone the whole group
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is its caller's
            execute("ROLLBACK TO unit")
            execute("RELEASE unit")
            return _Failed(error)
        execute("RELEASE unit")
        return _Done(result)

    def _read(self, work: Callable[[Sql], T], connection: sqlite3.Connection) -> T:
        execute = partial(self._execute, connection, reading=True)
        try:
            execute("BEGIN")
            return carry_out(work, Handle(execute, row_lock=None))
        finally:
            _roll_back(connection)

    def _execute(
        self,
        connection: sqlite3.Connection,
        text: str,
        values: Values | None = None,
        *,
        reading: bool = False,
    ) -> Result:
        try:
            cursor = connection.execute(text, values or {})
            rows = cursor.fetchall() if cursor.description else ()
            return rows, max(cursor.rowcount, 0)
        except sqlite3.Error as error:
            raise translate(error, self._path, reading=reading) from error

    def _scrub(self, connection: sqlite3.Connection) -> bool:
        execute = partial(self._execute, connection)
        execute(f"PRAGMA busy_timeout = {SCRUB_BUSY_MS}")
        try:
            if self._path.stat().st_size <= VACUUM_BYTES:
                execute("VACUUM")
            rows, _ = execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return bool(rows[0][0] == 0)
        except Busy:
            return False
        except OSError as error:
            raise StoreUnavailable(f"{self._path} cannot be read ({error.strerror}).") from error
        finally:
            execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")

    def _refuse_if_moved(self) -> None:
        """SQLite would go on writing into the deleted file, and all of it would be lost."""
        if _identity(self._path) != self._identity:
            raise StoreUnavailable(
                f"{self._path} was moved, deleted or replaced while Dabir was running: "
                "put it back and restart."
            )


async def _on_thread(
    connection: aiosqlite.Connection, function: Callable[[sqlite3.Connection], T]
) -> T:
    """Run `function` on the connection's own thread, in one hop.

    aiosqlite's public methods hop once a statement. `_execute` is what all of them are made of;
    tests/contracts/test_database.py fails if it changes.
    """
    raw = connection._conn

    def hop() -> T:  # aiosqlite logs what it runs: this name, rather than a partial's arguments
        return function(raw)

    result: T = await connection._execute(hop)  # type: ignore[no-untyped-call]
    return result


def _settle(future: "asyncio.Future[Any]", outcome: _Outcome) -> None:
    if future.done():  # its caller was cancelled meanwhile
        return
    match outcome:
        case _Done(value):
            future.set_result(value)
        case _Failed(error):
            future.set_exception(error)


def _again(error: DabirError) -> DabirError:
    """A copy, because one exception raised in many tasks would collect all their tracebacks."""
    if isinstance(error, StatementRefused):
        return StatementRefused(str(error), code=error.code)
    return StoreUnavailable(str(error))


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):  # the failure that led here is the one to tell
            connection.execute("ROLLBACK")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _prepare(path: Path) -> None:
    """Make sure that there is a file, readable by its owner only."""
    if path.is_dir():
        raise Misconfigured(
            f"{path} is a folder: DATABASE_URL must name a file.", setting="DATABASE_URL"
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise Misconfigured(
            f"{path} cannot be created or written ({error.strerror}): "
            "check DATABASE_URL and who owns the folder.",
            setting="DATABASE_URL",
        ) from error


async def _connect(
    path: Path, busy_seconds: float, prepare: Callable[[sqlite3.Connection], None]
) -> aiosqlite.Connection:
    connection = await aiosqlite.connect(
        path, isolation_level=None, timeout=busy_seconds, cached_statements=512
    )
    try:
        await _when_free(partial(_on_thread, connection, prepare), busy_seconds)
    except BaseException:
        await connection.close()
        raise
    return connection


async def _when_free(step: Callable[[], Any], busy_seconds: float) -> None:
    """SQLite does not wait for a writer when it changes to WAL, so we do."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + busy_seconds
    while True:
        try:
            await step()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or clock() >= deadline:
                raise
            await asyncio.sleep(_OPEN_DELAY)
        else:
            return


def _ready_to_write(connection: sqlite3.Connection) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise Misconfigured(
            "The database file is on a file system that SQLite's log cannot work on: "
            "keep it on a local disk.",
            setting="DATABASE_URL",
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    connection.execute("BEGIN IMMEDIATE")  # proves that the file can be written
    connection.execute("ROLLBACK")


def _ready_to_read(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
