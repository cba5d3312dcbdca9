"""Temporary chats: while one is on, nothing of it becomes a line of memory."""

from bot.store.port import Sql

SINCE = "SELECT since FROM temporary_chats WHERE conversation_id = :id"
START = """
INSERT INTO temporary_chats (conversation_id, since) VALUES (:id, :at)
ON CONFLICT (conversation_id) DO NOTHING
"""
STOP = "DELETE FROM temporary_chats WHERE conversation_id = :id RETURNING since"


def is_on(sql: Sql, conversation_id: str) -> bool:
    return sql.row(SINCE, {"id": conversation_id}) is not None


def start(sql: Sql, conversation_id: str, at: float) -> None:
    sql.run(START, {"id": conversation_id, "at": at})


def stop(sql: Sql, conversation_id: str) -> float | None:
    """End it; return since when it was on (seconds since the epoch), None if it was not."""
    row = sql.row(STOP, {"id": conversation_id})
    return float(row[0]) if row else None
