"""The reducer in the model world: every interleaving, every promise after every step.

tests/core/model_world.py is the world, tests/core/invariants.py are the promises.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from random import Random
from traceback import walk_tb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bot.core.effects import (
    ContinueReply,
    Cover,
    Effect,
    GrantConsent,
    RecallReply,
    RevokeConsent,
    ShowNotice,
    StartDebounce,
    StartTimer,
)
from bot.core.events import (
    AiDrafted,
    Delivered,
    DeliveryFailed,
    DeliveryUnresolved,
    DraftApproved,
    Event,
    HumanClaimed,
    HumanTransferred,
    ReplyRecalled,
    UserMessaged,
    UserOptedIn,
)
from bot.core.reducer import Outcome, Step, reduce
from bot.core.states import AI_STATES, Conversation, State
from bot.core.transitions.moves import RESULTS, Limits
from bot.core.transitions.table import IN_FLIGHT, TRANSITIONS
from tests.core.invariants import (
    CHECKS,
    i4_in_the_end_every_message_is_settled_or_its_user_is_asked,
)
from tests.core.model_world import Choice, Reduce, World

STEPS = 150


class Interleavings(RuleBasedStateMachine):
    """Whatever can happen next happens in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(checks=CHECKS)

    def _one_of(self, choices: Iterator[Choice], data: st.DataObject) -> None:
        available = list(choices)
        if available:
            _, act = data.draw(st.sampled_from(available))
            act()

    @rule(data=st.data())
    def the_user_acts(self, data: st.DataObject) -> None:
        self._one_of(self.world.user(), data)

    @rule(data=st.data())
    def the_worker_goes_on(self, data: st.DataObject) -> None:
        self._one_of(self.world.worker(), data)

    @rule(data=st.data())
    def the_delivery_goes_on(self, data: st.DataObject) -> None:
        self._one_of(self.world.delivery(), data)

    @rule(data=st.data())
    def people_act(self, data: st.DataObject) -> None:
        self._one_of(self.world.people(), data)

    @rule(data=st.data())
    def something_else_happens(self, data: st.DataObject) -> None:
        self._one_of(self.world.system(), data)

    @rule()
    def the_user_talks_to_the_ai(self) -> None:
        """A shortcut to where most can go wrong: a reply is about to leave."""
        self.world.apply(UserOptedIn(self.world.now))
        self.world.apply(UserMessaged(self.world.now))
        self.world.now += 10
        for wanted in ("the turn is due", "a draft is written"):
            for name, act in self.world.worker():
                if name == wanted:
                    act()
                    break

    @invariant()
    def the_state_is_one_that_the_table_knows(self) -> None:
        assert self.world.c.state in TRANSITIONS

    def teardown(self) -> None:
        self.world.settle()
        i4_in_the_end_every_message_is_settled_or_its_user_is_asked(self.world)


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def walk(world: World, seed: int, steps: int = STEPS) -> None:
    """A long random run, then silence. Much faster than a search, so there can be many."""
    random = Random(seed)
    for _ in range(steps):
        available = world.choices() if random.random() < 0.2 else _towards_a_reply(world)
        _, act = random.choice(available)
        act()
    world.settle()
    i4_in_the_end_every_message_is_settled_or_its_user_is_asked(world)


def _towards_a_reply(world: World) -> list[Choice]:
    """What has to happen for replies to come about: there most can go wrong."""
    if world.c.state in AI_STATES:
        going_on = [*world.worker(), *world.delivery()]
        return going_on or _called(world, "writes", "2.0 s pass")
    if world.c.holder is not None:
        released = f"HumanReleased by {world.c.holder.operator_id}"
        return _called(world, released, "writes", "700.0 s pass", "human_lease fires")
    return _called(world, "opts in", "cancels", "writes", *MEANWHILE)


MEANWHILE = (
    "a part arrives",
    "a part is lost from sight",
    "the doubt is resolved",
    "no proof",
    "700.0 s pass",
    "handoff_reminder fires",
)


