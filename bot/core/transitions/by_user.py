"""What follows from what the user does."""

from dataclasses import replace

from bot.core.effects import (
    CancelGeneration,
    Cover,
    GrantConsent,
    NotifyOperators,
    RelayToOperators,
    RevokeConsent,
    StartDebounce,
    StopDebounce,
    StopTimers,
)
from bot.core.events import (
    Ended,
    UserBlockedBot,
    UserCancelled,
    UserClearedContext,
    UserEdited,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
    UserStarted,
    UserWithdrewConsent,
)
from bot.core.notices import Covering, Notice
from bot.core.states import Conversation, State, Turn
from bot.core.transitions.moves import (
    Change,
    Limits,
    ask_arrival,
    cover_pending,
    holder_of,
    leave,
    may_restart,
    restart,
    show,
    to_consent,
    to_handoff,
    turn_of,
)


def _arrived(c: Conversation, at: float) -> Conversation:
    return replace(c, version=c.version + 1, waiting_since=c.waiting_since or at)


def greet(c: Conversation, event: UserStarted, limits: Limits) -> Change:
    asking = replace(c, state=State.CONSENT_REQUIRED, told_at=event.at)
    return asking, (show(Notice.CONSENT),)


def say_ai_is_on(c: Conversation, event: UserStarted, limits: Limits) -> Change:
    return c, (show(Notice.AI_ON),)


