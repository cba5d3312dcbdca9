"""Draws the state machine from its table: `python -m bot.core.diagram > docs/states.md`.

Where a transition leads depends on the conversation, so each is tried on one conversation of every
sort that matters, and what came out is drawn. Nothing here is used while the bot runs.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, get_args

from bot.core.effects import ShowNotice
from bot.core.events import Event
from bot.core.reducer import Outcome, Step, reduce
from bot.core.states import AI_STATES, Conversation, Holder, State, Turn
from bot.core.transitions.moves import RESULTS
from bot.core.transitions.table import IGNORED, IN_FLIGHT, TRANSITIONS

NOW = 1000.0
AGES = (NOW - 5, NOW - 500)  # of what waits, was told or is held: recent, or long ago
EVENTS: tuple[type[Event], ...] = tuple(
    kind for union in get_args(Event) for kind in (get_args(union) or (union,))
)
WORKING = AI_STATES - {State.AI_READY}
VARIANTS: Mapping[str, tuple[object, ...]] = {
    "at": (NOW,),
    "operator_id": (1,),
    "to_operator_id": (2,),
    "lease_until": (NOW + 600,),
    "version": (2,),
    "readable": (True, False),
    "more": (False, True),
    "anyone": (True, False),
}
INTRO = """\
# The states of a conversation

Generated from the table in `bot/core/transitions/table.py`; do not edit. To refresh it:

    python -m bot.core.diagram > docs/states.md

`ai` stands for all five states in which the AI holds the authority to reply.

