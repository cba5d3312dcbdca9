"""The lines that this process accepted lately, so that nobody has to read a whole log for them.

A line is in here before its transaction is committed and stays if that is rolled back: it is no
proof of anything. Whoever looks here knows from the outbox or the proofs that there is a line at
that place. Where two different lines were offered for one place, nothing is said.
"""

from collections import OrderedDict
from collections.abc import Sequence

from memory.line import Line, Place

MOST_LINES = 4096


class Tail:
    def __init__(self, most: int = MOST_LINES) -> None:
        self._most = most
        self._lines: OrderedDict[tuple[str, Place], Line | None] = OrderedDict()

    def add(self, namespace: str, lines: Sequence[Line]) -> None:
        for line in lines:
            name = (namespace, line.place)
            known = self._lines.pop(name, line)
            self._lines[name] = line if known == line else None
        while len(self._lines) > self._most:
            self._lines.popitem(last=False)

    def find(self, namespace: str, place: Place) -> Line | None:
        return self._lines.get((namespace, place))

    def drop(self, namespace: str) -> None:
        for name in [name for name in self._lines if name[0] == namespace]:
            del self._lines[name]
