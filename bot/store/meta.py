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
DROP = "DELETE FROM meta WHERE key = :key"


def owner_id(sql: Sql) -> int:
    """The owner's Telegram id; 0 if nobody is known as the owner yet."""
    row = sql.row(GET, {"key": OWNER})
    return int(row[0]) if row else 0


def set_owner(sql: Sql, user_id: int) -> None:
    sql.run(SET, {"key": OWNER, "value": str(user_id)})


def kept_memory_secret(sql: Sql) -> str:
    """The secret that was made here because the host gave none; "" if there is none."""
    row = sql.row(GET, {"key": MEMORY_SECRET})
    return str(row[0]) if row else ""


def make_memory_secret(sql: Sql) -> str:
    """Make one and keep it here, unless another process was quicker."""
    sql.run(SET_ONCE, {"key": MEMORY_SECRET, "value": secrets.token_hex(32)})
    return kept_memory_secret(sql)


def drop_memory_secret(sql: Sql) -> None:
    sql.run(DROP, {"key": MEMORY_SECRET})
