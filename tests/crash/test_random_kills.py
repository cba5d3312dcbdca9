"""I4, I7, I9: kill -9 at random moments loses nothing and doubles nothing."""

import os
from pathlib import Path

import pytest

from tests.crash.kills import kill_again_and_again
from tests.crash.scene import scene

KILLS = int(os.environ.get("CRASH_KILLS", "25"))  # in both halves together
SEED = int(os.environ.get("CRASH_SEED", "1"))


@pytest.mark.timeout(120 + 6 * KILLS)
@pytest.mark.parametrize("half", [0, 1])
async def test_kills_at_random_moments_lose_nothing_and_double_nothing(
    tmp_path: Path, half: int
) -> None:
    async with scene(tmp_path) as ready:
        await kill_again_and_again(ready, SEED + half, (KILLS + half) // 2)
