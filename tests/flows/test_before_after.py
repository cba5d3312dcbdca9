"""`python -m memory.before_after`: the same lies, believed and seen through."""

import asyncio
import os
import subprocess
import sys

from memory import before_after


async def test_the_naive_reader_is_fooled_and_ours_is_not() -> None:
    scenes = dict(await before_after.compare())
    empty, job, ties = (scenes[title] for title, _ in before_after.SCENES)
    assert [naive for _, naive, _ in empty] == ["(nothing)", "(nothing)"]
    assert empty[0][2].startswith("I am allergic to nuts, asked again after 0.6 s")
    assert empty[1][2].startswith("(could not be read")
    assert [naive for _, naive, _ in job[:2]] == ["(nothing)", "(nothing)"]
    assert [ours for _, _, ours in job[:2]] == ["My sister is Ana"] * 2
    assert (job[2][1][:6], job[2][2]) == ("0 of 1", "1 of 1 line is in the store, 0 waiting")
    assert [naive for _, naive, _ in ties] == ["I live in Oslo", "I live in Rome"]
    assert [ours for _, _, ours in ties] == ["I live in Oslo", "I live in Oslo"]


def test_it_prints_the_same_every_time() -> None:
    command = [sys.executable, "-m", "memory.before_after"]
    prints = {
        subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert prints == {before_after.drawn(asyncio.run(before_after.compare()))}
