"""The whole application under hostile schedules; see world.py.

The seeds are fixed, so that a red test is red again. `python -m tests.simulation --start` finds
fresh ones.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.known import known_seeds
from tests.simulation.plan import plan_for
from tests.simulation.prove import BREAKAGES, Breakage, notice_within
from tests.simulation.world import run

ROOT = Path(__file__).parents[2]
FRESH = range(100_000, 100_200)
CHUNK = 10


@pytest.mark.parametrize("first", FRESH[::CHUNK])
def test_under_any_schedule_every_promise_holds(first: int) -> None:
    for seed in range(first, first + CHUNK):
        broken = run(plan_for(seed)).broken
        assert broken is None, f"{broken}; see python -m tests.simulation --seed {seed}"


def test_every_seed_that_failed_once_holds_now() -> None:
    for seed, found in known_seeds():
        broken = run(plan_for(seed)).broken
        assert broken is None, f"{found}: {broken}; see python -m tests.simulation --seed {seed}"


@pytest.mark.parametrize("seed", range(5))
def test_the_same_seed_is_the_same_run(seed: int) -> None:
    once, again = run(plan_for(seed)), run(plan_for(seed))
    assert once.trace.entries == again.trace.entries
    assert once.steps == again.steps


def test_in_another_process_the_same_seed_is_the_same_run() -> None:
    def replayed(hash_seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "tests.simulation", "--seed", "7", "--full"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert replayed("1") == replayed("2")


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.name)
def test_a_protection_that_is_taken_out_is_missed(breakage: Breakage) -> None:
    found = notice_within(breakage, range(150))
    assert found is not None
    assert found[1].partition(":")[0] in breakage.notices
