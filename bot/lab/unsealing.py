"""Looks into a sealed memory, as nobody but the holder of MEMORY_SECRET can."""

from collections.abc import Iterator, Sequence

from memory import keys
from memory.line import Line, LineError, parse_line
from memory.port import Sql
from memory.seal import Seal

NAMESPACES = "SELECT namespace FROM memory_keys ORDER BY namespace"
ROWS = (
    "SELECT line FROM memory_lines WHERE namespace = :namespace",
    "SELECT line FROM memory_outbox WHERE namespace = :namespace",
)


def unsealed_lines(sql: Sql, secret: str) -> list[Line]:
    """Every line of every namespace, each id once. A line that does not open is left out."""
    vault = keys.unlock(sql, secret.encode()) if secret else None
    if vault is None:
        return []
    names = [row[0] for row in sql.rows(NAMESPACES)]
    seals = [found for name in names if isinstance(found := vault.find(sql, name), Seal)]
    return [line for seal in seals for line in lines_under(sql, seal)]


def lines_under(sql: Sql, seal: Seal) -> list[Line]:
    rows = [row for query in ROWS for row in sql.rows(query, {"namespace": seal.namespace})]
    return list({line.id: line for line in opened([row[0] for row in rows], seal)}.values())


def opened(written: Sequence[str], seal: Seal) -> Iterator[Line]:
    for text in written:
        try:
            line = seal.open(parse_line(text))
        except LineError:
            continue
        if line is not None:
            yield line
