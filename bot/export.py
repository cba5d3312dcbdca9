"""/export: everything that memory holds about a chat, as two files into that chat."""

from datetime import UTC, datetime

from bot.core.notices import Notice
from bot.remembering import Known
from bot.store import outbox
from bot.store.conversations import Contact
from bot.store.outbox import Author, Outgoing
from bot.store.port import Sql
from bot.telegram import payload
from bot.telegram.payload import Document
from memory import interchange

MOST_BYTES = 45_000_000  # Telegram takes 50 MB from a bot


def documents(known: Known, at: float) -> tuple[Document, ...]:
    """The files; nothing if there is nothing to export or it is too much for Telegram."""
    if not known.lines:
        return ()
    name = f"dabir-memory-{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
    files = (
        Document(f"{name}.json", interchange.as_json(known.lines)),
        Document(f"{name}.txt", interchange.as_plain(known.lines)),
    )
    too_large = any(len(file.content.encode()) > MOST_BYTES for file in files)
    return () if too_large else files


def notice(known: Known, files: tuple[Document, ...]) -> Notice:
    """What is said before the files come."""
    if not known.lines:
        return Notice.MEMORY_EMPTY if known.readable else Notice.MEMORY_UNREADABLE
    if not files:
        return Notice.EXPORT_TOO_LARGE
    return Notice.EXPORTED if known.readable else Notice.EXPORTED_PARTLY


def queue(sql: Sql, contact: Contact, files: tuple[Document, ...], *, key: str, at: float) -> None:
    """Queue the files; the same `key` again changes nothing."""
    for number, file in enumerate(files, 1):
        outgoing = Outgoing(
            f"system:{contact.conversation_id}:{key}:export#{number}",
            contact.conversation_id,
            contact.chat_id,
            Author.SYSTEM,
            payload.write(file),
        )
        outbox.put(sql, outgoing, at)
