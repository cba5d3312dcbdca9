"""Lines in plain text files, one a namespace: `grep '#task' *.txt` works, and so does reading them.

Rule 1: a file only grows. Nothing in this file shortens, rewrites or removes one; what seals up
        and forgets is in line_file.py.
Rule 2: a line counts once its newline is there. Bytes after the last newline are a write that is
        under way or died; whoever holds the lock and finds some ends them with CAN (U+0018) and a
        newline, so that they are never read as a line and never glued to the next one.
Rule 3: writers take a lock on the file, so that two processes may append. Whoever gets the lock of
        a file that was replaced meanwhile starts again with the new one.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memory.backends import line_file
from memory.line import Line, LineError, format_line
from memory.namespace import checked_namespace
from memory.port import Address, Entry, MemoryUnavailable, ReadResult


class FileBackend:
    """Raises MemoryUnavailable whenever the disk refuses. `directory` is made if it is missing."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def write(self, entries: Sequence[Entry]) -> None:
        """Returns once the lines are synced to disk."""
        await asyncio.to_thread(self._write, entries)

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        return await asyncio.to_thread(self._visible, entries)

    async def read(self, namespace: str) -> ReadResult:
        return await asyncio.to_thread(self._read, namespace)

    async def count(self, namespace: str) -> int | None:
        """Whole lines, parsed or not: 0 means that the file is empty or was never made."""
        return await asyncio.to_thread(self._count, namespace)

    async def namespaces(self) -> frozenset[str]:
        return await asyncio.to_thread(self._namespaces)

    async def close(self) -> None:
        """No file stays open between calls."""

    async def rewrite(self, namespace: str, change: Callable[[Line], Line]) -> int:
        """The file is replaced at once, so a namespace is rewritten or it is not."""
        return await asyncio.to_thread(self._rewrite, namespace, change)

    async def erase(self, namespace: str) -> int:
        return await asyncio.to_thread(self._erase, namespace)

    def _rewrite(self, namespace: str, change: Callable[[Line], Line]) -> int:
        with _disk_errors():
            return line_file.rewrite(self._path(namespace), change)

    def _erase(self, namespace: str) -> int:
        with _disk_errors():
            return line_file.erase(self._path(namespace))

    def _path(self, namespace: str) -> Path:
        return self._directory / f"{checked_namespace(namespace)}.txt"

    def _namespaces(self) -> frozenset[str]:
        with _disk_errors():
            return frozenset(path.stem for path in self._directory.glob("*.txt"))

    def _write(self, entries: Sequence[Entry]) -> None:
        with _disk_errors():
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for namespace, lines in _by_namespace(entries).items():
                _append(self._path(namespace), lines)

    def _visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        shown: set[Address] = set()
        for namespace, lines in _by_namespace(entries).items():
            ids = _ids_among(self._whole_lines(namespace), {line.id for line in lines})
            shown |= {Address(namespace, line_id) for line_id in ids}
        return frozenset(shown)

    def _read(self, namespace: str) -> ReadResult:
        lines, dropped = [], 0
        for written in self._whole_lines(namespace):
            try:
                lines.append(line_file.parsed(written))
            except LineError:
                dropped += 1
        return ReadResult(tuple(lines), dropped, damaged=dropped)

    def _count(self, namespace: str) -> int:
        return len(self._whole_lines(namespace))

    def _whole_lines(self, namespace: str) -> list[bytes]:
        path = self._path(namespace)
        with _disk_errors():
            try:
                return line_file.whole_lines(path.read_bytes())
            except FileNotFoundError:
                return []


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise MemoryUnavailable(f"the memory files cannot be used: {reason}") from error


def _by_namespace(entries: Iterable[Entry]) -> dict[str, list[Line]]:
    grouped: dict[str, list[Line]] = defaultdict(list)
    for entry in entries:
        grouped[entry.namespace].append(entry.line)
    return grouped


def _append(path: Path, lines: Iterable[Line]) -> None:
    new = not path.exists()
    with line_file.locked(path, os.O_CREAT | os.O_APPEND) as descriptor:
        addition = _missing(line_file.content_of(descriptor), lines)
        if addition:
            line_file.write_all(descriptor, addition)
        os.fsync(descriptor)
    if new:
        line_file.sync_directory(path.parent)


def _missing(content: bytes, lines: Iterable[Line]) -> bytes:
    """What has to be appended: the end of a torn line, then the lines that are not there yet."""
    wanted = {line.id: line for line in reversed(list(lines))}  # the first content of an id stays
    there = _ids_among(line_file.whole_lines(content), wanted.keys())
    written = [format_line(line) for line in reversed(wanted.values()) if line.id not in there]
    torn = bool(content) and not content.endswith(b"\n")
    mend = line_file.CANCELLED + b"\n" if torn else b""
    return mend + b"".join(text.encode() + b"\n" for text in written)


def _ids_among(written: Iterable[bytes], wanted: "Iterable[str]") -> set[str]:
    """Those of `wanted` that a readable line has."""
    needles = {line_id.encode() for line_id in wanted}
    found: set[str] = set()
    for line in written:
        fields = line.split(b" ", 5)
        if len(fields) == 6 and fields[4].removeprefix(b"id=") in needles:
            try:
                found.add(line_file.parsed(line).id)
            except LineError:
                continue
    return found
