"""Lines in plain text files, one a namespace: `grep '#task' *.txt` works, and so does reading them.

Rule 1: a file only grows. Nothing in this file shortens, rewrites or removes one.
Rule 2: a line counts once its newline is there. Bytes after the last newline are a write that is
        under way or died; whoever holds the lock and finds some ends them with CAN (U+0018) and a
        newline, so that they are never read as a line and never glued to the next one.
Rule 3: writers take a lock on the file, so that two processes may append.
"""

import asyncio
import fcntl
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memory.line import Line, LineError, format_line, parse_line
from memory.namespace import checked_namespace
from memory.port import Address, Entry, MemoryUnavailable, ReadResult

CANCELLED = b"\x18"  # no written line holds it, so no line ends with it


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
                lines.append(_parse(written))
            except LineError:
                dropped += 1
        return ReadResult(tuple(lines), dropped)

    def _count(self, namespace: str) -> int:
        return len(self._whole_lines(namespace))

    def _whole_lines(self, namespace: str) -> list[bytes]:
        path = self._path(namespace)
        with _disk_errors():
            try:
                return _whole_lines(path.read_bytes())
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
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # closing the file lets go of it
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read()
        addition = _missing(content, lines)
        if addition:
            _write_all(descriptor, addition)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if new:
        _sync_directory(path.parent)


def _missing(content: bytes, lines: Iterable[Line]) -> bytes:
    """What has to be appended: the end of a torn line, then the lines that are not there yet."""
    wanted = {line.id: line for line in reversed(list(lines))}  # the first content of an id stays
    there = _ids_among(_whole_lines(content), wanted.keys())
    written = [format_line(line) for line in reversed(wanted.values()) if line.id not in there]
    torn = bool(content) and not content.endswith(b"\n")
    mend = CANCELLED + b"\n" if torn else b""
    return mend + b"".join(text.encode() + b"\n" for text in written)


def _write_all(descriptor: int, addition: bytes) -> None:
    while addition:
        addition = addition[os.write(descriptor, addition) :]


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _whole_lines(content: bytes) -> list[bytes]:
    """Without the bytes after the last newline, and without torn lines that were mended."""
    return [line for line in content.split(b"\n")[:-1] if not line.endswith(CANCELLED)]


def _parse(written: bytes) -> Line:
    try:
        return parse_line(written.decode())
    except UnicodeDecodeError as error:
        raise LineError("line", "is not UTF-8") from error


def _ids_among(written: Iterable[bytes], wanted: "Iterable[str]") -> set[str]:
    """Those of `wanted` that a readable line has."""
    needles = {line_id.encode() for line_id in wanted}
    found: set[str] = set()
    for line in written:
        fields = line.split(b" ", 5)
        if len(fields) == 6 and fields[4].removeprefix(b"id=") in needles:
            try:
                found.add(_parse(line).id)
            except LineError:
                continue
    return found
