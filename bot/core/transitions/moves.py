"""The moves that several transitions share, and the limits they obey."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, get_args

from bot.core.effects import (
    CancelGeneration,
    Cover,
    Effect,
    RecallReply,
    ShowNotice,
    StartDebounce,
    StartTimer,
    StopDebounce,
    StopTimers,
    Timer,
)
from bot.core.events import (
    Result,
)
from bot.core.notices import Covering, Notice
from bot.core.states import AI_STATES, Conversation, Holder, State, Turn

RESULTS: tuple[type[Result], ...] = get_args(Result)

Move: TypeAlias = tuple[Conversation, tuple[Effect, ...]]
Change: TypeAlias = Move | None  # None: ignored after all
Transition: TypeAlias = Callable[[Conversation, Any, "Limits"], Change]


@dataclass(frozen=True, slots=True)
class Limits:
    max_restarts: int = 3  # drafts that may be dropped for newer messages before one goes out
    max_turn_seconds: float = 90.0  # the same, by time since the oldest waiting message
    max_model_failures: int = 3  # in a row, before the assistant steps aside
    reminder_seconds: float = 300.0  # after which operators are reminded of a request
    repeat_notice_seconds: float = 20.0  # a standing notice is not repeated faster than this
    repeat_unreadable_seconds: float = 3.0  # nor the line about stickers, pictures and the like


DEFAULT_LIMITS = Limits()


def show(notice: Notice, **values: str) -> ShowNotice:
    return ShowNotice(notice, values)


def cover_pending(c: Conversation, by: Covering) -> Move:
    """Settle every message that waits."""
    if not c.pending:
        return c, ()
    covering = Cover(c.covered + 1, c.version, by)
    return replace(c, covered=c.version, waiting_since=0.0), (covering,)


def leave(c: Conversation) -> Move:
    """Take authority from the AI: no send begins after this; one on the wire finishes (I3)."""
    if c.state is State.HANDOFF_PENDING and c.in_flight is not None:
        return c, (RecallReply(c.in_flight),)  # asked again: now its loss can be settled
    if c.state not in AI_STATES:
        return c, ()
    idle = replace(c, turn=None, restarts=0)
    if c.turn is None:
        return idle, (StopDebounce(),)
    if c.state in {State.BOT_SENDING, State.DELIVERY_UNKNOWN}:
        leaving = replace(idle, in_flight=c.turn, covered=c.turn.covers_to)
        return leaving, (StopDebounce(), RecallReply(c.turn))
    return idle, (StopDebounce(), CancelGeneration(c.turn))


def to_handoff(
    c: Conversation, at: float, limits: Limits, tell_user: Effect, tell_operators: Effect
) -> Move:
    idle, effects = leave(c)
    waiting = replace(
        idle,
        state=State.HANDOFF_PENDING,
        turn=None,
        holder=None,
        requested_at=at,
        reminders=0,
        told_at=at,
    )
    reminder = StartTimer(Timer.HANDOFF_REMINDER, at + limits.reminder_seconds)
    return waiting, (*effects, StopTimers(), tell_user, tell_operators, reminder)


def to_consent(c: Conversation, at: float, notice: Notice, *more: Effect, **values: str) -> Move:
    idle, effects = leave(c)
    waiting = replace(idle, state=State.CONSENT_REQUIRED, holder=None, requested_at=0.0, told_at=at)
    return waiting, (*effects, StopTimers(), ShowNotice(notice, values), *more)


def to_ready(c: Conversation, at: float) -> Move:
    """Wait for the next turn; if messages came in meanwhile, they are it."""
    ready = replace(c, state=State.AI_READY, turn=None, restarts=0, requested_at=0.0)
    if not ready.pending:
        return replace(ready, waiting_since=0.0), ()
    return replace(ready, waiting_since=at), (StartDebounce(at),)


def settle_turn(c: Conversation, at: float, by: Covering, *then: Effect) -> Move:
    turn = turn_of(c)
    settled = replace(c, covered=turn.covers_to)
    ready, effects = to_ready(settled, at)
    return ready, (Cover(turn.covers_from, turn.covers_to, by, turn.id), *then, *effects)


def turn_of(c: Conversation) -> Turn:
    assert c.turn is not None, "a result was matched with a turn, so there is one"
    return c.turn


def may_restart(c: Conversation, at: float, limits: Limits) -> bool:
    """Whether a draft may be dropped for newer messages; bounded, so that all get answers."""
    return c.restarts < limits.max_restarts and at - c.waiting_since < limits.max_turn_seconds


def restart(c: Conversation, at: float) -> Move:
    again = replace(c, state=State.AI_READY, turn=None, restarts=c.restarts + 1)
    return again, (CancelGeneration(turn_of(c)), StartDebounce(at, restarts=again.restarts))


def holder_of(c: Conversation) -> Holder:
    assert c.holder is not None, "human_active has a holder"
    return c.holder


def flight_of(c: Conversation) -> Turn:
    assert c.in_flight is not None, "a result was matched with the reply in flight"
    return c.in_flight


def ask_arrival(c: Conversation, at: float) -> Move:
    return replace(c, requested_at=at), (show(Notice.DID_IT_ARRIVE, turn_id=turn_of(c).id),)