def _called(world: World, *names: str) -> list[Choice]:
    return [choice for choice in world.choices() if choice[0] in names]


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_in_random_runs_every_promise_holds(seed: int) -> None:
    for each in range(seed, seed + 20):
        walk(World(checks=CHECKS), each)


# An honest world does not get there; if it happens all the same, nothing is stuck.
DEFENSIVE = {
    (State.BOT_SENDING, ReplyRecalled),
    (State.DELIVERY_UNKNOWN, ReplyRecalled),
    (State.DELIVERY_UNKNOWN, Delivered),
    (State.DELIVERY_UNKNOWN, DeliveryFailed),
}


def test_the_runs_reach_every_transition() -> None:
    """A promise that is never put to the test is not kept but unknown."""
    wanted = {(state, event) for state, row in TRANSITIONS.items() for event in row}
    wanted -= DEFENSIVE
    flights = set(IN_FLIGHT)
    for seed in range(400):
        world = World()
        walk(world, seed)
        for taken in world.taken:
            if taken.step.outcome is not Outcome.APPLIED:
                continue
            flying = taken.before.in_flight
            if isinstance(taken.event, RESULTS) and flying and taken.event.turn_id == flying.id:
                flights.discard(type(taken.event))
            else:
                wanted.discard((taken.before.state, type(taken.event)))
        if not wanted and not flights:
            return
    assert not wanted
    assert not flights


# --- every promise has teeth: a reducer that breaks it is caught ---------------------------------


def without(step: Step, *kinds: type[Effect]) -> Step:
    return replace(step, effects=tuple(e for e in step.effects if not isinstance(e, kinds)))


def forgets_the_epoch(c: Conversation, event: Event, limits: Limits) -> Step:
    step = reduce(c, event, limits)
    return replace(step, conversation=replace(step.conversation, epoch=c.epoch))


def keeps_the_holder(c: Conversation, event: Event, limits: Limits) -> Step:
    step = reduce(c, event, limits)
    if isinstance(event, HumanTransferred):
        return replace(step, conversation=replace(step.conversation, holder=None))
    return step


def believes_old_results(c: Conversation, event: Event, limits: Limits) -> Step:
    if isinstance(event, RESULTS) and c.turn is not None:
        event = replace(event, epoch=c.epoch, turn_id=c.turn.id)
    return reduce(c, event, limits)


def does_not_recall(c: Conversation, event: Event, limits: Limits) -> Step:
    step = reduce(c, event, limits)
    return without(step, RecallReply) if isinstance(event, HumanClaimed) else step


def does_not_cover(c: Conversation, event: Event, limits: Limits) -> Step:
    return without(reduce(c, event, limits), Cover)


def says_nothing(c: Conversation, event: Event, limits: Limits) -> Step:
    return without(reduce(c, event, limits), ShowNotice)


def never_restarts(c: Conversation, event: Event, limits: Limits) -> Step:
    return reduce(c, event, replace(limits, max_restarts=0))


def skips_the_check(c: Conversation, event: Event, limits: Limits) -> Step:
    step = reduce(c, event, limits)
    if isinstance(event, AiDrafted) and step.outcome is Outcome.APPLIED:
        approved = DraftApproved(event.at, event.epoch, event.turn_id)
        return reduce(step.conversation, approved, limits)
    return step


def asks_the_model_again(c: Conversation, event: Event, limits: Limits) -> Step:
    if isinstance(event, ReplyRecalled) and c.in_flight is not None:
        again = replace(c, in_flight=None, covered=c.in_flight.covers_from - 1)
        return Step(again, (), Outcome.APPLIED)
    return reduce(c, event, limits)


def sends_into_the_unknown(c: Conversation, event: Event, limits: Limits) -> Step:
    step = reduce(c, event, limits)
    if isinstance(event, DeliveryUnresolved) and c.turn is not None:
        return replace(step, effects=(*step.effects, ContinueReply(c.turn)))
    return step


