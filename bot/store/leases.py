"""Leases: who may work on something until when. The contract is tests/contracts/test_leases.py.

A lease alone cannot stop a process that was paused and wakes late. So each claim gets a token
larger than all before it, and whoever writes under a lease asks `holds` in that same transaction.
Times are seconds since the epoch, given by the caller, greater than 0.
"""

from dataclasses import dataclass

from bot.store.port import Sql

# One statement, so the check and the claim cannot be torn apart.
_CLAIM = """
INSERT INTO leases AS held (name, holder, token, expires_at) VALUES (:name, :holder, 1, :until)
ON CONFLICT (name) DO UPDATE
SET holder = excluded.holder, token = held.token + 1, expires_at = excluded.expires_at
WHERE held.expires_at <= :now
RETURNING token
"""
_RENEW = """
UPDATE leases SET expires_at = :until
WHERE name = :name AND token = :token AND expires_at > :now
"""
# The row stays after a release: deleting it would start the tokens again at 1.
_RELEASE = """
UPDATE leases SET expires_at = 0 WHERE name = :name AND token = :token AND expires_at > 0
"""
_HOLDS = "SELECT 1 FROM leases WHERE name = :name AND token = :token AND expires_at > 0"
_EXPIRE_OTHERS = "UPDATE leases SET expires_at = 0 WHERE holder <> :holder AND expires_at > 0"


@dataclass(frozen=True, slots=True)
class Lease:
    name: str
    holder: str
    token: int  # grows with every claim, so a writer can prove that it is the latest


def claim(sql: Sql, name: str, holder: str, now: float, until: float) -> Lease | None:
    """Take the lease until `until` if it is free at `now`; None if it is held, even by `holder`.

    Free means: never claimed, released, or expired (its `until` <= `now`).
    Of many claims made at once, exactly one gets the lease.
    """
    row = sql.row(_CLAIM, {"name": name, "holder": holder, "now": now, "until": until})
    return Lease(name, holder, row[0]) if row else None


def renew(sql: Sql, lease: Lease, now: float, until: float) -> bool:
    """Keep the lease until `until`. False if it was released, has expired or is another's."""
    values = {"name": lease.name, "token": lease.token, "now": now, "until": until}
    return sql.run(_RENEW, values) == 1


def release(sql: Sql, lease: Lease) -> bool:
    """Give the lease back early. False if it was no longer ours: stop, write nothing."""
    return sql.run(_RELEASE, {"name": lease.name, "token": lease.token}) == 1


def holds(sql: Sql, lease: Lease) -> bool:
    """Whether nobody claimed after us; it stays so until this transaction ends.

    True also after the lease has expired, as long as nobody took it: writing is safe then.
    """
    return sql.lock_row(_HOLDS, {"name": lease.name, "token": lease.token}) is not None


def expire_others(sql: Sql, holder: str) -> int:
    """Free what others hold; return how many. Only where it is proven that no other lives."""
    return sql.run(_EXPIRE_OTHERS, {"holder": holder})
