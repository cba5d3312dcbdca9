"""What was said, each line with its author. Text is added, never removed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.store.port import Row, Sql


@dataclass(frozen=True, slots=True)
class StoredMessage:
    author: str  # user | ai | human
    kind: str
    text: str
    detail: str
    at: float
    version: int
    turn_id: str
    chat_id: int
    message_id: int
    consented: bool
    visible: bool
    reply_to: int = 0  # message_id in the same chat
    media_group: str = ""
    entities: str = ""  # JSON, as in bot/telegram/parts.py


# Numbered under the row lock of the conversation, so no two messages get the same number.
INSERT = """
INSERT INTO messages (conversation_id, seq, author, kind, text, detail, at, version, turn_id,
 chat_id, message_id, consented, visible, reply_to, media_group, entities, covered_by)
VALUES (:conversation_id,
 (SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE conversation_id = :conversation_id),
 :author, :kind, :text, :detail, :at, :version, :turn_id,
 :chat_id, :message_id, :consented, :visible, :reply_to, :media_group, :entities, '')
"""
FIELDS = """author, kind, text, detail, at, version, turn_id, chat_id, message_id, consented,
 visible, reply_to, media_group, entities"""
LATEST = f"""
SELECT {FIELDS} FROM messages WHERE conversation_id = :conversation_id
ORDER BY seq DESC LIMIT :most
"""
OF_USER = f"""
SELECT {FIELDS} FROM messages
WHERE conversation_id = :conversation_id AND author = 'user' AND version BETWEEN :first AND :last
ORDER BY version
"""
BY_ID = f"""
SELECT {FIELDS} FROM messages
WHERE author <> 'ai' AND chat_id = :chat_id AND message_id = :id
"""
SEEN = "SELECT 1 FROM messages WHERE author <> 'ai' AND chat_id = :chat_id AND message_id = :id"
EDIT = """
UPDATE messages SET text = :text, kind = :kind, entities = :entities
WHERE author <> 'ai' AND chat_id = :chat_id AND message_id = :message_id
 AND (text <> :text OR entities <> :entities)
 AND kind <> 'forgotten'
RETURNING conversation_id, version
"""
COVER = """
UPDATE messages SET covered_by = :by, turn_id = :turn_id
WHERE conversation_id = :conversation_id AND author = 'user' AND version BETWEEN :first AND :last
  AND covered_by = ''
"""
CONSENT = """
UPDATE messages SET consented = :consented
WHERE conversation_id = :conversation_id AND author <> 'human'
  AND version BETWEEN :first AND :last
"""
SHOW = """
UPDATE messages SET visible = 1
WHERE conversation_id = :conversation_id AND author = 'ai' AND turn_id = :turn_id
"""


def add(sql: Sql, conversation_id: str, message: StoredMessage) -> None:
    values = {
        "conversation_id": conversation_id,
        "author": message.author,
        "kind": message.kind,
        "text": message.text,
        "detail": message.detail,
        "at": message.at,
        "version": message.version,
        "turn_id": message.turn_id,
        "chat_id": message.chat_id,
        "message_id": message.message_id,
        "consented": int(message.consented),
        "visible": int(message.visible),
        "reply_to": message.reply_to,
        "media_group": message.media_group,
        "entities": message.entities,
    }
    sql.run(INSERT, values)


def seen(sql: Sql, chat_id: int, message_id: int) -> bool:
    """Whether this message was taken already, under whatever update_id."""
    return sql.row(SEEN, {"chat_id": chat_id, "id": message_id}) is not None


def by_id(sql: Sql, chat_id: int, message_id: int) -> StoredMessage | None:
    row = sql.row(BY_ID, {"chat_id": chat_id, "id": message_id})
    return _read(row) if row else None


def edit(
    sql: Sql, chat_id: int, message_id: int, text: str, kind: str, entities: str = ""
) -> tuple[str, int] | None:
    """Take the new text of a message; (conversation, version), or None if nothing changed.

    Version 0: it is no message of a user to the AI, but a command or an operator's.
    """
    values = {"chat_id": chat_id, "message_id": message_id, "text": text, "kind": kind}
    row = sql.row(EDIT, {**values, "entities": entities})
    return (row[0], row[1]) if row else None


def latest(sql: Sql, conversation_id: str, most: int) -> Sequence[StoredMessage]:
    """The newest messages of all authors, oldest first."""
    rows = sql.rows(LATEST, {"conversation_id": conversation_id, "most": most})
    return [_read(row) for row in reversed(rows)]


def of_user(sql: Sql, conversation_id: str, first: int, last: int) -> Sequence[StoredMessage]:
    """The user's messages with version `first`..`last`, in order."""
    values = {"conversation_id": conversation_id, "first": first, "last": last}
    return [_read(row) for row in sql.rows(OF_USER, values)]


def cover(sql: Sql, conversation_id: str, first: int, last: int, *, by: str, turn_id: str) -> None:
    values = {"conversation_id": conversation_id, "first": first, "last": last}
    sql.run(COVER, values | {"by": by, "turn_id": turn_id})


def set_consent(sql: Sql, conversation_id: str, first: int, last: int, *, consented: bool) -> None:
    values = {"conversation_id": conversation_id, "first": first, "last": last}
    sql.run(CONSENT, values | {"consented": int(consented)})


def show_reply(sql: Sql, conversation_id: str, turn_id: str) -> None:
    """The AI's reply arrived: from now on it is part of what was said."""
    sql.run(SHOW, {"conversation_id": conversation_id, "turn_id": turn_id})


def _read(row: Row) -> StoredMessage:
    message = StoredMessage(*row)
    return replace(message, consented=bool(message.consented), visible=bool(message.visible))
