"""What is due: debounced turns, stored effects, timers, commands."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.store.port import Row, Sql

# The first message of a burst fixes `first_at`; each later one moves `fire_at`, up to the cap.
DEBOUNCE = """
INSERT INTO debounces (conversation_id, first_at, fire_at) VALUES (:id, :now, :quiet_at)
ON CONFLICT (conversation_id) DO UPDATE SET fire_at = CASE
  WHEN :quiet_at < debounces.first_at + :cap_seconds THEN :quiet_at
  WHEN debounces.first_at + :cap_seconds < :now THEN :now
  ELSE debounces.first_at + :cap_seconds END
RETURNING fire_at
"""
STOP_DEBOUNCE = "DELETE FROM debounces WHERE conversation_id = :id"
WAITS = "SELECT 1 FROM debounces WHERE conversation_id = :id"
FIRED = "DELETE FROM debounces WHERE conversation_id = :id AND fire_at <= :now"

LEASED_KINDS = ("generate", "moderate")
DUE_CONVERSATIONS = """
SELECT d.conversation_id FROM debounces d
LEFT JOIN leases l ON l.name = d.conversation_id AND l.expires_at > :now
WHERE d.fire_at <= :now AND l.name IS NULL
UNION
SELECT e.conversation_id FROM effects e
LEFT JOIN leases l ON l.name = e.conversation_id AND l.expires_at > :now
WHERE e.kind IN ('generate', 'moderate') AND l.name IS NULL
LIMIT :most
"""
# What is overdue already is not counted: a look that finds it does not wait for it.
NEXT_DUE = """
SELECT min(due) FROM (
  SELECT min(fire_at) AS due FROM debounces WHERE fire_at > :now
  UNION ALL SELECT min(due_at) FROM timers WHERE due_at > :now
  UNION ALL SELECT min(l.expires_at) FROM leases l
    JOIN effects e ON e.conversation_id = l.name WHERE l.expires_at > :now
) AS dues
"""
TIMERS_DUE = "SELECT 1 FROM timers WHERE due_at <= :now LIMIT 1"
ADD = """
INSERT INTO effects (id, conversation_id, kind, epoch, turn_id, payload, created_at)
VALUES (:id, :conversation_id, :kind, :epoch, :turn_id, :payload, :at)
ON CONFLICT (id) DO NOTHING
"""
PENDING_WORK = """
SELECT id, conversation_id, kind, epoch, turn_id, payload FROM effects
WHERE conversation_id = :id AND kind IN ('generate', 'moderate') ORDER BY created_at, id LIMIT 1
"""
DONE = "DELETE FROM effects WHERE id = :id"
CANCEL = """
DELETE FROM effects
WHERE conversation_id = :id AND turn_id = :turn_id AND kind IN ('generate', 'moderate')
"""
CLAIM_COMMAND = """
UPDATE effects SET claimed_until = :until
WHERE claimed_until <= :now AND id = (
  SELECT id FROM effects WHERE kind = :kind AND claimed_until <= :now
  ORDER BY created_at, id LIMIT 1)
RETURNING id, conversation_id, kind, epoch, turn_id, payload
"""
SET_TIMER = """
INSERT INTO timers (conversation_id, timer, due_at, epoch)
VALUES (:id, :timer, :due_at, :epoch)
ON CONFLICT (conversation_id, timer) DO UPDATE SET due_at = excluded.due_at,
  epoch = excluded.epoch
"""
STOP_TIMERS = "DELETE FROM timers WHERE conversation_id = :id"
# After a crash, when it is certain that no other process lives.
FREE_COMMANDS = "UPDATE effects SET claimed_until = 0 WHERE claimed_until > 0"
PULL_DEBOUNCES = "UPDATE debounces SET fire_at = :latest WHERE fire_at > :latest"
TAKE_TIMERS = """
DELETE FROM timers WHERE due_at <= :now RETURNING conversation_id, timer, epoch
"""
SAVE_DRAFT = """
INSERT INTO drafts (conversation_id, turn_id, text, lines, created_at)
VALUES (:id, :turn_id, :text, :lines, :at)
ON CONFLICT (conversation_id, turn_id) DO UPDATE SET text = excluded.text,
  lines = excluded.lines, created_at = excluded.created_at
