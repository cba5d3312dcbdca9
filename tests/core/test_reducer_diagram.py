"""docs/states.md is drawn from the table and tells the truth."""

from pathlib import Path

from bot.core.diagram import edges, render
from bot.core.reducer import Outcome
from bot.core.transitions.moves import RESULTS
from bot.core.transitions.table import IN_FLIGHT, TRANSITIONS
from tests.core.model_world import World
from tests.core.test_reducer_world import walk

PAGE = Path(__file__).parents[2] / "docs" / "states.md"


def test_the_page_is_the_output_of_its_command() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), (
        "refresh it: python -m bot.core.diagram > docs/states.md"
    )


def test_every_transition_is_drawn_with_where_it_leads() -> None:
    drawn = edges()
    assert {(edge.state, edge.event) for edge in drawn} == {
        (state, event) for state, row in TRANSITIONS.items() for event in row
    }
    assert all(edge.to for edge in drawn)


def test_no_run_goes_where_the_diagram_does_not_lead() -> None:
    drawn = {(edge.state, edge.event): edge.to for edge in edges()}
    for seed in range(100):
        world = World()
        walk(world, seed)
        for taken in world.taken:
            if taken.step.outcome is not Outcome.APPLIED:
                continue
            after, flying = taken.step.conversation.state, taken.before.in_flight
            if isinstance(taken.event, RESULTS) and flying and taken.event.turn_id == flying.id:
                assert type(taken.event) in IN_FLIGHT
                assert after is taken.before.state
            else:
                assert after in drawn[taken.before.state, type(taken.event)]
