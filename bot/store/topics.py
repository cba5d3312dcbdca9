"""The topics of the operators' group: one a conversation, opened once, opened again when lost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.store.port import Row, Sql


@dataclass(frozen=True, slots=True)
class Topic:
    conversation_id: str
    chat_id: int
    thread_id: int  # 0: not opened yet
    generation: int
    opening_since: float  # Telegram was asked to open it then and we do not know the answer; 0.0
    opening_low: int  # the highest id known in the group at that time
    name: str
    card_id: int
    card_shown: str
    card_epoch: int
    card_due: float  # when to bring the card up to date; 0.0: it is
    silent: bool


FIELDS = """conversation_id, chat_id, thread_id, generation, opening_since, opening_low, name,
 card_id, card_shown, card_epoch, card_due, silent"""
WANT = """
INSERT INTO topics AS known (conversation_id, chat_id, thread_id, generation, opening_since,
 opening_low, name, card_id, card_shown, card_epoch, card_due, silent)
VALUES (:conversation_id, :chat_id, 0, 0, 0, 0, '', 0, '', 0, 0, 0)
ON CONFLICT (conversation_id) DO UPDATE SET chat_id = excluded.chat_id, thread_id = 0,
 generation = known.generation + 1, opening_since = 0, name = '', card_id = 0, card_shown = ''
WHERE known.chat_id <> excluded.chat_id
"""
BEGIN = """
UPDATE topics SET generation = generation + 1, opening_since = :at, name = :name, opening_low =
 (SELECT coalesce(max(last_message_id), 0) FROM chats WHERE chats.chat_id = topics.chat_id)
WHERE conversation_id = :conversation_id AND generation = :generation AND thread_id = 0
"""
NOT_BEGUN = """
UPDATE topics SET opening_since = 0
WHERE conversation_id = :conversation_id AND generation = :generation AND thread_id = 0
"""
OPENED = """
UPDATE topics SET thread_id = :thread_id, opening_since = 0, card_id = 0, card_shown = '',
 card_due = :card_due
WHERE conversation_id = :conversation_id AND generation = :generation AND thread_id = 0
"""
LOST = """
UPDATE topics SET thread_id = 0, generation = generation + 1, opening_since = 0, name = '',
 card_id = 0, card_shown = ''
WHERE conversation_id = :conversation_id AND thread_id = :thread_id AND thread_id > 0
"""
OF = f"SELECT {FIELDS} FROM topics WHERE conversation_id = :conversation_id"
AT = f"SELECT {FIELDS} FROM topics WHERE chat_id = :chat_id AND thread_id = :thread_id"
OPENING = f"""
SELECT {FIELDS} FROM topics
WHERE chat_id = :chat_id AND thread_id = 0 AND opening_since > 0 AND name = :name
"""
THREADS = """
SELECT thread_id FROM topics WHERE chat_id = :chat_id AND thread_id > :low
"""
NAMED = "UPDATE topics SET name = :name WHERE conversation_id = :conversation_id"
CARD_SENT = """
UPDATE topics SET card_id = :card_id
WHERE conversation_id = :conversation_id AND card_epoch = :card_epoch
"""
CARD_SHOWN = """
UPDATE topics SET card_shown = :shown, card_id = :card_id, card_epoch = :card_epoch
WHERE conversation_id = :conversation_id AND generation = :generation
"""
MUTE = """
UPDATE topics SET silent = :silent WHERE conversation_id = :conversation_id
"""
TOUCH = """
UPDATE topics SET card_due = CASE WHEN card_due > 0 AND card_due < :at THEN card_due ELSE :at END
WHERE conversation_id = :conversation_id
"""
TAKE_UP = """
UPDATE topics SET card_due = 0 WHERE conversation_id = :conversation_id AND card_due = :due
"""
DUE = f"""
SELECT {FIELDS} FROM topics WHERE card_due > 0 AND card_due <= :now ORDER BY card_due LIMIT :most
"""
NEXT_DUE = "SELECT min(card_due) FROM topics WHERE card_due > 0"
MOVE = "UPDATE topics SET chat_id = :new, thread_id = 0, card_id = 0 WHERE chat_id = :old"


def want(sql: Sql, conversation_id: str, chat_id: int) -> Topic:
    """Note that the conversation has a topic in this group, and return how it stands."""
    sql.run(WANT, {"conversation_id": conversation_id, "chat_id": chat_id})
    topic = of(sql, conversation_id)
    assert topic is not None
    return topic


def begin(sql: Sql, topic: Topic, name: str, at: float) -> int:
    """Set out to open it under this name. The new generation, or 0: somebody else was faster.

    Of many who saw the same generation, one may open it.
    """
    values = {"conversation_id": topic.conversation_id, "generation": topic.generation}
    begun = sql.run(BEGIN, {**values, "name": name, "at": at}) == 1
    return topic.generation + 1 if begun else 0


def not_begun(sql: Sql, conversation_id: str, generation: int) -> None:
    """It is certain that nothing was opened."""
    sql.run(NOT_BEGUN, {"conversation_id": conversation_id, "generation": generation})


def opened(
    sql: Sql, conversation_id: str, generation: int, thread_id: int, card_due: float
) -> bool:
    """Record the topic that was opened. False: it is another generation's by now."""
    values = {"conversation_id": conversation_id, "generation": generation}
    return sql.run(OPENED, {**values, "thread_id": thread_id, "card_due": card_due}) == 1


