"""Suggestions to an operator: a draft of the AI, or a translation of the operator's own words.

Life of a row: open → sent | written | replaced | discarded | stale. Leaving `open` is one
statement, so of two presses, in however many processes, one counts. A row that is not open never
is again.
"""

from dataclasses import dataclass
from enum import StrEnum

from bot.store.port import Row, Sql


class Kind(StrEnum):
    DRAFT = "draft"
    TRANSLATION = "translation"


class Status(StrEnum):
    OPEN = "open"
    SENT = "sent"  # as suggested
    WRITTEN = "written"  # the operator's own words as they wrote them, without the translation
    REPLACED = "replaced"  # by what the operator wrote in reply
    DISCARDED = "discarded"
    STALE = "stale"  # authority changed since


@dataclass(frozen=True, slots=True)
class Suggestion:
    id: str
    conversation_id: str
    kind: Kind
    epoch: int
    operator_id: int  # who asked for it
    source: str  # the operator's words; "" for a draft
    text: str  # what would be sent; "" where no translation could be made
    chat_id: int  # where it is shown
    status: Status
    at: float
    source_id: int = 0  # message id of the operator's words in `chat_id`; 0 for a draft


FIELDS = (
    "id, conversation_id, kind, epoch, operator_id, source, text, chat_id, status, at, source_id"
)
ADD = """
INSERT INTO suggestions (id, conversation_id, kind, epoch, operator_id, source, text, chat_id,
 message_id, status, at, source_id)
VALUES (:id, :conversation_id, :kind, :epoch, :operator_id, :source, :text, :chat_id, 0, :status,
 :at, :source_id)
ON CONFLICT (id) DO NOTHING
"""
FIND = f"SELECT {FIELDS} FROM suggestions WHERE id = :id"
SETTLE = "UPDATE suggestions SET status = :status WHERE id = :id AND status = 'open'"
# What is shown there was sent under an id that names its suggestion.
SHOWN_AT = "SELECT id FROM outbox WHERE message_id = :message_id AND chat_id = :chat_id"


def add(sql: Sql, suggestion: Suggestion) -> bool:
    """Put down a suggestion. False: it was made before."""
    values = {name: getattr(suggestion, name) for name in FIELDS.split(", ")}
    values |= {"kind": suggestion.kind.value, "status": suggestion.status.value}
    return sql.run(ADD, values) == 1


def find(sql: Sql, suggestion_id: str) -> Suggestion | None:
    row = sql.row(FIND, {"id": suggestion_id})
    return _read(row) if row else None


def settle(sql: Sql, suggestion_id: str, status: Status) -> bool:
    """Close an open suggestion. False: somebody was first, or it is over."""
    return sql.run(SETTLE, {"id": suggestion_id, "status": status.value}) == 1


def key(suggestion_id: str) -> str:
    """What the id of the message that shows it is made from; `shown_at` reads it back."""
    return f"suggestion:{suggestion_id}"


def shown_at(sql: Sql, chat_id: int, message_id: int) -> Suggestion | None:
    """The suggestion that a message shows; None for any other message."""
    row = sql.row(SHOWN_AT, {"chat_id": chat_id, "message_id": message_id})
    named = str(row[0]).partition(":suggestion:")[2] if row else ""
    return find(sql, named.partition(":")[0]) if named else None


def _read(row: Row) -> Suggestion:
    id, conversation_id, kind, epoch, operator_id, source, text, chat_id, status, at, source_id = (
        row
    )
    return Suggestion(
        id,
        conversation_id,
        Kind(kind),
        epoch,
        operator_id,
        source,
        text,
        chat_id,
        Status(status),
        at,
        source_id,
    )
