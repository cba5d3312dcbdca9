"""A backend for tests that keeps lines in memory and lies about them.

Late, empty, short, reordered and repeated answers, dropped counts, refused calls, calls that break
half-way, jobs that fail after they were accepted. It never invents a line and never shows one it
does not hold; set `honest` to make it tell the truth from then on.
"""

from collections.abc import Sequence
from random import Random

from memory.line import Line
from memory.port import Address, Entry, MemoryUnavailable, ReadResult


class Killed(BaseException):
    """The process died in the middle of a call."""


class LyingBackend:
    """Implements memory.port.MemoryBackend. What it does follows from `random` alone."""

    def __init__(self, random: Random | None = None, *, honest: bool = False) -> None:
        self.random = random or Random(0)
        self.honest = honest
        self.kill_next_write = False
        self.held: dict[Address, Line] = {}  # the truth: these stay for ever
        self.late: dict[Address, tuple[Line, int]] = {}  # accepted; visible after so many looks
        self.calls: list[str] = []
        self.closed = False

    async def write(self, entries: Sequence[Entry]) -> None:
        self.calls.append("write")
        if self._lies(0.2):
            raise MemoryUnavailable("refused before anything was written")
        for entry in entries:
            if self.kill_next_write and self.random.random() < 0.5:
                self.kill_next_write = False
                raise Killed
            if self._lies(0.05):
                raise MemoryUnavailable("broke half-way")
            self._accept(entry)
        if self._lies(0.1):
            raise MemoryUnavailable("all was written, the answer was lost")

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        self.calls.append("visible")
        self._time_passes()
        if self._lies(0.2):
            raise MemoryUnavailable("no answer")
        shown = {entry.address for entry in entries} & self.held.keys()
        return frozenset(a for a in sorted(shown) if not self._lies(0.3))

    async def read(self, namespace: str) -> ReadResult:
        self.calls.append("read")
        self._time_passes()
        lines = self.lines_of(namespace)
        lie = self.random.choice(("none", "down", "empty", "dropped", "short"))
        if self.honest or lie == "none":
            return ReadResult(self._jumbled(lines))
        match lie:
            case "down":
                raise MemoryUnavailable("no answer")
            case "empty":
                return ReadResult(())
            case "dropped":
                kept = self._some(lines)
                return ReadResult(self._jumbled(kept), dropped=len(lines) - len(kept))
            case _:
                return ReadResult(self._jumbled(self._some(lines)))

    async def count(self, namespace: str) -> int | None:
        self.calls.append("count")
        if self._lies(0.3):
            raise MemoryUnavailable("no answer")
        return None if self._lies(0.5) else len(self.lines_of(namespace))

    async def close(self) -> None:
        self.closed = True

    def lines_of(self, namespace: str) -> list[Line]:
        return [line for address, line in self.held.items() if address.namespace == namespace]

    def _accept(self, entry: Entry) -> None:
        if entry.address in self.held or entry.address in self.late:
            return
        fate = "held" if self.honest else self.random.choice(("held", "late", "fails"))
        if fate == "held":
            self.held[entry.address] = entry.line
        elif fate == "late":
            self.late[entry.address] = (entry.line, self.random.randint(1, 6))

    def _time_passes(self) -> None:
        for address, (line, looks) in list(self.late.items()):
            if looks <= 1 or self.honest:
                del self.late[address]
                self.held[address] = line
            else:
                self.late[address] = (line, looks - 1)

    def _lies(self, chance: float) -> bool:
        return not self.honest and self.random.random() < chance

    def _some(self, lines: Sequence[Line]) -> list[Line]:
        return [line for line in lines if self.random.random() < 0.6]

    def _jumbled(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        repeated = [line for line in lines for _ in range(self.random.choice((1, 1, 2)))]
        self.random.shuffle(repeated)
        return tuple(repeated)
