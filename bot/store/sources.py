"""The memory lines behind an answer, by their ids. For /why."""

from collections.abc import Sequence

from bot.store.port import Sql

RECORD = """
INSERT INTO answer_sources (conversation_id, turn_id, line_ids, at)
VALUES (:conversation_id, :turn_id, :line_ids, :at)
ON CONFLICT (conversation_id, turn_id) DO UPDATE SET line_ids = excluded.line_ids, at = excluded.at
"""
# An answer from before this was recorded has no row, which is not the same as an empty one.
OF_LAST_ANSWER = """
SELECT s.line_ids FROM messages m
LEFT JOIN answer_sources s ON s.conversation_id = m.conversation_id AND s.turn_id = m.turn_id
WHERE m.conversation_id = :conversation_id AND m.author = 'ai' AND m.visible = 1 AND m.text <> ''
ORDER BY m.seq DESC LIMIT 1
"""


def record(
    sql: Sql, conversation_id: str, turn_id: str, line_ids: Sequence[str], at: float
) -> None:
    """A draft was made from these lines. The newest draft of a turn counts."""
    values = {"conversation_id": conversation_id, "turn_id": turn_id, "at": at}
    sql.run(RECORD, {**values, "line_ids": " ".join(line_ids)})


def of_last_answer(sql: Sql, conversation_id: str) -> tuple[str, ...] | None:
    """Of the last answer that arrived, the best first; None if there is none or nothing is known
    about it."""
    row = sql.row(OF_LAST_ANSWER, {"conversation_id": conversation_id})
    return None if row is None or row[0] is None else tuple(row[0].split())