def reads_everything(c: Conversation, event: Event, limits: Limits) -> Step:
    step = reduce(c, event, limits)
    if isinstance(event, UserOptedIn) and step.outcome is Outcome.APPLIED:
        return replace(step, effects=(*step.effects, GrantConsent(1, c.version)))
    return step


def forgets_the_withdrawal(c: Conversation, event: Event, limits: Limits) -> Step:
    return without(reduce(c, event, limits), RevokeConsent)


def forgets_what_came_meanwhile(c: Conversation, event: Event, limits: Limits) -> Step:
    step = reduce(c, event, limits)
    return without(step, StartDebounce) if isinstance(event, Delivered) else step


def forgets_timers(c: Conversation, event: Event, limits: Limits) -> Step:
    return without(reduce(c, event, limits), StartTimer)


BROKEN: tuple[tuple[str, Reduce], ...] = (
    ("i1_", forgets_the_epoch),
    ("i1_", keeps_the_holder),
    ("i2_", believes_old_results),
    ("i3_", does_not_recall),
    ("i4_", does_not_cover),
    ("i4_", says_nothing),
    ("i5_", never_restarts),
    ("i6_", skips_the_check),
    ("i7_", asks_the_model_again),
    ("i7_", sends_into_the_unknown),
    ("i8_", reads_everything),
    ("i8_", forgets_the_withdrawal),
    ("l1_", forgets_what_came_meanwhile),
    ("l2_", forgets_timers),
    ("l3_", says_nothing),
)


@pytest.mark.parametrize(
    ("number", "broken"), BROKEN, ids=lambda each: getattr(each, "__name__", each)
)
def test_a_broken_reducer_is_caught(number: str, broken: Reduce) -> None:
    checks = tuple(check for check in CHECKS if check.__name__.startswith(number))
    assert any(_breaks(partial(World, reduce=broken, checks=checks), seed) for seed in range(300))


def _breaks(make: Callable[[], World], seed: int) -> bool:
    """Whether one of the promises of this world is broken in this run."""
    world = make()
    names = {check.__name__ for check in world.checks}
    try:
        walk(world, seed)
    except AssertionError as error:
        frames = [frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)]
        return not names.isdisjoint(frames)
    return False


# --- fast typists ---------------------------------------------------------------------------------


AT_ONCE = {"work begins", "the turn is due", "a part begins to leave", "a part arrives"}


def type_steadily(gap_seconds: float, model_seconds: float, until: float) -> World:
    """Somebody writes one message every `gap_seconds` and never stops."""
    world = World(checks=CHECKS)
    world.apply(UserOptedIn(world.now))
    start = next_message = world.now
    draft_at: float | None = None
    while world.now < start + until:
        if world.now >= next_message:
            world.apply(UserMessaged(world.now))
            next_message += gap_seconds
        for name, act in [*world.worker(), *world.delivery()]:
            if name in AT_ONCE:
                act()
            elif name == "a draft is written":
                draft_at = draft_at or world.now + model_seconds
                if world.now >= draft_at:
                    draft_at = None
                    act()
            else:
                continue
            break
        world.now += 0.1
    return world


@settings(max_examples=15, deadline=None)
@given(gap=st.floats(0.2, 3.0), model=st.floats(0.2, 15.0))
def test_a_typist_who_never_stops_still_gets_answers(gap: float, model: float) -> None:
    world = type_steadily(gap, model, until=240)
    answered = [t.at for t in world.taken if isinstance(t.event, Delivered)]
    assert answered
    pauses = [b - a for a, b in zip([1000.0, *answered], answered, strict=False)]
    assert max(pauses) < Limits().max_turn_seconds + 2 * (model + 10)


def test_a_typist_who_pauses_gets_one_answer_to_all() -> None:
    world = World(checks=CHECKS)
    world.apply(UserOptedIn(world.now))
    for _ in range(10):
        world.apply(UserMessaged(world.now))
        world.now += 0.3
    world.settle()
    assert len({row.turn_id for row in world.rows}) == 1
    assert all(message.covered_by == ["ai"] for message in world.messages.values())
