"""The bot as a process of a drill: `python -m bot.lab.drills.process [--share] [--role …]`.

The same application as `dabir`, with settings from the environment, for what a host would not do:
sharing one SQLite file, taking updates from a pipe as from a webhook, or running with one
protection broken (breaking.py).
"""

import argparse
import asyncio
import json
import sys

import structlog
import telegram

from bot import app, logs
from bot.__main__ import main as dabir
from bot.app import Running
from bot.lab.drills.breaking import breaking
from bot.settings import load

log = structlog.get_logger(__name__)
ROLES = ("polls", "hears")


async def hear(running: Running) -> None:
    """Take updates from standard input, one JSON object a line."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        update = telegram.Update.de_json(json.loads(line), None)
        await running.inbound.accept([update])


async def run(role: str, *, share: bool) -> None:
    async with app.opened(load(), share=share) as running:
        log.info("running", bot=running.username)
        if role == "polls":
            await running.run()
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(running.workers.run())
            group.create_task(hear(running))


def main() -> None:
    parser = argparse.ArgumentParser(prog="bot.lab.drills.process")
    parser.add_argument("--share", action="store_true")
    parser.add_argument("--role", choices=ROLES, default="polls")
    parser.add_argument("--break", dest="broken", default="")
    wanted = parser.parse_args()
    logs.configure("INFO")
    with breaking(wanted.broken):
        if not wanted.share:  # as its host starts it
            sys.exit(dabir([]))
        asyncio.run(run(wanted.role, share=True))


if __name__ == "__main__":
    main()
