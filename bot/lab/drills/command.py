"""What `dabir drill` does."""

import asyncio
import json
import sys
from collections.abc import Sequence

from rich.console import Console

from bot import logs
from bot.lab.drills import checklist, proving, report
from bot.lab.drills.catalogue import DRILLS, chosen
from bot.lab.drills.running import Result, Verdict, run_drills

OK, FAILED, USAGE = 0, 1, 2


def run(only: Sequence[str] = (), *, as_json: bool = False) -> int:
    """Run drills, print what came of them, and return the exit code."""
    try:
        drills = chosen(only)
    except KeyError as unknown:
        print(_unknown(str(unknown.args[0])), file=sys.stderr)  # noqa: T201
        return USAGE
    logs.configure("CRITICAL")  # the bots report each misfortune, as they should; here it is meant
    progress = Console(stderr=True)

    def finished(result: Result) -> None:
        if progress.is_terminal and result.verdict is not Verdict.WAITS:
            progress.print(f"[dim]{result.verdict} {result.drill.name}[/dim]", highlight=False)

    results = asyncio.run(run_drills(drills, finished=finished))
    if as_json:
        sys.stdout.write(report.as_json(results) + "\n")
    else:
        report.show(_console(), results)
    return FAILED if any(each.verdict is Verdict.FAIL for each in results) else OK


def prove(seed: int) -> int:
    logs.configure("CRITICAL")
    return proving.run(_console(), seed)


def show_list() -> int:
    report.listing(_console())
    return OK


def show_checklist(*, as_json: bool = False) -> int:
    if as_json:
        sys.stdout.write(json.dumps(checklist.as_plain(), indent=1) + "\n")
    else:
        checklist.show(_console())
    return OK


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=180)


def _unknown(word: str) -> str:
    return f"There is no drill “{word}”; the drills are 1 to {len(DRILLS)}, see dabir drill --list."
