"""`dabir timeline CHAT`: what happened in a conversation, step by step, without its text."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table

from bot.errors import Misconfigured
from bot.settings import Settings
from bot.store import conversations, journal
from bot.store.journal import Entry
from bot.store.url import open_database

MOST_ENTRIES = 500
PIPED_WIDTH = 200
COLUMNS = ("time", "actor", "event", "state", "epoch", "version", "turn", "note")


def show(settings: Settings, chat: int) -> int:
    """Print the table; return the exit code: 1 if there is no such conversation."""
    path = settings.sqlite_path
    if path is not None and not path.exists():
        raise Misconfigured(
            f"There is no database at {path} yet; start the bot once, or set DATABASE_URL."
        )
    entries = asyncio.run(_read(settings, chat))
    if not entries:
        Console(stderr=True).print(f"There is no conversation in chat {chat}.")
        return 1
    # Into a file or a pipe, whole lines are worth more than a page's width.
    console = Console() if sys.stdout.isatty() else Console(width=PIPED_WIDTH)
    console.print(table(entries, settings))
    return 0


def table(entries: Sequence[Entry], settings: Settings) -> Table:
    drawn = Table(box=None, header_style="bold")
    for name in COLUMNS:
        drawn.add_column(name, overflow="fold")
    for entry in entries:
        moment = datetime.fromtimestamp(entry.at, settings.timezone)
        arrow = (
            entry.state_after
            if entry.state_before == entry.state_after
            else f"{entry.state_before} → {entry.state_after}"
        )
        note = " ".join(part for part in (entry.note, _unusual(entry)) if part)
        drawn.add_row(
            moment.strftime("%m-%d %H:%M:%S"),
            entry.actor,
            entry.event,
            arrow,
            str(entry.epoch),
            str(entry.version),
            entry.client_message_id or entry.turn_id,
            note,
        )
    return drawn


def _unusual(entry: Entry) -> str:
    return "" if entry.outcome == "applied" else f"({entry.outcome})"


async def _read(settings: Settings, chat: int) -> Sequence[Entry]:
    database = await open_database(settings.database_url.get_secret_value())
    try:
        name = conversations.conversation_id(chat)
        return await database.read(lambda sql: journal.read(sql, name, MOST_ENTRIES))
    finally:
        await database.close()
