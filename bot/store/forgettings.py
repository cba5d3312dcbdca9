"""Who asked to be forgotten, and how far that has come: one row a conversation.

asked ──► begun ──► counted ──► swept ──► (the row goes when the receipt is queued)

asked: the question stands; only its own buttons answer it. begun: all that this database holds is
destroyed already, in the transaction that made it so. counted: it is known how many lines the
store has. swept: what lies elsewhere is gone as well; the database still has to leave no trace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.store.port import Row, Sql


class Stage(StrEnum):
    ASKED = "asked"
    BEGUN = "begun"
    COUNTED = "counted"
    SWEPT = "swept"


@dataclass(frozen=True, slots=True)
class Forgetting:
    conversation_id: str
    stage: Stage
    at: float
    stored_as: str
    messages: int
    lines: int
    unreadable: int  # -1: the store does not say


FIELDS = "conversation_id, status, at, stored_as, messages, lines, unreadable"
ASK = """
INSERT INTO forgettings AS known
 (conversation_id, token, status, at, stored_as, messages, lines, unreadable)
VALUES (:id, :token, 'asked', :at, '', 0, 0, 0)
ON CONFLICT (conversation_id) DO UPDATE SET token = excluded.token, at = excluded.at
WHERE known.status = 'asked'
"""
# One statement, so that of two presses one begins.
BEGIN = """
UPDATE forgettings SET status = 'begun', token = '', at = :at
WHERE conversation_id = :id AND token = :token AND status = 'asked' AND at > :not_before
"""
KEEP = """
DELETE FROM forgettings WHERE conversation_id = :id AND token = :token AND status = 'asked'
 AND at > :not_before
"""
NOTE = """
UPDATE forgettings SET stored_as = :stored_as, messages = :messages, lines = :lines
WHERE conversation_id = :id AND status = 'begun'
"""
COUNTED = """
UPDATE forgettings SET status = 'counted', lines = lines + :held, unreadable = 0
WHERE conversation_id = :id AND status = 'begun'
"""
SWEPT = """
UPDATE forgettings SET status = 'swept', unreadable = :unreadable
WHERE conversation_id = :id AND status = 'counted'
"""
FINISH = "DELETE FROM forgettings WHERE conversation_id = :id AND status = 'swept'"
BEGUN = f"SELECT {FIELDS} FROM forgettings WHERE status <> 'asked' ORDER BY at, conversation_id"
DROP_QUESTIONS = "DELETE FROM forgettings WHERE status = 'asked' AND at <= :not_before"


def ask(sql: Sql, conversation_id: str, token: str, at: float) -> bool:
    """A new question takes the place of the last. False: it is being forgotten already."""
    return sql.run(ASK, {"id": conversation_id, "token": token, "at": at}) == 1


def begin(sql: Sql, conversation_id: str, token: str, at: float, not_before: float) -> bool:
    """Take the yes. False: a forged, foreign, old or second press."""
    values = {"id": conversation_id, "token": token, "at": at, "not_before": not_before}
    return bool(token) and sql.run(BEGIN, values) == 1


def keep(sql: Sql, conversation_id: str, token: str, not_before: float) -> bool:
    """Take the no."""
    values = {"id": conversation_id, "token": token, "not_before": not_before}
    return bool(token) and sql.run(KEEP, values) == 1


def note(sql: Sql, conversation_id: str, stored_as: str, messages: int, lines: int) -> None:
    values = {"id": conversation_id, "stored_as": stored_as, "messages": messages, "lines": lines}
    sql.run(NOTE, values)


def counted(sql: Sql, conversation_id: str, held: int) -> None:
    sql.run(COUNTED, {"id": conversation_id, "held": held})


def swept(sql: Sql, conversation_id: str, unreadable: int) -> None:
    sql.run(SWEPT, {"id": conversation_id, "unreadable": unreadable})


def finish(sql: Sql, conversation_id: str) -> bool:
    """False: another process was quicker."""
    return sql.run(FINISH, {"id": conversation_id}) == 1


def begun(sql: Sql) -> Sequence[Forgetting]:
    return [_read(row) for row in sql.rows(BEGUN)]


def drop_questions(sql: Sql, not_before: float) -> None:
    """Questions that nobody answered in time."""
    sql.run(DROP_QUESTIONS, {"not_before": not_before})


def _read(row: Row) -> Forgetting:
    return Forgetting(row[0], Stage(row[1]), *row[2:])
