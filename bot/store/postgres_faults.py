"""What PostgreSQL's errors mean for us, as sentences.

No text of the server gets into a sentence or a cause: its details quote rows, and rows hold
messages. Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

import re
from dataclasses import dataclass

import psycopg
from psycopg import conninfo

from bot.errors import DabirError, Misconfigured, StatementRefused, StoreUnavailable

SETTING = "DATABASE_URL"

# By the beginning of the code; the longer one is asked first.
_SENTENCES = {
    "53100": "The disk of {place} is full: free some space there.",
    "53300": "{place} has no connection left: raise max_connections or stop other programs.",
    "53": "{place} has run out of a resource ({code}): look into the server's log.",
    "55P03": "A row of {place} stayed locked by another program: look for one that hangs.",
    "57014": "{place} cancelled a statement that took too long: look into the server's log.",
    "25006": "{place} is read-only: connect to the primary server.",
    "42501": "The user of {place} lacks a right: grant it what it needs in this database.",
    "58": "{place} could not read or write its files ({code}): look into the server's log.",
    "XX001": "{place} has damaged data: look into the server's log and restore a backup.",
    "XX002": "{place} has a damaged index: look into the server's log and reindex.",
    "XX": "{place} reports an internal error ({code}): look into the server's log.",
}
# libpq gives no code for a connection that was refused, only the server's words.
_NEVER_AGAIN = {
    r"database .* does not exist": "{place} does not exist: create it, or name another one.",
    r"authentication failed|no password supplied|role .* does not exist|pg_hba\.conf": (
        "{place} refuses the user name or the password: check DATABASE_URL."
    ),
}
_FULL = r"too many (clients|connections)|remaining connection slots"
_CONFLICTS = ("40001", "40P01")  # serialization failure, deadlock
_LOST = ("08", "57P01", "57P02", "57P03", "57P05")


class Lost(StoreUnavailable):
    """The connection is gone, before anything was committed: the unit may run again."""


class Conflict(StoreUnavailable):
    """PostgreSQL undid the transaction so that another could go on: the unit may run again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which database, in words that hold neither a user name nor a password."""

    name: str

    @classmethod
    def of(cls, url: str) -> "Place":
        try:
            parts = conninfo.conninfo_to_dict(url)
        except psycopg.Error:
            sentence = "DATABASE_URL is not a PostgreSQL address like postgresql://user:password@host:5432/name."
            raise Misconfigured(
                sentence, setting=SETTING
            ) from None  # the cause quotes the password
        host, port, database = (parts.get(key) for key in ("host", "port", "dbname"))
        where = f"{host or 'localhost'}:{port or 5432}"
        return cls(f"The PostgreSQL database {database or '(default)'} at {where}")

    def translate(self, error: psycopg.Error, *, reading: bool = False) -> DabirError:
        """Our error for a statement that failed on a connection that still lives."""
        code = error.sqlstate or ""
        if code.startswith(_CONFLICTS):
            return Conflict(f"{self.name} had too many conflicting transactions: try again.")
        if code.startswith(_LOST):
            return self.lost()
        if not (reading and code == "25006"):
            for beginning, sentence in _SENTENCES.items():
                if code.startswith(beginning):
                    return StoreUnavailable(sentence.format(place=self.name, code=code))
        subject = error.diag.constraint_name or error.diag.table_name or "no constraint"
        kind = type(error).__name__
        return StatementRefused(f"PostgreSQL refused a statement ({kind}, {subject}).", code=kind)

    def translate_refused_connection(self, error: psycopg.Error) -> StoreUnavailable:
        """Our error for a connection that could not be made."""
        words = str(error)
        for pattern, sentence in _NEVER_AGAIN.items():
            if re.search(pattern, words):
                return StoreUnavailable(sentence.format(place=self.name))
        if re.search(_FULL, words):
            return Lost(_SENTENCES["53300"].format(place=self.name))
        return self.lost()

    def lost(self) -> Lost:
        return Lost(f"{self.name} cannot be reached: check that the server runs.")

    def outcome_unknown(self) -> StoreUnavailable:
        sentence = f"{self.name} was lost during a commit: it may or may not have been made."
        return StoreUnavailable(sentence, outcome_unknown=True)
