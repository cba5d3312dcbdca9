"""Brings a database up to the program's schema, step by numbered step.

Rule 1: a step is a file `NNN_name.sql`, numbered from 1 without gaps, the same text for both
        databases. Statements end with `;` at the end of a line (so no triggers with bodies).
Rule 2: each step is one transaction, together with its row in `migrations`. Inserting that row
        comes first: it makes a second process that starts at the same moment wait, then skip.
Rule 3: a step that was applied is never changed; a database newer than the program is refused.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import structlog

from bot.errors import Misconfigured, StatementRefused
from bot.store.port import Database, Sql

Source: TypeAlias = tuple[str, Path]  # who owns the tables, and the folder with the steps
log = structlog.get_logger(__name__)

BOT_SCHEMA: Source = ("bot", Path(__file__).with_name("schema"))
CREATE_TRIES = 5

_CREATE = """
CREATE TABLE IF NOT EXISTS migrations (
    source TEXT NOT NULL,
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    applied_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (source, number)
)
"""
_APPLIED = "SELECT source, number, sha256 FROM migrations"
_RECORD = """
INSERT INTO migrations (source, number, name, sha256, applied_at)
VALUES (:source, :number, :name, :sha256, :now)
ON CONFLICT (source, number) DO NOTHING
"""
_FILE_NAME = re.compile(r"(\d{3})_(\w+)\.sql")
_CODE_OR_COMMENT = re.compile(r"""('(?:[^']|'')*'|"[^"]*")|--.*""")


@dataclass(frozen=True, slots=True)
class Migration:
    source: str
    number: int
    name: str
    sha256: str
    statements: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source}/{self.number:03}_{self.name}"


async def migrate(database: Database, sources: Sequence[Source], *, now: float) -> int:
    """Apply what is missing, in the order of `sources`; return how many steps were applied.

    Raises Misconfigured if the database does not fit this program. Safe to run in two processes.
    """
    steps = [step for source in sources for step in read_steps(*source)]
    await _create_table(database)
    applied = {(row[0], row[1]): row[2] for row in await database.read(_rows_applied)}
    _refuse_a_newer_database(steps, applied)
    _refuse_a_changed_step(steps, applied)
    missing = [step for step in steps if (step.source, step.number) not in applied]
    count = 0
    for step in missing:
        if await database.transact(partial(_apply, step, now)):
            log.info("migration_applied", step=str(step))
            count += 1
    return count


def read_steps(source: str, folder: Path) -> tuple[Migration, ...]:
    """The steps in `folder`, by number. Raises ValueError where a name or a number is wrong."""
    steps = []
    for number, path in enumerate(sorted(folder.glob("*.sql")), start=1):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None or int(match[1]) != number:
            raise ValueError(f"{path.name} should be named {number:03}_what_it_does.sql")
        text = path.read_text(encoding="utf-8")  # any line end becomes \n, so the hash is one
        digest = sha256(text.encode()).hexdigest()
        steps.append(Migration(source, number, match[2], digest, split_statements(text)))
    if not steps:
        raise ValueError(f"no schema for {source}: {folder} holds no .sql files")
    return tuple(steps)


def split_statements(text: str) -> tuple[str, ...]:
    """The statements of a file, without comments; each ends with `;` at the end of a line."""
    statements, lines = [], []
    for line in text.splitlines():
        code = _CODE_OR_COMMENT.sub(lambda match: match[1] or "", line).rstrip()
        if code:
            lines.append(code)
        if code.endswith(";"):
            statements.append("\n".join(lines).rstrip(";"))
            lines = []
    if lines:
        raise ValueError(f"a statement without `;` at its end: {lines[0]}")
    return tuple(statements)


async def _create_table(database: Database) -> None:
    for _ in range(CREATE_TRIES - 1):
        try:
            await database.transact(lambda sql: sql.run(_CREATE))
        except StatementRefused:  # PostgreSQL: another process creates it at this very moment
            continue
        return
    await database.transact(lambda sql: sql.run(_CREATE))


def _rows_applied(sql: Sql) -> Sequence[tuple[str, int, str]]:
    return [(row[0], row[1], row[2]) for row in sql.rows(_APPLIED)]


def _apply(step: Migration, now: float, sql: Sql) -> bool:
    values = {
        "source": step.source,
        "number": step.number,
        "name": step.name,
        "sha256": step.sha256,
        "now": now,
    }
    if not sql.run(_RECORD, values):
        return False  # another process was quicker
    for statement in step.statements:
        sql.run(statement)
    return True


def _refuse_a_newer_database(
    steps: Sequence[Migration], applied: dict[tuple[str, int], str]
) -> None:
    newest = {step.source: step.number for step in steps}
    for source, number in applied:
        if source in newest and number > newest[source]:
            raise Misconfigured(
                f"The database was already used by a newer Dabir (it has {source}/{number:03}, "
                f"this program knows {newest[source]:03}): update Dabir, or use another database.",
                setting="DATABASE_URL",
            )


def _refuse_a_changed_step(steps: Sequence[Migration], applied: dict[tuple[str, int], str]) -> None:
    for step in steps:
        if applied.get((step.source, step.number), step.sha256) != step.sha256:
            raise Misconfigured(
                f"The schema file {step}.sql was changed after this database had been made with "
                "it: install Dabir again, or add a new file instead of changing that one.",
                setting="DATABASE_URL",
            )
