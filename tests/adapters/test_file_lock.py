"""The lock beside the SQLite file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import Misconfigured
from bot.store.filelock import FileLock

HOLD = """
import sys
from pathlib import Path
from bot.store.filelock import FileLock
lock = FileLock(Path(sys.argv[1]))
print(lock.acquire(), flush=True)
sys.stdin.read()
"""


def test_only_one_holds_the_lock(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "a.db"), FileLock(tmp_path / "a.db")
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    assert second.holder_pid == os.getpid()
    first.release()
    first.release()
    assert second.acquire()
    second.release()


def test_another_file_is_another_lock(tmp_path: Path) -> None:
    locks = [FileLock(tmp_path / name) for name in ("a.db", "b.db")]
    assert all(lock.acquire() for lock in locks)
    for lock in locks:
        lock.release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.db"
    lock = FileLock(path)
    assert lock.holder_pid is None
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"True\n"
        assert not lock.acquire()
        assert lock.holder_pid == other.pid
        other.send_signal(signal.SIGKILL)
    assert lock.acquire()
    assert lock.holder_pid == os.getpid()
    lock.release()


def test_a_folder_that_cannot_hold_the_lock_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="cannot be created"):
        FileLock(tmp_path / "file" / "a.db").acquire()
