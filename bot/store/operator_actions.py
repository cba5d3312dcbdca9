"""What operators did: who, when and to which conversation. Never what was said."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.port import Sql


@dataclass(frozen=True, slots=True)
class OperatorAction:
    id: str  # of the update it came from, and the action: recorded once
    at: float
    operator_id: int
    operator_name: str
    action: str  # claim, take_over, release, pass, accept, end, draft, ban, broadcast, …
    conversation_id: str = ""
    outcome: str = "done"  # done | refused
    note: str = ""  # ids and states


FIELDS = "id, at, operator_id, operator_name, action, conversation_id, outcome, note"
RECORD = f"""
INSERT INTO operator_actions ({FIELDS})
VALUES (:id, :at, :operator_id, :operator_name, :action, :conversation_id, :outcome, :note)
ON CONFLICT (id) DO NOTHING
"""
OF = f"""
SELECT {FIELDS} FROM operator_actions WHERE conversation_id = :conversation_id ORDER BY at, id
"""


def record(sql: Sql, action: OperatorAction) -> None:
    values = {name: getattr(action, name) for name in FIELDS.split(", ")}
    sql.run(RECORD, values)


def of(sql: Sql, conversation_id: str) -> Sequence[OperatorAction]:
    rows = sql.rows(OF, {"conversation_id": conversation_id})
    return [OperatorAction(*row) for row in rows]
