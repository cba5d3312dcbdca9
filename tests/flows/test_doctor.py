"""`dabir doctor`: one line a check, a line for everything that is wrong, and no harm done."""

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest

from bot.cli import doctor
from bot.cli.findings import Finding, State, fine
from bot.cli.machine_checks import MEGABYTE, judge_space
from bot.cli.network_checks import judge_clock
from bot.cli.storage_checks import judge_schema
from bot.settings import Settings
from bot.store.filelock import FileLock
from bot.store.migrations import BOT_SCHEMA, migrate
from bot.store.sqlite import SqliteDatabase
from tests.postgres_server import PostgresServer, postgres_server  # noqa: F401 - a fixture
from tests.surroundings import KEY, TOKEN, SmallServer, forget_settings, small_server

DATABASE = Path("data/dabir.db")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallServer]:
    forget_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    with small_server() as server:
        monkeypatch.setenv("TELEGRAM_API_URL", server.url)
        monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
        monkeypatch.setenv("MODEL_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("MODEL_API_KEY", KEY)
        yield server


def run() -> tuple[int, dict[str, str]]:
    """Doctor's exit code, and its line for each check."""
    output = StringIO()
    code = doctor.run(output=output)
    lines = output.getvalue().splitlines()
    return code, {line.split()[1]: line for line in lines}


def make_database() -> None:
    async def make() -> None:
        database = await SqliteDatabase.open(DATABASE)
        await migrate(database, [BOT_SCHEMA], now=0)
        await database.close()

    asyncio.run(make())


def test_a_healthy_set_up_is_all_fine(server: SmallServer) -> None:
    make_database()
    code, lines = run()
    assert code == 0
    assert all(line.startswith("✓") for line in lines.values()), lines
    assert list(lines) == ["settings", *doctor.CHECKS]


def test_a_running_bot_is_seen_and_never_disturbed(server: SmallServer) -> None:
    make_database()
    lock = FileLock(DATABASE)
    assert lock.acquire()
    with closing(sqlite3.connect(DATABASE, isolation_level=None)) as bot:
        bot.execute("PRAGMA journal_mode=WAL")
        bot.execute("CREATE TABLE busy (x)")
        bot.execute("BEGIN IMMEDIATE")  # a bot in the middle of a write
        bot.execute("INSERT INTO busy VALUES (1)")
        code, lines = run()
        bot.execute("COMMIT")
    assert code == 0
    assert f"running here, pid {os.getpid()}" in lines["bot"]
    assert {path.rpartition("/")[2] for path in server.asked} == {
        "getMe",
        "getWebhookInfo",
        "completions",
    }
    lock.release()


def test_looking_leaves_the_lock_free_and_the_folder_as_it_was(server: SmallServer) -> None:
    make_database()
    before = sorted(os.listdir("data"))
    run()
    lock = FileLock(DATABASE)
    assert sorted(os.listdir("data")) == before
    assert lock.acquire()
    lock.release()


def test_nothing_is_created_for_a_bot_that_never_ran(server: SmallServer) -> None:
    code, lines = run()
    assert code == 0
    assert "will be created" in lines["database"]
    assert os.listdir() == []


def test_a_wrong_token_says_where_to_get_the_right_one(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "123456:unknown")
    code, lines = run()
    assert code == 1
    assert lines["token"].startswith("✗")
    assert "@BotFather" in lines["token"]


def test_a_foreign_webhook_is_named_without_its_path(server: SmallServer) -> None:
    server.webhook = {"url": "https://other.example/secret-path", "pending_update_count": 3}
    code, lines = run()
    assert code == 0
    assert lines["updates"].startswith("! ")
    assert "other.example" in lines["updates"]
    assert "secret-path" not in lines["updates"]


def test_a_webhook_that_steals_from_a_running_bot_is_wrong(server: SmallServer) -> None:
    server.webhook = {"url": "https://other.example/", "pending_update_count": 0}
    lock = FileLock(DATABASE)
    assert lock.acquire()
    code, lines = run()
    lock.release()
    assert code == 1
    assert "409" in lines["updates"]


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "MODEL_API_KEY"), (402, "balance"), (404, "MODEL_NAME")]
)
def test_a_model_that_refuses_says_what_to_do(
    server: SmallServer, status: int, advice: str
) -> None:
    server.model_status = status
    code, lines = run()
    assert code == 1
    assert advice in lines["model"]


