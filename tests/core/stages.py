"""Conversations at a certain point, reached by the events that lead there, and what they answer."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from bot.core.effects import Effect, NotifyOperators, ShowNotice
from bot.core.events import (
    AiDrafted,
    DeliveryTimedOut,
    DeliveryUnresolved,
    DraftApproved,
    Event,
    HumanClaimed,
    TurnDue,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
)
from bot.core.notices import Notice
from bot.core.reducer import Outcome, Step, reduce
from bot.core.states import Conversation

E = TypeVar("E", bound=Effect)
Stage: TypeAlias = Callable[[], Conversation]

NEW = Conversation("c")
LEASE = 600.0
FIRST, SECOND, THIRD = "turn:msg-1", "turn:msg-2", "turn:msg-3"


def after(c: Conversation, *events: Event) -> Conversation:
    """The conversation after events that all applied."""
    for event in events:
        step = reduce(c, event)
        assert step.outcome is Outcome.APPLIED, f"{event} did not apply in {c.state}"
        c = step.conversation
    return c


def refused(c: Conversation, event: Event) -> Outcome:
    """How an event that changes nothing is recorded."""
    step = reduce(c, event)
    assert step.outcome is not Outcome.APPLIED
    assert (step.conversation, step.effects) == (c, ())
    return step.outcome


def of(step: Step, kind: type[E]) -> list[E]:
    return [effect for effect in step.effects if isinstance(effect, kind)]


def shown(step: Step) -> list[Notice]:
    return [effect.notice for effect in of(step, ShowNotice)]


def told(step: Step) -> list[Notice]:
    return [effect.notice for effect in of(step, NotifyOperators)]


def ready(at: float = 1.0) -> Conversation:
    return after(NEW, UserOptedIn(at))


def gathering(at: float = 10.0) -> Conversation:
    """One message waits for the typist to pause."""
    return after(ready(), UserMessaged(at))


def generating(at: float = 10.0) -> Conversation:
    return after(gathering(at), TurnDue(at + 2))


def moderating(at: float = 10.0) -> Conversation:
    c = generating(at)
    return after(c, AiDrafted(at + 4, c.epoch, FIRST))


def sending(at: float = 10.0) -> Conversation:
    c = moderating(at)
    return after(c, DraftApproved(at + 5, c.epoch, FIRST))


def doubtful(at: float = 10.0) -> Conversation:
    c = sending(at)
    return after(c, DeliveryTimedOut(at + 35, c.epoch, FIRST))


def asking(at: float = 10.0) -> Conversation:
    """No proof was found and there is no operator: the user was asked whether it arrived."""
    c = doubtful(at)
    return after(c, DeliveryUnresolved(at + 100, c.epoch, FIRST, anyone=False))


def waiting(c: Conversation = NEW, at: float = 50.0) -> Conversation:
    return after(c, UserRequestedHuman(at))


def claim(at: float = 60.0, operator: int = 1) -> HumanClaimed:
    return HumanClaimed(at, operator, f"Operator {operator}", at + LEASE)


def held(c: Conversation = NEW, at: float = 60.0) -> Conversation:
    return after(c, claim(at))
