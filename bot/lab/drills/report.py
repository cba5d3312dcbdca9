"""Prints what came of the drills: a table row a step, a line a verdict; or JSON for machines."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bot.lab.drills.catalogue import DRILLS
from bot.lab.drills.running import Result, Verdict

COLUMNS = (
    "Drill",
    "Step",
    "State",
    "Epoch",
    "Turn",
    "Client message id",
    "The user saw",
    "The operator saw",
)
STYLES = {Verdict.PASS: "bold green", Verdict.FAIL: "bold red", Verdict.WAITS: "yellow"}


def show(console: Console, results: Sequence[Result]) -> None:
    for result in results:
        _show_one(console, result)
    console.print(summary(results), highlight=False, style="bold")


def _show_one(console: Console, result: Result) -> None:
    drill = result.drill
    title = f"{drill.number}. {drill.name}: {drill.title}"
    if result.verdict is Verdict.WAITS:
        console.print(f"{escape(title)}")
        console.print(f"[yellow]WAITS FOR ITS PART: {drill.waits_for} is not built yet[/yellow]\n")
        return
    table = Table(title=escape(title), title_justify="left", title_style="bold", show_lines=True)
    for name in COLUMNS:
        table.add_column(name, overflow="fold")
    for row in result.rows:
        table.add_row(
            str(drill.number),
            escape(row.step),
            row.state,
            str(row.epoch),
            row.turn_id,
            row.client_message_id,
            escape("\n".join(row.user_saw)),
            escape("\n".join(row.operator_saw)),
        )
    console.print(table)
    for check in result.checks:
        mark = "[green]✓[/green]" if check.held else "[bold red]✗[/bold red]"
        found = f" — found: {check.found}" if check.found else ""
        console.print(f"  {mark} {escape(check.claim + found)}", highlight=False)
    word = f"[{STYLES[result.verdict]}]{result.verdict.upper()}[/]"
    console.print(f"{word} {drill.name} ({result.seconds} s)\n", highlight=False)


def summary(results: Sequence[Result]) -> str:
    counts = {verdict: sum(each.verdict is verdict for each in results) for verdict in Verdict}
    failed = ", ".join(each.drill.name for each in results if each.verdict is Verdict.FAIL)
    words = [f"{counts[Verdict.PASS]} passed", f"{counts[Verdict.FAIL]} failed"]
    if counts[Verdict.WAITS]:
        words.append(f"{counts[Verdict.WAITS]} waiting for its part")
    return ", ".join(words) + (f": {failed}" if failed else "")


def as_json(results: Sequence[Result]) -> str:
    return json.dumps(
        {
            "drills": [_plain(each) for each in results],
            "passed": sum(each.verdict is Verdict.PASS for each in results),
            "failed": sum(each.verdict is Verdict.FAIL for each in results),
            "waiting": sum(each.verdict is Verdict.WAITS for each in results),
        },
        ensure_ascii=False,
        indent=1,
    )


def _plain(result: Result) -> dict[str, Any]:
    drill = result.drill
    return {
        "number": drill.number,
        "name": drill.name,
        "title": drill.title,
        "verdict": result.verdict.value,
        "waits_for": drill.waits_for,
        "seconds": result.seconds,
        "steps": [asdict(row) for row in result.rows],
        "checks": [asdict(check) for check in result.checks],
    }


def listing(console: Console) -> None:
    table = Table("No.", "Name", "What happens", box=None)
    for drill in DRILLS:
        waits = f" (waits for {drill.waits_for})" if drill.waits_for else ""
        table.add_row(str(drill.number), drill.name, escape(drill.title + waits))
    console.print(table)