"""
LOAD_DRAFT = "SELECT text, lines FROM drafts WHERE conversation_id = :id AND turn_id = :turn_id"
DROP_DRAFT = "DELETE FROM drafts WHERE conversation_id = :id AND turn_id = :turn_id"


@dataclass(frozen=True, slots=True)
class StoredEffect:
    id: str
    conversation_id: str
    kind: str  # generate | moderate | command | aid
    epoch: int
    turn_id: str
    payload: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DueTimer:
    conversation_id: str
    timer: str
    epoch: int


@dataclass(frozen=True, slots=True)
class StoredDraft:
    text: str
    lines: tuple[Mapping[str, str], ...]


def debounce(
    sql: Sql, conversation_id: str, *, now: float, quiet_seconds: float, cap_seconds: float
) -> float:
    """(Re)start the quiet period; return when the turn is due."""
    values = {"id": conversation_id, "now": now, "quiet_at": now + quiet_seconds}
    row = sql.row(DEBOUNCE, values | {"cap_seconds": cap_seconds})
    assert row is not None
    return float(row[0])


def stop_debounce(sql: Sql, conversation_id: str) -> None:
    sql.run(STOP_DEBOUNCE, {"id": conversation_id})


def take_debounce(sql: Sql, conversation_id: str, now: float) -> bool:
    """Consume the debounce row if it is due."""
    return sql.run(FIRED, {"id": conversation_id, "now": now}) == 1


def waits(sql: Sql, conversation_id: str) -> bool:
    """Whether a turn of this conversation is waiting for its time."""
    return sql.row(WAITS, {"id": conversation_id}) is not None


def due_conversations(sql: Sql, now: float, most: int) -> Sequence[str]:
    """Conversations with a turn or stored work that nobody holds the session lease of."""
    return [row[0] for row in sql.rows(DUE_CONVERSATIONS, {"now": now, "most": most})]


def next_due(sql: Sql, now: float) -> float | None:
    """When the next debounce, timer or lease falls due after `now`; None if nothing waits."""
    row = sql.row(NEXT_DUE, {"now": now})
    return float(row[0]) if row and row[0] is not None else None


def add(sql: Sql, effect: StoredEffect, at: float) -> None:
    values = {
        "id": effect.id,
        "conversation_id": effect.conversation_id,
        "kind": effect.kind,
        "epoch": effect.epoch,
        "turn_id": effect.turn_id,
        "payload": json.dumps(dict(effect.payload), ensure_ascii=False),
        "at": at,
    }
    sql.run(ADD, values)


def pending_work(sql: Sql, conversation_id: str) -> StoredEffect | None:
    """The work of this conversation's turn, for whoever holds its session lease."""
    row = sql.row(PENDING_WORK, {"id": conversation_id})
    return _effect(row) if row else None


def done(sql: Sql, effect_id: str) -> bool:
    """Mark as carried out. False if it was cancelled or done by another."""
    return sql.run(DONE, {"id": effect_id}) == 1


def cancel(sql: Sql, conversation_id: str, turn_id: str) -> None:
    sql.run(CANCEL, {"id": conversation_id, "turn_id": turn_id})
    drop_draft(sql, conversation_id, turn_id)


def claim_command(sql: Sql, now: float, until: float, kind: str = "command") -> StoredEffect | None:
    """Take one command, or other work of its own kind; of many takers at once, one gets it."""
    row = sql.row(CLAIM_COMMAND, {"now": now, "until": until, "kind": kind})
    return _effect(row) if row else None


def set_timer(sql: Sql, conversation_id: str, timer: str, due_at: float, epoch: int) -> None:
    sql.run(SET_TIMER, {"id": conversation_id, "timer": timer, "due_at": due_at, "epoch": epoch})


def stop_timers(sql: Sql, conversation_id: str) -> None:
    sql.run(STOP_TIMERS, {"id": conversation_id})


def timers_due(sql: Sql, now: float) -> bool:
    return sql.row(TIMERS_DUE, {"now": now}) is not None


def take_timers(sql: Sql, now: float) -> Sequence[DueTimer]:
    """Consume the timers that are due; the caller handles them in the same transaction."""
    return [DueTimer(*row) for row in sql.rows(TAKE_TIMERS, {"now": now})]


def free_claims(sql: Sql, now: float, cap_seconds: float) -> None:
    """Give back what a dead process had claimed; pull in what a wrong clock put far off."""
    sql.run(FREE_COMMANDS)
    sql.run(PULL_DEBOUNCES, {"latest": now + cap_seconds})


def save_draft(sql: Sql, conversation_id: str, turn_id: str, draft: StoredDraft, at: float) -> None:
    lines = json.dumps([dict(line) for line in draft.lines], ensure_ascii=False)
    values = {"id": conversation_id, "turn_id": turn_id, "text": draft.text, "lines": lines}
    sql.run(SAVE_DRAFT, values | {"at": at})


def load_draft(sql: Sql, conversation_id: str, turn_id: str) -> StoredDraft | None:
    row = sql.row(LOAD_DRAFT, {"id": conversation_id, "turn_id": turn_id})
    return StoredDraft(row[0], tuple(json.loads(row[1]))) if row else None


def drop_draft(sql: Sql, conversation_id: str, turn_id: str) -> None:
    sql.run(DROP_DRAFT, {"id": conversation_id, "turn_id": turn_id})


def _effect(row: Row) -> StoredEffect:
    effect_id, conversation_id, kind, epoch, turn_id, payload = row
    return StoredEffect(effect_id, conversation_id, kind, epoch, turn_id, json.loads(payload))
