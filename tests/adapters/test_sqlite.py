"""SQLite's misfortunes, as sentences; and that the database goes on when they are over."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from bot.errors import Misconfigured, StatementRefused, StoreUnavailable
from bot.store.port import Sql
from bot.store.sqlite import SqliteDatabase
from bot.store.sqlite_faults import translate

Open = Callable[..., Awaitable[SqliteDatabase]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "dabir.db"


@pytest.fixture
async def open_file(path: Path) -> AsyncIterator[Open]:
    opened: list[SqliteDatabase] = []

    async def open_another(*, busy_seconds: float = 10) -> SqliteDatabase:
        opened.append(await SqliteDatabase.open(path, busy_seconds=busy_seconds))
        return opened[-1]

    yield open_another
    for database in opened:
        await database.close()


@pytest.fixture
async def database(open_file: Open) -> SqliteDatabase:
    database = await open_file()
    await database.transact(
        lambda sql: sql.run("CREATE TABLE notes (id BIGINT PRIMARY KEY, body TEXT)")
    )
    return database


def add(number: int, sql: Sql, size: int = 10) -> int:
    values = {"id": number, "body": "x" * size}
    return sql.run("INSERT INTO notes (id, body) VALUES (:id, :body)", values)


async def count(database: SqliteDatabase) -> int:
    row = await database.read(lambda sql: sql.row("SELECT count(*) FROM notes"))
    assert row
    return int(row[0])


# Files and settings


async def test_folder_and_file_are_made_for_their_owner_only(
    database: SqliteDatabase, path: Path
) -> None:
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_commits_are_synced_to_a_write_ahead_log(database: SqliteDatabase) -> None:
    for pragma, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
        row = await database.transact(lambda sql, p=pragma: sql.row(f"PRAGMA {p}"))  # type: ignore[misc]
        assert row == (value,)


async def test_a_closed_database_is_one_file(database: SqliteDatabase, path: Path) -> None:
    await database.transact(partial(add, 1))
    await database.close()
    assert [file.name for file in path.parent.iterdir()] == ["dabir.db"]


async def test_many_units_share_one_commit(database: SqliteDatabase) -> None:
    before = database.commits
    await asyncio.gather(*(database.transact(partial(add, n)) for n in range(200)))
    assert database.commits - before == 1
    assert await count(database) == 200


# A full disk


async def test_a_full_disk_fails_only_what_does_not_fit(database: SqliteDatabase) -> None:
    await limit_pages(database, 20)
    units = [partial(add, n, size=900_000 if n == 3 else 10) for n in range(6)]
    results = await asyncio.gather(*map(database.transact, units), return_exceptions=True)
    refused = results.pop(3)
    assert results == [1] * 5
    assert isinstance(refused, StoreUnavailable)
    assert str(refused).endswith("dabir.db is full: free some space.")
    assert await count(database) == 5
    await limit_pages(database, 100_000)
    assert await database.transact(partial(add, 3, size=900_000)) == 1


async def limit_pages(database: SqliteDatabase, pages: int) -> None:
    await database.transact(lambda sql: sql.rows(f"PRAGMA max_page_count = {pages}"))


async def test_a_unit_that_swallows_the_full_disk_fails_nevertheless(
    database: SqliteDatabase,
) -> None:
    await limit_pages(database, 20)

    def swallow(sql: Sql) -> None:
        add(1, sql)
        with pytest.raises(StoreUnavailable):
            sql.attempt(partial(add, 2, size=900_000))

    with pytest.raises(StoreUnavailable, match="full"):
        await database.transact(swallow)
    assert await count(database) == 0


COMMIT_CANNOT_BE_WRITTEN = """
import asyncio, resource, sys
from pathlib import Path
from bot.errors import StoreUnavailable
from bot.store.sqlite import SqliteDatabase

def add(sql):
    return sql.run("INSERT INTO t (body) VALUES (:body)", {"body": "x" * 50_000})

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def main():
    path = Path(sys.argv[1])
    database = await SqliteDatabase.open(path)
    await database.transact(lambda sql: sql.run("CREATE TABLE t (body TEXT)"))
    limit(path.with_name(path.name + "-wal").stat().st_size + 20_000)
    units = [database.transact(add) for _ in range(3)]
    results = await asyncio.gather(*units, return_exceptions=True)
    for result in results:
        print(type(result).__name__, result)
    assert len({id(result) for result in results}) == 3
    print(await database.read(lambda sql: sql.row("SELECT count(*) FROM t")))
    limit(resource.RLIM_INFINITY)
    print(await database.transact(add))
    print(await database.read(lambda sql: sql.row("SELECT count(*) FROM t")))
    await database.close()

