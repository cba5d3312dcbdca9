"""Seals what an older version left in the clear. Stopped at any moment, it goes on where it was.

A namespace is either still to be sealed up, then lines in the clear are believed as well as sealed
ones, or it is done, then a line in the clear is no line of ours.
"""

from collections.abc import Iterator, Sequence

import structlog

from memory.keys import Vault
from memory.line import LineError, format_line, parse_line
from memory.port import Database, MemoryBackend, OwnStore, Row, Sql
from memory.seal import Seal, is_sealed

log = structlog.get_logger(__name__)

UNFINISHED = "SELECT namespace, stored_as FROM memory_keys WHERE takes_plain = 1 AND wrapped <> ''"
KNOWN = "SELECT stored_as FROM memory_keys"
WAITING_NAMES = "SELECT DISTINCT namespace FROM memory_outbox"
WAITING = "SELECT line_id, line FROM memory_outbox WHERE namespace = :namespace"
SEAL_WAITING = """
UPDATE memory_outbox SET line = :line WHERE namespace = :namespace AND line_id = :line_id
"""


async def seal_up(database: Database, vault: Vault, backend: MemoryBackend, now: float) -> int:
    """Seal every line in the clear, in the outbox and in a store of our own; return how many.

    Costs a few small reads when there is nothing to do. Raises MemoryUnavailable.
    """
    store = backend if isinstance(backend, OwnStore) else None
    names = await database.read(_waiting_names)
    if store is not None:
        names |= set(await store.namespaces())
    known = await database.read(lambda sql: {row[0] for row in sql.rows(KNOWN)})
    for namespace in sorted(names - known):
        if await _has_plain(database, backend, namespace):
            await database.transact(
                lambda sql, name=namespace: vault.enter(sql, name, now, takes_plain=True)  # type: ignore[misc]
            )
    sealed = 0
    for namespace, stored_as in await database.read(lambda sql: sql.rows(UNFINISHED)):
        sealed += await _seal_up(database, vault, store, namespace, stored_as)
    if sealed:
        log.info("memory_sealed_up", lines=sealed)
    return sealed


async def _has_plain(database: Database, backend: MemoryBackend, namespace: str) -> bool:
    waiting = await database.read(lambda sql: sql.rows(WAITING, {"namespace": namespace}))
    lines = (await backend.read(namespace)).lines
    return any(_plain(waiting)) or any(not is_sealed(line) for line in lines)


async def _seal_up(
    database: Database, vault: Vault, store: OwnStore | None, namespace: str, stored_as: str
) -> int:
    seal = await database.read(lambda sql: vault.find(sql, namespace))
    if not isinstance(seal, Seal):  # destroyed by another process
        return 0
    sealed = await database.transact(lambda sql: _seal_waiting(sql, seal, stored_as))
    if store is not None:
        sealed += await store.rewrite(
            stored_as, lambda line: line if is_sealed(line) else seal.seal(line)
        )
    await database.transact(lambda sql: vault.believe_sealed_only(sql, namespace))
    return sealed


def _waiting_names(sql: Sql) -> set[str]:
    return {row[0] for row in sql.rows(WAITING_NAMES)}


def _seal_waiting(sql: Sql, seal: Seal, stored_as: str) -> int:
    count = 0
    for line_id, written in _plain(sql.rows(WAITING, {"namespace": stored_as})):
        sealed = format_line(seal.seal(parse_line(written)))
        sql.run(SEAL_WAITING, {"namespace": stored_as, "line_id": line_id, "line": sealed})
        count += 1
    return count


def _plain(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows that hold a line in the clear. One that holds no line stays as it is."""
    for row in rows:
        try:
            if not is_sealed(parse_line(row[1])):
                yield row
        except LineError:
            continue
