"""Turns per second with many chats against a bare echo bot, every commit of ours synced to disk;
and the bytes that a turn leaves in the database. `python -m tests.bench.throughput`
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path

from bot.lab.botapi import Call, Telegram
from tests.bench.stand import dabir, opted_in, process, stand, until_polling

ROUNDS = 3  # as many messages as a chat may get at once


async def rounds(telegram: Telegram, chats: list[int]) -> float:
    """Let every chat ask again as soon as it is answered; return turns per second."""
    answers: dict[int, asyncio.Queue[Call]] = {chat: asyncio.Queue() for chat in chats}

    def note(call: Call) -> None:
        if call.method == "sendMessage":
            answers[int(call.params["chat_id"])].put_nowait(call)

    async def talk(chat: int) -> None:
        for number in range(ROUNDS):
            telegram.user_sends(chat, f"Question {number}")
            await answers[chat].get()

    telegram.hooks.on_answer.append(note)
    started = time.monotonic()
    async with asyncio.timeout(120):
        await asyncio.gather(*(talk(chat) for chat in chats))
    telegram.hooks.on_answer.remove(note)
    return len(chats) * ROUNDS / (time.monotonic() - started)


async def run(count: int) -> None:
    chats = list(range(1000, 1000 + count))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with stand() as on:
            environment = on.environment(PYTHONPATH=str(Path(__file__).parents[2]))
            async with process(
                "-m", "tests.bench.echo_bot", environment=environment, folder=folder
            ):
                await until_polling(on.telegram)
                echo = await rounds(on.telegram, chats)
        async with stand() as on:
            environment = dabir(on, folder, DEBOUNCE_QUIET="0.01", DEBOUNCE_CAP="1")
            async with process("-m", "bot", environment=environment, folder=folder):
                await until_polling(on.telegram)
                await opted_in(on.telegram, chats)
                await asyncio.sleep(4)  # the pace per chat forgets the greetings
                before = stored_bytes(folder)
                ours = await rounds(on.telegram, chats)
                await asyncio.sleep(2)  # memory lines reach their store
            bytes_per_turn = (stored_bytes(folder) - before) / (count * ROUNDS)
    print(f"echo bot: {echo:.0f} turns/s")
    print(f"dabir: {ours:.0f} turns/s")
    print(f"ratio: {ours / echo:.2f} (aim: at least 0.5)")
    print(f"database: {bytes_per_turn:.0f} bytes per turn")


def stored_bytes(folder: Path) -> int:
    """Pages in use, whether in the file or still in the log."""
    with sqlite3.connect(folder / "dabir.db") as connection:
        [[pages]] = connection.execute("SELECT page_count FROM pragma_page_count")
        [[free]] = connection.execute("SELECT freelist_count FROM pragma_freelist_count")
        [[size]] = connection.execute("SELECT page_size FROM pragma_page_size")
    connection.close()
    return int((pages - free) * size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=200)
    asyncio.run(run(parser.parse_args().chats))