def ask_consent(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = replace(_arrived(c, event.at), state=State.CONSENT_REQUIRED)
    fresh = c.state is State.ENDED or not c.told_at
    if not fresh and event.at - c.told_at < limits.repeat_notice_seconds:
        return arrived, ()
    return replace(arrived, told_at=event.at), (show(Notice.CONSENT),)


def gather(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    alone = not c.pending
    arrived = _arrived(c, event.at)
    if event.readable or not alone:
        return arrived, (StartDebounce(event.at, restarts=c.restarts),)
    settled = replace(arrived, covered=arrived.version, waiting_since=0.0)
    covering = Cover(arrived.version, arrived.version, Covering.NOTICE)
    if event.at - c.told_at < limits.repeat_unreadable_seconds:  # an album: one line for all
        return settled, (covering,)
    shown = show(Notice.UNREADABLE, kind=event.kind)
    return replace(settled, told_at=event.at), (covering, shown)


def gather_again(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = _arrived(c, event.at)
    if may_restart(arrived, event.at, limits):
        return restart(arrived, event.at)
    return arrived, ()


def gather_for_later(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    return _arrived(c, event.at), ()


def gather_in_doubt(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    """Once only the user can resolve the doubt, they are asked again: nothing else goes on."""
    arrived = _arrived(c, event.at)
    if not c.requested_at or event.at - c.requested_at < limits.repeat_notice_seconds:
        return arrived, ()
    return ask_arrival(arrived, event.at)


def keep_waiting(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = _arrived(c, event.at)
    if event.at - c.told_at < limits.repeat_notice_seconds:
        return arrived, ()
    return replace(arrived, told_at=event.at), (show(Notice.HANDOFF_WAITING),)


def pass_on(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = _arrived(c, event.at)
    settled = cover_pending(arrived, Covering.HUMAN)
    holder = holder_of(c)
    relay = RelayToOperators(arrived.version, arrived.version, holder.operator_id)
    return settled[0], (*settled[1], relay)


def edited_while_waiting(c: Conversation, event: UserEdited, limits: Limits) -> Change:
    if event.version <= c.covered:
        return None
    return c, (StartDebounce(event.at, restarts=c.restarts),)


def edited_while_working(c: Conversation, event: UserEdited, limits: Limits) -> Change:
    turn = turn_of(c)
    read = turn.covers_from <= event.version <= turn.covers_to
    return restart(c, event.at) if read and may_restart(c, event.at, limits) else None


def start_ai(c: Conversation, event: UserOptedIn, limits: Limits) -> Change:
    idle = replace(c, restarts=0, model_failures=0, told_at=0.0)
    started = replace(idle, state=State.AI_READY)
    if not c.pending:
        return replace(started, waiting_since=0.0), (show(Notice.AI_ON),)
    reading = replace(started, waiting_since=event.at)
    consent = GrantConsent(c.covered + 1, c.version)
    return reading, (consent, show(Notice.AI_ON), StartDebounce(event.at, now=True))


def request_human(c: Conversation, event: UserRequestedHuman, limits: Limits) -> Change:
    shown = show(Notice.HANDOFF_REQUESTED)
    return to_handoff(c, event.at, limits, shown, NotifyOperators(Notice.OP_REQUESTED))


def repeat_place(
    c: Conversation, event: UserRequestedHuman | UserStarted, limits: Limits
) -> Change:
    return replace(c, told_at=event.at), (show(Notice.HANDOFF_WAITING),)


def already_human(
    c: Conversation, event: UserRequestedHuman | UserStarted, limits: Limits
) -> Change:
    return c, (show(Notice.ALREADY_HUMAN, name=holder_of(c).name),)


def _waits(c: Conversation, turn_id: str) -> bool:
    """Whether what that turn was to answer still waits, perhaps joined by newer messages."""
    return any(Turn(each, each).id == turn_id for each in range(c.covered + 1, c.version + 1))


def cancel_work(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    if event.turn_id and not _waits(c, event.turn_id):
        return None
    cancelled = CancelGeneration(turn_of(c))
    idle = replace(c, state=State.AI_READY, turn=None, restarts=0)
    settled = cover_pending(idle, Covering.NOTICE)
    return settled[0], (cancelled, StopDebounce(), *settled[1], show(Notice.CANCELLED))


def cancel_waiting(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    if event.turn_id and not _waits(c, event.turn_id):  # the button of an answer that is over
        return None
    if not c.pending:
        return c, (show(Notice.NOTHING_TO_CANCEL),)
    settled = cover_pending(replace(c, restarts=0), Covering.NOTICE)
    return settled[0], (StopDebounce(), *settled[1], show(Notice.CANCELLED))


def nothing_to_cancel(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    return None if event.turn_id else (c, (show(Notice.NOTHING_TO_CANCEL),))


def withdraw_request(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    if event.turn_id:
        return None
    told = NotifyOperators(Notice.OP_WITHDRAWN)
    return to_consent(c, event.at, Notice.HANDOFF_CANCELLED, told)


def stop_ai(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    return to_consent(c, event.at, Notice.AI_OFF, RevokeConsent(c.version))


def ai_is_off(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    return replace(c, told_at=event.at), (RevokeConsent(c.version), show(Notice.AI_OFF))


def stop_ai_meanwhile(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    """A person was asked for: the AI is silent anyway and will ask before it returns."""
    told = replace(c, told_at=event.at)
    return told, (RevokeConsent(c.version), show(Notice.HANDOFF_WAITING))


def stop_ai_with_human(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    return c, (RevokeConsent(c.version), show(Notice.ALREADY_HUMAN, name=holder_of(c).name))


def clear_context(c: Conversation, event: UserClearedContext, limits: Limits) -> Change:
    cleared = replace(c, context_from=c.turn.covers_to if c.turn else c.covered)
    return cleared, (show(Notice.NEW_STARTED),)


def clear_context_and_pending(c: Conversation, event: UserClearedContext, limits: Limits) -> Change:
    """What waits for an answer was said before as well: it is cleared away with the rest."""
    cancelled = (CancelGeneration(c.turn),) if c.turn else ()
    idle = replace(c, state=State.AI_READY, turn=None, restarts=0, context_from=c.version)
    settled = cover_pending(idle, Covering.NOTICE)
    return settled[0], (*cancelled, StopDebounce(), *settled[1], show(Notice.NEW_STARTED))


def note_blocked(c: Conversation, event: UserBlockedBot, limits: Limits) -> Change:
    if c.blocked:
        return None
    idle, effects = leave(c)
    settled = cover_pending(idle, Covering.NOTICE)
    ended = replace(settled[0], state=State.ENDED, blocked=True, holder=None, requested_at=0.0)
    told = NotifyOperators(Notice.OP_BLOCKED)
    return ended, (*effects, StopTimers(), *settled[1], told)


def end(c: Conversation, event: Ended, limits: Limits) -> Change:
    watched = c.state in {State.HUMAN_ACTIVE, State.HANDOFF_PENDING}
    idle, effects = leave(c)
    settled = cover_pending(idle, Covering.NOTICE)
    ended = replace(settled[0], state=State.ENDED, holder=None, requested_at=0.0)
    told = (NotifyOperators(Notice.OP_ENDED),) if watched else ()
    return ended, (*effects, StopTimers(), *settled[1], show(Notice.ENDED), *told)


def say_ended(c: Conversation, event: Ended, limits: Limits) -> Change:
    return c, (show(Notice.ENDED),)
