"""What every memory backend must do."""

import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memory
from bot.errors import StoreUnavailable
from bot.lab.relayer import Relayer, Timing
from bot.store.migrations import migrate
from bot.store.url import open_database
from memory import Entry, Line, MemoryBackend, MemoryUnavailable, format_line
from memory.backends.file import FileBackend
from memory.backends.sql import SqlBackend
from memory.port import Address
from memory.schema import FOLDER, scripts
from tests.memory_database import SqliteDatabase
from tests.memory_lines import a_line, lines_any
from tests.postgres_server import PostgresServer
from tests.relayer import UNLIMITED, walrus_backend

ALICE, BOB = "a1" * 16, "b2" * 16
MEMORY_SCHEMA = ("memory", FOLDER)


@pytest.fixture(params=["sqlite", "postgres", "file", "walrus"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryBackend]:
    """Another backend joins by one more parameter and the lines that make it."""
    async with AsyncExitStack() as stack:
        if request.param == "file":
            made: MemoryBackend = FileBackend(tmp_path / "memory")
        elif request.param == "walrus":
            at_once = Timing(running_seconds=0, uploaded_seconds=0, index_seconds=0)
            made = walrus_backend(Relayer(timing=at_once), points=UNLIMITED)
        else:
            database = await open_database(database_url(request, tmp_path))
            stack.push_async_callback(database.close)
            await migrate(database, [MEMORY_SCHEMA], now=0.0)
            made = SqlBackend(database, unavailable=(StoreUnavailable,))
        yield made
        await made.close()
        await made.close()  # idempotent


def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/memory.db"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create_database()


def entries(*lines: Line, namespace: str = ALICE) -> list[Entry]:
    return [Entry(namespace, line) for line in lines]


TWO = (
    a_line(id="one"),
    a_line(id="two", ordinal=1, text="Dislikes \u2028 coffee\n | \\ \x00 \ud800"),
)


async def test_what_was_written_is_read_as_it_was(backend: MemoryBackend) -> None:
    await backend.write(entries(*TWO))
    answer = await backend.read(ALICE)
    assert set(answer.lines) == set(TWO)
    assert answer.dropped == 0
    assert await backend.count(ALICE) == 2


async def test_an_unknown_namespace_is_empty(backend: MemoryBackend) -> None:
    assert (await backend.read(ALICE)).lines == ()
    assert await backend.count(ALICE) == 0
    assert await backend.visible(entries(*TWO)) == frozenset()


async def test_i10_namespaces_do_not_see_each_other(backend: MemoryBackend) -> None:
    await backend.write([Entry(ALICE, TWO[0]), Entry(BOB, TWO[1])])
    assert (await backend.read(ALICE)).lines == (TWO[0],)
    assert (await backend.read(BOB)).lines == (TWO[1],)
    asked = [Entry(ns, line) for ns in (ALICE, BOB) for line in TWO]
    assert await backend.visible(asked) == {Address(ALICE, "one"), Address(BOB, "two")}


async def test_writing_again_changes_and_adds_nothing(backend: MemoryBackend) -> None:
    await backend.write(entries(*TWO, *TWO))
    await backend.write(entries(a_line(id="one", text="something else"), *TWO))
    assert sorted((await backend.read(ALICE)).lines, key=lambda line: line.id) == list(TWO)
    assert await backend.count(ALICE) == 2


async def test_of_two_contents_in_one_call_the_first_stays(backend: MemoryBackend) -> None:
    await backend.write(entries(a_line(text="first"), a_line(text="second")))
    assert [line.text for line in (await backend.read(ALICE)).lines] == ["first"]


async def test_many_lines_of_many_namespaces_in_one_call(backend: MemoryBackend) -> None:
    many = [Entry(f"{n % 7:032x}", a_line(id=f"l{n}", ordinal=n)) for n in range(300)]
    await backend.write(many)
    assert await backend.visible(many) == {entry.address for entry in many}
    assert [await backend.count(f"{n:032x}") for n in range(7)] == [43] * 6 + [42]


async def test_nothing_to_write_is_nothing_to_do(backend: MemoryBackend) -> None:
    await backend.write([])
    assert await backend.visible([]) == frozenset()


async def test_writers_at_once_lose_and_double_nothing(backend: MemoryBackend) -> None:
    lines = [a_line(id=f"l{n}", ordinal=n) for n in range(60)]
    await asyncio.gather(*(backend.write(entries(*lines[n : n + 20])) for n in range(0, 60, 10)))
    assert sorted(line.ordinal for line in (await backend.read(ALICE)).lines) == list(range(60))


@given(st.lists(lines_any(), max_size=5, unique_by=lambda line: line.id))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_line_survives_any_backend(backend: MemoryBackend, lines: list[Line]) -> None:
    namespace = uuid4().hex
    await backend.write(entries(*lines, namespace=namespace))
    assert set((await backend.read(namespace)).lines) == set(lines)


# SQL


async def test_a_database_that_does_not_answer_is_unavailable_memory() -> None:
    database = SqliteDatabase()
    backend = SqlBackend(database, unavailable=(OSError,))
    database.broken = OSError("disk full")
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: backend.write(entries(*TWO)),
        lambda: backend.visible(entries(*TWO)),
        lambda: backend.read(ALICE),
        lambda: backend.count(ALICE),
    ]
    for call in calls:
        with pytest.raises(MemoryUnavailable):
            await call()
    await database.close()