def test_everything_out_of_reach_is_one_line_each(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("MODEL_BASE_URL", "http://127.0.0.1:9/v1")
    code, lines = run()
    assert code == 1
    assert [n for n, line in lines.items() if line.startswith("✗")] == [
        "token",
        "updates",
        "model",
        "clock",
    ]
    assert TOKEN not in "".join(lines.values())


def test_postgresql_is_looked_at_as_well(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    postgres: PostgresServer = request.getfixturevalue("postgres_server")
    url = postgres.create_database()
    monkeypatch.setenv("DATABASE_URL", url)
    code, lines = run()
    assert code == 0
    assert lines["database"].startswith("✓ database  PostgreSQL is whole; the next start")
    postgres.drop_database(url)
    code, lines = run()
    assert code == 1
    assert lines["database"].startswith("✗")


def test_a_damaged_database_is_named(server: SmallServer) -> None:
    DATABASE.parent.mkdir()
    DATABASE.write_bytes(b"this is no database" * 100)
    code, lines = run()
    assert code == 1
    assert "damaged or no database" in lines["database"]


def test_a_database_with_a_broken_page_is_named(server: SmallServer) -> None:
    make_database()
    with closing(sqlite3.connect(DATABASE, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE big (x)")
        connection.execute("INSERT INTO big VALUES (zeroblob(100000))")
        connection.execute("PRAGMA journal_mode=DELETE")
    size = DATABASE.stat().st_size
    with DATABASE.open("r+b") as file:
        file.seek(size - 50_000)
        file.write(b"\xff" * 40_000)
    code, lines = run()
    assert code == 1
    assert "damaged" in lines["database"]


def test_a_folder_where_nothing_can_be_created_is_named(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("blocked").touch()
    monkeypatch.setenv("DATABASE_URL", "sqlite:///blocked/dabir.db")
    code, lines = run()
    assert code == 1
    assert "cannot be created" in lines["database"]


def test_secrets_that_others_can_read_are_worth_a_look(server: SmallServer) -> None:
    Path(".env").touch(mode=0o644)
    code, lines = run()
    assert code == 0
    assert "chmod 600 .env" in lines["files"]


def test_wrong_and_missing_settings_are_listed_and_the_rest_is_checked(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBOUNCE_QUIET", "soon")
    monkeypatch.delenv("TELEGRAM_BOT_TOKEN")
    output = StringIO()
    assert doctor.run(output=output) == 1
    assert "DEBOUNCE_QUIET is 'soon'" in output.getvalue()
    assert "TELEGRAM_BOT_TOKEN is missing" in output.getvalue()
    assert "✓ model" in output.getvalue()


def test_a_check_that_breaks_or_hangs_does_not_hide_the_others(server: SmallServer) -> None:
    async def breaks(settings: Settings) -> Finding:
        raise ZeroDivisionError(TOKEN)

    async def works(settings: Settings) -> Finding:
        return fine("well")

    output = StringIO()
    assert doctor.run(output=output, checks={"first": breaks, "second": works}) == 1
    assert "✗ first     cannot be checked (ZeroDivisionError)" in output.getvalue()
    assert "✓ second    well" in output.getvalue()
    assert TOKEN not in output.getvalue()


async def test_a_check_has_its_own_time() -> None:
    async def hangs(settings: Settings) -> Finding:
        await asyncio.Event().wait()
        return fine("never")

    finding = await doctor._run(hangs, Settings(), seconds=0)
    assert finding.state is State.WRONG


def test_a_clock_that_differs_is_worth_a_look(server: SmallServer) -> None:
    server.date = "Thu, 01 Jan 2026 00:00:00 GMT"
    code, lines = run()
    assert code == 0
    assert lines["clock"].startswith("! ")


@pytest.mark.parametrize(
    ("ahead", "state", "word"),
    [(30, State.FINE, ""), (31, State.LOOK, "ahead"), (-31, State.LOOK, "behind")],
)
def test_thirty_seconds_of_difference_are_allowed(ahead: int, state: State, word: str) -> None:
    there = datetime(2026, 1, 1, tzinfo=UTC)
    finding = judge_clock(here=there + timedelta(seconds=ahead), there=there)
    assert finding.state is state
    assert word in finding.sentence


@pytest.mark.parametrize(
    ("megabytes", "state"), [(50, State.WRONG), (500, State.LOOK), (5000, State.FINE)]
)
def test_little_space_is_told_early(megabytes: int, state: State) -> None:
    assert judge_space(megabytes * MEGABYTE).state is state


def test_a_database_of_a_newer_program_is_wrong() -> None:
    assert judge_schema("it", [1, 999]).state is State.WRONG
    assert judge_schema("it", []).state is State.FINE
