"""The one order of lines, and one line per id. Never depends on the order they came in."""

from collections.abc import Iterable
from typing import TypeAlias

from memory.line import Kind, Line
from memory.normalise import canonical

_RANK = {kind: rank for rank, kind in enumerate(Kind)}


class _Wording:
    """Compares by canonical text, then text, then id; worked out only when all before is equal."""

    __slots__ = ("_line",)

    def __init__(self, line: Line) -> None:
        self._line = line

    def _parts(self) -> tuple[str, ...]:
        line = self._line
        last = (line.key, line.author, line.event_time or "")
        return (canonical(line.text), line.text, line.id, *last)

    def __lt__(self, other: "_Wording") -> bool:
        return self._parts() < other._parts()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Wording) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())


Order: TypeAlias = tuple[int, int, int, int, _Wording]


def order_of(line: Line) -> Order:
    """(time, turn, ordinal, kind), then what the lines themselves say."""
    return (line.at_us, line.turn, line.ordinal, _RANK[line.kind], _Wording(line))


def arranged(lines: Iterable[Line]) -> tuple[Line, ...]:
    """In order, oldest first, each id once.

    The same id with other content (a step repeated after a crash, at a later time) is the same
    line: the earliest in order stands.
    """
    kept: dict[str, Line] = {}
    for line in sorted(lines, key=order_of):
        kept.setdefault(line.id, line)
    return tuple(kept.values())
