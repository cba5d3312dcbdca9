"""Any backend with its lines sealed: what is beneath never gets to see a word.

For whoever uses a store without the outbox. Memory itself seals before the outbox, so that what
waits there is sealed as well.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from memory.port import Address, Entry, MemoryBackend, ReadResult
from memory.seal import Seal


class SealedBackend:
    """Implements MemoryBackend. `seal_of` gives the key of a namespace."""

    def __init__(self, backend: MemoryBackend, seal_of: Callable[[str], Awaitable[Seal]]) -> None:
        self._backend = backend
        self._seal_of = seal_of

    async def write(self, entries: Sequence[Entry]) -> None:
        seals = await self._seals(entries)
        await self._backend.write([_sealed(entry, seals[entry.namespace]) for entry in entries])

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        """By id, as below: whether what is shown opens is told by `read`."""
        seals = await self._seals(entries)
        names = {seal.namespace: name for name, seal in seals.items()}
        shown = await self._backend.visible(
            [_sealed(entry, seals[entry.namespace]) for entry in entries]
        )
        return frozenset(Address(names[address.namespace], address.line_id) for address in shown)

    async def read(self, namespace: str) -> ReadResult:
        """A line that does not open is counted as damaged, and so as dropped."""
        seal = await self._seal_of(namespace)
        answer = await self._backend.read(seal.namespace)
        opened = [seal.open(line) for line in answer.lines]
        lines = tuple(line for line in opened if line is not None)
        bad = len(opened) - len(lines)
        return replace(
            answer, lines=lines, dropped=answer.dropped + bad, damaged=answer.damaged + bad
        )

    async def count(self, namespace: str) -> int | None:
        return await self._backend.count((await self._seal_of(namespace)).namespace)

    async def close(self) -> None:
        await self._backend.close()

    async def _seals(self, entries: Sequence[Entry]) -> dict[str, Seal]:
        return {name: await self._seal_of(name) for name in {each.namespace for each in entries}}


def _sealed(entry: Entry, seal: Seal) -> Entry:
    return Entry(seal.namespace, seal.seal(entry.line))
