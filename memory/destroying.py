"""What is destroyed of a namespace, and what may be left of it.

A log that only grows and the right to be forgotten meet by destroying the key: whatever a store
or a backup still holds of a namespace is noise from then on. What lies in this database goes in the
same transaction; what lies elsewhere follows, step by step, each safe to repeat.
"""

from dataclasses import dataclass
from typing import Protocol

from memory.keys import Vault
from memory.port import Sql

WAITING = "DELETE FROM memory_outbox WHERE namespace = :namespace"
PROOFS = "DELETE FROM memory_proofs WHERE namespace = :namespace"


@dataclass(frozen=True, slots=True)
class Destruction:
    """What a transaction destroyed. Keep it until `sweep` has returned."""

    stored_as: str  # the name under which the store may hold sealed lines
    key: bool  # there was a key, and it is gone
    waiting: int  # lines that had not been proven to be in the store


class DerivedCopy(Protocol):
    """Something that is made from lines and can tell what they said."""

    async def destroy(self, namespace: str) -> None:
        """Remove whatever came from this namespace, as its owner names it. Idempotent; returns
        once it is durably gone. Raises MemoryUnavailable: it is called again."""
        ...


def destroy_here(sql: Sql, vault: Vault | None, namespace: str) -> Destruction:
    stored_as = vault.destroy(sql, namespace) if vault else ""
    names = {"namespace": stored_as or namespace}
    waiting = sql.run(WAITING, names)
    sql.run(PROOFS, names)
    return Destruction(names["namespace"], bool(stored_as), waiting)
