"""Single values that the database keeps: the owner, the secret that names memories."""

import secrets

from bot.store.port import Sql

OWNER = "owner_id"
MEMORY_SECRET = "memory_secret"  # noqa: S105 - the name of the row
GET = "SELECT value FROM meta WHERE key = :key"
SET = """
INSERT INTO meta (key, value) VALUES (:key, :value)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
SET_ONCE = """
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO NOTHING
"""


def owner_id(sql: Sql) -> int:
    """The owner's Telegram id; 0 if nobody is known as the owner yet."""
    row = sql.row(GET, {"key": OWNER})
    return int(row[0]) if row else 0


def set_owner(sql: Sql, user_id: int) -> None:
    sql.run(SET, {"key": OWNER, "value": str(user_id)})


def memory_secret(sql: Sql, configured: str) -> bytes:
    """The host's MEMORY_SECRET; without one, a secret made once and kept here."""
    if configured:
        return configured.encode()
    sql.run(SET_ONCE, {"key": MEMORY_SECRET, "value": secrets.token_hex(32)})
    row = sql.row(GET, {"key": MEMORY_SECRET})
    assert row is not None
    return str(row[0]).encode()
