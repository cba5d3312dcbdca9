"""Doctor's checks of this machine: space on the disk, who may read the files."""

import shutil
import stat
from pathlib import Path

from bot.cli.findings import Finding, fine, look, wrong
from bot.settings import ENV_FILE, Settings

MEGABYTE = 1_000_000
TOO_FULL, NEARLY_FULL = 100 * MEGABYTE, 1000 * MEGABYTE


async def disk(settings: Settings) -> Finding:
    """Is there space where the data goes?"""
    data = settings.data_directory.absolute()
    folder = next(each for each in (data, *data.parents) if each.is_dir())
    return judge_space(shutil.disk_usage(folder).free)


def judge_space(free: int) -> Finding:
    amount = f"{free / MEGABYTE:,.0f} MB free"
    if free < TOO_FULL:
        return wrong(f"{amount}; make room before messages can no longer be stored")
    return look(f"{amount}; make room soon") if free < NEARLY_FULL else fine(amount)


async def file_modes(settings: Settings) -> Finding:
    """May others on this machine read the secrets or the conversations?"""
    private = [ENV_FILE, *([settings.sqlite_path] if settings.sqlite_path else [])]
    open_to_others = [str(path) for path in private if _others_may_read(path)]
    if open_to_others:
        names = " ".join(open_to_others)
        return look(f"others on this machine can read {names}; run: chmod 600 {names}")
    return fine("only your account can read .env and the database")


def _others_may_read(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    except OSError:
        return False
