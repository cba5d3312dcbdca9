"""Kills for as long as wanted: `python -m tests.crash.soak --seed 1 --rounds 20 --kills 25`.

Each round is one seed with a database of its own; a failing one is reported with what is wrong
and how to run it alone, and its database is kept. Ends with 1 if any failed. With `--postgres`
two bots share a PostgreSQL database and a token, and one of them is killed each time.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tests.crash.kills import kill_again_and_again
from tests.crash.scene import scene
from tests.postgres_server import PostgresServer

SHARED_PATIENCE = 200.0  # what a dead process had claimed is free only after so long


async def one(seed: int, kills: int, url: str) -> str:
    """Run one seed; return what was wrong, "" if nothing."""
    folder = Path(tempfile.mkdtemp(prefix=f"crash-{seed}-"))
    try:
        if url:
            async with scene(folder, url, SESSION_LEASE_SECONDS="2") as ready:
                await kill_again_and_again(ready, seed, kills, bots=2, patience=SHARED_PATIENCE)
        else:
            async with scene(folder) as ready:
                await kill_again_and_again(ready, seed, kills)
    except (AssertionError, TimeoutError) as error:
        return f"{type(error).__name__}: {error}\ndatabase kept in {folder}"
    shutil.rmtree(folder)
    return ""


@contextmanager
def postgres() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = PostgresServer(folder)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.crash.soak")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--rounds", type=int, default=10, help="how many seeds")
    parser.add_argument("--kills", type=int, default=25, help="kills in each round")
    parser.add_argument("--postgres", action="store_true", help="two bots on one PostgreSQL")
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: end the bots first
    with postgres() if wanted.postgres else nullcontext() as server:
        return soak(wanted.seed, wanted.rounds, wanted.kills, server)


def soak(first: int, rounds: int, kills: int, server: PostgresServer | None) -> int:
    failed = []
    for seed in range(first, first + rounds):
        begun = time.monotonic()
        wrong = asyncio.run(one(seed, kills, server.create_database() if server else ""))
        print(f"seed {seed}: {'failed' if wrong else 'ok'}, {time.monotonic() - begun:.0f} s")
        if wrong:
            failed.append(seed)
            print(f"{wrong}\nagain: --seed {seed} --rounds 1 --kills {kills}")
        sys.stdout.flush()
    print(f"{rounds - len(failed)} of {rounds} seeds ok; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
