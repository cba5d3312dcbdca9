"""What leaves the bot: one row a message, strictly ordered within a chat, claimed one at a time.

Life of a row: pending → sending → sent | failed; or sending → unknown → sent | pending |
unresolved; or pending → dropped. `claim` grows with each claim: a sender that was paused and
wakes late settles nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.store.port import Sql


class Author(StrEnum):
    AI = "ai"
    HUMAN = "human"
    SYSTEM = "system"
    RELAY = "relay"  # a user's message on its way to an operator


class Status(StrEnum):
    PENDING = "pending"
    SENDING = "sending"  # on the wire: from here on it may have arrived
    SENT = "sent"
    FAILED = "failed"  # refused for good
    UNKNOWN = "unknown"  # no answer came; being found out
    DROPPED = "dropped"  # it never began to leave and never will
    UNRESOLVED = "unresolved"  # it could not be found out


@dataclass(frozen=True, slots=True)
class Outgoing:
    id: str  # the client message id
    conversation_id: str
    chat_id: int
    author: Author
    payload: str  # see bot/telegram/payload.py
    epoch: int = 0
    turn_id: str = ""
    topic: str = ""  # the conversation in whose topic of the operators' group it belongs


@dataclass(frozen=True, slots=True)
class Claimed:
    """A row that this sender may act on until `claimed_until`."""

    outgoing: Outgoing
    status: Status  # SENDING: send it; UNKNOWN: find out whether it arrived
    claim: int
    attempts: int
    probes: int
    low_id: int
    fresh_doubt: bool  # its last sender vanished: nobody has recorded the doubt yet
    until: float  # when the claim ends

    @property
    def looked_before(self) -> bool:
        """Whether somebody set out to find it before, and may have left a notice behind."""
        return self.claim - self.attempts > 1


@dataclass(frozen=True, slots=True)
class Tally:
    """How the parts of a turn's reply stand."""

    open: int  # pending, sending, unknown
    sent: int
    lost: int  # failed, dropped, unresolved
    on_wire: int  # sending, unknown


