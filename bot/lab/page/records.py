"""What the bot wrote into its database, read without touching it: the journal, memory, outbox.

Rule 1: the connection is read-only. The bot is another process and knows nothing of this one.
Rule 2: a database that is not there yet, or is being made, reads as an empty one.
"""

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.store.conversations import conversation_id
from memory import keys
from memory.keys import Vault, WrongSecret
from memory.line import LineError, parse_line
from memory.port import Row
from memory.seal import Seal

Json = dict[str, Any]

MOST_ENTRIES = 400
MOST_LINES = 60
JOURNAL = """
SELECT * FROM (
    SELECT rowid AS number, conversation_id, at, actor, event, outcome, state_before, state_after,
        epoch, version, turn_id, client_message_id, note
    FROM journal WHERE rowid > :after ORDER BY rowid DESC LIMIT :most
) ORDER BY number
"""
HEADS = """
SELECT id, state, epoch, version, turn_to, holder_name, requested_at FROM conversations
"""
SENT = """
SELECT message_id, author, id FROM outbox WHERE chat_id = :chat AND message_id > 0
ORDER BY seq DESC LIMIT 300
"""
TOPICS = "SELECT thread_id, conversation_id FROM topics WHERE chat_id = :chat AND thread_id > 0"
WAITING = "SELECT line_id, line, state FROM memory_outbox WHERE namespace = :namespace"
KEPT = "SELECT line_id, line FROM memory_lines WHERE namespace = :namespace"
VISIBLE = "visible"  # a read showed it; the other words are those of memory.outbox.State


@dataclass(slots=True)
class Records:
    database: Path
    memory_secret: str
    version: int = 0  # grows when the bot has written
    _connection: sqlite3.Connection | None = None
    _data_version: int = field(default=-1)
    _vault: Vault | None = None

    def look(self) -> int:
        """Find out whether the bot has written since the last look; return `version`."""
        found = self._rows("PRAGMA data_version")
        if found and found[0][0] != self._data_version:
            self._data_version = found[0][0]
            self.version += 1
        return self.version

    def entries(self, after: int) -> list[Json]:
        """Journal entries with a number above `after`, the newest 400 at most."""
        return [dict(row) for row in self._rows(JOURNAL, {"after": after, "most": MOST_ENTRIES})]

    def heads(self) -> dict[str, Json]:
        """Where each conversation stands, by its id."""
        return {
            row["id"]: {
                **dict(row),
                "turn_id": f"turn:msg-{row['turn_to']}" if row["turn_to"] else "",
            }
            for row in self._rows(HEADS)
        }

    def authors(self, chat: int) -> dict[int, Json]:
        """Who wrote each of the bot's messages in a chat, and under which client message id."""
        return {
            row["message_id"]: {"by": row["author"], "client_id": row["id"]}
            for row in self._rows(SENT, {"chat": chat})
        }

    def topics(self, chat: int) -> dict[int, str]:
        """Whose topic each thread of the operators' group is: conversation by thread."""
        return {
            row["thread_id"]: row["conversation_id"] for row in self._rows(TOPICS, {"chat": chat})
        }

    def memory(self, chat: int) -> list[Json]:
        """The lines of a chat, oldest first, each with how far it has got."""
        seal = self._seal(chat)
        if seal is None:
            return []
        wanted = {"namespace": seal.namespace}
        waiting = {row["line_id"]: row for row in self._rows(WAITING, wanted)}
        lines = {row["line_id"]: (row["line"], VISIBLE) for row in self._rows(KEPT, wanted)}
        lines |= {line_id: (row["line"], row["state"]) for line_id, row in waiting.items()}
        shown = [line for text, state in lines.values() if (line := _line(text, state, seal))]
        return sorted(shown, key=lambda line: (line["turn"], line["ordinal"]))[-MOST_LINES:]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._data_version = -1

    def rows(self, query: str, values: Mapping[str, Any] | None = None, /) -> list[Row]:
        """For the vault, which asks for plain rows."""
        return [tuple(row) for row in self._rows(query, dict(values or {}))]

    def run(self, query: str, values: Mapping[str, Any] | None = None, /) -> int:
        raise TypeError("nothing is written here")

    def _seal(self, chat: int) -> Seal | None:
        """The key of a chat's memory; None before its first line and after it was forgotten."""
        try:
            self._vault = self._vault or keys.unlock(self, self.memory_secret.encode())
            if self._vault is None:
                return None
            found = self._vault.find(self, self._vault.name(chat))
        except WrongSecret:
            return None
        return found if isinstance(found, Seal) else None

    def _rows(self, query: str, values: Json | None = None) -> list[sqlite3.Row]:
        with suppress(sqlite3.Error):
            return list(self._connected().execute(query, values or {}))
        self.close()
        return []

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            address = f"{self.database.resolve().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(address, uri=True, timeout=0.2)
            self._connection.row_factory = sqlite3.Row
        return self._connection


def _line(text: str, state: str, seal: Seal) -> Json | None:
    try:
        line = seal.open(parse_line(text))
    except LineError:
        return None
    if line is None:
        return None
    return {
        "id": line.id,
        "at": line.at_us / 1e6,
        "turn": line.turn,
        "ordinal": line.ordinal,
        "kind": line.kind.value,
        "author": line.author.value,
        "text": line.text,
        "when": line.event_time or "",
        "state": state,
    }


def conversation_of(person: int) -> str:
    return conversation_id(person)
