"""What SQLite's error codes mean for us, as sentences. Codes: https://sqlite.org/rescode.html"""

import sqlite3
from pathlib import Path

from bot.errors import DabirError, StatementRefused, StoreUnavailable

_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk that holds {path} is full: free some space.",
    sqlite3.SQLITE_IOERR: "{path} cannot be read or written ({name}): check the disk.",
    sqlite3.SQLITE_READONLY: "{path} is read-only: make it and its folder writable for this user.",
    sqlite3.SQLITE_PERM: "{path} may not be opened by this user: change its owner or its mode.",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened: check that its folder is writable.",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged: stop Dabir and restore the file from a backup.",
    sqlite3.SQLITE_NOTADB: "{path} is not an SQLite database: move it away, or name another file.",
    sqlite3.SQLITE_BUSY: "{path} is locked by another program: close whatever else has it open.",
    sqlite3.SQLITE_LOCKED: "{path} is locked by another program: close whatever else has it open.",
    sqlite3.SQLITE_PROTOCOL: "{path} cannot be locked: keep it on a local disk, not on a share.",
    sqlite3.SQLITE_NOLFS: "{path} has outgrown its file system: move it to another disk.",
    sqlite3.SQLITE_NOMEM: "There is no memory left to work with {path}: free some memory.",
}


class Busy(StoreUnavailable):
    """Another connection held the lock for longer than the busy timeout."""


def translate(error: sqlite3.Error, path: Path, *, reading: bool = False) -> DabirError:
    """StoreUnavailable where the world outside is at fault, else StatementRefused."""
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    primary = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if reading and primary == sqlite3.SQLITE_READONLY:
        return StatementRefused("A unit of work that only reads tried to write.", code=name)
    if primary not in _SENTENCES:
        return StatementRefused(f"SQLite refused a statement ({name}): {error}.", code=name)
    sentence = _SENTENCES[primary].format(path=path, name=name)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(sentence)
    return StoreUnavailable(sentence)