NEXT_SEQ = """
INSERT INTO chats AS known (chat_id, outbox_seq, last_message_id) VALUES (:chat_id, 1, 0)
ON CONFLICT (chat_id) DO UPDATE SET outbox_seq = known.outbox_seq + 1
RETURNING outbox_seq
"""
PUT = """
INSERT INTO outbox (id, conversation_id, chat_id, seq, author, epoch, turn_id, topic, payload,
 status, attempts, probes, not_before, claimed_until, claim, low_id, message_id, created_at,
 settled_at)
VALUES (:id, :conversation_id, :chat_id, :seq, :author, :epoch, :turn_id, :topic, :payload,
 'pending', 0, 0, :not_before, 0, 0, 0, 0, :at, 0)
ON CONFLICT (id) DO NOTHING
"""
DUE_CHATS = """
SELECT DISTINCT chat_id FROM outbox
WHERE status IN ('pending', 'sending', 'unknown') AND not_before <= :now AND claimed_until <= :now
LIMIT :most
"""
NEXT_DUE = """
SELECT min(CASE WHEN not_before > claimed_until THEN not_before ELSE claimed_until END)
FROM outbox WHERE status IN ('pending', 'sending', 'unknown')
  AND (not_before > :now OR claimed_until > :now)
"""
FREE_CLAIMS = """
UPDATE outbox SET claimed_until = 0 WHERE status IN ('sending', 'unknown') AND claimed_until > 0
"""
# A clock that was set back meanwhile must not keep for hours what waits for its time.
PULL_WAITS = """
UPDATE outbox SET not_before = :now
WHERE status IN ('pending', 'sending', 'unknown') AND not_before > :now
"""
HEAD = """
SELECT id, conversation_id, chat_id, author, payload, epoch, turn_id, topic, status, attempts,
 probes, not_before, claimed_until, claim, low_id
FROM outbox WHERE chat_id = :chat_id AND status IN ('pending', 'sending', 'unknown')
  AND (seq > 0 OR status <> 'pending' OR not_before <= :now)
ORDER BY seq LIMIT 1
"""
# An AI part may begin to leave only while its conversation is sending under the same epoch (I3).
BEGIN = """
UPDATE outbox SET status = 'sending', claim = claim + 1, claimed_until = :until,
 attempts = attempts + 1, settled_at = 0,
 low_id = (SELECT last_message_id FROM chats WHERE chats.chat_id = outbox.chat_id)
WHERE id = :id AND claim = :claim AND status = 'pending' AND (author <> 'ai' OR EXISTS (
  SELECT 1 FROM conversations c WHERE c.id = outbox.conversation_id
   AND c.state = 'bot_sending' AND c.epoch = outbox.epoch))
RETURNING low_id
"""
DOUBT = """
UPDATE outbox SET status = 'unknown', claim = claim + 1, claimed_until = :until
WHERE id = :id AND claim = :claim AND status IN ('sending', 'unknown')
"""
SETTLE = """
UPDATE outbox SET status = :status, claimed_until = 0, not_before = :not_before,
 message_id = :message_id, settled_at = :at, payload = :payload, topic = :topic
WHERE id = :id AND claim = :claim AND status IN ('sending', 'unknown')
"""
HOLDS = """
SELECT 1 FROM outbox WHERE id = :id AND claim = :claim AND status IN ('sending', 'unknown')
"""
COUNT_PROBE = "UPDATE outbox SET probes = probes + 1 WHERE id = :id AND claim = :claim"
KNOW_ID = """
INSERT INTO chats AS known (chat_id, outbox_seq, last_message_id) VALUES (:chat_id, 0, :id)
ON CONFLICT (chat_id) DO UPDATE SET last_message_id = excluded.last_message_id
WHERE known.last_message_id < excluded.last_message_id
"""
DROP = """
UPDATE outbox SET status = 'dropped', settled_at = :at
WHERE conversation_id = :conversation_id AND turn_id = :turn_id AND author = 'ai'
  AND status = 'pending'
"""
REVIVE = """
UPDATE outbox SET status = 'pending', not_before = :at
WHERE conversation_id = :conversation_id AND turn_id = :turn_id AND author = 'ai'
  AND status IN ('unresolved', 'dropped')
"""
TALLY = """
SELECT
 coalesce(sum(CASE WHEN status IN ('pending', 'sending', 'unknown') THEN 1 ELSE 0 END), 0),
 coalesce(sum(CASE WHEN status = 'sent' THEN 1 ELSE 0 END), 0),
 coalesce(sum(CASE WHEN status IN ('failed', 'dropped', 'unresolved') THEN 1 ELSE 0 END), 0),
 coalesce(sum(CASE WHEN status IN ('sending', 'unknown') THEN 1 ELSE 0 END), 0)
FROM outbox WHERE conversation_id = :conversation_id AND turn_id = :turn_id AND author = 'ai'
"""
ACCEPT_WORD = """
UPDATE outbox SET status = 'sent', settled_at = :at
WHERE conversation_id = :conversation_id AND turn_id = :turn_id AND author = 'ai'
  AND status = 'unresolved'
"""
# Ids between two messages that are known to be something else. Private chats and basic groups
# share one sequence of ids per bot; a supergroup counts for itself.
KNOWN_IDS = """
SELECT message_id FROM messages
 WHERE author <> 'ai' AND message_id > :low AND message_id < :high {where}
UNION SELECT message_id FROM outbox WHERE message_id > :low AND message_id < :high {where}
UNION SELECT message_id FROM status_lines WHERE message_id > :low AND message_id < :high {where}
UNION SELECT message_id FROM copies WHERE message_id > :low AND message_id < :high {where}
"""
SUPERGROUPS_BELOW = -1_000_000_000_000
IN_SUPERGROUP = KNOWN_IDS.format(where="AND chat_id = :chat_id")
ELSEWHERE = KNOWN_IDS.format(where="AND chat_id > :chat_id")
GOING_TO = """
SELECT DISTINCT chat_id FROM outbox
WHERE conversation_id = :conversation_id AND chat_id <> :chat_id
 AND status IN ('pending', 'sending', 'unknown')
 AND (payload LIKE :single OR payload LIKE :album)
"""
NEWEST_SENT = """
SELECT payload FROM outbox
WHERE chat_id = :chat_id AND status = 'sent' AND seq > 0 AND payload LIKE :beginning
ORDER BY seq DESC LIMIT 1
"""
PEEK = "SELECT status, payload FROM outbox WHERE id = :id"
REWRITE = """
UPDATE outbox SET payload = :payload, not_before = :not_before
WHERE id = :id AND status = 'pending' AND attempts = 0
"""
LAST_FAILURE = """
SELECT max(settled_at) FROM outbox
WHERE conversation_id = :conversation_id AND status IN ('failed', 'unresolved')
"""
LAST_KNOWN_ID = "SELECT last_message_id FROM chats WHERE chat_id = :chat_id"
WAITING_IN = """
SELECT 1 FROM outbox WHERE chat_id = :chat_id AND status IN ('pending', 'sending', 'unknown')
LIMIT 1
"""
MOVE_CHAT = """
UPDATE outbox SET chat_id = :new
WHERE chat_id = :old AND status IN ('pending', 'sending', 'unknown')
"""


