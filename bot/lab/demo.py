"""`dabir demo`: the real bot against the lab's Telegram and model, on a page in the browser.

Everything is on loopback and in a temporary folder: no account, no token, no key, no trace. Where
nobody sits at a terminal, or on request, it is a chat in text instead.
"""

import asyncio
import contextlib
import signal
import sys
from types import FrameType

from bot import logs


def run(*, browser: bool = True, port: int | None = None, terminal: bool = False) -> int:
    """Run the demo until it is told to stop; return the exit code.

    `port` None: any free one. Asking for a port, or for no browser, is asking for the page.
    """
    logs.configure("ERROR")
    signal.signal(signal.SIGTERM, _interrupt)
    asked_for_page = port is not None or not browser
    in_text = terminal or not (sys.stdin.isatty() or asked_for_page)
    with contextlib.suppress(KeyboardInterrupt):
        if in_text:
            from bot.lab.terminal import chat

            asyncio.run(chat(sys.stdin))
        else:
            from bot.lab.page.show import show

            asyncio.run(show(port=port or 0, browser=browser))
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Until the demo handles SIGTERM itself, the signal works like Ctrl-C."""
    raise KeyboardInterrupt
