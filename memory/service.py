"""The door to memory: accept lines, read them, hand them over in the background, forget them.

With a vault every line is sealed before it is put down anywhere (memory/seal.py): in the outbox,
in the backend. What callers name a namespace stays theirs; under which name a store knows it, and
which key opens it, is nobody's business but this module's.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import assert_never

import structlog

from memory import outbox
from memory.backoff import Pace, Sleep
from memory.destroying import DerivedCopy, Destruction, destroy_here
from memory.keys import Destroyed, Found, Keyless, Vault, WrongSecret
from memory.line import Line, Place
from memory.outbox import Status
from memory.port import Database, MemoryBackend, MemoryUnavailable, OwnStore, Sql
from memory.reader import Opened, Reach, Reader, Reading, as_it_is
from memory.seal import Seal, is_sealed
from memory.tail import Tail
from memory.writer import Writer

log = structlog.get_logger(__name__)

NOTHING = Reading((), Reach.COMPLETE)
UNREAD = Reading((), Reach.UNREAD)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read, to be compared with later: see `newer`."""

    stored_as: str
    read_at: float  # seconds since 1970


class Locked:
    """There is a key, and MEMORY_SECRET does not open it: its row was damaged."""


class Memory:
    """`database` holds the outbox and the keys and stays the caller's to close; `backend` is
    closed here. Without a `vault` lines are kept as they are: for tests of the parts."""

    def __init__(
        self,
        database: Database,
        backend: MemoryBackend,
        *,
        vault: Vault | None = None,
        pace: Pace | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._database = database
        self._backend = backend
        self._vault = vault
        self._reader = Reader(database, backend, sleep)
        self._writer = Writer(database, backend, pace or Pace())
        self._tail = Tail()
        self._copies: list[DerivedCopy] = []
        # What a pass has in its hands must not be written after its namespace was erased.
        self._writing = asyncio.Lock()

    def put(
        self, sql: Sql, namespace: str, lines: Sequence[Line], *, now: float | None = None
    ) -> None:
        """Accept lines inside the transaction of `sql` (see outbox.put). Readable once committed.

        Wake whoever calls `flush` afterwards.
        """
        if self._vault is None or not lines:
            outbox.put(sql, namespace, lines, now=now)
            self._tail.add(namespace, lines)
            return
        at = lines[0].at_us / 1e6 if now is None else now
        seal = self._vault.enter(sql, namespace, at)
        outbox.put(sql, seal.namespace, [seal.seal(line) for line in lines], now=now)
        self._tail.add(seal.namespace, lines)

    async def append(
        self, namespace: str, lines: Sequence[Line], *, now: float | None = None
    ) -> None:
        """`put` in a transaction of its own."""
        await self._database.transact(lambda sql: self.put(sql, namespace, lines, now=now))

    async def read(self, namespace: str) -> Reading:
        """All lines of a namespace, own writes included; see Reading.reach before saying "none"."""
        return (await self.read_named(namespace))[1]

    async def read_named(self, namespace: str) -> tuple[str, Reading]:
        """The same, with the name under which the store knows it; "" if nothing was read."""
        found = await self._found(namespace)
        match found:
            case Seal():
                return found.namespace, await self._reader.read(found.namespace, found.open)
            case Keyless():
                return namespace, await self._reader.read(namespace, self._unsealed())
            case Destroyed():
                return "", NOTHING
            case Locked():
                return "", UNREAD
        assert_never(found)

    async def newer(
        self, namespace: str, stored_as: str, turn: int, known: Collection[Place]
    ) -> tuple[Line, ...] | None:
        """The lines of turns after `turn` at other places than `known`, without asking the store:
        those that wait, and those that this process put. None: read it all again, because a
        line is known that is not here (another process put it), or the namespace was destroyed.

        Costs what is new. Complete for whoever has read every line up to `turn`, because turns
        are counted in the transaction that puts their lines.
        """
        found = await self._found(namespace)
        opened: Opened
        if isinstance(found, Seal):
            opened, name = found.open, found.namespace
        elif isinstance(found, Keyless):
            opened, name = self._unsealed(), namespace
        else:
            return None
        if name != stored_as:
            return None
        local = await self._database.read(lambda sql: outbox.local(sql, name, after=turn))
        lines = {line.place: opened(line) for line in local.own if line.place not in known}
        for place in local.proven.difference(lines, known):
            lines[place] = self._tail.find(name, place)
        if local.unreadable or None in lines.values():
            return None
        return tuple(line for line in lines.values() if line is not None)

    async def flush(self, now: float) -> float | None:
        """One pass of the background writer; returns when to call again, None: after a `put`.

        `now` is seconds since 1970. A time that is not later than `now` means: at once.
        """
        async with self._writing:
            return await self._writer.flush(now)

    async def status(self, now: float, namespace: str | None = None) -> Status:
        """What waits to be proven, in one namespace or in all."""
        stored_as = namespace
        if namespace is not None:
            found = await self._found(namespace)
            stored_as = found.namespace if isinstance(found, Seal) else namespace
        return await self._database.read(lambda sql: outbox.status(sql, now, stored_as))

    # Forgetting

    def derive(self, copy: DerivedCopy) -> None:
        """Tell of something that is made from lines (an index, a cache): it is destroyed with
        them."""
        self._copies.append(copy)

    def destroy(self, sql: Sql, namespace: str) -> Destruction:
        """Destroy the key and all that this database holds of a namespace, inside the transaction
        of `sql`: once it commits, no line of it can be read by anybody, ever.

        The next line of the namespace begins with a new key. Then call `sweep`.
        """
        destruction = destroy_here(sql, self._vault, namespace)
        self._tail.drop(destruction.stored_as)
        return destruction

    async def held(self, stored_as: str) -> int:
        """How many lines the store has under this name; 0 if it cannot say. For the receipt."""
        try:
            return await self._backend.count(stored_as) or 0
        except MemoryUnavailable:
            return 0

    async def sweep(self, namespace: str, stored_as: str) -> int | None:
        """Destroy what lies elsewhere: derived copies, and the sealed lines if the store is ours.

        `stored_as` is of the Destruction. Returns how many lines the store goes on keeping as
        unreadable bytes; None: it does not say. Safe to repeat; raises MemoryUnavailable: try
        again.
        """
        self._tail.drop(stored_as)
        for copy in self._copies:
            await copy.destroy(namespace)
        async with self._writing:
            if isinstance(self._backend, OwnStore):
                await self._backend.erase(stored_as)
                return 0
            try:
                return await self._backend.count(stored_as)
            except MemoryUnavailable:  # they cannot be read; only their number is not known
                return None

    async def close(self) -> None:
        await self._backend.close()

    async def _found(self, namespace: str) -> Found | Locked:
        vault = self._vault
        if vault is None:
            return Keyless()
        try:
            return await self._database.read(lambda sql: vault.find(sql, namespace))
        except WrongSecret:
            log.error("memory_key_damaged", namespace=namespace)
            return Locked()

    def _unsealed(self) -> Opened:
        """A sealed line without a key is damaged; in a memory without a vault it is a line."""
        if self._vault is None:
            return as_it_is
        return lambda line: None if is_sealed(line) else line
