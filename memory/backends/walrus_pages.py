"""How lines travel to the relayer: several in one text, which says itself whether it is whole.

    dabir1 <namespace> <µs when it was sent> <lines> <16 hex digits of SHA-256 of the rest>
    2026-11-30T22:19:05.123456Z 42.3 #task user id=7.42.3 | Call Sam.

A text ("memory") costs points, storage and a place in a recall of at most 100, whatever its size;
so the lines that one pass has for one namespace share a text.

Rule 1: a text that names another namespace, or that is not as it was written, gives no line.
Rule 2: whatever is not ours (a note of another program, a filler row) is left alone.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory.line import Line, LineError, format_line, parse_line

MARK = "dabir1"
# Over 8 KiB the relayer has a text summarised by a language model before it embeds it.
PAGE_BYTES = 7_600
# The relayer takes 64 KiB of text; what is left is for the first row.
LINE_BYTES = 65_000


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of one namespace that are sent in one text."""

    namespace: str
    lines: tuple[Line, ...]
    sent_us: int

    @property
    def text(self) -> str:
        body = "\n".join(format_line(line) for line in self.lines)
        return f"{MARK} {self.namespace} {self.sent_us} {len(self.lines)} {_digest(body)}\n{body}"


@dataclass(frozen=True, slots=True)
class Opened:
    """What a text of the relayer turned out to hold."""

    lines: tuple[Line, ...] = ()
    sent_us: int = 0
    lost: int = 0  # lines that it should hold and does not give
    foreign: bool = False


def too_long(line: Line) -> bool:
    return len(format_line(line).encode()) > LINE_BYTES


def pages(namespace: str, lines: Sequence[Line], sent_us: int) -> Iterator[Page]:
    """As few texts as hold the lines; a long line has one to itself."""
    taken: list[Line] = []
    size = 0
    for line in lines:
        length = len(format_line(line).encode()) + 1
        if taken and size + length > PAGE_BYTES:
            yield Page(namespace, tuple(taken), sent_us)
            taken, size = [], 0
        taken.append(line)
        size += length
    if taken:
        yield Page(namespace, tuple(taken), sent_us)


def opened(text: str, namespace: str) -> Opened:
    """The lines of a text that the relayer gave for `namespace`."""
    head, _, body = text.partition("\n")
    parts = head.split(" ")
    if parts[0] != MARK:
        return Opened(foreign=True)
    if len(parts) != 5 or not (parts[2].isdecimal() and parts[3].isdecimal()):
        return Opened(lost=1)
    _, owner, sent, count, digest = parts
    if owner != namespace or digest != _digest(body):
        return Opened(lost=max(1, min(int(count), PAGE_BYTES)))
    return _parsed(body.split("\n"), int(sent))


def first_of_each(found: Iterable[Opened]) -> tuple[Line, ...]:
    """Each id once; of two contents the one that was sent first."""
    kept: dict[str, Line] = {}
    for page in sorted(found, key=lambda each: each.sent_us):
        for line in page.lines:
            kept.setdefault(line.id, line)
    return tuple(kept.values())


def _parsed(written: Sequence[str], sent_us: int) -> Opened:
    lines, lost = [], 0
    for each in written:
        try:
            lines.append(parse_line(each))
        except LineError:
            lost += 1
    return Opened(tuple(lines), sent_us, lost)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]
