"""Which message of ours stands for which original: replies, edits and reactions follow it."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.store.port import Sql


class MessageRef(NamedTuple):
    chat_id: int
    message_id: int


NOTE = """
INSERT INTO copies (chat_id, message_id, of_chat_id, of_message_id, conversation_id)
VALUES (:chat_id, :message_id, :of_chat_id, :of_message_id, :conversation_id)
ON CONFLICT (chat_id, message_id) DO NOTHING
"""
ORIGINAL = """
SELECT of_chat_id, of_message_id FROM copies WHERE chat_id = :chat_id AND message_id = :message_id
"""
CONVERSATION = """
SELECT conversation_id FROM copies
WHERE (chat_id = :chat_id AND message_id = :message_id)
   OR (of_chat_id = :chat_id AND of_message_id = :message_id)
LIMIT 1
"""
COPIES = """
SELECT chat_id, message_id FROM copies
WHERE of_chat_id = :chat_id AND of_message_id = :message_id ORDER BY chat_id, message_id
"""


def note(sql: Sql, copy: MessageRef, original: MessageRef, conversation_id: str) -> None:
    values = {
        "chat_id": copy.chat_id,
        "message_id": copy.message_id,
        "of_chat_id": original.chat_id,
        "of_message_id": original.message_id,
        "conversation_id": conversation_id,
    }
    sql.run(NOTE, values)


def original_of(sql: Sql, copy: MessageRef) -> MessageRef | None:
    """What a message of ours stands for; None if it stands for itself."""
    row = sql.row(ORIGINAL, copy._asdict())
    return MessageRef(*row) if row else None


def conversation_of(sql: Sql, message: MessageRef) -> str:
    """The conversation in which a message was passed on, whichever side of it this is; "": none."""
    row = sql.row(CONVERSATION, message._asdict())
    return str(row[0]) if row else ""


def copies_of(sql: Sql, original: MessageRef) -> Sequence[MessageRef]:
    return [MessageRef(*row) for row in sql.rows(COPIES, original._asdict())]


def counterpart(sql: Sql, seen: MessageRef, chat_id: int) -> int:
    """The message in `chat_id` that stands for, or is the original of, `seen`; 0: there is none."""
    if seen.chat_id == chat_id:
        return seen.message_id
    original = original_of(sql, seen)
    if original is not None and original.chat_id == chat_id:
        return original.message_id
    shown = [each for each in copies_of(sql, original or seen) if each.chat_id == chat_id]
    return shown[-1].message_id if shown else 0
