"""The keys of the namespaces: made at random, kept in the database, sealed by MEMORY_SECRET.

Rule 1: every function takes an `Sql` and runs inside the caller's transaction. Keys are never
        kept between calls: one that another process destroyed is gone for everybody at once.
Rule 2: a namespace has one key at a time. Once it is destroyed, the next line makes a new key and
        a new name in the store, under which nothing of the old can be met.
Rule 3: with another secret than the right one nothing is written.
"""

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass
from typing import TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from memory.namespace import checked_namespace, namespace_of
from memory.port import MemoryFailure, Sql
from memory.seal import KEY_BYTES, NONCE_BYTES, Seal

NAMING = "naming"
# Of scrypt (RFC 7914): 16 MiB and some 50 ms, because a secret may be a person's own words.
COST, BLOCK, MOST_BYTES = 2**14, 8, 64 * 1024 * 1024

VAULT = "SELECT salt, wrapped FROM memory_vault WHERE name = :name"
FOUND_VAULT = """
INSERT INTO memory_vault (name, salt, wrapped) VALUES (:name, :salt, :wrapped)
ON CONFLICT (name) DO NOTHING
"""
MOVE_VAULT = "UPDATE memory_vault SET salt = :salt, wrapped = :wrapped WHERE name = :name"
KEY = "SELECT stored_as, takes_plain, wrapped FROM memory_keys WHERE namespace = :namespace"
KEYS = "SELECT namespace, stored_as, takes_plain, wrapped FROM memory_keys ORDER BY namespace"
ANY_KEY = "SELECT 1 FROM memory_keys WHERE wrapped <> '' LIMIT 1"
PUT_KEY = """
INSERT INTO memory_keys AS known (namespace, stored_as, takes_plain, wrapped, made_at)
VALUES (:namespace, :stored_as, :takes_plain, :wrapped, :now)
ON CONFLICT (namespace) DO UPDATE SET stored_as = excluded.stored_as, wrapped = excluded.wrapped,
 takes_plain = excluded.takes_plain, made_at = excluded.made_at
WHERE known.wrapped = ''
"""
CHANGE_KEY = """
UPDATE memory_keys SET wrapped = :wrapped, takes_plain = :takes_plain
WHERE namespace = :namespace AND wrapped <> ''
"""
DESTROY = "UPDATE memory_keys SET wrapped = '' WHERE namespace = :namespace AND wrapped <> ''"


