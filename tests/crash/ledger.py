"""What the bot wrote down, read from outside, and complaints about it.

A row is read as any other program would read it: the bot's own connections are not used, so that
what a killed process left behind is left as it is.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol

import psycopg

from bot.lab.unsealing import unsealed_lines
from bot.store.url import sqlite_path
from memory.line import Kind

OPEN = "('pending', 'sending', 'unknown')"
RESTING = ("consent_required", "ai_ready", "handoff_pending", "human_active", "ended")
WORK = {
    "turns": "SELECT count(*) FROM conversations WHERE turn_from > 0",
    "unanswered": "SELECT count(*) FROM conversations WHERE state = 'ai_ready'"
    " AND version > covered",
    "outbox": f"SELECT count(*) FROM outbox WHERE status IN {OPEN}",
    "effects": "SELECT count(*) FROM effects",
    "debounces": "SELECT count(*) FROM debounces",
    "status_lines": "SELECT count(*) FROM status_lines",
    "memory_outbox": "SELECT count(*) FROM memory_outbox",
}


class Ledger(Protocol):
    def rows(self, text: str) -> Sequence[tuple[Any, ...]]:
        """Read in a transaction of its own."""
        ...


class _Reading:
    """A ledger as the vault wants it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def run(self, text: str, values: Mapping[str, Any] = {}, /) -> int:
        raise AssertionError("a ledger is only read")

    def rows(self, text: str, values: Mapping[str, Any] = {}, /) -> Sequence[tuple[Any, ...]]:
        for name, value in values.items():
            text = text.replace(f":{name}", f"'{value}'")
        return self._ledger.rows(text)


class SqliteLedger:
    def __init__(self, url: str) -> None:
        path = sqlite_path(url)
        assert path is not None
        self._path = path

    def rows(self, text: str) -> Sequence[tuple[Any, ...]]:
        address = f"file:{self._path}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=10)) as connection:
            return connection.execute(text).fetchall()

    def changes(self, text: str) -> None:
        """Write from outside; only while no bot runs."""
        with closing(sqlite3.connect(self._path, timeout=10)) as connection, connection:
            connection.execute(text)


class PostgresLedger:
    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, text: str) -> Sequence[tuple[Any, ...]]:
        with psycopg.connect(self._url) as connection:
            return connection.execute(text.encode()).fetchall()

    def changes(self, text: str) -> None:
        with psycopg.connect(self._url) as connection:
            connection.execute(text.encode())


def ledger_of(url: str) -> SqliteLedger | PostgresLedger:
    return PostgresLedger(url) if url.startswith("postgres") else SqliteLedger(url)


def left_to_do(ledger: Ledger) -> dict[str, int]:
    """What is still under way, by name; empty once everything has settled."""
    counts = {name: int(ledger.rows(text)[0][0]) for name, text in WORK.items()}
    return {name: count for name, count in counts.items() if count}


def complaints(ledger: Ledger) -> list[str]:
    """Everything in a settled ledger that must not be."""
    return [
        *_uncovered(ledger),
        *_unanswered_turns(ledger),
        *_overlapping_replies(ledger),
        *_broken_journal(ledger),
        *_leftover_rows(ledger),
    ]


def _uncovered(ledger: Ledger) -> Iterator[str]:
    """I4: each user message is covered by exactly one of: an AI reply, a human, a notice."""
    text = """SELECT m.conversation_id, m.version, m.covered_by FROM messages m
      JOIN conversations c ON c.id = m.conversation_id
      WHERE m.author = 'user' AND m.version > 0 AND m.version <= c.covered
        AND m.covered_by NOT IN ('ai', 'human', 'notice')"""
    for name, version, by in ledger.rows(text):
        yield f"{name}: message {version} is covered by {by!r}"
    counts = """SELECT c.id, c.version, count(m.seq), count(DISTINCT m.version) FROM conversations c
      LEFT JOIN messages m ON m.conversation_id = c.id AND m.author = 'user' AND m.version > 0
      GROUP BY c.id, c.version"""
    for name, version, stored, distinct in ledger.rows(counts):
        if not version == stored == distinct:
            yield f"{name}: version {version}, but {stored} messages of {distinct} versions"


