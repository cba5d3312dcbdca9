"""Kills for as long as wanted: `python -m tests.crash.soak --seed 1 --rounds 20 --kills 25`.

Each round is one seed with a database of its own; a failing one is reported with what is wrong
and how to run it alone, and its database is kept. Ends with 1 if any failed.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.crash.kills import kill_again_and_again
from tests.crash.scene import scene


async def one(seed: int, kills: int) -> str:
    """Run one seed; return what was wrong, "" if nothing."""
    folder = Path(tempfile.mkdtemp(prefix=f"crash-{seed}-"))
    try:
        async with scene(folder) as ready:
            await kill_again_and_again(ready, seed, kills)
    except (AssertionError, TimeoutError) as error:
        return f"{type(error).__name__}: {error}\ndatabase kept in {folder}"
    shutil.rmtree(folder)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.crash.soak")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--rounds", type=int, default=10, help="how many seeds")
    parser.add_argument("--kills", type=int, default=25, help="kills in each round")
    wanted = parser.parse_args()
    failed = []
    for seed in range(wanted.seed, wanted.seed + wanted.rounds):
        begun = time.monotonic()
        wrong = asyncio.run(one(seed, wanted.kills))
        print(f"seed {seed}: {'failed' if wrong else 'ok'}, {time.monotonic() - begun:.0f} s")
        if wrong:
            failed.append(seed)
            print(f"{wrong}\nagain: --seed {seed} --rounds 1 --kills {wanted.kills}")
        sys.stdout.flush()
    print(f"{wanted.rounds - len(failed)} of {wanted.rounds} seeds ok; failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