asyncio.run(main())
"""


def test_when_a_commit_cannot_be_written_every_caller_is_told_and_later_ones_succeed(
    tmp_path: Path,
) -> None:
    output = run_python(COMMIT_CANNOT_BE_WRITTEN, str(tmp_path / "full.db")).splitlines()
    assert len(output) == 6
    for line in output[:3]:
        assert line.startswith("StoreUnavailable")
        assert "full.db cannot be read or written (SQLITE_IOERR_WRITE): check the disk." in line
    assert output[3:] == ["(0,)", "1", "(1,)"]


def run_python(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return "\n".join(line for line in done.stdout.splitlines() if " [warning" not in line)


DISK_FULL_AT_THE_START = """
import asyncio, resource, sys
from pathlib import Path
from bot.errors import Misconfigured
from bot.store.sqlite import SqliteDatabase

async def main():
    await (await SqliteDatabase.open(Path(sys.argv[1]))).close()
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    try:
        await SqliteDatabase.open(Path(sys.argv[1]))
    except Misconfigured as error:
        print(error)

asyncio.run(main())
"""


def test_a_disk_that_is_full_at_the_start_is_told(tmp_path: Path) -> None:
    told = run_python(DISK_FULL_AT_THE_START, str(tmp_path / "full.db"))
    assert "full.db cannot be read or written (SQLITE_IOERR" in told


# Files that cannot be used

OPEN_AND_TELL = """
import asyncio, os, sys
from pathlib import Path
from bot.errors import DabirError
from bot.store.sqlite import SqliteDatabase

if os.geteuid() == 0:  # root may write everything
    os.setgid(65534)
    os.setuid(65534)

async def main():
    try:
        database = await SqliteDatabase.open(Path(sys.argv[1]))
    except DabirError as error:
        print(type(error).__name__, error.setting, error)
    else:
        await database.close()
        print("opened")

asyncio.run(main())
"""


@pytest.fixture
def foreign_folder() -> Iterator[Path]:
    """A folder that an ordinary user can reach; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def open_as_ordinary_user(path: Path) -> str:
    return run_python(OPEN_AND_TELL, str(path))


def test_a_read_only_file_is_refused(foreign_folder: Path) -> None:
    path = foreign_folder / "dabir.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id)")
    path.chmod(0o444)
    told = open_as_ordinary_user(path)
    assert told.startswith(f"Misconfigured DATABASE_URL {path} cannot be created or written")
    assert "Permission denied" in told


def test_a_folder_that_cannot_be_written_is_refused(foreign_folder: Path) -> None:
    foreign_folder.chmod(0o555)
    for path in (foreign_folder / "dabir.db", foreign_folder / "new" / "dabir.db"):
        told = open_as_ordinary_user(path)
        assert told.startswith("Misconfigured DATABASE_URL")
        assert "Permission denied): check DATABASE_URL" in told


def test_a_writable_file_in_a_folder_that_is_not_is_refused(foreign_folder: Path) -> None:
    path = foreign_folder / "dabir.db"
    path.touch()
    path.chmod(0o666)
    foreign_folder.chmod(0o555)
    told = open_as_ordinary_user(path)
    assert told.startswith(f"Misconfigured DATABASE_URL {path} ")
    assert told.endswith("writable.") or "read-only" in told


def content(path: Path) -> bytes:
    return path.read_bytes()


def damage(path: Path, offset: int, written: bytes) -> None:
    with path.open("r+b" if path.exists() else "wb") as file:
        file.seek(offset)
        file.write(written)


async def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="is a folder"):
        await SqliteDatabase.open(tmp_path)


async def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(Misconfigured, match=r"File exists|Not a directory"):
        await SqliteDatabase.open(tmp_path / "data" / "dabir.db")


async def test_a_file_that_is_no_database_is_refused_and_left_alone(
    open_file: Open, path: Path
) -> None:
    path.parent.mkdir()
    damage(path, 0, b"a shopping list, not a database " * 200)
    before = content(path)
    with pytest.raises(Misconfigured, match="is not an SQLite database: move it away"):
        await open_file()
    assert content(path) == before


async def test_a_damaged_header_is_refused(
    database: SqliteDatabase, open_file: Open, path: Path
) -> None:
    await database.close()
    damage(path, 0, b"\xff" * 100)
    with pytest.raises(Misconfigured, match="is not an SQLite database"):
        await open_file()


async def test_a_damaged_schema_is_refused(
    database: SqliteDatabase, open_file: Open, path: Path
) -> None:
    await database.close()
    damage(path, 100, b"\xff" * 3996)
    with pytest.raises(Misconfigured, match="is damaged: stop Dabir and restore"):
        await open_file()


