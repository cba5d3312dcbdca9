"""Heads of conversations: loaded under a row lock, saved in the transaction that decided."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.states import Conversation, Holder, State, Turn
from bot.store.port import Row, Sql


@dataclass(frozen=True, slots=True)
class Contact:
    """Where a conversation takes place and with whom."""

    conversation_id: str
    chat_id: int
    user_name: str
    language: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row of the operators' queue."""

    conversation_id: str
    user_name: str
    state: State
    since: float
    holder_name: str


def conversation_id(chat_id: int) -> str:
    return f"tg:{chat_id}"


COLUMNS = """id, state, epoch, version, covered, turn_from, turn_to, turn_offers, flight_from,
 flight_to, restarts, waiting_since, holder_id, holder_name, holder_since, lease_until,
 requested_at, reminders, told_at, context_from, model_failures, blocked,
 chat_id, user_name, language"""
ENSURE = f"""
INSERT INTO conversations ({COLUMNS})
VALUES (:id, 'consent_required', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0,
        :chat_id, :user_name, :language)
ON CONFLICT (id) DO UPDATE SET user_name = excluded.user_name, language = excluded.language
WHERE conversations.user_name <> excluded.user_name
   OR conversations.language <> excluded.language
"""
LOAD = f"SELECT {COLUMNS} FROM conversations WHERE id = :id"
SAVE = """
UPDATE conversations SET
 state = :state, epoch = :epoch, version = :version, covered = :covered, turn_from = :turn_from,
 turn_to = :turn_to, turn_offers = :turn_offers, flight_from = :flight_from,
 flight_to = :flight_to, restarts = :restarts, waiting_since = :waiting_since,
 holder_id = :holder_id, holder_name = :holder_name, holder_since = :holder_since,
 lease_until = :lease_until, requested_at = :requested_at, reminders = :reminders,
 told_at = :told_at, context_from = :context_from, model_failures = :model_failures,
 blocked = :blocked
WHERE id = :id
"""
PLACE = """
SELECT count(*) FROM conversations
WHERE state = 'handoff_pending' AND id <> :id
  AND (requested_at < :requested_at OR (requested_at = :requested_at AND id < :id))
"""
QUEUE = """
SELECT id, user_name, state, requested_at, holder_since, holder_name FROM conversations
WHERE state IN ('handoff_pending', 'human_active')
ORDER BY CASE state WHEN 'handoff_pending' THEN requested_at ELSE holder_since END, id
"""
NEXT_MEMORY_TURN = """
UPDATE conversations SET memory_turn = memory_turn + 1 WHERE id = :id RETURNING memory_turn
"""
HELD_BY = """
SELECT id FROM conversations WHERE state = 'human_active' AND holder_id = :operator_id
ORDER BY holder_since DESC, id
"""


def ensure(sql: Sql, contact: Contact) -> None:
    """Create the conversation if it is new; keep name and language fresh."""
    values = {
        "id": contact.conversation_id,
        "chat_id": contact.chat_id,
        "user_name": contact.user_name,
        "language": contact.language,
    }
    sql.run(ENSURE, values)


def load(sql: Sql, conversation_id: str) -> tuple[Conversation, Contact] | None:
    """The head, locked until the transaction ends; None if there is no such conversation."""
    row = sql.lock_row(LOAD, {"id": conversation_id})
    return _read(row) if row else None


def peek(sql: Sql, conversation_id: str) -> tuple[Conversation, Contact] | None:
    """The head without a lock, for reading only."""
    row = sql.row(LOAD, {"id": conversation_id})
    return _read(row) if row else None


def save(sql: Sql, c: Conversation) -> None:
    turn = c.turn or Turn(0, 0)
    flight = c.in_flight or Turn(0, 0)
    holder = c.holder or Holder(0, "", 0.0, 0.0)
    values = {
        "id": c.id,
        "state": c.state.value,
        "epoch": c.epoch,
        "version": c.version,
        "covered": c.covered,
        "turn_from": turn.covers_from,
        "turn_to": turn.covers_to,
        "turn_offers": int(turn.offers_person),
        "flight_from": flight.covers_from,
        "flight_to": flight.covers_to,
        "restarts": c.restarts,
        "waiting_since": c.waiting_since,
        "holder_id": holder.operator_id,
        "holder_name": holder.name,
        "holder_since": holder.since,
        "lease_until": holder.lease_until,
        "requested_at": c.requested_at,
        "reminders": c.reminders,
        "told_at": c.told_at,
        "context_from": c.context_from,
        "model_failures": c.model_failures,
        "blocked": int(c.blocked),
    }
    sql.run(SAVE, values)


def place_in_queue(sql: Sql, c: Conversation) -> int:
    """1 for the request that has waited longest."""
    row = sql.row(PLACE, {"id": c.id, "requested_at": c.requested_at})
    return 1 + (row[0] if row else 0)


def queue(sql: Sql) -> Sequence[Waiting]:
    """Waiting and active conversations, oldest first."""
    return [
        Waiting(id, name, State(state), requested or since, holder)
        for id, name, state, requested, since, holder in sql.rows(QUEUE)
    ]


def held_by(sql: Sql, operator_id: int) -> Sequence[str]:
    """Conversations that this operator holds, the latest claim first."""
    return [row[0] for row in sql.rows(HELD_BY, {"operator_id": operator_id})]


def next_memory_turn(sql: Sql, conversation_id: str) -> int:
    """A number for the memory lines that are accepted together."""
    row = sql.row(NEXT_MEMORY_TURN, {"id": conversation_id})
    assert row is not None
    return int(row[0])


def _read(row: Row) -> tuple[Conversation, Contact]:
    turn = Turn(row[5], row[6], bool(row[7])) if row[5] else None
    flight = Turn(row[8], row[9]) if row[8] else None
    holder = Holder(row[12], row[13], row[14], row[15]) if row[12] else None
    conversation = Conversation(
        id=row[0],
        state=State(row[1]),
        epoch=row[2],
        version=row[3],
        covered=row[4],
        turn=turn,
        in_flight=flight,
        restarts=row[10],
        waiting_since=row[11],
        holder=holder,
        requested_at=row[16],
        reminders=row[17],
        told_at=row[18],
        context_from=row[19],
        model_failures=row[20],
        blocked=bool(row[21]),
    )
    return conversation, Contact(row[0], row[22], row[23], row[24])
