"""Doctor's checks of the database and the memory store. They read; they never write or wait."""

import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from bot.cli.findings import Finding, fine, look, wrong
from bot.errors import Misconfigured
from bot.settings import Settings
from bot.walrus_place import is_walrus, open_walrus
from memory.backends.walrus import Lease
from memory.port import MemoryUnavailable

QUICK_CHECK_SECONDS = 7.0
LEASE_WARNING_SECONDS = 21 * 86_400.0
APPLIED = "SELECT number FROM migrations WHERE source = 'bot'"


async def running_bot(settings: Settings) -> Finding:
    """Does a bot run on this database? Told by the lock beside the SQLite file."""
    if settings.sqlite_path is None:
        return fine("with PostgreSQL many may run; each shows in its own log")
    pid = lock_holder(settings.sqlite_path)
    return fine("not running here" if pid is None else f"running here, pid {pid or 'unknown'}")


def lock_holder(database: Path | None) -> int | None:
    """The pid of the bot that runs on this database (0 if it does not say), or None.

    The lock is tried in shared mode, which a running bot does not notice, and is given back
    at once.
    """
    if database is None or sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(database.with_name(database.name + ".lock"), os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        text = os.read(descriptor, 20)
        return int(text) if text.isdigit() else 0
    else:
        return None
    finally:
        os.close(descriptor)


async def database(settings: Settings) -> Finding:
    """Can it be read, is it whole, does its schema fit this program?"""
    path = settings.sqlite_path
    if path is None:
        return await _postgres(settings.database_url.get_secret_value())
    if not path.exists():
        return _not_there_yet(path)
    running = lock_holder(path) is not None
    return await asyncio.to_thread(_sqlite, path, running=running)


def _not_there_yet(path: Path) -> Finding:
    nearest = _nearest(path)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return wrong(f"{path} cannot be created in {nearest}; check DATABASE_URL and that place")
    return fine(f"{path} will be created on first start")


def _sqlite(path: Path, *, running: bool) -> Finding:
    try:
        with closing(_open_read_only(path, running=running)) as connection:
            result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            tables = "SELECT count(*) FROM sqlite_master WHERE name = 'migrations'"
            has_migrations = connection.execute(tables).fetchone()[0]
            applied = connection.execute(APPLIED).fetchall() if has_migrations else []
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            return look(f"{path} is readable, but too large to be checked while you wait")
        return wrong(f"{path} cannot be read ({error}); check who owns it and its folder")
    except sqlite3.DatabaseError as error:
        return wrong(f"{path} is damaged or no database ({error}); restore a backup")
    if result != "ok":
        return wrong(f"{path} is damaged; stop the bot and restore a backup")
    if not running and not os.access(path, os.W_OK):
        return wrong(f"{path} is read-only for this account; check who owns it")
    return judge_schema(str(path), [row[0] for row in applied])


def _open_read_only(path: Path, *, running: bool) -> sqlite3.Connection:
    """Read beside a running bot. Where none runs and no log waits, touch no file at all."""
    untouched = not running and not path.with_name(path.name + "-wal").exists()
    mode = "immutable=1" if untouched else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?{mode}", uri=True, timeout=1)
    deadline = time.monotonic() + QUICK_CHECK_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    return connection


async def _postgres(url: str) -> Finding:
    from bot.store.url import open_database

    store = await open_database(url)
    try:
        exists = "SELECT 1 FROM information_schema.tables WHERE table_name = 'migrations'"
        there = await store.read(lambda sql: sql.row(exists))
        rows = await store.read(lambda sql: sql.rows(APPLIED)) if there else ()
    finally:
        await store.close()
    return judge_schema("PostgreSQL", [row[0] for row in rows])


def judge_schema(name: str, applied: Sequence[int]) -> Finding:
    """Compare the steps in the database with the steps that this program knows."""
    from bot.store.migrations import BOT_SCHEMA, read_steps

    known = len(read_steps(*BOT_SCHEMA))
    newest = max(applied, default=0)
    if newest > known:
        return wrong(f"{name} was used by a newer Dabir; update this one")
    if newest < known:
        return fine(f"{name} is whole; the next start brings its schema from {newest} to {known}")
    return fine(f"{name} is whole, schema {newest}")


async def memory(settings: Settings) -> Finding:
    """Can the memory lines be kept where MEMORY_URL says?"""
    url = settings.memory_url.get_secret_value()
    if is_walrus(url):
        return await _walrus(settings)
    return _memory_place(url)


async def _walrus(settings: Settings) -> Finding:
    """Asks the relayer who we are, and when it lets go of what it holds: 2 points."""
    try:
        backend = open_walrus(settings)
    except Misconfigured as error:
        return wrong(str(error))
    try:
        leases = await backend.leases()
    except MemoryUnavailable as error:
        return wrong(str(error))
    finally:
        await backend.close()
    return judge_leases(leases, time.time())


def judge_leases(leases: Sequence[Lease], now: float) -> Finding:
    """`leases`: soonest first."""
    if not leases:
        return fine("the relayer knows the key; it holds nothing yet")
    days = int((leases[0].ends.timestamp() - now) // 86_400)
    ending = sum(lease.ends.timestamp() - now < LEASE_WARNING_SECONDS for lease in leases)
    if ending:
        return look(
            f"Walrus lets go of {ending} of {len(leases)} texts, the first in {days} days;"
            " renew them, or move memory elsewhere"
        )
    return fine(f"the relayer knows the key; {len(leases)} texts are kept for {days} days or more")


def _memory_place(url: str) -> Finding:
    scheme, _, place = url.partition("://")
    if not scheme:
        return fine("kept in the database")
    path = Path(place.removeprefix("/") if scheme == "sqlite" else place).expanduser()
    holder = _nearest(path)
    if not os.access(holder, os.W_OK):
        return wrong(f"{path} cannot be written; check MEMORY_URL and who owns {holder}")
    return fine(f"kept in {path}")


def _nearest(path: Path) -> Path:
    """The path itself or the innermost of its parents that exists."""
    absolute = path.absolute()
    return next(each for each in (absolute, *absolute.parents) if each.exists())
