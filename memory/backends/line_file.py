"""One file of lines: locking it, splitting it, and the two ways in which it may be replaced.

`rewrite` and `erase` are the only code that shortens or removes a file: sealing up what is old, and
forgetting. Used by nothing but FileBackend.rewrite and FileBackend.erase.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memory.line import Line, LineError, format_line, parse_line

CANCELLED = b"\x18"  # no written line holds it, so no line ends with it
ZEROS = bytes(64 * 1024)


@contextmanager
def locked(path: Path, flags: int = 0) -> Iterator[int]:
    """A descriptor for reading and appending; nobody else has the lock. Raises OSError."""
    descriptor = _locked(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)  # lets go of the lock as well


def _locked(path: Path, flags: int) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            current = _is_at(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if current:
            return descriptor
        os.close(descriptor)  # it was replaced or removed while we waited


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))


def content_of(descriptor: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        return file.read()


def write_all(descriptor: int, addition: bytes) -> None:
    while addition:
        addition = addition[os.write(descriptor, addition) :]


def sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def whole_lines(content: bytes) -> list[bytes]:
    """Without the bytes after the last newline, and without torn lines that were mended."""
    return [line for line in content.split(b"\n")[:-1] if not line.endswith(CANCELLED)]


def parsed(written: bytes) -> Line:
    try:
        return parse_line(written.decode())
    except UnicodeDecodeError as error:
        raise LineError("line", "is not UTF-8") from error


def rewrite(path: Path, change: Callable[[Line], Line]) -> int:
    """Put `change(line)` in place of each line: a new file is written whole, then takes the place
    of the old one. Return how many lines differ; 0: the file is as it was."""
    with suppress(FileNotFoundError), locked(path) as old:
        before = whole_lines(content_of(old))
        after = [_changed(line, change) for line in before]
        changed = sum(a != b for a, b in zip(after, before, strict=True))
        if changed:
            beside = path.with_suffix(".new")
            _write_new(beside, b"".join(line + b"\n" for line in after))
            beside.replace(path)
            sync_directory(path.parent)
            _blank(old)
        return changed
    return 0


def erase(path: Path) -> int:
    """Overwrite and remove the file; return how many lines there were. Idempotent."""
    path.with_suffix(".new").unlink(missing_ok=True)
    with suppress(FileNotFoundError), locked(path) as old:
        count = len(whole_lines(content_of(old)))
        _blank(old)
        path.unlink()
        sync_directory(path.parent)
        return count
    return 0


def _changed(written: bytes, change: Callable[[Line], Line]) -> bytes:
    try:
        return format_line(change(parsed(written))).encode()
    except LineError:
        return written


def _write_new(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _blank(descriptor: int) -> None:
    """Overwrite what nobody can open by a name any more; as much as the file system lets us."""
    left = os.fstat(descriptor).st_size
    os.lseek(descriptor, 0, os.SEEK_SET)
    while left > 0:
        left -= os.write(descriptor, ZEROS[:left])
    os.fsync(descriptor)
