"""Lines that wait until a read of the backend has shown them.

    pending ──► running ──► uploaded ──► done
       ▲           │            │
       └───────────┴────────────┘      not accepted, or accepted and never shown

pending: nobody has taken it yet. running: a pass is handing it over; if the pass dies, its claim
runs out and the line is handed over again. uploaded: the backend accepted it, which proves
nothing. done: a read showed it; the row is gone and its place stands in memory_proofs, in the
same transaction.

Rule 1: every function here takes an `Sql` and runs inside the caller's transaction.
Rule 2: only a proof removes a row. Lines themselves are never changed.
Rule 3: a pass changes only rows that still carry its own claim, except by a proof, which is true
        whoever brings it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import structlog

from memory.backoff import Pace
from memory.batches import tuples
from memory.line import Line, LineError, Place, format_line, parse_line
from memory.namespace import checked_namespace
from memory.port import Address, Entry, Row, Sql

log = structlog.get_logger(__name__)

PAGE_ORDINALS = 62  # bits of a BIGINT that are safe on every database

PUT = """
INSERT INTO memory_outbox
    (namespace, line_id, line, state, accepted_at, due_at, uploaded_at, uploads, checks)
VALUES {rows}
ON CONFLICT (namespace, line_id) DO NOTHING
"""
NEXT_DUE = "SELECT MIN(due_at) FROM memory_outbox"
CLAIM = """
UPDATE memory_outbox
SET state = CASE WHEN state = 'uploaded' THEN 'uploaded' ELSE 'running' END, due_at = :until
WHERE due_at <= :now AND (namespace, line_id) IN (
    SELECT namespace, line_id FROM memory_outbox
    WHERE due_at <= :now ORDER BY due_at, namespace, line_id LIMIT :most
)
RETURNING namespace, line_id, line, state, uploaded_at, uploads, checks
"""
RESCHEDULE = """
UPDATE memory_outbox
SET state = :state, due_at = :due_at, uploaded_at = :uploaded_at, uploads = :uploads,
    checks = :checks
WHERE namespace = :namespace AND line_id = :line_id AND due_at = :claim
"""
RELEASE = """
UPDATE memory_outbox
SET due_at = :due_at, state = CASE WHEN state = 'uploaded' THEN 'uploaded' ELSE 'pending' END
WHERE due_at = :claim AND (namespace, line_id) IN (VALUES {rows})
"""
FREE_CLAIMS = """
UPDATE memory_outbox
SET state = CASE WHEN state = 'uploaded' THEN 'uploaded' ELSE 'pending' END, due_at = 0,
    uploaded_at = CASE WHEN uploaded_at > :now THEN :now ELSE uploaded_at END
