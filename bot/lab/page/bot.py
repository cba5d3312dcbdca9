"""The bot of the demo: the real one, with the demo's memory. Ends on SIGTERM or with its parent.

`python -m bot.lab.page.bot PARENT`, in a folder of its own, with the settings in its environment.
PARENT is the demo's process id: the demo could be gone before this one has begun to watch it.
"""

import asyncio
import contextlib
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from bot import app
from bot.__main__ import OK, configured, guarded, interrupt
from bot.lab.botapi.__main__ import parent_gone
from bot.lab.page.forgetful import LIE_FILE, ForgetfulBackend
from bot.settings import Settings, load
from memory.port import MemoryBackend


def run() -> int:
    asyncio.run(_until_stopped(configured(load())))
    return OK


async def _until_stopped(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    endings = [asyncio.create_task(stop.wait()), asyncio.create_task(parent_gone(int(sys.argv[1])))]
    serving = asyncio.create_task(_serve(settings))
    await asyncio.wait({*endings, serving}, return_when=asyncio.FIRST_COMPLETED)
    for task in (*endings, serving):
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _serve(settings: Settings) -> None:
    parts = replace(app.EARNEST, memory_backend=_forgetful)
    async with app.opened(settings, parts=parts) as running:
        await running.run()


def _forgetful(backend: MemoryBackend) -> MemoryBackend:
    return ForgetfulBackend(backend, Path(LIE_FILE), time.time)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    sys.exit(guarded(run, interrupted=OK))
