"""`python -m bot.lab.botapi`: the Bot API server as a process of its own.

Prints one JSON line {"url", "token", "pid"} when it accepts connections. Ends with 0 on SIGTERM,
Ctrl-C, or when the process that started it is gone.
"""

import argparse
import asyncio
import json
import os
import signal
import sys

from bot.lab.botapi.app import serve_telegram
from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.world import LAB_TOKEN

PARENT_CHECK_SECONDS = 1.0  # where the system cannot tell us


async def parent_gone(parent: int = 0) -> None:
    """Return when the parent process has ended.

    Without `parent`, its id, one that died before this was called is not noticed.
    """
    parent = parent or os.getppid()
    if sys.platform == "linux":
        gone = asyncio.Event()
        try:
            watched = os.pidfd_open(parent)
        except ProcessLookupError:
            return
        if os.getppid() != parent:
            gone.set()
        loop = asyncio.get_running_loop()
        loop.add_reader(watched, gone.set)
        try:
            await gone.wait()
        finally:
            loop.remove_reader(watched)
            os.close(watched)
    else:
        while os.getppid() == parent:  # noqa: ASYNC110 (nothing announces it here)
            await asyncio.sleep(PARENT_CHECK_SECONDS)


async def run(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    orphaned = asyncio.create_task(parent_gone())
    orphaned.add_done_callback(lambda _: stop.set())
    world = Telegram(options.token, limits=options.limits, journal_cap=options.journal)
    async with serve_telegram(world, port=options.port) as url:
        line = json.dumps({"url": url, "token": world.token, "pid": os.getpid()})
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        await stop.wait()
    orphaned.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bot.lab.botapi", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--token", default=LAB_TOKEN)
    parser.add_argument("--limits", action="store_true", help="enforce Telegram's flood limits")
    parser.add_argument("--journal", type=int, default=None, help="keep only the last N calls")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