async def test_a_damaged_page_is_told_when_it_is_met(
    database: SqliteDatabase, open_file: Open, path: Path
) -> None:
    for number in range(300):
        await database.transact(partial(add, number, size=400))
    await database.transact(lambda sql: sql.run("CREATE TABLE healthy (id BIGINT)"))
    await database.close()
    middle_page = len(content(path)) // 4096 // 2
    damage(path, middle_page * 4096, b"\xee" * 4096)
    reopened = await open_file()

    def everything(sql: Sql) -> None:
        sql.rows("SELECT * FROM notes")

    def healthy(sql: Sql) -> int:
        return sql.run("INSERT INTO healthy (id) VALUES (1)")

    for run in (reopened.read, reopened.transact):
        with pytest.raises(StoreUnavailable, match="is damaged: stop Dabir and restore"):
            await run(everything)
    results = await asyncio.gather(
        reopened.transact(healthy), reopened.transact(everything), return_exceptions=True
    )
    assert results[0] == 1
    assert isinstance(results[1], StoreUnavailable)


def move(path: Path, target: Path) -> Path:
    return path.rename(target)


async def test_a_file_moved_away_under_the_program_is_told_at_the_next_write(
    database: SqliteDatabase, path: Path
) -> None:
    moved = move(path, path.with_name("moved.db"))
    with pytest.raises(StoreUnavailable, match="was moved, deleted or replaced"):
        await database.transact(partial(add, 1))
    move(moved, path)
    assert await database.transact(partial(add, 1)) == 1


# Others on the same file


async def test_a_lock_held_too_long_is_told_and_over_when_it_is_released(
    open_file: Open, database: SqliteDatabase, path: Path
) -> None:
    hasty = await open_file(busy_seconds=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        units = [hasty.transact(partial(add, n)) for n in range(3)]
        results = await asyncio.gather(*units, return_exceptions=True)
        assert all(isinstance(result, StoreUnavailable) for result in results)
        assert "is locked by another program" in str(results[0])
        with pytest.raises(Misconfigured, match="is locked by another program"):
            await open_file(busy_seconds=0.05)
        other.execute("ROLLBACK")
    assert await hasty.transact(partial(add, 1)) == 1


async def test_a_lock_that_is_released_in_time_is_waited_for(
    database: SqliteDatabase, path: Path
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(database.transact(partial(add, 1)))
        assert await count(database) == 0
        assert not writing.done()
        other.execute("ROLLBACK")
        assert await writing == 1


async def test_the_change_to_wal_is_waited_for_as_long_as_any_lock(
    open_file: Open, path: Path
) -> None:
    path.parent.mkdir()
    loop = asyncio.get_running_loop()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = loop.time()
        with pytest.raises(Misconfigured, match="is locked by another program"):
            await open_file(busy_seconds=0.1)
        assert loop.time() - begun >= 0.1


async def test_many_may_open_a_new_file_at_once(open_file: Open) -> None:
    databases = await asyncio.gather(*(open_file() for _ in range(8)))
    await databases[0].transact(lambda sql: sql.run("CREATE TABLE notes (id BIGINT, body TEXT)"))
    await asyncio.gather(*(d.transact(partial(add, n)) for n in range(20) for d in databases))
    assert await count(databases[3]) == 160


# Every code of SQLite

OUTSIDE = {
    *("FULL", "IOERR", "READONLY", "PERM", "CANTOPEN", "CORRUPT", "NOTADB"),
    *("BUSY", "LOCKED", "PROTOCOL", "NOLFS", "NOMEM"),
}
CODES = {
    name: value
    for name, value in vars(sqlite3).items()
    if name.startswith("SQLITE_") and isinstance(value, int)
}
ERRORS = "ABORT AUTH BUSY CANTOPEN CONSTRAINT CORRUPT ERROR FULL INTERNAL INTERRUPT IOERR LOCKED"
MORE = "MISMATCH MISUSE NOLFS NOMEM NOTADB PERM PROTOCOL RANGE READONLY SCHEMA TOOBIG"
EXTENDED = "BUSY_SNAPSHOT IOERR_FSYNC READONLY_DBMOVED CANTOPEN_ISDIR CONSTRAINT_UNIQUE"


@pytest.mark.parametrize("name", f"{ERRORS} {MORE} {EXTENDED}".split())
def test_every_code_becomes_one_sentence(name: str) -> None:
    error = sqlite3.OperationalError("low-level words")
    error.sqlite_errorcode = CODES[f"SQLITE_{name}"]
    error.sqlite_errorname = f"SQLITE_{name}"
    ours = translate(error, Path("data/dabir.db"))
    if name.split("_")[0] in OUTSIDE:
        assert isinstance(ours, StoreUnavailable)
        assert "data/dabir.db" in str(ours)
        assert "low-level words" not in str(ours)
    else:
        assert isinstance(ours, StatementRefused)
        assert ours.code == f"SQLITE_{name}"
    assert str(ours).endswith(".")
    assert "\n" not in str(ours)
