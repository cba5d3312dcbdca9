"""The lab's stage, with judges that watch every request and answer."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from bot.lab.stage import OWNER, QUIET, USER, Stage, serve_stage
from tests.judges import attach_judges

__all__ = ["OWNER", "QUIET", "USER", "Stage", "stage"]


@contextlib.asynccontextmanager
async def stage(folder: Path, **changes: object) -> AsyncIterator[Stage]:
    """Lab servers and settings for a bot whose data lives in `folder`; no bot runs yet."""
    async with serve_stage(Stage, folder, **changes) as ready:
        judgement = attach_judges(ready.telegram)
        yield ready
        assert not judgement.complaints
