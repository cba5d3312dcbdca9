"""`dabir demo` as a command: piped text, signals, and what it leaves behind."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from bot.settings import Settings

CLEAN = {k: v for k, v in os.environ.items() if k.lower() not in Settings.model_fields}
LISTENING = "0A"  # the state in /proc/net/tcp
LOOPBACK = "0100007F"


@asynccontextmanager
async def demo(folder: Path, *options: str, stdin: int = DEVNULL) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "demo",
        *options,
        cwd=folder,
        env={**CLEAN, "TMPDIR": str(folder), "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=stdin,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def address_of(process: Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(20):
        line = (await process.stdout.readline()).decode()
    found = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert found, line
    return found[0]


async def test_piped_text_is_a_chat_that_ends(tmp_path: Path) -> None:
    async with demo(tmp_path, stdin=PIPE) as process:
        async with asyncio.timeout(60):
            out, err = await process.communicate(b"Hello\n#1\n")
    assert process.returncode == 0
    assert not err
    assert "I am the practice model" in " ".join(out.decode().split())
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_page_and_nothing_remains(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with demo(tmp_path, "--no-browser") as process:
        address = await address_of(process)
        async with (
            httpx.AsyncClient(base_url=address) as client,
            client.stream("GET", "/events") as feed,  # an open page must not hold it up
        ):
            child = await bot_of(feed)
            os.kill(process.pid, number)
            async with asyncio.timeout(8):
                _, err = await process.communicate()
    assert process.returncode == 0
    assert not err
    assert not _alive(child)
    assert not os.listdir(tmp_path)


async def test_the_bot_ends_with_a_demo_that_was_killed(tmp_path: Path) -> None:
    async with demo(tmp_path, "--no-browser") as process:
        address = await address_of(process)
        async with (
            httpx.AsyncClient(base_url=address) as client,
            client.stream("GET", "/events") as feed,
        ):
            child = await bot_of(feed)
        process.kill()
        async with asyncio.timeout(15):
            while _alive(child):  # noqa: ASYNC110 (nothing announces it)
                await asyncio.sleep(0.05)


async def test_everything_listens_on_loopback_only(tmp_path: Path) -> None:
    async with demo(tmp_path, "--port", "0") as process:
        await address_of(process)
        found = _listening(process.pid)
    assert len(found) >= 4  # Bot API, model, moderation, page
    assert set(found) == {LOOPBACK}


async def test_a_port_in_use_is_said_in_a_sentence(tmp_path: Path) -> None:
    async with demo(tmp_path, "--no-browser") as first:
        port = (await address_of(first)).rpartition(":")[2]
        async with demo(tmp_path, "--port", port) as second:
            async with asyncio.timeout(20):
                _, err = await second.communicate()
    assert second.returncode == 2
    assert err.decode().startswith(f"Port {port} cannot be used")
    assert err.count(b"\n") == 1


async def bot_of(feed: httpx.Response) -> int:
    """The process id of the bot, from the feed."""
    async with asyncio.timeout(15):
        async for line in feed.aiter_lines():
            if found := re.search(r'"bot": \{"pid": (\d+)', line):
                return int(found[1])
    raise AssertionError("the feed ended")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _listening(pid: int) -> list[str]:
    """The addresses, as in /proc/net, on which a process listens."""
    links = (os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir())
    own = {link[8:-1] for link in links if link.startswith("socket:[")}
    rows = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    ]
    return [row[1].split(":")[0] for row in rows if row[3] == LISTENING and row[9] in own]
