"""The only statements that change or remove rows of lines: sealing up what is old, and forgetting.

Used by nothing but SqlBackend.rewrite and SqlBackend.erase; a test looks for others.
"""

from collections.abc import Callable

from memory.line import Line, LineError, format_line, parse_line
from memory.port import Sql

BATCH_LINES = 200

NEXT_NAMESPACE = "SELECT MIN(namespace) FROM memory_lines WHERE namespace > :after"
BATCH = """
SELECT line_id, line FROM memory_lines WHERE namespace = :namespace AND line_id > :after
ORDER BY line_id LIMIT :most
"""
REWRITE = """
UPDATE memory_lines SET line = :line WHERE namespace = :namespace AND line_id = :line_id
"""
ERASE = "DELETE FROM memory_lines WHERE namespace = :namespace"


def namespaces(sql: Sql) -> frozenset[str]:
    """One look a namespace: a table of a million lines is not read for its thousand names."""
    found: list[str] = []
    while (row := sql.rows(NEXT_NAMESPACE, {"after": found[-1] if found else ""})[0])[0]:
        found.append(row[0])
    return frozenset(found)


def rewrite(
    namespace: str, after: str, change: Callable[[Line], Line], sql: Sql
) -> tuple[int, str | None]:
    """One batch, from the id `after` on: how many lines were changed, and the last id; None at the
    end."""
    values = {"namespace": namespace, "after": after, "most": BATCH_LINES}
    rows = sql.rows(BATCH, values)
    changed = 0
    for line_id, written in rows:
        again = _changed(written, change)
        if again != written:
            sql.run(REWRITE, {"namespace": namespace, "line_id": line_id, "line": again})
            changed += 1
    return changed, rows[-1][0] if len(rows) == BATCH_LINES else None


def erase(namespace: str, sql: Sql) -> int:
    return sql.run(ERASE, {"namespace": namespace})


def _changed(written: str, change: Callable[[Line], Line]) -> str:
    try:
        return format_line(change(parse_line(written)))
    except LineError:
        return written