async def test_a_damaged_row_is_counted_as_dropped_and_proves_nothing() -> None:
    database = SqliteDatabase()
    backend = SqlBackend(database)
    await database.transact(
        lambda sql: sql.run(
            "INSERT INTO memory_lines VALUES (:n, 'one', 'half a li')", {"n": ALICE}
        )
    )
    answer = await backend.read(ALICE)
    assert (answer.lines, answer.dropped) == ((), 1)
    assert await backend.visible(entries(TWO[0])) == frozenset()
    await database.close()


def test_i9_no_statement_of_the_package_changes_or_removes_a_line() -> None:
    """Sealing up and forgetting excepted: their statements stand in a module of their own."""
    root = Path(inspect.getfile(memory)).parent
    daily = [path for path in root.rglob("*.py") if path.name != "sql_upkeep.py"]
    sources = [path.read_text() for path in daily] + [text for _, text in scripts()]
    statements = [s for source in sources for s in re.split(r'"""|"|;', source)]
    touching = [s for s in statements if re.search(r"\bmemory_lines\b", s)]
    assert any("INSERT INTO memory_lines" in s for s in touching)
    for statement in touching:
        assert not re.search(
            r"\b(UPDATE|DELETE|REPLACE|TRUNCATE|DROP|ALTER|TRIGGER)\b", statement, re.IGNORECASE
        )


# Files


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def others_may(path: Path) -> int:
    return path.stat().st_mode & 0o077


async def test_a_file_is_plain_text_that_grep_reads(directory: Path) -> None:
    await FileBackend(directory).write(entries(*TWO))
    path = directory / f"{ALICE}.txt"
    assert path.read_text() == "".join(format_line(line) + "\n" for line in TWO)
    assert [others_may(p) for p in (path, directory)] == [0, 0]


@pytest.mark.parametrize("cut", range(1, len(format_line(TWO[1]).encode()) + 2))
async def test_a_torn_last_line_is_never_read_and_never_glued(directory: Path, cut: int) -> None:
    backend = FileBackend(directory)
    await backend.write(entries(*TWO))
    path = directory / f"{ALICE}.txt"
    path.write_bytes(path.read_bytes()[:-cut])  # the crash
    torn = path.read_bytes()
    assert (await backend.read(ALICE)).lines == (TWO[0],)
    assert await backend.visible(entries(*TWO)) == {Address(ALICE, "one")}
    third = a_line(id="three", ordinal=2)
    await backend.write(entries(third, TWO[1]))
    answer = await backend.read(ALICE)
    assert answer.lines == (TWO[0], third, TWO[1])
    assert answer.dropped == 0  # half a line was never accepted
    assert await backend.count(ALICE) == 3
    assert path.read_bytes().startswith(torn)  # a file only grows


async def test_a_line_spoilt_in_the_file_is_dropped_and_can_be_written_again(
    directory: Path,
) -> None:
    backend = FileBackend(directory)
    await backend.write(entries(*TWO))
    path = directory / f"{ALICE}.txt"
    path.write_bytes(path.read_bytes().replace(b"#fact", b"\xff\xfe!!!", 1))
    assert (await backend.read(ALICE)).dropped == 1
    assert await backend.visible(entries(*TWO)) == {Address(ALICE, "two")}
    await backend.write(entries(*TWO))
    assert set((await backend.read(ALICE)).lines) == set(TWO)


async def test_a_line_that_quotes_an_id_does_not_prove_it(directory: Path) -> None:
    backend = FileBackend(directory)
    await backend.write(entries(a_line(id="liar", text="id=one id=one | x")))
    assert await backend.visible(entries(TWO[0])) == frozenset()
    await backend.write(entries(TWO[0]))
    assert TWO[0] in (await backend.read(ALICE)).lines


async def test_a_disk_that_refuses_is_unavailable_memory(tmp_path: Path) -> None:
    in_the_way = tmp_path / "memory"
    in_the_way.write_text("a file where the directory should be")
    backend = FileBackend(in_the_way)
    with pytest.raises(MemoryUnavailable):
        await backend.write(entries(*TWO))
    with pytest.raises(MemoryUnavailable):
        await backend.read(ALICE)


@pytest.mark.parametrize("namespace", ["../../etc/passwd", "", ".", "a/b", "a\n"])
async def test_a_namespace_cannot_leave_the_directory(directory: Path, namespace: str) -> None:
    with pytest.raises(ValueError, match="namespace"):
        await FileBackend(directory).write(entries(TWO[0], namespace=namespace))


APPENDER = """
import sys
from pathlib import Path
from memory import Entry
from memory.backends.file import FileBackend
from tests.memory_lines import a_line

directory, namespace, name = sys.argv[1:]
backend = FileBackend(Path(directory))
print("ready", flush=True)
sys.stdin.readline()
for n in range(80):
    ids = (f"{name}.{n}", f"both.{n}")
    backend._write([Entry(namespace, a_line(id=line_id, text="x" * 9000)) for line_id in ids])
"""


def test_two_processes_append_to_one_file(directory: Path) -> None:
    command = [sys.executable, "-c", APPENDER, str(directory), ALICE]
    processes = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("p", "q")
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0]
    answer = asyncio.run(FileBackend(directory).read(ALICE))
    wanted = {f"{name}.{n}" for name in ("p", "q", "both") for n in range(80)}
    assert sorted(line.id for line in answer.lines) == sorted(wanted)
    assert answer.dropped == 0
