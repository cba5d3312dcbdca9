"""Takes the words of one chat out of every table, and leaves ids, times and states.

Rule 1: rows whose ids keep something from being done twice stay, without their text: a message
        that comes again must still be known, and a message of ours must not be probed for.
Rule 2: what is on the wire keeps its text until it is known what became of it, because finding
        out needs the text. It is wiped afterwards; see `settled`.
Rule 3: every column that could hold words is named in tests/contracts/test_wiping.py, as wiped or
        as harmless. A new table joins there.
"""

import json
from typing import Any

from bot.store.port import Sql

WIPED = "forgotten"  # the kind of a message without its text: an edit does not bring it back

MESSAGES = f"""
UPDATE messages SET text = '', detail = '', entities = '', kind = '{WIPED}', consented = 0
WHERE conversation_id = :id AND kind <> '{WIPED}' AND at >= :since
"""
BY_CONVERSATION = (
    "DELETE FROM drafts WHERE conversation_id = :id",
    "DELETE FROM effects WHERE conversation_id = :id",
    "DELETE FROM debounces WHERE conversation_id = :id",
    "DELETE FROM suggestions WHERE conversation_id = :id",
    "DELETE FROM translations WHERE conversation_id = :id",
    "DELETE FROM answer_sources WHERE conversation_id = :id",
    "DELETE FROM interpreting WHERE conversation_id = :id",
    "DELETE FROM temporary_chats WHERE conversation_id = :id",
    "UPDATE topics SET name = '' WHERE conversation_id = :id",
    "UPDATE conversations SET user_name = '', context_from = version WHERE id = :id",
)
# To this chat, about it to others, or from it to operators.
ABOUT = "(conversation_id = :id OR chat_id = :chat_id OR id LIKE '%:' || :id || ':%')"
# The AI's own are recalled by the step that ends the conversation.
DROP_PENDING = """
UPDATE outbox SET status = 'dropped', settled_at = :until
WHERE (conversation_id = :id OR chat_id = :chat_id) AND status = 'pending' AND author <> 'ai'
 AND created_at <= :until
"""
SETTLED = f"""
UPDATE outbox SET payload = '' WHERE {ABOUT} AND created_at <= :until AND created_at >= :since
 AND payload <> '' AND status NOT IN ('pending', 'sending', 'unknown')
"""
OPEN = f"""
SELECT COUNT(*) FROM outbox WHERE {ABOUT} AND created_at <= :until
 AND status IN ('pending', 'sending', 'unknown')
"""
PARKED = "SELECT update_id, raw FROM inbox WHERE raw <> ''"
EMPTY_PARKED = "UPDATE inbox SET raw = '' WHERE update_id = :update_id"


def wipe(sql: Sql, conversation_id: str, chat_id: int, at: float) -> int:
    """Take all of it; return how many messages lost their text. What is on the wire follows."""
    names = {"id": conversation_id}
    count = sql.run(MESSAGES, {**names, "since": 0.0})
    for statement in BY_CONVERSATION:
        sql.run(statement, names)
    _parked(sql, chat_id)
    settled(sql, conversation_id, chat_id, at)
    return count


def settled(sql: Sql, conversation_id: str, chat_id: int, until: float) -> bool:
    """Wipe what was queued up to `until` and is settled by now. False: some still is not."""
    values = {"id": conversation_id, "chat_id": chat_id, "until": until}
    sql.run(DROP_PENDING, values)  # also what came back because it could not leave yet
    sql.run(SETTLED, {**values, "since": 0.0})
    row = sql.row(OPEN, values)
    return row is not None and row[0] == 0


def since(sql: Sql, conversation_id: str, chat_id: int, at: float, until: float) -> None:
    """The words of a temporary chat that began `at`."""
    sql.run(MESSAGES, {"id": conversation_id, "since": at})
    values = {"id": conversation_id, "chat_id": chat_id, "until": until, "since": at}
    sql.run(SETTLED, values)


def _parked(sql: Sql, chat_id: int) -> None:
    for update_id, raw in sql.rows(PARKED):
        if _mentions(raw, chat_id):
            sql.run(EMPTY_PARKED, {"update_id": update_id})


def _mentions(raw: str, chat_id: int) -> bool:
    """Whether an update that could not be handled comes from this chat or person."""
    try:
        waiting: list[Any] = [json.loads(raw)]
    except (ValueError, RecursionError):
        return str(chat_id) in raw
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("id") == chat_id:
                return True
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False
