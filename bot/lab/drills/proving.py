"""Shows that the drills can fail: each protection is broken in turn, and one of them notices.

Each runs in a process of its own, so that nothing broken outlives it. As a control the same drills
run first with nothing broken: a drill that fails anyway proves nothing.
"""

import argparse
import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot import logs
from bot.lab.drills.breaking import PROTECTIONS, Protection, breaking, shuffled
from bot.lab.drills.catalogue import chosen
from bot.lab.drills.report import as_json
from bot.lab.drills.running import Result, Verdict, run_drills
from bot.lab.process import CLEAN, code_path

AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Proof:
    """What noticed that a protection was gone; nothing if nothing did."""

    protection: Protection
    gave_way: Mapping[str, tuple[str, ...]]  # by drill: the claims that did not hold

    @property
    def noticed_by(self) -> tuple[str, ...]:
        """The drills that failed for the right reason."""
        claims = self.protection.drills
        return tuple(name for name, lost in self.gave_way.items() if claims[name] in lost)


async def control(protections: Sequence[Protection]) -> list[Result]:
    """The drills that will be asked to fail, with nothing broken."""
    names = {name for each in protections for name in each.drills}
    return await run_drills(chosen(sorted(names)))


async def prove(protections: Sequence[Protection]) -> list[Proof]:
    """Break each in turn, a few at a time; return what noticed it, in the same order."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(protection: Protection) -> Proof:
        async with gate:
            return await _prove_one(protection)

    return list(await asyncio.gather(*(one(each) for each in protections)))


async def _prove_one(protection: Protection) -> Proof:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot.lab.drills.proving",
        protection.name,
        cwd=Path(__file__).parent,
        env={**CLEAN, "PYTHONPATH": code_path()},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,  # a broken bot complains at length
    )
    said, _ = await child.communicate()
    gave_way = {
        drill["name"]: tuple(check["claim"] for check in drill["checks"] if not check["held"])
        for drill in json.loads(said)["drills"]
    }
    return Proof(protection, gave_way)


def run(console: Console, seed: int, names: Sequence[str] = ()) -> int:
    """Prove, print, and return the exit code: 1 if anything went unnoticed."""
    protections = [each for each in shuffled(seed) if not names or each.name in names]
    sound = asyncio.run(control(protections))
    if failing := [each.drill.name for each in sound if each.verdict is not Verdict.PASS]:
        console.print(f"These fail with nothing broken and prove nothing: {', '.join(failing)}")
        for check in (check for each in sound for check in each.failed_checks):
            console.print(f"  ✗ {check.claim}: {check.found}", markup=False)
        return 1
    console.print(f"Control: {len(sound)} drills pass with nothing broken. Seed {seed}.")
    proofs = asyncio.run(prove(protections))
    console.print(_drawn(proofs))
    unnoticed = [each.protection.name for each in proofs if not each.noticed_by]
    console.print(
        f"Nothing noticed the absence of: {', '.join(unnoticed)}"
        if unnoticed
        else f"Each of the {len(proofs)} broken protections was noticed."
    )
    return 1 if unnoticed else 0


def _drawn(proofs: Sequence[Proof]) -> Table:
    table = Table("Protection", "Broken by", "Drill that noticed", "What did not hold")
    for proof in proofs:
        known = "\n".join(proof.noticed_by) or "[bold red]none[/bold red]"
        lost = [claim for claims in proof.gave_way.values() for claim in claims]
        claims = "\n".join(_first(dict.fromkeys(lost)))
        table.add_row(proof.protection.name, proof.protection.broken_by, known, claims)
    return table


def _first(lost: Iterable[str], most: int = 3) -> Iterator[str]:
    claims = list(lost)
    yield from claims[:most]
    if len(claims) > most:
        yield f"… and {len(claims) - most} more"


def main() -> None:
    """Break one protection and run its drills; the result goes to standard output as JSON."""
    parser = argparse.ArgumentParser(prog="bot.lab.drills.proving")
    parser.add_argument("protection", choices=PROTECTIONS)
    protection = PROTECTIONS[parser.parse_args().protection]
    logs.configure("ERROR")
    with breaking(protection.name):
        results = asyncio.run(run_drills(chosen(list(protection.drills)), broken=protection.name))
    sys.stdout.write(as_json(results))


if __name__ == "__main__":
    main()
