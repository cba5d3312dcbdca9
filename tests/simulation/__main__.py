"""The simulation from the command line.

python -m tests.simulation --seed 17            replay one seed; if it fails, make it small
python -m tests.simulation --seeds 10000        many seeds on all cores
python -m tests.simulation --seeds 10000 --start 40000
python -m tests.simulation --known              the seeds that failed once
python -m tests.simulation --prove              break each protection: some seed must fail
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count

from tests.simulation.known import known_seeds
from tests.simulation.plan import Trouble, plan_for
from tests.simulation.prove import prove
from tests.simulation.shrink import shrunk
from tests.simulation.world import Result, run

CHUNK = 10


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="replay this one")
    parser.add_argument("--without", default="", help="troubles to leave out, with commas")
    parser.add_argument("--full", action="store_true", help="the whole trace of --seed, as it is")
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=cpu_count() or 1, help="processes")
    parser.add_argument("--known", action="store_true", help="the seeds that failed once")
    parser.add_argument("--prove", action="store_true", help="show that the checks can fail")
    chosen = parser.parse_args(words)
    if chosen.prove:
        return prove()
    if chosen.seed is not None:
        return replay(chosen.seed, chosen.without, full=chosen.full)
    seeds = list(range(chosen.start, chosen.start + chosen.seeds))
    return run_many([seed for seed, _ in known_seeds()] if chosen.known else seeds, chosen.jobs)


def replay(seed: int, without: str, *, full: bool) -> int:
    left_out = {Trouble(each) for each in without.split(",") if each}
    result = run(plan_for(seed, frozenset(Trouble) - left_out))
    if result.broken is not None and not full:
        result = shrunk(result)
    show(result, full=full)
    return 1 if result.broken else 0


def show(result: Result, *, full: bool) -> None:
    chat = result.broken.chat_id if result.broken else 0
    print("\n".join(result.trace.lines(frozenset() if full or not chat else frozenset({chat}))))
    plan = result.plan
    print(
        f"\nseed {plan.seed}: {plan.workers} workers, users {plan.users}, operators"
        f" {plan.operators}, {plan.seconds:.0f} s of {', '.join(sorted(plan.troubles))}"
    )
    print(f"{result.steps} steps, {result.commits} commits, {result.seconds:.0f} s simulated")
    print(f"BROKEN {result.broken}" if result.broken else "every promise holds")


def verdict(seed: int) -> tuple[int, str]:
    broken = run(plan_for(seed)).broken
    return seed, str(broken) if broken else ""


def run_many(seeds: list[int], jobs: int) -> int:
    began = time.perf_counter()
    failed = 0
    with ProcessPoolExecutor(jobs) as pool:
        for seed, broken in pool.map(verdict, seeds, chunksize=CHUNK):
            if broken:
                failed += 1
                print(f"seed {seed}: {broken}", flush=True)
    took = time.perf_counter() - began
    print(f"{len(seeds)} seeds, {failed} failed, {len(seeds) / took:.1f} seeds/s, {took:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
