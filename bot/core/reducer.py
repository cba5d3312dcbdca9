"""Decides what a conversation does next. Every change of state is made here and in transitions/.

Rule 1: no I/O, clock, randomness or logging; what is needed arrives in the event.
Rule 2: the epoch is raised in one place, `reduce`, whenever the holder of authority changed (I2).
Rule 3: a result (draft, verdict, delivery) counts only for the turn and epoch it was started for.
        The one exception changes no authority: a reply that was on the wire when authority moved
        away (`in_flight`) still settles its own messages.
Rule 4: `covered` grows only together with a Cover effect for the same versions, except past a
        reply in flight: its Cover follows, exactly one, once it is known what became of it (I4).
Rule 5: a turn whose reply went to the outbox is never generated again, whatever becomes of the
        reply: nobody can be sure that no part of it was read (I7).
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from bot.core.effects import (
    Effect,
)
from bot.core.events import (
    Ended,
    Event,
    HandoffReminderDue,
    HumanLeaseExpired,
    Result,
    UserCancelled,
    UserClearedContext,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
    UserStarted,
    UserWithdrewConsent,
)
from bot.core.states import Conversation, authority
from bot.core.transitions.moves import DEFAULT_LIMITS, RESULTS, Limits, Transition
from bot.core.transitions.table import IN_FLIGHT, TRANSITIONS

TIMERS = (HumanLeaseExpired, HandoffReminderDue)
# Only somebody who did not block the bot, or no longer does, can do these.
USER_ACTS = (
    UserStarted,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
    UserCancelled,
    UserWithdrewConsent,
    UserClearedContext,
    Ended,
)


class Outcome(StrEnum):
    APPLIED = "applied"
    IGNORED = "ignored"  # this state has no use for the event; see IGNORED
    STALE = "stale"  # the result of a turn or an epoch that is over


@dataclass(frozen=True, slots=True)
class Step:
    conversation: Conversation
    effects: tuple[Effect, ...]
    outcome: Outcome


def reduce(conversation: Conversation, event: Event, limits: Limits = DEFAULT_LIMITS) -> Step:
    """Return the next state and the effects it asks for, in the order to carry them out."""
    if isinstance(event, RESULTS) and not _counts(conversation, event):
        return Step(conversation, (), Outcome.STALE)
    if isinstance(event, TIMERS) and event.epoch != conversation.epoch:
        return Step(conversation, (), Outcome.STALE)
    transition = _transition(conversation, event)
    change = transition(_heard(conversation, event), event, limits) if transition else None
    if change is None:
        return Step(conversation, (), Outcome.IGNORED)
    after, effects = change
    if authority(after) != authority(conversation):
        after = replace(after, epoch=conversation.epoch + 1)
    return Step(after, effects, Outcome.APPLIED)


def _counts(c: Conversation, result: Result) -> bool:
    if c.in_flight is not None and result.turn_id == c.in_flight.id:
        return True
    return c.turn is not None and result.turn_id == c.turn.id and result.epoch == c.epoch


def _heard(c: Conversation, event: Event) -> Conversation:
    return replace(c, blocked=False) if c.blocked and isinstance(event, USER_ACTS) else c


def _transition(c: Conversation, event: Event) -> Transition | None:
    if isinstance(event, RESULTS) and c.in_flight is not None and event.turn_id == c.in_flight.id:
        return IN_FLIGHT.get(type(event))
    return TRANSITIONS[c.state].get(type(event))
