"""Every update that was accepted, under its update_id."""

from collections.abc import Sequence
from enum import StrEnum

from bot.store.port import Sql


class Taken(StrEnum):
    TAKEN = "taken"
    IGNORED = "ignored"  # not for this bot: a group, a channel, a stranger
    PARKED = "parked"  # could not be handled; kept with its content


ADD = """
INSERT INTO inbox (update_id, received_at, outcome) VALUES (:update_id, :at, 'taken')
ON CONFLICT (update_id) DO NOTHING
"""
MARK = "UPDATE inbox SET outcome = :outcome, raw = :raw WHERE update_id = :update_id"
PARKED = "SELECT update_id FROM inbox WHERE outcome = 'parked' ORDER BY update_id"


def add(sql: Sql, update_id: int, at: float) -> bool:
    """Accept an update. False: it was accepted before; ignore it."""
    return sql.run(ADD, {"update_id": update_id, "at": at}) == 1


def mark(sql: Sql, update_id: int, outcome: Taken, raw: str = "") -> None:
    sql.run(MARK, {"update_id": update_id, "outcome": outcome.value, "raw": raw})


def parked(sql: Sql) -> Sequence[int]:
    return [row[0] for row in sql.rows(PARKED)]
