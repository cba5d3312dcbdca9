from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.stage import Stage, stage


@pytest.fixture
async def on_stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Lab servers and settings; the test starts the bot itself, once or several times."""
    async with stage(tmp_path) as ready:
        yield ready


@pytest.fixture
async def live(on_stage: Stage) -> AsyncIterator[Stage]:
    """The bot running."""
    async with on_stage.bot():
        yield on_stage
