"""The bot as a process of its own: started, killed with SIGKILL, started again."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

STOP_SECONDS = 3.0  # a bot that takes longer to stop is killed: nothing of it is kept anyway


@dataclass(frozen=True, slots=True)
class Moment:
    """Something in the life of the process: `what` is started, killed or ended."""

    at: float
    what: str


class BotProcess:
    def __init__(
        self, folder: Path, environment: Mapping[str, str], changed: Callable[[], None]
    ) -> None:
        self._folder = folder
        self._environment = environment
        self._changed = changed
        self._process: asyncio.subprocess.Process | None = None
        self._ending: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # two presses at once must not start two bots
        self.moments: list[Moment] = []

    @property
    def pid(self) -> int | None:
        """None: no bot runs."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def start(self) -> None:
        """Start the bot unless it runs."""
        async with self._turn:
            if self.pid is not None:
                return
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "bot.lab.page.bot",
                str(os.getpid()),
                cwd=self._folder,
                env={**self._environment, "PYTHONPATH": _import_path(self._environment)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
            )
            self.moments.append(Moment(time.time(), "started"))
            self._ending = asyncio.create_task(self._watch(self._process))
        self._changed()

    async def kill(self) -> None:
        """SIGKILL: it cannot clean up anything. Returns when it is gone."""
        async with self._turn:
            if self._process is not None and self._process.returncode is None:
                self._process.kill()
                await self._process.wait()

    async def stop(self) -> None:
        async with self._turn:
            if self._process is None or self._process.returncode is not None:
                return
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                async with asyncio.timeout(STOP_SECONDS):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        code = await process.wait()
        self.moments.append(Moment(time.time(), "killed" if code < 0 else "ended"))
        self._changed()


def _import_path(environment: Mapping[str, str]) -> str:
    """The child runs in another folder, where an unpacked source tree would not be found."""
    here = str(Path(__file__).parents[3])
    given = environment.get("PYTHONPATH", "")
    return f"{here}:{given}" if given else here