"""


@dataclass(frozen=True, slots=True)
class Edge:
    """One event in one state, where it can lead and what can be done on the way."""

    state: State
    event: type[Event]
    to: frozenset[State]
    effects: tuple[str, ...]


def edges() -> tuple[Edge, ...]:
    """Every transition of the table, in the order of the states."""
    return tuple(_edge(state, event) for state in State for event in TRANSITIONS[state])


def flight_edges() -> tuple[tuple[type[Event], tuple[str, ...]], ...]:
    """What is done when something becomes known of a reply that authority was taken from."""
    found = []
    for event in IN_FLIGHT:
        steps = [
            step
            for state in State
            if state not in WORKING
            for flying in _flying(state)
            for step in _steps(flying, event)
        ]
        found.append((event, _effects(steps)))
    return tuple(found)


def render() -> str:
    """The page docs/states.md."""
    table = edges()
    parts = (INTRO, _mermaid(table), _transitions(table), _flights(), _ignored())
    return "".join(parts).rstrip() + "\n"


# --- trying it out ------------------------------------------------------------------------------


def _edge(state: State, event: type[Event]) -> Edge:
    steps = [step for sort in _sorts(state) for step in _steps(sort, event)]
    return Edge(state, event, frozenset(s.conversation.state for s in steps), _effects(steps))


def _steps(c: Conversation, event: type[Event]) -> Iterator[Step]:
    names = [field.name for field in fields(event)]
    variants = [_variants(c, event, name) for name in names]
    for values in product(*variants):
        arguments: dict[str, Any] = dict(zip(names, values, strict=True))
        step = reduce(c, event(**arguments))
        if step.outcome is Outcome.APPLIED:
            yield step


def _variants(c: Conversation, event: type[Event], name: str) -> tuple[object, ...]:
    if name == "epoch":
        return (c.epoch,)
    if name == "turn_id" and event in RESULTS:
        turn = c.in_flight or c.turn
        return (turn.id if turn else "",)
    return VARIANTS.get(name, ("",))


def _sorts(state: State) -> Iterator[Conversation]:
    """One conversation of every sort that makes a difference in this state."""
    turn = Turn(2, 2) if state in WORKING else None
    holder = Holder(1, "", NOW, NOW + 600) if state is State.HUMAN_ACTIVE else None
    expired = Holder(1, "", NOW, NOW - 1) if state is State.HUMAN_ACTIVE else None
    for version, age, restarts, failures, held, asked in product(
        (2, 3) if turn else (1, 2), AGES, (0, 3), (0, 2), (holder, expired), (0.0, NOW - 500)
    ):
        yield Conversation(
            "",
            state,
            version=version,
            covered=1,
            turn=turn,
            restarts=restarts,
            waiting_since=age,
            told_at=age,
            model_failures=failures,
            holder=held,
            requested_at=asked,
        )


def _flying(state: State) -> Iterator[Conversation]:
    for sort in _sorts(state):
        yield replace(sort, in_flight=Turn(1, 1))


def _effects(steps: Iterable[Step]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for step in steps:
        for effect in step.effects:
            shown = f"`{effect.notice}`" if isinstance(effect, ShowNotice) else None
            names[shown or type(effect).__name__] = None
    return tuple(names)


# --- writing it down ----------------------------------------------------------------------------


def _mermaid(table: Iterable[Edge]) -> str:
    labels: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (source, event), targets in _grouped(table).items():
        for target in targets:
            if target != source:
                labels[source, target].append(event)
    lines = ["stateDiagram-v2", "    [*] --> consent_required", "    state ai {"]
    lines += [f"        {state}" for state in State if state in AI_STATES]
    lines += ["    }"]
    for (source, target), events in labels.items():
        lines.append(f"    {source} --> {target}: {'<br>'.join(_words(each) for each in events)}")
    return "```mermaid\n" + "\n".join(lines) + "\n```\n"


def _grouped(table: Iterable[Edge]) -> dict[tuple[str, str], list[str]]:
    """Targets by (source, event); what all states of the AI share is drawn once, from `ai`."""
    by_event: dict[str, dict[State, frozenset[State]]] = defaultdict(dict)
    for edge in table:
        by_event[edge.event.__name__][edge.state] = edge.to
    grouped: dict[tuple[str, str], list[str]] = {}
    for event, found in by_event.items():
        together = frozenset.intersection(*(found.get(each, frozenset()) for each in AI_STATES))
        shared = together - AI_STATES
        for state, targets in found.items():
            own = targets - shared if state in AI_STATES else targets
            grouped[state.value, event] = [each.value for each in State if each in own]
        grouped["ai", event] = [each.value for each in State if each in shared]
    return grouped


def _transitions(table: Iterable[Edge]) -> str:
    rows = [
        (edge.state.value, edge.event.__name__, _states(edge.to), ", ".join(edge.effects) or "–")
        for edge in table
    ]
    note = (
        "Names in `code` are notices shown to the user. A transition that leads to several states,"
        " or lists several effects, chooses by the conversation: see its function.\n\n"
    )
    head = ("State", "Event", "Next state", "Effects, in some case")
    return "\n## Transitions\n\n" + note + _table(head, rows)


def _flights() -> str:
    note = (
        "When authority is taken from the AI while a reply is on the wire, the reply stays"
        " `in_flight` until it is known what became of it, whatever the state is by then. Nothing"
        " of it leaves any more, and no state changes; only its messages are settled.\n\n"
    )
    rows = [(event.__name__, ", ".join(effects) or "–") for event, effects in flight_edges()]
    head = ("Event", "Effects, in some case")
    return "\n## A reply in flight\n\n" + note + _table(head, rows)


def _ignored() -> str:
    by_reason: dict[tuple[State, str], list[str]] = defaultdict(list)
    for (state, event), reason in IGNORED.items():
        by_reason[state, reason].append(event.__name__)
    order = list(State)
    rows = [
        (state.value, ", ".join(sorted(events)), reason)
        for (state, reason), events in sorted(
            by_reason.items(), key=lambda each: (order.index(each[0][0]), each[0][1])
        )
    ]
    return "\n## Ignored\n\n" + _table(("State", "Events", "Why"), rows)


def _states(states: frozenset[State]) -> str:
    return ", ".join(state.value for state in State if state in states)


def _words(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", event)


def _table(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(render())
