"""The bot as a process of its own, started, watched and ended by its process id."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from bot.settings import Settings

CLEAN = {k: v for k, v in os.environ.items() if k.lower() not in Settings.model_fields}
STOP_SECONDS = 10.0  # within which SIGTERM and Ctrl-C must have ended the bot


def code_path() -> str:
    """So that the process runs this very code, wherever its folder is."""
    root = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))


class BotProcess:
    """`python -m bot`. What it writes is collected in `said`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._said = bytearray()
        self._reading = [
            asyncio.create_task(self._read(stream))
            for stream in (process.stdout, process.stderr)
            if stream is not None
        ]

    @classmethod
    async def start(
        cls,
        folder: Path,
        environment: Mapping[str, str],
        *before: str,
        program: str = "bot",
        words: Sequence[str] = (),
        hears: bool = False,
    ) -> Self:
        """Start it in `folder`; `before` is put in front of the command (prlimit and the like).

        `words` follow the program; `hears`: it reads what `tell` writes.
        """
        process = await asyncio.create_subprocess_exec(
            *before,
            sys.executable,
            "-m",
            program,
            *words,
            cwd=folder,
            env={**CLEAN, **environment, "PYTHONPATH": code_path()},
            stdin=PIPE if hears else asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def said(self) -> str:
        return self._said.decode("utf-8", "replace")

    @property
    def arguments(self) -> str:
        """What `ps` shows of it to everybody on the machine."""
        return Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def tell(self, line: str) -> None:
        """Write a line to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def ended(self, within: float = STOP_SECONDS) -> int:
        """Wait for its end; return the exit code (-9 after a kill)."""
        try:
            async with asyncio.timeout(within):
                code = await self._process.wait()
                await asyncio.gather(*self._reading)
        except TimeoutError:
            raise AssertionError(f"still running after {within} s:\n{self.said[-3000:]}") from None
        return code

    async def kill(self) -> None:
        """kill -9, and wait until it is gone. Also for one that has ended already."""
        if self.alive:
            self.send(signal.SIGKILL)
        await self.ended()

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.send(number)
        return await self.ended(STOP_SECONDS)

    async def says(self, words: str, within: float = 15.0) -> None:
        """Wait until its log holds these words."""
        async with asyncio.timeout(within):
            while words not in self.said:
                assert self.alive, self.said
                await asyncio.sleep(0.02)

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while block := await stream.read(65536):
            self._said += block
