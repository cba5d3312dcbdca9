"""What an idle bot costs, and how soon it is there, against the minimal bot of the same run.

`python -m tests.bench.footprint`: start to first poll, resident memory, CPU while idle.
"""

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.stand import Stand, dabir, opted_in, process, stand, until_polling

TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Footprint:
    start_seconds: float
    idle_megabytes: float
    idle_cpu_percent: float
    used_megabytes: float  # after a turn: the model client is loaded then


async def run(idle_seconds: float) -> None:
    code = str(Path(__file__).parents[2])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with stand() as on:
            environment = on.environment(PYTHONPATH=code)
            words = ("-m", "tests.bench.minimal_bot")
            await weigh(on, words, environment, folder, 0, consent=False)  # writes the byte code
            minimal = await weigh(on, words, environment, folder, idle_seconds, consent=False)
        async with stand() as on:
            environment = dabir(on, folder, DEBOUNCE_QUIET="0.01")
            await weigh(on, ("-m", "bot"), environment, folder, 0, consent=True)
            ours = await weigh(on, ("-m", "bot"), environment, folder, idle_seconds, consent=True)
    print(f"minimal bot: {minimal}")
    print(f"dabir: {ours}")
    print(f"start to first poll: {ours.start_seconds:.2f} s (aim: under 1.5)")
    print(f"idle memory: {ours.idle_megabytes:.0f} MB (aim: under 90)")
    print(f"idle CPU: {ours.idle_cpu_percent:.2f} % (aim: about 0)")


async def weigh(
    on: Stand,
    words: tuple[str, ...],
    environment: dict[str, str],
    folder: Path,
    idle_seconds: float,
    *,
    consent: bool,
) -> Footprint:
    telegram = on.telegram
    started = time.monotonic()
    async with process(*words, environment=environment, folder=folder) as running:
        await until_polling(telegram)
        start_seconds = time.monotonic() - started
        await asyncio.sleep(3 if idle_seconds else 0)
        before = cpu_seconds(running.pid)
        await asyncio.sleep(idle_seconds)
        cpu = (cpu_seconds(running.pid) - before) / idle_seconds * 100 if idle_seconds else 0.0
        idle = megabytes(running.pid)
        chat = 500 + int(idle_seconds)
        if consent:
            await opted_in(telegram, [chat])
        said = len(telegram.bot_texts(chat)) if chat in telegram.chats else 0
        telegram.user_sends(chat, "Hello")
        await telegram.wait_for(lambda: len(telegram.bot_texts(chat)) > said or None, timeout=30)
        return Footprint(start_seconds, idle, cpu, megabytes(running.pid))


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(each for each in status.splitlines() if each.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle-seconds", type=float, default=20)
    asyncio.run(run(parser.parse_args().idle_seconds))