WHERE due_at > 0
"""
REMOVE_PROVEN = "DELETE FROM memory_outbox WHERE (namespace, line_id) IN (VALUES {rows})"
PROVE = """
INSERT INTO memory_proofs AS known (namespace, turn, page, ordinals) VALUES {rows}
ON CONFLICT (namespace, turn, page) DO UPDATE SET ordinals = known.ordinals | excluded.ordinals
"""
OWN_LINES = "SELECT line, state FROM memory_outbox WHERE namespace = :namespace"
PROVEN = """
SELECT turn, page, ordinals FROM memory_proofs WHERE namespace = :namespace AND turn > :after
"""
STATUS = """
SELECT state, COUNT(*), MIN(accepted_at) FROM memory_outbox
WHERE namespace = :namespace OR :namespace = '' GROUP BY state
"""


class State(StrEnum):
    PENDING = "pending"  # waits for a pass
    RUNNING = "running"  # a pass is handing it over
    UPLOADED = "uploaded"  # accepted by the backend, not yet seen in a read


@dataclass(frozen=True, slots=True)
class Waiting:
    """A claimed row."""

    entry: Entry
    state: State  # RUNNING: hand it over; UPLOADED: only look for it
    uploaded_at: float
    uploads: int
    checks: int

    def accepted(self, now: float) -> "Waiting":
        return Waiting(self.entry, State.UPLOADED, now, self.uploads + 1, 0)


@dataclass(frozen=True, slots=True)
class Local:
    """What this machine knows of a namespace without asking the backend."""

    own: tuple[Line, ...]  # accepted, not yet proven
    handed_over: int  # of these: those that the backend may have already
    unreadable: int  # own rows that are no line any more
    proven: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Status:
    """What waits. `oldest_seconds` is the lag: the age of what waits longest, 0.0 when nothing."""

    pending: int  # all that wait, in whatever state
    uploaded: int  # of these: accepted by the backend, not yet seen in a read
    oldest_seconds: float


def put(sql: Sql, namespace: str, lines: Sequence[Line], *, now: float | None = None) -> None:
    """Accept lines in the transaction of `sql`: they exist if and only if it commits.

    `now` (seconds since 1970) starts the lag; by default a line's own time does. An id that
    waits already is ignored. Raises ValueError on a namespace that could not be a file name.
    """
    checked_namespace(namespace)
    rows = [
        (
            namespace,
            line.id,
            format_line(line),
            State.PENDING.value,
            line.at_us / 1e6 if now is None else now,
            0.0,
            0.0,
            0,
            0,
        )
        for line in lines
    ]
    for text, values in tuples(rows):
        sql.run(PUT.format(rows=text), values)


def next_due(sql: Sql) -> float | None:
    """When the next row wants attention (seconds since 1970); None when there is none."""
    due: float | None = sql.rows(NEXT_DUE)[0][0]
    return due


def claim(sql: Sql, now: float, until: float, most: int) -> tuple[Waiting, ...]:
    """Take up to `most` due rows for a pass, until `until`. Each row goes to one pass only."""
    rows = sql.rows(CLAIM, {"now": now, "until": until, "most": most})
    return tuple(waiting for row in rows if (waiting := _waiting(row)) is not None)


def free_claims(sql: Sql, now: float) -> None:
    """Hand over at once what a dead pass had taken, and do not wait for a time that a wrong clock
    may have set. Only where it is sure that no pass is alive."""
    sql.run(FREE_CLAIMS, {"now": now})


def _waiting(row: Row) -> Waiting | None:
    namespace, line_id, written, state, uploaded_at, uploads, checks = row
    try:
        line = parse_line(written)
    except LineError as error:  # a damaged database: the row stays and is seen in the status
        log.error("memory_outbox_row_damaged", line_id=line_id, part=error.part)
        return None
    return Waiting(Entry(namespace, line), State(state), uploaded_at, uploads, checks)


def prove(sql: Sql, entries: Iterable[Entry]) -> None:
    """A read showed these lines: their rows go, their places are known from now on."""
    entries = list(entries)
    for text, values in tuples(sorted({tuple(entry.address) for entry in entries})):
        sql.run(REMOVE_PROVEN.format(rows=text), values)
    learn(sql, ((entry.namespace, entry.line.place) for entry in entries))


def learn(sql: Sql, places: Iterable[tuple[str, Place]]) -> None:
    """Places that a read showed and that every later read must show again."""
    pages: dict[tuple[str, int, int], int] = defaultdict(int)
    for namespace, (turn, ordinal) in places:
        page, bit = divmod(ordinal, PAGE_ORDINALS)
        pages[namespace, turn, page] |= 1 << bit
    # Sorted, so that two workers lock the same rows in the same order.
    for text, values in tuples([(*page, bits) for page, bits in sorted(pages.items())]):
        sql.run(PROVE.format(rows=text), values)


def reschedule(sql: Sql, waiting: Iterable[Waiting], claim: float, now: float, pace: Pace) -> None:
    """These were looked for and not shown: look again later, or hand over again."""
    for row in waiting:
        checks = row.checks + 1
        lost = now - row.uploaded_at >= pace.patience(row.uploads)
        values = {
            "namespace": row.entry.namespace,
            "line_id": row.entry.line.id,
            "state": (State.PENDING if lost else State.UPLOADED).value,
            "due_at": now if lost else now + pace.check_delay(checks),
            "uploaded_at": row.uploaded_at,
            "uploads": row.uploads,
            "checks": checks,
            "claim": claim,
        }
        sql.run(RESCHEDULE, values)


def release(sql: Sql, addresses: Iterable[Address], claim: float, due_at: float) -> None:
    """These were not handed over, or could not be looked for: as before, from `due_at` on."""
    for text, values in tuples(sorted({tuple(address) for address in addresses})):
        sql.run(RELEASE.format(rows=text), {**values, "claim": claim, "due_at": due_at})


def local(sql: Sql, namespace: str, *, after: int = -1) -> Local:
    """Of turns later than `after`. Own lines first, then the proofs: a line that is proven between
    the two is in both."""
    own, handed_over, unreadable = [], 0, 0
    for written, state in sql.rows(OWN_LINES, {"namespace": namespace}):
        handed_over += state != State.PENDING
        try:
            line = parse_line(written)
        except LineError:
            unreadable += 1
            continue
        if line.turn > after:
            own.append(line)
    places = (
        Place(turn, page * PAGE_ORDINALS + bit)
        for turn, page, ordinals in sql.rows(PROVEN, {"namespace": namespace, "after": after})
        for bit in range(PAGE_ORDINALS)
        if ordinals >> bit & 1
    )
    return Local(tuple(own), handed_over, unreadable, frozenset(places))


def status(sql: Sql, now: float, namespace: str | None = None) -> Status:
    rows = sql.rows(STATUS, {"namespace": namespace or ""})
    uploaded = sum(count for state, count, _ in rows if state == State.UPLOADED)
    oldest = min((accepted_at for _, _, accepted_at in rows), default=now)
    return Status(sum(count for _, count, _ in rows), uploaded, max(0.0, now - oldest))
