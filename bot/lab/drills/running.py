"""Runs drills, a few at a time: each with servers, a folder and bots of its own."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bot.lab.drills.catalogue import Drill
from bot.lab.drills.record import Check, DrillStage, Row
from bot.lab.stage import serve_stage

AT_ONCE = 3  # they mostly wait
LONGEST_SECONDS = 90.0


class Verdict(StrEnum):
    PASS = "pass"  # noqa: S105 (no password)
    FAIL = "fail"
    WAITS = "waits"  # for a part that is not built yet


@dataclass(frozen=True, slots=True)
class Result:
    drill: Drill
    verdict: Verdict
    rows: tuple[Row, ...] = ()
    checks: tuple[Check, ...] = ()
    seconds: float = 0.0

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.held)


async def run_drills(
    drills: Sequence[Drill],
    *,
    at_once: int = AT_ONCE,
    broken: str = "",
    finished: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Run them; return the results in the order of `drills`. `finished` hears of each at once."""
    gate = asyncio.Semaphore(at_once)

    async def one(drill: Drill) -> Result:
        async with gate:
            result = await run_drill(drill, broken=broken)
        finished(result)
        return result

    return list(await asyncio.gather(*(one(drill) for drill in drills)))


async def run_drill(drill: Drill, *, broken: str = "") -> Result:
    """Run one drill. Whatever stops it on its way is a check that did not hold."""
    if drill.play is None:
        return Result(drill, Verdict.WAITS)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"dabir-drill-{drill.number}-") as folder:
        async with serve_stage(DrillStage, Path(folder)) as stage:
            stage.broken = broken
            stopped = await _play(drill, stage)
        checks = (*stage.checks, *stopped)
    held = bool(checks) and all(check.held for check in checks)
    verdict = Verdict.PASS if held else Verdict.FAIL
    return Result(
        drill, verdict, tuple(stage.rows_kept), checks, round(time.monotonic() - begun, 1)
    )


async def _play(drill: Drill, stage: DrillStage) -> list[Check]:
    assert drill.play is not None
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            await drill.play(stage)
    except Exception as error:  # noqa: BLE001 (a drill's edge: the others go on)
        steps = [row.step for row in stage.rows_kept]
        where = f"after “{steps[-1]}”" if steps else "at the beginning"
        found = f"{type(error).__name__}: {error}"
        return [Check(f"it got past what comes {where}", False, found)]
    return []
