"""What follows from what operators do, and from their silence."""

from dataclasses import replace

from bot.core.effects import (
    NotifyOperators,
    RelayToOperators,
    RelayToUser,
    StartTimer,
    StopTimers,
    Timer,
)
from bot.core.events import (
    HandoffReminderDue,
    HumanClaimed,
    HumanLeaseExpired,
    HumanMessaged,
    HumanReleased,
    HumanTransferred,
)
from bot.core.notices import Covering, Notice
from bot.core.states import Conversation, Holder, State
from bot.core.transitions.moves import (
    Change,
    Limits,
    Move,
    cover_pending,
    holder_of,
    leave,
    show,
    to_consent,
    to_handoff,
)


def claim(c: Conversation, event: HumanClaimed, limits: Limits) -> Change:
    idle, effects = leave(c)
    settled = cover_pending(idle, Covering.HUMAN)
    held = replace(
        settled[0],
        state=State.HUMAN_ACTIVE,
        holder=Holder(event.operator_id, event.name, event.at, event.lease_until),
        requested_at=0.0,
    )
    first = idle.in_flight.covers_from if idle.in_flight else c.covered + 1
    unread = (RelayToOperators(first, c.version, event.operator_id),) if first <= c.version else ()
    return held, (
        *effects,
        StopTimers(),
        *settled[1],
        show(Notice.HUMAN_JOINED, name=event.name),
        NotifyOperators(Notice.OP_CLAIMED),
        *unread,
        StartTimer(Timer.HUMAN_LEASE, event.lease_until),
    )


def claim_again(c: Conversation, event: HumanClaimed, limits: Limits) -> Change:
    if event.operator_id != holder_of(c).operator_id:
        return None  # the loser of a race; whoever asked is told who holds it
    return _renew(c, event.lease_until)


def _renew(c: Conversation, lease_until: float) -> Move:
    holder = replace(holder_of(c), lease_until=max(lease_until, holder_of(c).lease_until))
    timer = StartTimer(Timer.HUMAN_LEASE, holder.lease_until)
    return replace(c, holder=holder), (timer,)


def speak(c: Conversation, event: HumanMessaged, limits: Limits) -> Change:
    if event.operator_id != holder_of(c).operator_id:
        return None
    renewed, effects = _renew(c, event.lease_until)
    return renewed, (RelayToUser(event.operator_id, event.message_id), *effects)


def release(c: Conversation, event: HumanReleased, limits: Limits) -> Change:
    if event.operator_id != holder_of(c).operator_id:
        return None
    told = NotifyOperators(Notice.OP_RELEASED)
    return to_consent(c, event.at, Notice.HUMAN_LEFT, told, name=holder_of(c).name)


def transfer(c: Conversation, event: HumanTransferred, limits: Limits) -> Change:
    if event.operator_id != holder_of(c).operator_id or event.to_operator_id == event.operator_id:
        return None
    holder = Holder(event.to_operator_id, event.to_name, event.at, event.lease_until)
    return replace(c, holder=holder), (
        show(Notice.HUMAN_CHANGED, name=event.to_name),
        NotifyOperators(Notice.OP_CLAIMED),
        StartTimer(Timer.HUMAN_LEASE, event.lease_until),
    )


def lease_expired(c: Conversation, event: HumanLeaseExpired, limits: Limits) -> Change:
    holder = holder_of(c)
    if event.at < holder.lease_until:  # renewed since the timer was set
        return c, (StartTimer(Timer.HUMAN_LEASE, holder.lease_until),)
    told = NotifyOperators(Notice.OP_LEASE_EXPIRED)
    return to_handoff(c, event.at, limits, show(Notice.HUMAN_GONE), told)


def remind(c: Conversation, event: HandoffReminderDue, limits: Limits) -> Change:
    """Remind ever more rarely, for as long as it takes: a request never ends by itself."""
    minutes = str(int((event.at - c.requested_at) // 60))
    reminded = replace(c, reminders=c.reminders + 1)
    pause = limits.reminder_seconds * 2 ** min(reminded.reminders, 8)
    return reminded, (
        NotifyOperators(Notice.OP_REMINDER, {"minutes": minutes}),
        StartTimer(Timer.HANDOFF_REMINDER, event.at + pause),
    )
