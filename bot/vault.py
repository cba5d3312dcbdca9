"""Opens the memory with MEMORY_SECRET, or says in one sentence why it cannot."""

from bot.errors import Misconfigured
from bot.store import meta
from bot.store.port import Sql
from memory import keys
from memory.keys import Vault, WrongSecret

WRONG = (
    "MEMORY_SECRET is not the one that this memory was sealed with; put the right one back (it"
    " stood in .env). Nothing was changed."
)
MISSING = (
    "MEMORY_SECRET is missing, and this memory was sealed with one; put it back into .env. Nothing"
    " was changed."
)


def open_vault(sql: Sql, configured: str) -> Vault:
    """The vault, made on the first start. Raises Misconfigured; nothing is written then.

    Without MEMORY_SECRET a secret is made once and kept in the database: forgetting works then as
    well, but whoever has the database can read the memory. Once the setting is there, the keys
    are sealed by it and the one in the database is removed.
    """
    kept = meta.kept_memory_secret(sql)
    if configured:
        return _by_setting(sql, configured.encode(), kept.encode())
    if not kept:
        if keys.founded(sql):
            raise Misconfigured(MISSING, setting="MEMORY_SECRET")
        kept = meta.make_memory_secret(sql)
    return _opened(sql, kept.encode())


def _by_setting(sql: Sql, configured: bytes, kept: bytes) -> Vault:
    try:
        return keys.found(sql, configured)
    except WrongSecret as error:
        if not kept:
            raise Misconfigured(WRONG, setting="MEMORY_SECRET") from error
    vault, _ = _opened(sql, kept).rekey(sql, configured)
    meta.drop_memory_secret(sql)
    return vault


def _opened(sql: Sql, secret: bytes) -> Vault:
    try:
        return keys.found(sql, secret)
    except WrongSecret as error:
        raise Misconfigured(WRONG, setting="MEMORY_SECRET") from error
