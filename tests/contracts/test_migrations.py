"""What bot.store.migrations promises, on every database."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.errors import Misconfigured, StatementRefused
from bot.store.migrations import BOT_SCHEMA, Source, migrate, read_steps, split_statements
from bot.store.port import Database
from tests.contracts.conftest import Connect

FIRST = """\
-- People; each has one name.
CREATE TABLE people (
    id BIGINT PRIMARY KEY, -- given by us;
    name TEXT NOT NULL DEFAULT 'a;--b''c'
);
CREATE INDEX people_by_name ON people (name); -- for 100% of the lookups :quickly
"""
SECOND = "ALTER TABLE people ADD COLUMN age BIGINT NOT NULL DEFAULT 7;\n"


@pytest.fixture
def schema(tmp_path: Path) -> Source:
    folder = tmp_path / "schema"
    folder.mkdir()
    (folder / "001_people.sql").write_text(FIRST)
    return ("test", folder)


async def one(database: Database, text: str) -> Any:
    row = await database.read(lambda sql: sql.row(text))
    return row[0] if row else None


async def test_missing_steps_are_applied_once_and_in_order(
    database: Database, schema: Source
) -> None:
    assert await migrate(database, [schema], now=5) == 1
    (schema[1] / "002_age.sql").write_text(SECOND)
    assert await migrate(database, [schema], now=6) == 1
    assert await migrate(database, [schema], now=7) == 0
    await database.transact(lambda sql: sql.run("INSERT INTO people (id) VALUES (1)"))
    rows = await database.read(lambda sql: sql.rows("SELECT id, name, age FROM people"))
    assert list(rows) == [(1, "a;--b'c", 7)]
    applied = "SELECT source, number, name, applied_at FROM migrations ORDER BY number"
    rows = await database.read(lambda sql: sql.rows(applied))
    assert list(rows) == [("test", 1, "people", 5.0), ("test", 2, "age", 6.0)]


async def test_the_schema_of_the_program_fits_every_database(database: Database) -> None:
    assert await migrate(database, [BOT_SCHEMA], now=1) == len(read_steps(*BOT_SCHEMA))


async def test_two_sources_do_not_mix(database: Database, schema: Source, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "001_things.sql").write_text("CREATE TABLE things (id BIGINT);\n")
    assert await migrate(database, [schema, ("other", other)], now=1) == 2
    assert await migrate(database, [("other", other)], now=1) == 0


async def test_a_step_that_fails_leaves_nothing_behind(database: Database, schema: Source) -> None:
    second = schema[1] / "002_age.sql"
    second.write_text("CREATE TABLE halves (id BIGINT);\nCREATE TABLE people (id BIGINT);\n")
    with pytest.raises(StatementRefused):
        await migrate(database, [schema], now=1)
    assert await one(database, "SELECT count(*) FROM migrations") == 1
    second.write_text("CREATE TABLE halves (id BIGINT);\n")
    assert await migrate(database, [schema], now=2) == 1


async def test_a_newer_database_is_refused(database: Database, schema: Source) -> None:
    second = schema[1] / "002_age.sql"
    second.write_text(SECOND)
    await migrate(database, [schema], now=1)
    second.unlink()
    with pytest.raises(Misconfigured, match=r"newer Dabir .*test/002.*: update Dabir") as caught:
        await migrate(database, [schema], now=2)
    assert caught.value.setting == "DATABASE_URL"


async def test_a_changed_step_is_refused(database: Database, schema: Source) -> None:
    first = schema[1] / "001_people.sql"
    await migrate(database, [schema], now=1)
    first.write_bytes(FIRST.replace("\n", "\r\n").encode())  # as git writes it on Windows
    assert await migrate(database, [schema], now=2) == 0
    first.write_text(FIRST.replace("NOT NULL", ""))
    with pytest.raises(Misconfigured, match=r"test/001_people\.sql was changed"):
        await migrate(database, [schema], now=3)


async def test_processes_that_start_at_once_all_succeed(connect: Connect, schema: Source) -> None:
    (schema[1] / "002_age.sql").write_text(SECOND)
    databases = [await connect() for _ in range(6)]
    counts = await asyncio.gather(*(migrate(d, [schema], now=1) for d in databases))
    assert sum(counts) == 2
    assert await one(databases[0], "SELECT count(*) FROM migrations") == 2


def test_statements_are_split_at_line_ends() -> None:
    assert split_statements(FIRST) == (
        "CREATE TABLE people (\n    id BIGINT PRIMARY KEY,\n"
        "    name TEXT NOT NULL DEFAULT 'a;--b''c'\n)",
        "CREATE INDEX people_by_name ON people (name)",
    )
    assert split_statements("-- nothing here;\n\n") == ()
    with pytest.raises(ValueError, match="CREATE TABLE t"):
        split_statements("SELECT 1;\nCREATE TABLE t (id BIGINT)\n")


@pytest.mark.parametrize("names", [["002_b.sql"], ["001_a.sql", "003_c.sql"], ["1_a.sql"], []])
def test_steps_are_numbered_from_one_without_gaps(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1;\n")
    with pytest.raises(ValueError, match="sql"):
        read_steps("test", tmp_path)


def test_two_steps_with_one_number_are_refused(tmp_path: Path) -> None:
    for name in ("001_a.sql", "001_b.sql"):
        (tmp_path / name).write_text("SELECT 1;\n")
    with pytest.raises(ValueError, match="001_b"):
        read_steps("test", tmp_path)
