"""A lock beside the SQLite file, so that two bots never share one file by accident.

The operating system frees the lock when its process ends, however it ends; the file stays and
means nothing by itself. It says the pid of the holder, for the message only.
"""

import os
import sys
from pathlib import Path

from bot.errors import Misconfigured

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # Windows locks bytes, also against readers: one far behind the pid

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """Locks `path` + ".lock"."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".lock")
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock and keep it until `release` or the end of this process.

        False if another holds it. Raises Misconfigured if the lock file cannot be made.
        """
        if self._descriptor is not None:
            return True
        descriptor = self._open()
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            return False
        os.truncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back. Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def holder_pid(self) -> int | None:
        """Who holds the lock, or held it last; None if the file does not say."""
        try:
            return int(self._path.read_text())
        except (OSError, ValueError):
            return None

    def _open(self) -> int:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise Misconfigured(
                f"{self._path} cannot be created or written ({error.strerror}): "
                "check DATABASE_URL and who owns the folder.",
                setting="DATABASE_URL",
            ) from error
