"""A start that cannot work: exit code 2 and one sentence, by the real process. No traceback, no
secret."""

import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.lab.botapi import LAB_TOKEN
from tests.crash.scene import CANARY, KEY, Scene, scene

NOBODY = 65534
LOG_LINE = re.compile(r"\d{4}-\d\d-\d\dT\S+Z \[(info|warning) ")
PASSWORD = "hunter2-canary"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user of the machine can reach; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def as_ordinary_user() -> tuple[str, ...]:
    """Root may write everything; then the bot is started as somebody who may not."""
    if os.geteuid():
        return ()
    return ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


async def refusal(stage: Scene, *before: str, **changes: str) -> str:
    """Start a bot that must end at once; return its one sentence."""
    bot = await stage.launch(*before, LOG_LEVEL="INFO", **changes)
    assert await bot.ended(30) == 2, bot.said
    sentences = [line for line in bot.said.splitlines() if not LOG_LINE.match(line)]
    assert len(sentences) == 1, bot.said
    for secret in (LAB_TOKEN, KEY, PASSWORD, CANARY, "Traceback"):
        assert secret not in bot.said
    return sentences[0]


def used(path: Path) -> None:
    """A database that somebody else made."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id)")
        connection.commit()


def close(path: Path, mode: int) -> None:
    path.chmod(mode)


async def test_a_read_only_database_is_named(open_folder: Path) -> None:
    path = open_folder / "dabir.db"
    used(path)
    close(path, 0o444)
    async with scene(open_folder) as stage:
        told = await refusal(stage, *as_ordinary_user())
    assert str(path) in told


async def test_a_read_only_folder_is_named(open_folder: Path) -> None:
    close(open_folder, 0o555)
    async with scene(open_folder) as stage:
        told = await refusal(stage, *as_ordinary_user())
    assert str(open_folder) in told


async def test_a_damaged_database_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "dabir.db"
    path.write_bytes(f"no database, {CANARY}".encode() * 500)
    before = path.read_bytes()
    async with scene(tmp_path) as stage:
        told = await refusal(stage)
    assert f"{path} is not an SQLite database" in told
    assert path.read_bytes() == before


async def test_a_database_that_was_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dabir.db"
    async with scene(tmp_path) as stage:
        bot = await stage.start()
        assert await bot.stop() == 0
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        told = await refusal(stage)
    assert f"{path} is damaged" in told


async def test_a_full_disk_is_told(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        told = await refusal(stage, "prlimit", "--fsize=8192:unlimited", "--")
    assert str(tmp_path / "dabir.db") in told


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TELEGRAM_BOT_TOKEN", "7000000001:WRONG-token-canary-canary", "TELEGRAM_BOT_TOKEN"),
        ("DATABASE_URL", f"postgresql://bot:{PASSWORD}@127.0.0.1:9/bot", "PostgreSQL"),
        ("DATABASE_URL", f"mysql://bot:{PASSWORD}@127.0.0.1/bot", "DATABASE_URL"),
        ("MEMORY_URL", f"ftp://bot:{PASSWORD}@127.0.0.1/", "MEMORY_URL"),
        ("DEBOUNCE_QUIET", "soon", "DEBOUNCE_QUIET"),
    ],
)
async def test_a_wrong_setting_is_named_and_its_secret_is_not(
    tmp_path: Path, name: str, value: str, said: str
) -> None:
    async with scene(tmp_path) as stage:
        told = await refusal(stage, **{name: value})
    assert said in told
    assert "WRONG-token" not in told
