"""The demo as a chat in the terminal; also what `dabir demo` is when text is piped into it."""

import asyncio
import contextlib
import signal
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from bot import app
from bot.lab.botapi import LAB_TOKEN, Seen, Telegram, serve_telegram
from bot.lab.model import PracticeModel
from bot.lab.serve import serve
from bot.settings import Settings

GUEST, OWNER = 101, 100
NAMES = {GUEST: "Guest", OWNER: "Owner"}
SETTLE_SECONDS = 1.0  # after piped input ends: how long the bot must have been silent
PATIENCE_SECONDS = 30.0
INTRODUCTION = """\
[bold]Dabir demo[/bold] — the real bot, a practice model, nothing leaves this machine.
Write as [cyan]Guest[/cyan]. [bold]#1[/bold] presses the button marked 1. \
[bold]:owner[/bold] and [bold]:guest[/bold] switch who you are
(as the owner try /queue, /claim and /release). [bold]:quit[/bold] ends it.
"""


@dataclass(slots=True)
class Terminal:
    """What the person at the keyboard has seen and can press."""

    telegram: Telegram
    console: Console
    speaker: int = GUEST
    shown: dict[int, dict[int, str]] = field(default_factory=lambda: {GUEST: {}, OWNER: {}})
    buttons: dict[int, tuple[int, int, str]] = field(default_factory=dict)

    def refresh(self) -> None:
        """Print what the bot wrote or changed since the last time."""
        for chat_id in (GUEST, OWNER):
            for seen in self.telegram.messages(chat_id):
                if seen.author == "bot" and self.shown[chat_id].get(seen.message_id) != seen.text:
                    self.shown[chat_id][seen.message_id] = seen.text
                    self._print(chat_id, seen)

    def _print(self, chat_id: int, seen: Seen) -> None:
        mark = "edited" if seen.edited else "Dabir"
        self.console.print(
            f"[dim]→ {NAMES[chat_id]}[/dim] [bold green]{mark}:[/bold green] {escape(seen.text)}"
        )
        labels = [button["text"] for row in seen.keyboard for button in row]
        for label in labels:
            number = len(self.buttons) + 1
            self.buttons[number] = (chat_id, seen.message_id, label)
            self.console.print(f"    [bold]#{number}[/bold] [reverse] {escape(label)} [/reverse]")

    def take(self, line: str) -> bool:
        """Act on a typed line; False ends the demo."""
        words = line.strip()
        match words:
            case "":
                return True
            case ":quit" | ":q" | ":exit":
                return False
            case ":owner" | ":guest":
                self.speaker = OWNER if words == ":owner" else GUEST
                self.console.print(f"[dim]You write as {NAMES[self.speaker]} now.[/dim]")
            case _ if words.startswith("#") and words[1:].isdecimal():
                self._press(int(words[1:]))
            case _:
                self.telegram.user_sends(self.speaker, line.rstrip("\n"))
        return True

    def _press(self, number: int) -> None:
        if number not in self.buttons:
            self.console.print(f"[red]There is no button #{number}.[/red]")
            return
        chat_id, message_id, label = self.buttons[number]
        with contextlib.suppress(KeyError):  # the message is gone, as on a phone
            self.telegram.user_presses(chat_id, message_id, label)


async def chat(lines: Iterable[str]) -> None:
    """Chat until :quit, SIGTERM, Ctrl-C or the end of the input."""
    chatting = asyncio.create_task(_chat(lines))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, chatting.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await chatting


async def _chat(lines: Iterable[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="dabir-demo-") as folder:
        async with _bot(Path(folder)) as telegram:
            terminal = Terminal(telegram, Console(highlight=False))
            terminal.console.print(INTRODUCTION)
            telegram.user_starts(GUEST)
            await _talk(terminal, lines)


@contextlib.asynccontextmanager
async def _bot(folder: Path) -> AsyncIterator[Telegram]:
    telegram, model = Telegram(), PracticeModel()
    for user_id, name in NAMES.items():
        telegram.add_user(user_id, name, language_code="en", started=True)
    async with serve_telegram(telegram) as telegram_url, serve(model) as model_url:
        settings = Settings.model_validate(
            {
                "telegram_bot_token": LAB_TOKEN,
                "telegram_api_url": telegram_url,
                "model_base_url": f"{model_url}/v1",
                "model_name": "practice",
                "owner_id": OWNER,
                "access": "public",
                "database_url": f"sqlite:///{folder}/dabir.db",
            }
        )
        stop = asyncio.Event()
        serving = asyncio.create_task(app.serve(settings, stop))
        try:
            yield telegram
        finally:
            stop.set()
            await serving


async def _talk(terminal: Terminal, lines: Iterable[str]) -> None:
    typed: asyncio.Queue[str | None] = asyncio.Queue()
    _read_in_background(lines, asyncio.get_running_loop(), typed.put_nowait)
    changes = asyncio.create_task(_watch(terminal))
    try:
        await terminal.telegram.wait_for(lambda: terminal.telegram.bot_texts(GUEST))
        while (line := await typed.get()) is not None:
            if not terminal.take(line):
                return
            if not sys.stdin.isatty():  # piped: let each answer come before the next line
                await _until_silent(terminal)
        await _until_silent(terminal)
    finally:
        changes.cancel()


async def _watch(terminal: Terminal) -> None:
    while True:
        terminal.refresh()
        before = _fingerprint(terminal)
        with contextlib.suppress(TimeoutError):
            await terminal.telegram.wait_for(
                lambda before=before: _fingerprint(terminal) != before or None  # type: ignore[misc]
            )


def _fingerprint(terminal: Terminal) -> int:
    seen = [terminal.telegram.messages(chat_id) for chat_id in (GUEST, OWNER)]
    return hash(tuple((each.message_id, each.text) for chat in seen for each in chat))


async def _until_silent(terminal: Terminal) -> None:
    """Wait until the bot has said nothing more for a moment."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                before = _fingerprint(terminal)
                await asyncio.sleep(SETTLE_SECONDS + 1.5)
                if _fingerprint(terminal) == before:
                    return


def _read_in_background(
    lines: Iterable[str], loop: asyncio.AbstractEventLoop, put: Callable[[str | None], None]
) -> None:
    """Read the keyboard in a thread that does not keep the process from ending."""

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            for line in lines:
                loop.call_soon_threadsafe(put, line)
            loop.call_soon_threadsafe(put, None)

    threading.Thread(target=read, daemon=True).start()