def _unanswered_turns(ledger: Ledger) -> Iterator[str]:
    """A message that an AI reply covers is covered by one that was sent, in one piece."""
    text = """SELECT m.conversation_id, m.turn_id, count(o.id),
        sum(CASE WHEN o.status = 'sent' THEN 1 ELSE 0 END)
      FROM messages m LEFT JOIN outbox o
        ON o.conversation_id = m.conversation_id AND o.turn_id = m.turn_id AND o.author = 'ai'
      WHERE m.author = 'user' AND m.covered_by = 'ai' GROUP BY m.conversation_id, m.turn_id"""
    for name, turn, parts, sent in ledger.rows(text):
        if not parts or parts != sent:
            yield f"{name}: {turn} counts as answered; {sent} of {parts} parts were sent"


def _overlapping_replies(ledger: Ledger) -> Iterator[str]:
    """Each reply is on record once, and covers up to where its turn says."""
    text = """SELECT conversation_id, turn_id, count(*), min(version) FROM messages
      WHERE author = 'ai' GROUP BY conversation_id, turn_id"""
    for name, turn, count, version in ledger.rows(text):
        if count != 1 or turn != f"turn:msg-{version}":
            yield f"{name}: {count} replies on record for {turn} ({version})"
    text = """SELECT chat_id, message_id, count(*) FROM outbox WHERE message_id > 0
      GROUP BY chat_id, message_id HAVING count(*) > 1"""
    for chat, message, count in ledger.rows(text):
        yield f"chat {chat}: {count} rows of the outbox claim to be message {message}"


def _broken_journal(ledger: Ledger) -> Iterator[str]:
    heads = {
        name: (state, epoch, version)
        for name, state, epoch, version in ledger.rows(
            "SELECT id, state, epoch, version FROM conversations"
        )
    }
    ends: dict[str, tuple[int, str, int, int]] = {}
    steps = """SELECT conversation_id, seq, outcome, state_before, state_after, epoch, version
      FROM journal ORDER BY conversation_id, seq"""
    for name, seq, outcome, before, after, epoch, version in ledger.rows(steps):
        last = ends.get(name, (0, "consent_required", 0, 0))
        moved = outcome == "applied" or (before, epoch, version) == (after, *last[2:])
        follows = seq == last[0] + 1 and before == last[1] and moved
        if not follows or epoch - last[2] not in (0, 1) or version - last[3] not in (0, 1):
            yield f"{name}: step {seq} ({before} → {after}) does not follow {last}"
        ends[name] = (seq, after, epoch, version)
    for name, head in heads.items():
        if name in ends and ends[name][1:] != head:
            yield f"{name}: the journal ends with {ends[name][1:]}, the head says {head}"


def _leftover_rows(ledger: Ledger) -> Iterator[str]:
    for name, state, turn, flight in ledger.rows(
        "SELECT id, state, turn_from, flight_from FROM conversations"
    ):
        if state not in RESTING or turn or (flight and state != "handoff_pending"):
            yield f"{name}: {state} with turn {turn} and flight {flight} is no place to rest"
    drafts = ledger.rows("SELECT conversation_id, turn_id FROM drafts")
    yield from (f"{name}: the draft of {turn} was left behind" for name, turn in drafts)
    parked = ledger.rows("SELECT update_id FROM inbox WHERE outcome = 'parked'")
    yield from (f"update {number} was parked" for (number,) in parked)


def memory_complaints(ledger: Ledger) -> list[str]:
    """What was said in answered turns stands in memory exactly once (I9). Texts must be unique."""
    secret = ledger.rows("SELECT value FROM meta WHERE key = 'memory_secret'")[0][0]
    lines = unsealed_lines(_Reading(ledger), secret)
    said = Counter(line.text for line in lines if line.kind is Kind.SAID)
    answered = ledger.rows(
        "SELECT text FROM messages WHERE author = 'ai'"
        " OR (author = 'user' AND covered_by = 'ai' AND text <> '')"
    )
    expected = {text for (text,) in answered}
    kept = Counter(line.text for line in lines if line.kind is not Kind.SAID)
    return [
        *(f"{text[:60]!r} is {said[text]} times in memory" for text in expected if said[text] != 1),
        *(f"{text[:60]!r} was said {n} times" for text, n in said.items() if n > 1),
        *(f"{text[:60]!r} was kept {n} times" for text, n in kept.items() if n > 1),
    ]