def lost(sql: Sql, conversation_id: str, thread_id: int) -> bool:
    """The topic is gone: it has to be opened again. False: somebody has noticed already."""
    values = {"conversation_id": conversation_id, "thread_id": thread_id}
    return sql.run(LOST, values) == 1


def of(sql: Sql, conversation_id: str) -> Topic | None:
    row = sql.row(OF, {"conversation_id": conversation_id})
    return _read(row) if row else None


def at(sql: Sql, chat_id: int, thread_id: int) -> Topic | None:
    """The topic that a message of the group was written in."""
    row = sql.row(AT, {"chat_id": chat_id, "thread_id": thread_id})
    return _read(row) if row else None


def being_opened(sql: Sql, chat_id: int, name: str) -> Topic | None:
    """The topic that we asked Telegram to open under this name, if the answer did not come."""
    row = sql.row(OPENING, {"chat_id": chat_id, "name": name})
    return _read(row) if row else None


def threads_above(sql: Sql, chat_id: int, low: int) -> frozenset[int]:
    """Threads of this group that are known to be conversations' topics."""
    return frozenset(row[0] for row in sql.rows(THREADS, {"chat_id": chat_id, "low": low}))


def named(sql: Sql, conversation_id: str, name: str) -> None:
    sql.run(NAMED, {"conversation_id": conversation_id, "name": name})


def card_sent(sql: Sql, conversation_id: str, card_epoch: int, card_id: int) -> None:
    """The card that was queued as number `card_epoch` is this message."""
    values = {"conversation_id": conversation_id, "card_epoch": card_epoch, "card_id": card_id}
    sql.run(CARD_SENT, values)


def card_shown(sql: Sql, topic: Topic, shown: str, *, card_id: int, card_epoch: int) -> bool:
    """What the card says now, or will when it has been sent. False: the topic is another."""
    values = {"conversation_id": topic.conversation_id, "generation": topic.generation}
    card = {"shown": shown, "card_id": card_id, "card_epoch": card_epoch}
    return sql.run(CARD_SHOWN, {**values, **card}) == 1


def mute(sql: Sql, conversation_id: str, *, silent: bool) -> None:
    """Whether what arrives in the topic makes a sound."""
    sql.run(MUTE, {"conversation_id": conversation_id, "silent": int(silent)})


def touch(sql: Sql, conversation_id: str, due_at: float) -> None:
    """The card says something old: bring it up to date then, or earlier if that was planned."""
    sql.run(TOUCH, {"conversation_id": conversation_id, "at": due_at})


def take_up(sql: Sql, topic: Topic) -> bool:
    """Set out to bring the card up to date; whatever changes from now on makes it due again.

    False: somebody else has taken it up.
    """
    values = {"conversation_id": topic.conversation_id, "due": topic.card_due}
    return sql.run(TAKE_UP, values) == 1


def due(sql: Sql, now: float, most: int = 100) -> Sequence[Topic]:
    """Topics whose cards should be brought up to date now."""
    return [_read(row) for row in sql.rows(DUE, {"now": now, "most": most})]


def next_due(sql: Sql) -> float | None:
    row = sql.row(NEXT_DUE)
    return float(row[0]) if row and row[0] is not None else None


def move_chat(sql: Sql, old: int, new: int) -> None:
    """The group became a supergroup; a basic group has no topics that could follow."""
    sql.run(MOVE, {"old": old, "new": new})


def _read(row: Row) -> Topic:
    topic = Topic(*row)
    return replace(topic, silent=bool(topic.silent))