class WrongSecret(MemoryFailure):
    """The secret is not the one that this memory was sealed with. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Keyless:
    """No key was ever made: there can only be lines from before sealing."""


@dataclass(frozen=True, slots=True)
class Destroyed:
    """The key was destroyed and no line has come since."""


Found: TypeAlias = Seal | Keyless | Destroyed


class Vault:
    """Opens and makes keys. `naming` is the secret that names namespaces; it outlives `rekey`."""

    __slots__ = ("_master", "naming")

    def __init__(self, master: bytes, naming: bytes) -> None:
        self._master = master
        self.naming = naming

    def name(self, chat_id: int | str) -> str:
        """The namespace of a chat."""
        return namespace_of(self.naming, str(chat_id))

    def find(self, sql: Sql, namespace: str) -> Found:
        """The key of a namespace, if there is one. Raises WrongSecret."""
        rows = sql.rows(KEY, {"namespace": namespace})
        if not rows:
            return Keyless()
        stored_as, takes_plain, wrapped = rows[0]
        if not wrapped:
            return Destroyed()
        return self._seal(namespace, stored_as, takes_plain, wrapped)

    def enter(self, sql: Sql, namespace: str, now: float, *, takes_plain: bool = False) -> Seal:
        """The key of a namespace, made if there is none. `takes_plain` counts for a new one."""
        found = self.find(sql, checked_namespace(namespace))
        if isinstance(found, Seal):
            return found
        stored_as = namespace if isinstance(found, Keyless) else secrets.token_hex(16)
        key = secrets.token_bytes(KEY_BYTES)
        bound = _bound(namespace, stored_as, takes_plain)
        values = {
            "namespace": namespace,
            "stored_as": stored_as,
            "takes_plain": int(takes_plain),
            "wrapped": _wrap(self._master, key, bound),
            "now": now,
        }
        sql.run(PUT_KEY, values)
        made = self.find(sql, namespace)  # perhaps another process's, which was quicker
        assert isinstance(made, Seal), "a key was put there, by us or by another"
        return made

    def believe_sealed_only(self, sql: Sql, namespace: str) -> None:
        """From now on a line of this namespace that is not sealed is no line of ours."""
        rows = sql.rows(KEY, {"namespace": namespace})
        if not rows or not rows[0][2]:
            return
        stored_as, takes_plain, wrapped = rows[0]
        key = _unwrap(self._master, wrapped, _bound(namespace, stored_as, takes_plain))
        again = _wrap(self._master, key, _bound(namespace, stored_as, False))
        sql.run(CHANGE_KEY, {"namespace": namespace, "wrapped": again, "takes_plain": 0})

    def destroy(self, sql: Sql, namespace: str) -> str:
        """Destroy the key; return the name under which the store still holds its lines, or ""."""
        rows = sql.rows(KEY, {"namespace": namespace})
        if not rows:
            return ""
        sql.run(DESTROY, {"namespace": namespace})
        return str(rows[0][0])

    def check(self, sql: Sql) -> tuple[str, ...]:
        """The namespaces whose key cannot be opened: their rows were changed by somebody."""
        return tuple(row[0] for row in sql.rows(KEYS) if row[3] and not self._opens(*row))

    def rekey(self, sql: Sql, secret: bytes) -> tuple["Vault", int]:
        """Seal every key by another secret; return the vault that it opens and the number of keys.

        All in the caller's transaction. Raises WrongSecret if a key cannot be opened.
        """
        salt = secrets.token_bytes(16)
        master = _master(secret, salt)
        count = 0
        for namespace, stored_as, takes_plain, wrapped in sql.rows(KEYS):
            if not wrapped:
                continue
            bound = _bound(namespace, stored_as, takes_plain)
            again = _wrap(master, _unwrap(self._master, wrapped, bound), bound)
            values = {"namespace": namespace, "wrapped": again, "takes_plain": takes_plain}
            count += sql.run(CHANGE_KEY, values)
        wrapped = _wrap(master, self.naming, NAMING.encode())
        sql.run(MOVE_VAULT, {"name": NAMING, "salt": salt.hex(), "wrapped": wrapped})
        return Vault(master, self.naming), count

    def _seal(self, namespace: str, stored_as: str, takes_plain: int, wrapped: str) -> Seal:
        key = _unwrap(self._master, wrapped, _bound(namespace, stored_as, takes_plain))
        return Seal(stored_as, key, takes_plain=bool(takes_plain))

    def _opens(self, namespace: str, stored_as: str, takes_plain: int, wrapped: str) -> bool:
        try:
            self._seal(namespace, stored_as, takes_plain, wrapped)
        except WrongSecret:
            return False
        return True


def unlock(sql: Sql, secret: bytes) -> Vault | None:
    """Open the vault; None if none was made yet. Raises WrongSecret. Takes some 50 ms."""
    rows = sql.rows(VAULT, {"name": NAMING})
    if not rows:
        if sql.rows(ANY_KEY):
            raise WrongSecret("the vault of the memory is gone, but keys are there")
        return None
    salt, wrapped = rows[0]
    try:
        master = _master(secret, bytes.fromhex(salt))
    except ValueError as error:
        raise WrongSecret("the vault of the memory is damaged") from error
    return Vault(master, _unwrap(master, wrapped, NAMING.encode()))


def founded(sql: Sql) -> bool:
    """Whether a vault or a key was made already, by whatever secret."""
    return bool(sql.rows(VAULT, {"name": NAMING}) or sql.rows(ANY_KEY))


def found(sql: Sql, secret: bytes) -> Vault:
    """Open the vault, made if there is none: the secret that opens it first also names memories."""
    vault = unlock(sql, secret)
    if vault is None:
        salt = secrets.token_bytes(16)
        master = _master(secret, salt)
        wrapped = _wrap(master, secret, NAMING.encode())
        values = {"name": NAMING, "salt": salt.hex(), "wrapped": wrapped}
        if sql.run(FOUND_VAULT, values):
            return Vault(master, secret)
        vault = unlock(sql, secret)  # another process's, which was quicker
    assert vault is not None, "a vault was put there, by us or by another"
    return vault


def _bound(namespace: str, stored_as: str, takes_plain: int) -> bytes:
    return f"{namespace}\n{stored_as}\n{int(takes_plain)}".encode()


def _master(secret: bytes, salt: bytes) -> bytes:
    return hashlib.scrypt(
        secret, salt=salt, n=COST, r=BLOCK, p=1, maxmem=MOST_BYTES, dklen=KEY_BYTES
    )


def _wrap(master: bytes, content: bytes, bound: bytes) -> str:
    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = nonce + ChaCha20Poly1305(master).encrypt(nonce, content, bound)
    return base64.b64encode(sealed).decode()


def _unwrap(master: bytes, wrapped: str, bound: bytes) -> bytes:
    try:
        sealed = base64.b64decode(wrapped, validate=True)
        nonce, body = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        return ChaCha20Poly1305(master).decrypt(nonce, body, bound)
    except (binascii.Error, InvalidTag, ValueError) as error:
        raise WrongSecret("MEMORY_SECRET does not open this memory") from error