def put(
    sql: Sql, outgoing: Outgoing, at: float, *, wait_seconds: float = 0.0, alone: bool = False
) -> None:
    """Queue a message behind all others of its chat. The same id again changes nothing.

    `wait_seconds`: neither it nor what follows it leaves earlier. `alone`: it keeps no order, so
    nothing waits for it; once it may leave, it goes before whatever waits. Its seq is negative.
    """
    row = sql.row(NEXT_SEQ, {"chat_id": outgoing.chat_id})
    assert row is not None
    values = {
        "id": outgoing.id,
        "conversation_id": outgoing.conversation_id,
        "chat_id": outgoing.chat_id,
        "seq": -row[0] if alone else row[0],
        "author": outgoing.author.value,
        "epoch": outgoing.epoch,
        "turn_id": outgoing.turn_id,
        "topic": outgoing.topic,
        "payload": outgoing.payload,
        "at": at,
        "not_before": at + wait_seconds,
    }
    sql.run(PUT, values)


def peek(sql: Sql, id: str) -> tuple[Status, str] | None:
    """How a message stands, and its payload."""
    row = sql.lock_row(PEEK, {"id": id})
    return (Status(row[0]), row[1]) if row else None


def going_to(sql: Sql, conversation_id: str, chat_id: int, message_id: int) -> frozenset[int]:
    """Chats to which this message is still on its way."""
    values = {
        "conversation_id": conversation_id,
        "chat_id": chat_id,
        "single": f"%[{chat_id},{message_id}]%",
        "album": f'{{"album":[{chat_id},%{message_id}%',
    }
    return frozenset(row[0] for row in sql.rows(GOING_TO, values))


def newest_sent(sql: Sql, chat_id: int, beginning: str) -> str:
    """The newest payload that went to a chat and begins so (no wildcards in it); "" if none did."""
    row = sql.row(NEWEST_SENT, {"chat_id": chat_id, "beginning": f"{beginning}%"})
    return str(row[0]) if row else ""


def rewrite(sql: Sql, id: str, payload: str, not_before: float) -> bool:
    """Change what has not begun to leave. False: it has."""
    return sql.run(REWRITE, {"id": id, "payload": payload, "not_before": not_before}) == 1


def due_chats(sql: Sql, now: float, most: int) -> Sequence[int]:
    return [row[0] for row in sql.rows(DUE_CHATS, {"now": now, "most": most})]


def free_claims(sql: Sql, now: float) -> None:
    """Give back what a dead process had claimed; whatever waits is tried at once."""
    sql.run(FREE_CLAIMS)
    sql.run(PULL_WAITS, {"now": now})


def next_due(sql: Sql, now: float) -> float | None:
    """When a message that has to wait may leave; None if none waits."""
    row = sql.row(NEXT_DUE, {"now": now})
    return float(row[0]) if row and row[0] is not None else None


def claim_head(
    sql: Sql,
    chat_id: int,
    now: float,
    until: float,
    *,
    doubts: bool = True,
    doubt_until: float = 0.0,
) -> Claimed | None:
    """Take the oldest open row of a chat, if it is due. None: nothing to do now.

    `doubts` False: only to send; a row whose arrival is in doubt is left to others.
    `doubt_until`: until when a row in doubt is claimed, if that is another time than `until`.
    """
    row = sql.lock_row(HEAD, {"chat_id": chat_id, "now": now})
    if row is None:
        return None
    outgoing = Outgoing(row[0], row[1], row[2], Author(row[3]), *row[4:8])
    status, attempts, probes, not_before, claimed_until, claim, low_id = row[8:]
    if not_before > now or claimed_until > now:
        return None
    values = {"id": outgoing.id, "claim": claim, "until": until}
    if status == Status.PENDING:
        begun = sql.row(BEGIN, values)
        if begun is None:
            return None
        return Claimed(
            outgoing, Status.SENDING, claim + 1, attempts + 1, probes, begun[0], False, until
        )
    until = doubt_until or until
    if not doubts or sql.run(DOUBT, {**values, "until": until}) == 0:
        return None
    vanished = status == Status.SENDING
    return Claimed(outgoing, Status.UNKNOWN, claim + 1, attempts, probes, low_id, vanished, until)


