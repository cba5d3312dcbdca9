"""Each step of each conversation: ids and states, never text (I11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.port import Sql

STRETCHES = """
SELECT at, state_before, state_after FROM journal
WHERE conversation_id = :conversation_id AND state_before <> state_after
  AND (state_before = 'human_active' OR state_after = 'human_active')
ORDER BY seq
"""
# After either of these the AI is not shown any more what was said before.
CUT_OFF = """
SELECT max(at) FROM journal
WHERE conversation_id = :conversation_id AND outcome = 'applied'
  AND event IN ('UserClearedContext', 'UserWithdrewConsent')
"""


@dataclass(frozen=True, slots=True)
class Entry:
    at: float
    actor: str  # user | ai | human:<id> | system
    event: str
    outcome: str
    state_before: str
    state_after: str
    epoch: int
    version: int
    turn_id: str
    client_message_id: str
    note: str = ""


# Numbered under the row lock of the conversation, so no two steps get the same number.
INSERT = """
INSERT INTO journal (conversation_id, seq, at, actor, event, outcome, state_before, state_after,
 epoch, version, turn_id, client_message_id, note)
VALUES (:conversation_id,
 (SELECT coalesce(max(seq), 0) + 1 FROM journal WHERE conversation_id = :conversation_id),
 :at, :actor, :event, :outcome, :state_before, :state_after, :epoch, :version, :turn_id,
 :client_message_id, :note)
RETURNING seq
"""
READ = """
SELECT at, actor, event, outcome, state_before, state_after, epoch, version, turn_id,
 client_message_id, note
FROM journal WHERE conversation_id = :conversation_id ORDER BY seq DESC LIMIT :most
"""


def write(sql: Sql, conversation_id: str, entry: Entry) -> int:
    """Append; return the entry's number, which later ids of this step are made from.

    The caller holds the row lock of the conversation's head.
    """
    values = {
        "conversation_id": conversation_id,
        "at": entry.at,
        "actor": entry.actor,
        "event": entry.event,
        "outcome": entry.outcome,
        "state_before": entry.state_before,
        "state_after": entry.state_after,
        "epoch": entry.epoch,
        "version": entry.version,
        "turn_id": entry.turn_id,
        "client_message_id": entry.client_message_id,
        "note": entry.note,
    }
    row = sql.row(INSERT, values)
    assert row is not None
    return int(row[0])


def read(sql: Sql, conversation_id: str, most: int = 200) -> Sequence[Entry]:
    """The newest `most` entries, oldest first."""
    rows = sql.rows(READ, {"conversation_id": conversation_id, "most": most})
    return [Entry(*row) for row in reversed(rows)]


def human_stretches(sql: Sql, conversation_id: str) -> Sequence[tuple[float, float]]:
    """When a person held the conversation: (since, until), finished stretches only."""
    stretches: list[tuple[float, float]] = []
    since = 0.0
    for at, _before, after in sql.rows(STRETCHES, {"conversation_id": conversation_id}):
        if after == "human_active":
            since = at
        elif since:
            stretches.append((since, at))
    return stretches


def cut_off(sql: Sql, conversation_id: str) -> float:
    """Since when the AI may know what was said; 0.0: from the beginning."""
    row = sql.row(CUT_OFF, {"conversation_id": conversation_id})
    return float(row[0]) if row and row[0] is not None else 0.0
