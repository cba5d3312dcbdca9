"""`dabir doctor`: checks everything the bot needs, one line each. Looks only, changes nothing.

Rule 1: a running bot is never disturbed: no getUpdates, no write, no lock that it could meet.
Rule 2: every check runs, each within its own time, whatever the others find.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TextIO, TypeAlias

import structlog

from bot.cli import machine_checks, network_checks, storage_checks
from bot.cli.findings import Finding, State, fine, wrong
from bot.errors import DabirError
from bot.settings import ENV_FILE, Settings, missing, read

log = structlog.get_logger(__name__)

CHECK_SECONDS = 10.0
Check: TypeAlias = Callable[[Settings], Awaitable[Finding]]

CHECKS: Mapping[str, Check] = {
    "bot": storage_checks.running_bot,
    "token": network_checks.token,
    "updates": network_checks.updates,
    "model": network_checks.model,
    "database": storage_checks.database,
    "memory": storage_checks.memory,
    "clock": network_checks.clock,
    "disk": machine_checks.disk,
    "files": machine_checks.file_modes,
}


def run(
    path: Path = ENV_FILE, output: TextIO | None = None, checks: Mapping[str, Check] = CHECKS
) -> int:
    """Print a line for each check; return 0 if nothing is wrong, otherwise 1."""
    output = output or sys.stdout
    settings, problems = read(path)
    named = {each.setting for each in problems}
    problems += tuple(each for each in missing(settings) if each.setting not in named)
    found = [("settings", wrong(problem.sentence)) for problem in problems]
    found = found or [("settings", fine("all are set and valid"))]
    found += asyncio.run(_run_all(settings, checks))
    for name, finding in found:
        print(f"{finding.state} {name:<9} {finding.sentence}", file=output, flush=True)
    return 1 if any(finding.state is State.WRONG for _, finding in found) else 0


async def _run_all(settings: Settings, checks: Mapping[str, Check]) -> list[tuple[str, Finding]]:
    findings = await asyncio.gather(*(_run(check, settings) for check in checks.values()))
    return list(zip(checks, findings, strict=True))


async def _run(check: Check, settings: Settings, *, seconds: float = CHECK_SECONDS) -> Finding:
    try:
        return await asyncio.wait_for(check(settings), seconds)
    except TimeoutError:
        return wrong(f"no answer within {seconds:g} seconds")
    except DabirError as error:
        return wrong(str(error))
    except Exception as error:  # an edge of the command: one broken check must not hide the others
        log.debug("check_failed", exc_info=True)
        return wrong(f"cannot be checked ({type(error).__name__}); LOG_LEVEL=DEBUG shows where")