def settle(
    sql: Sql,
    claimed: Claimed,
    status: Status,
    at: float,
    *,
    message_id: int = 0,
    not_before: float = 0.0,
    payload: str = "",
    topic: str | None = None,
) -> bool:
    """Record what became of a claimed row. False: the claim was lost; nothing is written.

    `payload` and `topic`: what it says, or where it goes, from now on.
    """
    values = {
        "id": claimed.outgoing.id,
        "claim": claimed.claim,
        "status": status.value,
        "at": at,
        "message_id": message_id,
        "not_before": not_before,
        "payload": payload or claimed.outgoing.payload,
        "topic": claimed.outgoing.topic if topic is None else topic,
    }
    if sql.run(SETTLE, values) == 0:
        return False
    if message_id:
        know_id(sql, claimed.outgoing.chat_id, message_id)
    return True


def holds(sql: Sql, claimed: Claimed) -> bool:
    """Whether nobody claimed the message after us; it stays so until this transaction ends."""
    values = {"id": claimed.outgoing.id, "claim": claimed.claim}
    return sql.lock_row(HOLDS, values) is not None


def count_probe(sql: Sql, claimed: Claimed) -> None:
    """An attempt to find out ended without proof. One that a crash cut off does not count."""
    sql.run(COUNT_PROBE, {"id": claimed.outgoing.id, "claim": claimed.claim})


def know_id(sql: Sql, chat_id: int, message_id: int) -> None:
    """Remember the highest message id of a chat: the lower bound when a send is in doubt."""
    sql.run(KNOW_ID, {"chat_id": chat_id, "id": message_id})


def known_ids(sql: Sql, chat_id: int, low: int, high: int) -> frozenset[int]:
    """Ids in the open interval that belong to messages we know, so not to another of this chat."""
    alone = chat_id < SUPERGROUPS_BELOW
    values = {"low": low, "high": high, "chat_id": chat_id if alone else SUPERGROUPS_BELOW}
    found = sql.rows(IN_SUPERGROUP if alone else ELSEWHERE, values)
    return frozenset(row[0] for row in found)


def last_failure(sql: Sql, conversation_id: str) -> float:
    """When something of the conversation last could not be delivered; 0.0: never."""
    row = sql.row(LAST_FAILURE, {"conversation_id": conversation_id})
    return float(row[0] or 0.0) if row else 0.0


def last_known_id(sql: Sql, chat_id: int) -> int:
    row = sql.row(LAST_KNOWN_ID, {"chat_id": chat_id})
    return int(row[0]) if row else 0


def waiting_in(sql: Sql, chat_id: int) -> bool:
    """Whether anything still has to leave for this chat."""
    return sql.row(WAITING_IN, {"chat_id": chat_id}) is not None


def drop(sql: Sql, conversation_id: str, turn_id: str, at: float) -> None:
    """Parts of the reply that have not begun to leave never will."""
    sql.run(DROP, {"conversation_id": conversation_id, "turn_id": turn_id, "at": at})


def revive(sql: Sql, conversation_id: str, turn_id: str, at: float) -> None:
    """Let unresolved and dropped parts of the reply leave after all."""
    sql.run(REVIVE, {"conversation_id": conversation_id, "turn_id": turn_id, "at": at})


def accept_word(sql: Sql, conversation_id: str, turn_id: str, at: float) -> None:
    """The user says that the unresolved part arrived."""
    sql.run(ACCEPT_WORD, {"conversation_id": conversation_id, "turn_id": turn_id, "at": at})


def tally(sql: Sql, conversation_id: str, turn_id: str) -> Tally:
    row = sql.row(TALLY, {"conversation_id": conversation_id, "turn_id": turn_id})
    assert row is not None
    return Tally(*(int(count) for count in row))


def move_chat(sql: Sql, old: int, new: int) -> None:
    """A group became a supergroup: what waits follows it."""
    sql.run(MOVE_CHAT, {"old": old, "new": new})
