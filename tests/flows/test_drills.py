"""`dabir drill`: drills pass, those that must fail do, and the checklist names what exists."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bot.lab.drills import command, proving
from bot.lab.drills.breaking import PROTECTIONS, shuffled
from bot.lab.drills.catalogue import DRILLS, chosen
from bot.lab.drills.checklist import POINTS
from bot.lab.drills.record import DrillStage
from bot.lab.drills.running import Verdict, run_drill

ROOT = Path(__file__).parents[2]
QUICK = ("epoch", "version", "consent", "reconcile")  # `dabir drill --prove` takes them all
ROW = {
    "step",
    "state",
    "epoch",
    "turn_id",
    "client_message_id",
    "user_saw",
    "operator_saw",
}


def test_every_drill_passes_or_says_what_it_waits_for(capfd: pytest.CaptureFixture[str]) -> None:
    code = command.run(as_json=True)
    told = json.loads(capfd.readouterr().out)
    lost = [check for drill in told["drills"] for check in drill["checks"] if not check["held"]]
    assert (code, lost) == (0, [])
    verdicts = {drill["number"]: drill["verdict"] for drill in told["drills"]}
    assert verdicts == dict.fromkeys(range(1, 16), "pass")
    assert (told["passed"], told["failed"], told["waiting"]) == (15, 0, 0)
    for drill in told["drills"]:
        assert bool(drill["checks"]) == bool(drill["steps"]) == (drill["verdict"] == "pass")
        assert all(row.keys() == ROW for row in drill["steps"])


def test_one_drill_by_name_and_number_is_drawn_with_its_steps(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert command.run(["third-message", "14"]) == 0
    drawn = capfd.readouterr().out
    assert "ai:tg:42:turn:msg-3" in drawn
    assert "PASS third-message" in drawn
    assert "PASS flood-wait" in drawn
    assert "2 passed, 0 failed" in drawn


def test_a_drill_that_does_not_exist_is_a_usage_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert command.run(["no-such"]) == 2
    assert "no-such" in capfd.readouterr().err


def test_drills_are_listed_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    assert command.show_list() == 0
    listed = capfd.readouterr().out
    places = [listed.index(drill.name) for drill in DRILLS]
    assert places == sorted(places)
    assert chosen(["15", "third-message"]) == (DRILLS[7], DRILLS[14])


async def test_a_claim_that_does_not_hold_fails_the_drill() -> None:
    async def wrong(stage: DrillStage) -> None:
        async with stage.bot():
            await stage.opt_in()
            await stage.step("the user starts the assistant")
            stage.check("two and two are five", 2 + 2 == 5, 4)

    result = await run_drill(replace(DRILLS[0], play=wrong))
    assert result.verdict is Verdict.FAIL
    assert [(each.claim, each.found) for each in result.failed_checks] == [
        ("two and two are five", "4")
    ]


async def test_a_drill_that_breaks_off_or_checks_nothing_fails() -> None:
    async def breaks_off(stage: DrillStage) -> None:
        stage.check("this held", True)
        raise AssertionError("here")

    async def nothing(stage: DrillStage) -> None:
        pass

    for play in (breaks_off, nothing):
        result = await run_drill(replace(DRILLS[0], play=play))
        assert result.verdict is Verdict.FAIL


@pytest.mark.parametrize("name", PROTECTIONS)
def test_every_protection_can_be_taken_away(name: str) -> None:
    """A function that was moved or renamed is missed here, and not after a drill has run."""
    with PROTECTIONS[name].take_away():
        pass


async def test_a_broken_protection_is_noticed_by_its_drill() -> None:
    proofs = await proving.prove([PROTECTIONS[name] for name in QUICK])
    assert [each.noticed_by for each in proofs] == [
        ("human-in-mid-generation",),
        ("third-message",),
        ("person-leaves",),
        ("send-times-out",),
    ]


def test_a_failure_for_another_reason_is_no_proof() -> None:
    proof = proving.Proof(PROTECTIONS["epoch"], {"human-in-mid-generation": ("something else",)})
    assert proof.noticed_by == ()


def test_what_goes_unnoticed_ends_with_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    unbroken = replace(PROTECTIONS["version"], drills={"third-message": "no"})

    monkeypatch.setattr(proving, "shuffled", lambda seed: [unbroken])
    assert proving.run(Console(width=180), seed=1) == 1
    assert "Nothing noticed the absence of: version" in capfd.readouterr().out


def test_protections_name_drills_and_the_order_follows_from_the_seed() -> None:
    playable = {drill.name for drill in DRILLS if drill.play}
    assert all(each.drills and each.drills.keys() <= playable for each in PROTECTIONS.values())
    assert shuffled(3) == shuffled(3) != shuffled(4)


def test_the_checklist_names_tests_and_drills_that_exist(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert [point.number for point in POINTS] == list(range(1, 15))
    names = {drill.name: drill for drill in DRILLS}
    for point in POINTS:
        assert point.tests or point.drills
        assert set(point.drills) <= names.keys()
        waits = any(names[name].waits_for for name in point.drills)
        assert bool(point.waits_for) == waits
        assert [test for test in point.tests if not exists(test)] == []
    assert command.show_checklist() == 0
    drawn = capfd.readouterr().out
    assert all(point.claim.split()[0] in drawn for point in POINTS)
    assert command.show_checklist(as_json=True) == 0
    assert len(json.loads(capfd.readouterr().out)) == 14


def exists(test: str) -> bool:
    file, _, function = test.partition("::")
    path = ROOT / file
    if not path.exists():
        return False
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function
        for node in ast.walk(tree)
    )
