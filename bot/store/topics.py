"""The topics of the operators' group: one a conversation, opened once, opened again when lost."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.port import Row, Sql


@dataclass(frozen=True, slots=True)
class Topic:
    conversation_id: str
    chat_id: int
    thread_id: int  # 0: not opened yet
    generation: int
    name: str
    card_id: int
    card_shown: str
    silent: bool


FIELDS = "conversation_id, chat_id, thread_id, generation, name, card_id, card_shown, silent"
WANT = """
INSERT INTO topics AS known (conversation_id, chat_id, thread_id, generation, name, card_id,
 card_shown, card_due, silent)
VALUES (:conversation_id, :chat_id, 0, 1, '', 0, '', 0, 0)
ON CONFLICT (conversation_id) DO UPDATE SET chat_id = excluded.chat_id, thread_id = 0,
 generation = known.generation + 1, name = '', card_id = 0, card_shown = ''
WHERE known.chat_id <> excluded.chat_id
RETURNING generation
"""
OPENED = """
UPDATE topics SET thread_id = :thread_id, name = :name
WHERE conversation_id = :conversation_id AND generation = :generation AND thread_id = 0
"""
LOST = """
UPDATE topics SET thread_id = 0, generation = generation + 1, name = '', card_id = 0,
 card_shown = ''
WHERE conversation_id = :conversation_id AND thread_id = :thread_id AND thread_id > 0
RETURNING generation
"""
OF = f"SELECT {FIELDS} FROM topics WHERE conversation_id = :conversation_id"
AT = f"SELECT {FIELDS} FROM topics WHERE chat_id = :chat_id AND thread_id = :thread_id"
TOUCH = """
UPDATE topics SET card_due = CASE WHEN card_due > 0 AND card_due < :at THEN card_due ELSE :at END
WHERE conversation_id = :conversation_id
"""
DUE = f"SELECT {FIELDS} FROM topics WHERE card_due > 0 AND card_due <= :now ORDER BY card_due"
NEXT_DUE = "SELECT min(card_due) FROM topics WHERE card_due > 0"


def want(sql: Sql, conversation_id: str, chat_id: int) -> int:
    """Note that the conversation needs a topic. The generation to open, or 0: there is one, or
    somebody is opening it. Of many who want it at once, one is told to open it."""
    row = sql.row(WANT, {"conversation_id": conversation_id, "chat_id": chat_id})
    return int(row[0]) if row else 0


def opened(sql: Sql, conversation_id: str, generation: int, thread_id: int, name: str) -> bool:
    """Record the topic that was opened. False: it is another generation's by now."""
    values = {"conversation_id": conversation_id, "generation": generation}
    return sql.run(OPENED, {**values, "thread_id": thread_id, "name": name}) == 1


def lost(sql: Sql, conversation_id: str, thread_id: int) -> int:
    """The topic is gone. The generation to open instead, or 0: somebody has noticed already."""
    row = sql.row(LOST, {"conversation_id": conversation_id, "thread_id": thread_id})
    return int(row[0]) if row else 0


def of(sql: Sql, conversation_id: str) -> Topic | None:
    row = sql.row(OF, {"conversation_id": conversation_id})
    return _read(row) if row else None


def at(sql: Sql, chat_id: int, thread_id: int) -> Topic | None:
    """The topic that a message of the group was written in."""
    row = sql.row(AT, {"chat_id": chat_id, "thread_id": thread_id})
    return _read(row) if row else None


def touch(sql: Sql, conversation_id: str, due_at: float) -> None:
    """The card says something old: bring it up to date then, or earlier if that was planned."""
    sql.run(TOUCH, {"conversation_id": conversation_id, "at": due_at})


def due(sql: Sql, now: float) -> Sequence[Topic]:
    """Topics whose cards should be brought up to date now."""
    return [_read(row) for row in sql.rows(DUE, {"now": now})]


def next_due(sql: Sql) -> float | None:
    row = sql.row(NEXT_DUE)
    return float(row[0]) if row and row[0] is not None else None


def _read(row: Row) -> Topic:
    conversation_id, chat_id, thread_id, generation, name, card_id, card_shown, silent = row
    return Topic(
        conversation_id, chat_id, thread_id, generation, name, card_id, card_shown, bool(silent)
    )
