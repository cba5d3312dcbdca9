"""The demo in the browser: opens everything, waits until it is told to stop, closes everything."""

import asyncio
import os
import signal
import sys
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from rich.console import Console

from bot.errors import Misconfigured
from bot.lab.botapi import Telegram, serve_telegram
from bot.lab.model import PracticeModel
from bot.lab.page import people
from bot.lab.page.child import BotProcess
from bot.lab.page.forgetful import LIE_FILE
from bot.lab.page.group import Group
from bot.lab.page.phones import Phones
from bot.lab.page.records import Records
from bot.lab.page.server import Demo, build_app
from bot.lab.page.switches import Switches
from bot.lab.serve import LoopbackServer, serve

KEPT_CALLS = 500


async def show(*, port: int, browser: bool) -> None:
    """Serve the page until SIGTERM or Ctrl-C. Raises Misconfigured."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with opened(people.real_model()) as demo, _served(demo, port) as address:
        console = Console(highlight=False)
        console.print(
            f"[bold]Dabir demo[/bold]: open {address} in a browser. Ctrl-C ends it.", soft_wrap=True
        )
        if browser:
            _open_browser(address)
        await stop.wait()
        console.print("Ending; nothing of it is kept.")


@asynccontextmanager
async def opened(real_model: people.RealModel | None = None) -> AsyncIterator[Demo]:
    """The bot against the lab, everything on loopback and in a folder that is removed."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dabir-demo-")))
        telegram, model = Telegram(journal_cap=KEPT_CALLS), PracticeModel()
        model_server = LoopbackServer(model)
        await model_server.start()
        stack.push_async_callback(model_server.stop)
        addresses = people.Addresses(
            telegram=await stack.enter_async_context(serve_telegram(telegram)),
            model=model_server.url,
            moderation=await stack.enter_async_context(serve(model)),
        )
        secret = people.new_memory_secret()
        records = Records(folder / "dabir.db", secret)
        stack.callback(records.close)
        settings = people.environment(addresses, records.database, secret, real_model)
        bot = BotProcess(folder, settings, telegram.changed)
        switches = Switches(
            telegram, model, model_server, folder / LIE_FILE, practice=real_model is None
        )
        phones = Phones(telegram, records)
        group = Group(telegram, records)
        await bot.start()
        stack.push_async_callback(bot.stop)
        for user in people.USERS[:2]:
            telegram.user_starts(user.id)
        yield Demo(telegram, bot, phones, group, records, switches, model, real_model)


@asynccontextmanager
async def _served(demo: Demo, port: int) -> AsyncIterator[str]:
    try:
        async with serve(build_app(demo), port=port) as address:
            yield address
    except OSError as error:
        raise Misconfigured(f"Port {port} cannot be used ({error.strerror}).") from error


def _open_browser(address: str) -> None:
    """In a thread: some take their time. Where there is no screen nothing is opened."""
    if sys.platform == "linux" and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        return
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
