"""`dabir memory move FROM TO`: every line to another place, proven; the old place is only read."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from time import time

from rich.console import Console

from bot.cli.storage_checks import lock_holder
from bot.errors import Misconfigured, StoreUnavailable
from bot.settings import Settings
from bot.store.migrations import migrate
from bot.store.url import open_database, sqlite_path
from bot.walrus_place import is_walrus, open_walrus
from memory.backends.file import FileBackend
from memory.backends.sql import SqlBackend
from memory.moving import Moved, Mover, Step
from memory.port import ListedBackend, MemoryFailure
from memory.schema import FOLDER

DATABASE = "database"


def run(settings: Settings, source: str, target: str) -> int:
    """Return 0 if all lines are at the new place, 1 if some are not."""
    if source == target:
        raise Misconfigured("FROM and TO are the same place.")
    if lock_holder(settings.sqlite_path) is not None:
        raise Misconfigured("Stop the bot first: lines it writes meanwhile would be left behind.")
    console = Console(stderr=True)
    try:
        moved = asyncio.run(_move(settings, source, target, console))
    except MemoryFailure as error:
        console.print(f"Not finished: {error}. Run it again; it goes on where it was.")
        return 1
    console.print(
        f"{moved.lines} lines of {moved.namespaces} chats are at the new place and were read there"
        f" ({moved.copied} copied now). The old place is as it was."
    )
    if moved.whole:
        console.print("Set MEMORY_URL to the new place, then start the bot.")
        return 0
    console.print(
        f"{moved.unreadable} lines could not be read at the old place, {moved.different} are not"
        " the same at the new one. Keep the old place."
    )
    return 1


async def _move(settings: Settings, source: str, target: str, console: Console) -> Moved:
    async with AsyncExitStack() as stack:
        _check_there(settings, source)
        old = await _opened(settings, source, stack)
        new = await _opened(settings, target, stack)

        def told(step: Step) -> None:
            console.print(
                f"{step.namespaces_done}/{step.namespaces} chats, {step.lines_proven} lines",
                end="\r" if console.is_terminal else "\n",
            )

        return await Mover(old, new, told=told).move()


def _check_there(settings: Settings, url: str) -> None:
    """A mistyped place must not look like an empty one."""
    own = settings.database_url.get_secret_value() if url == DATABASE else url
    path = Path(url.removeprefix("file://")) if url.startswith("file://") else sqlite_path(own)
    if path is not None and not path.exists():
        raise Misconfigured(f"There is nothing at {path}; check FROM.")


async def _opened(settings: Settings, url: str, stack: AsyncExitStack) -> ListedBackend:
    """A place that MEMORY_URL could name; `database` is DATABASE_URL. Closed by `stack`."""
    made: ListedBackend
    if url != DATABASE and "://" not in url:
        raise Misconfigured(f"{url} is no place; write it as in MEMORY_URL, or “database”.")
    if is_walrus(url):
        made = open_walrus(settings, url)
    elif url.startswith("file://"):
        made = FileBackend(Path(url.removeprefix("file://")))
    else:
        own = settings.database_url.get_secret_value() if url == DATABASE else url
        database = await open_database(own)
        stack.push_async_callback(database.close)
        await migrate(database, [("memory", FOLDER)], now=time())
        made = SqlBackend(database, unavailable=(StoreUnavailable,))
    stack.push_async_callback(made.close)
    return made
