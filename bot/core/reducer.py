"""Decides what a conversation does next. Every change of state is made in this file.

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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias, get_args

from bot.core.effects import (
    CancelGeneration,
    ContinueReply,
    Cover,
    Effect,
    Generate,
    GrantConsent,
    Moderate,
    NotifyOperators,
    RecallReply,
    RelayToOperators,
    RelayToUser,
    RevokeConsent,
    SendBot,
    ShowNotice,
    StartDebounce,
    StartTimer,
    StopDebounce,
    StopTimers,
    Timer,
)
from bot.core.events import (
    AiDrafted,
    Delivered,
    DeliveryConfirmed,
    DeliveryDisproved,
    DeliveryFailed,
    DeliveryTimedOut,
    DeliveryUnresolved,
    DraftApproved,
    DraftBlocked,
    Ended,
    Event,
    GenerationFailed,
    HandoffRecommended,
    HandoffReminderDue,
    HealthDegraded,
    HumanClaimed,
    HumanLeaseExpired,
    HumanMessaged,
    HumanReleased,
    HumanTransferred,
    ModerationUnavailable,
    PolicyEscalated,
    ReplyRecalled,
    Result,
    TurnDue,
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
from bot.core.states import AI_STATES, Conversation, Holder, State, Turn, authority

RESULTS: tuple[type[Result], ...] = get_args(Result)
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


@dataclass(frozen=True, slots=True)
class Limits:
    max_restarts: int = 3  # drafts that may be dropped for newer messages before one goes out
    max_turn_seconds: float = 90.0  # the same, by time since the oldest waiting message
    max_model_failures: int = 3  # in a row, before the assistant steps aside
    reminder_seconds: float = 300.0  # after which operators are reminded of a request
    repeat_notice_seconds: float = 20.0  # a standing notice is not repeated faster than this
    repeat_unreadable_seconds: float = 3.0  # nor the line about stickers, pictures and the like


class Outcome(StrEnum):
    APPLIED = "applied"
    IGNORED = "ignored"  # this state has no use for the event; see IGNORED
    STALE = "stale"  # the result of a turn or an epoch that is over


@dataclass(frozen=True, slots=True)
class Step:
    conversation: Conversation
    effects: tuple[Effect, ...]
    outcome: Outcome


Move: TypeAlias = tuple[Conversation, tuple[Effect, ...]]
Change: TypeAlias = Move | None  # None: ignored after all
Transition: TypeAlias = Callable[[Conversation, Any, Limits], Change]


def reduce(conversation: Conversation, event: Event, limits: Limits = Limits()) -> Step:
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


# --- shared moves -------------------------------------------------------------------------------


def _show(notice: Notice, **values: str) -> ShowNotice:
    return ShowNotice(notice, values)


def _cover_pending(c: Conversation, by: Covering) -> Move:
    """Settle every message that waits."""
    if not c.pending:
        return c, ()
    covering = Cover(c.covered + 1, c.version, by)
    return replace(c, covered=c.version, waiting_since=0.0), (covering,)


def _leave(c: Conversation) -> Move:
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


def _to_handoff(
    c: Conversation, at: float, limits: Limits, tell_user: Effect, tell_operators: Effect
) -> Move:
    idle, effects = _leave(c)
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


def _to_consent(c: Conversation, at: float, notice: Notice, *more: Effect, **values: str) -> Move:
    idle, effects = _leave(c)
    waiting = replace(idle, state=State.CONSENT_REQUIRED, holder=None, requested_at=0.0, told_at=at)
    return waiting, (*effects, StopTimers(), ShowNotice(notice, values), *more)


def _to_ready(c: Conversation, at: float) -> Move:
    """Wait for the next turn; if messages came in meanwhile, they are it."""
    ready = replace(c, state=State.AI_READY, turn=None, restarts=0, requested_at=0.0)
    if not ready.pending:
        return replace(ready, waiting_since=0.0), ()
    return replace(ready, waiting_since=at), (StartDebounce(at),)


def _settle_turn(c: Conversation, at: float, by: Covering, *then: Effect) -> Move:
    turn = _turn(c)
    settled = replace(c, covered=turn.covers_to)
    ready, effects = _to_ready(settled, at)
    return ready, (Cover(turn.covers_from, turn.covers_to, by, turn.id), *then, *effects)


def _turn(c: Conversation) -> Turn:
    assert c.turn is not None, "a result was matched with a turn, so there is one"
    return c.turn


def _may_restart(c: Conversation, at: float, limits: Limits) -> bool:
    """Whether a draft may be dropped for newer messages; bounded, so that all get answers."""
    return c.restarts < limits.max_restarts and at - c.waiting_since < limits.max_turn_seconds


def _restart(c: Conversation, at: float) -> Move:
    again = replace(c, state=State.AI_READY, turn=None, restarts=c.restarts + 1)
    return again, (CancelGeneration(_turn(c)), StartDebounce(at, restarts=again.restarts))


# --- the user -----------------------------------------------------------------------------------


def _arrived(c: Conversation, at: float) -> Conversation:
    return replace(c, version=c.version + 1, waiting_since=c.waiting_since or at)


def greet(c: Conversation, event: UserStarted, limits: Limits) -> Change:
    asking = replace(c, state=State.CONSENT_REQUIRED, told_at=event.at)
    return asking, (_show(Notice.CONSENT),)


def say_ai_is_on(c: Conversation, event: UserStarted, limits: Limits) -> Change:
    return c, (_show(Notice.AI_ON),)


def ask_consent(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = replace(_arrived(c, event.at), state=State.CONSENT_REQUIRED)
    fresh = c.state is State.ENDED or not c.told_at
    if not fresh and event.at - c.told_at < limits.repeat_notice_seconds:
        return arrived, ()
    return replace(arrived, told_at=event.at), (_show(Notice.CONSENT),)


def gather(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    alone = not c.pending
    arrived = _arrived(c, event.at)
    if event.readable or not alone:
        return arrived, (StartDebounce(event.at, restarts=c.restarts),)
    settled = replace(arrived, covered=arrived.version, waiting_since=0.0)
    covering = Cover(arrived.version, arrived.version, Covering.NOTICE)
    if event.at - c.told_at < limits.repeat_unreadable_seconds:  # an album: one line for all
        return settled, (covering,)
    shown = _show(Notice.UNREADABLE, kind=event.kind)
    return replace(settled, told_at=event.at), (covering, shown)


def gather_again(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = _arrived(c, event.at)
    if _may_restart(arrived, event.at, limits):
        return _restart(arrived, event.at)
    return arrived, ()


def gather_for_later(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    return _arrived(c, event.at), ()


def gather_in_doubt(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    """Once only the user can resolve the doubt, they are asked again: nothing else goes on."""
    arrived = _arrived(c, event.at)
    if not c.requested_at or event.at - c.requested_at < limits.repeat_notice_seconds:
        return arrived, ()
    return _ask_whether_it_arrived(arrived, event.at)


def keep_waiting(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = _arrived(c, event.at)
    if event.at - c.told_at < limits.repeat_notice_seconds:
        return arrived, ()
    return replace(arrived, told_at=event.at), (_show(Notice.HANDOFF_WAITING),)


def pass_on(c: Conversation, event: UserMessaged, limits: Limits) -> Change:
    arrived = _arrived(c, event.at)
    settled = _cover_pending(arrived, Covering.HUMAN)
    holder = _holder(c)
    relay = RelayToOperators(arrived.version, arrived.version, holder.operator_id)
    return settled[0], (*settled[1], relay)


def edited_while_waiting(c: Conversation, event: UserEdited, limits: Limits) -> Change:
    if event.version <= c.covered:
        return None
    return c, (StartDebounce(event.at, restarts=c.restarts),)


def edited_while_working(c: Conversation, event: UserEdited, limits: Limits) -> Change:
    turn = _turn(c)
    read = turn.covers_from <= event.version <= turn.covers_to
    return _restart(c, event.at) if read and _may_restart(c, event.at, limits) else None


def start_ai(c: Conversation, event: UserOptedIn, limits: Limits) -> Change:
    idle = replace(c, restarts=0, model_failures=0, told_at=0.0)
    started = replace(idle, state=State.AI_READY)
    if not c.pending:
        return replace(started, waiting_since=0.0), (_show(Notice.AI_ON),)
    reading = replace(started, waiting_since=event.at)
    consent = GrantConsent(c.covered + 1, c.version)
    return reading, (consent, _show(Notice.AI_ON), StartDebounce(event.at, now=True))


def request_human(c: Conversation, event: UserRequestedHuman, limits: Limits) -> Change:
    shown = _show(Notice.HANDOFF_REQUESTED)
    return _to_handoff(c, event.at, limits, shown, NotifyOperators(Notice.OP_REQUESTED))


def repeat_place(
    c: Conversation, event: UserRequestedHuman | UserStarted, limits: Limits
) -> Change:
    return replace(c, told_at=event.at), (_show(Notice.HANDOFF_WAITING),)


def already_human(
    c: Conversation, event: UserRequestedHuman | UserStarted, limits: Limits
) -> Change:
    return c, (_show(Notice.ALREADY_HUMAN, name=_holder(c).name),)


def _waits(c: Conversation, turn_id: str) -> bool:
    """Whether what that turn was to answer still waits, perhaps joined by newer messages."""
    return any(Turn(each, each).id == turn_id for each in range(c.covered + 1, c.version + 1))


def cancel_work(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    if event.turn_id and not _waits(c, event.turn_id):
        return None
    cancelled = CancelGeneration(_turn(c))
    idle = replace(c, state=State.AI_READY, turn=None, restarts=0)
    settled = _cover_pending(idle, Covering.NOTICE)
    return settled[0], (cancelled, StopDebounce(), *settled[1], _show(Notice.CANCELLED))


def cancel_waiting(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    if event.turn_id and not _waits(c, event.turn_id):  # the button of an answer that is over
        return None
    if not c.pending:
        return c, (_show(Notice.NOTHING_TO_CANCEL),)
    settled = _cover_pending(replace(c, restarts=0), Covering.NOTICE)
    return settled[0], (StopDebounce(), *settled[1], _show(Notice.CANCELLED))


def nothing_to_cancel(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    return None if event.turn_id else (c, (_show(Notice.NOTHING_TO_CANCEL),))


def withdraw_request(c: Conversation, event: UserCancelled, limits: Limits) -> Change:
    if event.turn_id:
        return None
    told = NotifyOperators(Notice.OP_WITHDRAWN)
    return _to_consent(c, event.at, Notice.HANDOFF_CANCELLED, told)


def stop_ai(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    return _to_consent(c, event.at, Notice.AI_OFF, RevokeConsent(c.version))


def ai_is_off(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    return replace(c, told_at=event.at), (RevokeConsent(c.version), _show(Notice.AI_OFF))


def stop_ai_meanwhile(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    """A person was asked for: the AI is silent anyway and will ask before it returns."""
    told = replace(c, told_at=event.at)
    return told, (RevokeConsent(c.version), _show(Notice.HANDOFF_WAITING))


def stop_ai_with_human(c: Conversation, event: UserWithdrewConsent, limits: Limits) -> Change:
    return c, (RevokeConsent(c.version), _show(Notice.ALREADY_HUMAN, name=_holder(c).name))


def clear_context(c: Conversation, event: UserClearedContext, limits: Limits) -> Change:
    cleared = replace(c, context_from=c.turn.covers_to if c.turn else c.covered)
    return cleared, (_show(Notice.NEW_STARTED),)


def clear_context_and_pending(c: Conversation, event: UserClearedContext, limits: Limits) -> Change:
    """What waits for an answer was said before as well: it is cleared away with the rest."""
    cancelled = (CancelGeneration(c.turn),) if c.turn else ()
    idle = replace(c, state=State.AI_READY, turn=None, restarts=0, context_from=c.version)
    settled = _cover_pending(idle, Covering.NOTICE)
    return settled[0], (*cancelled, StopDebounce(), *settled[1], _show(Notice.NEW_STARTED))


def note_blocked(c: Conversation, event: UserBlockedBot, limits: Limits) -> Change:
    if c.blocked:
        return None
    idle, effects = _leave(c)
    settled = _cover_pending(idle, Covering.NOTICE)
    ended = replace(settled[0], state=State.ENDED, blocked=True, holder=None, requested_at=0.0)
    told = NotifyOperators(Notice.OP_BLOCKED)
    return ended, (*effects, StopTimers(), *settled[1], told)


def end(c: Conversation, event: Ended, limits: Limits) -> Change:
    watched = c.state in {State.HUMAN_ACTIVE, State.HANDOFF_PENDING}
    idle, effects = _leave(c)
    settled = _cover_pending(idle, Covering.NOTICE)
    ended = replace(settled[0], state=State.ENDED, holder=None, requested_at=0.0)
    told = (NotifyOperators(Notice.OP_ENDED),) if watched else ()
    return ended, (*effects, StopTimers(), *settled[1], _show(Notice.ENDED), *told)


def say_ended(c: Conversation, event: Ended, limits: Limits) -> Change:
    return c, (_show(Notice.ENDED),)


# --- the AI -------------------------------------------------------------------------------------


def generate(c: Conversation, event: TurnDue, limits: Limits) -> Change:
    if not c.pending or c.in_flight is not None:
        return None
    turn = Turn(c.covered + 1, c.version)
    working = replace(c, state=State.AI_GENERATING, turn=turn)
    return working, (StopDebounce(), Generate(turn))


def moderate(c: Conversation, event: AiDrafted, limits: Limits) -> Change:
    return replace(c, state=State.MODERATING, model_failures=0), (Moderate(_turn(c)),)


def offer_person(c: Conversation, event: HandoffRecommended, limits: Limits) -> Change:
    return replace(c, turn=replace(_turn(c), offers_person=True)), ()


def generation_failed(c: Conversation, event: GenerationFailed, limits: Limits) -> Change:
    failures = c.model_failures + 1
    if failures >= limits.max_model_failures:
        return degrade(
            replace(c, model_failures=failures), HealthDegraded(event.at, event.failure), limits
        )
    shown = _show(Notice.MODEL_FAILED, failure=event.failure)
    told = NotifyOperators(Notice.OP_MODEL_TROUBLE, {"failure": event.failure})
    failed = replace(c, model_failures=failures)
    return _settle_turn(failed, event.at, Covering.NOTICE, shown, told)


def degrade(c: Conversation, event: HealthDegraded, limits: Limits) -> Change:
    """Step aside after repeated failures; only the user's explicit act brings the AI back."""
    told = NotifyOperators(Notice.OP_MODEL_TROUBLE, {"failure": event.cause})
    idle, effects = _leave(c)
    settled = _cover_pending(idle, Covering.NOTICE)
    aside = _to_consent(settled[0], event.at, Notice.HEALTH_DEGRADED, told)
    return aside[0], (*effects, *settled[1], *aside[1])


def send(c: Conversation, event: DraftApproved, limits: Limits) -> Change:
    """The final check (I5): a draft that newer messages overtook is dropped, within the cap."""
    if c.version > _turn(c).covers_to and _may_restart(c, event.at, limits):
        return _restart(c, event.at)
    return replace(c, state=State.BOT_SENDING), (SendBot(_turn(c)),)


def withhold(c: Conversation, event: DraftBlocked, limits: Limits) -> Change:
    dropped = CancelGeneration(_turn(c))
    return _settle_turn(c, event.at, Covering.NOTICE, dropped, _show(Notice.NO_ANSWER))


def hand_over_unmoderated(c: Conversation, event: ModerationUnavailable, limits: Limits) -> Change:
    told = NotifyOperators(Notice.OP_MODERATION)
    return _to_handoff(c, event.at, limits, _show(Notice.NO_ANSWER_HANDOFF), told)


def escalate(c: Conversation, event: PolicyEscalated, limits: Limits) -> Change:
    told = NotifyOperators(Notice.OP_POLICY, {"rule": event.rule})
    return _to_handoff(c, event.at, limits, _show(Notice.POLICY_HANDOFF), told)


# --- delivery -----------------------------------------------------------------------------------


def delivered(c: Conversation, event: Delivered, limits: Limits) -> Change:
    return _settle_turn(c, event.at, Covering.AI)


def doubt(c: Conversation, event: DeliveryTimedOut, limits: Limits) -> Change:
    return replace(c, state=State.DELIVERY_UNKNOWN), ()


def confirm(c: Conversation, event: DeliveryConfirmed, limits: Limits) -> Change:
    return _go_on(c) if event.more else _settle_turn(c, event.at, Covering.AI)


def send_again(c: Conversation, event: DeliveryDisproved, limits: Limits) -> Change:
    """It is proven that the part never arrived: the same words leave again, no model call."""
    return _go_on(c)


def _go_on(c: Conversation) -> Move:
    sending = replace(c, state=State.BOT_SENDING, requested_at=0.0)
    return sending, (ContinueReply(_turn(c)),)


def give_up_proof(c: Conversation, event: DeliveryUnresolved, limits: Limits) -> Change:
    if not event.anyone:
        return _ask_whether_it_arrived(c, event.at)
    told = NotifyOperators(Notice.OP_DELIVERY)
    return _to_handoff(c, event.at, limits, _show(Notice.DELIVERY_HANDOFF), told)


def _ask_whether_it_arrived(c: Conversation, at: float) -> Move:
    return replace(c, requested_at=at), (_show(Notice.DID_IT_ARRIVE, turn_id=_turn(c).id),)


def ask_whether_it_arrived(c: Conversation, event: UserStarted, limits: Limits) -> Change:
    if not c.requested_at:  # it is being found out without the user
        return say_ai_is_on(c, event, limits)
    return _ask_whether_it_arrived(c, event.at)


def not_deliverable(c: Conversation, event: DeliveryFailed, limits: Limits) -> Change:
    return _settle_turn(c, event.at, Covering.NOTICE, _show(Notice.DELIVERY_FAILED))


def recalled(c: Conversation, event: ReplyRecalled, limits: Limits) -> Change:
    return _settle_turn(c, event.at, Covering.NOTICE, _show(Notice.DELIVERY_FAILED))


# --- a reply that was on the wire when authority moved away --------------------------------------


def _flight(c: Conversation) -> Turn:
    assert c.in_flight is not None, "a result was matched with the reply in flight"
    return c.in_flight


def _settle_flight(c: Conversation, at: float, by: Covering, *then: Effect) -> Move:
    """Its messages get their one Cover; if the AI is back and waited for this, it goes on."""
    flight = _flight(c)
    effects = (Cover(flight.covers_from, flight.covers_to, by, flight.id), *then)
    landed = replace(c, in_flight=None)
    if c.state is State.AI_READY and c.pending:
        return replace(landed, waiting_since=at), (*effects, StartDebounce(at))
    return landed, effects


def flight_landed(c: Conversation, event: Result, limits: Limits) -> Change:
    return _settle_flight(c, event.at, Covering.AI)


def flight_confirmed(c: Conversation, event: DeliveryConfirmed, limits: Limits) -> Change:
    return flight_recalled(c, event, limits) if event.more else flight_landed(c, event, limits)


def flight_lost(c: Conversation, event: Result, limits: Limits) -> Change:
    """Nothing of it leaves any more. While a person is waited for, its messages are theirs to
    answer: it stays in flight until one takes over or the request is over (see `_leave`)."""
    match c.state:
        case State.HANDOFF_PENDING:
            return c, ()
        case State.HUMAN_ACTIVE:
            return _settle_flight(c, event.at, Covering.HUMAN)
        case State.ENDED:
            return _settle_flight(c, event.at, Covering.NOTICE)
    refused = isinstance(event, DeliveryFailed)
    told = _show(Notice.DELIVERY_FAILED if refused else Notice.CANCELLED)
    return _settle_flight(c, event.at, Covering.NOTICE, told)


def flight_recalled(c: Conversation, event: Result, limits: Limits) -> Change:
    """What is left of it must not leave: authority is elsewhere now."""
    return c, (RecallReply(_flight(c)),)


def flight_goes_on(c: Conversation, event: Result, limits: Limits) -> Change:
    return c, ()


# --- people -------------------------------------------------------------------------------------


def _holder(c: Conversation) -> Holder:
    assert c.holder is not None, "human_active has a holder"
    return c.holder


def claim(c: Conversation, event: HumanClaimed, limits: Limits) -> Change:
    idle, effects = _leave(c)
    settled = _cover_pending(idle, Covering.HUMAN)
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
        _show(Notice.HUMAN_JOINED, name=event.name),
        NotifyOperators(Notice.OP_CLAIMED),
        *unread,
        StartTimer(Timer.HUMAN_LEASE, event.lease_until),
    )


def claim_again(c: Conversation, event: HumanClaimed, limits: Limits) -> Change:
    if event.operator_id != _holder(c).operator_id:
        return None  # the loser of a race; whoever asked is told who holds it
    return _renew(c, event.lease_until)


def _renew(c: Conversation, lease_until: float) -> Move:
    holder = replace(_holder(c), lease_until=max(lease_until, _holder(c).lease_until))
    timer = StartTimer(Timer.HUMAN_LEASE, holder.lease_until)
    return replace(c, holder=holder), (timer,)


def speak(c: Conversation, event: HumanMessaged, limits: Limits) -> Change:
    if event.operator_id != _holder(c).operator_id:
        return None
    renewed, effects = _renew(c, event.lease_until)
    return renewed, (RelayToUser(event.operator_id, event.message_id), *effects)


def release(c: Conversation, event: HumanReleased, limits: Limits) -> Change:
    if event.operator_id != _holder(c).operator_id:
        return None
    told = NotifyOperators(Notice.OP_RELEASED)
    return _to_consent(c, event.at, Notice.HUMAN_LEFT, told, name=_holder(c).name)


def transfer(c: Conversation, event: HumanTransferred, limits: Limits) -> Change:
    if event.operator_id != _holder(c).operator_id or event.to_operator_id == event.operator_id:
        return None
    holder = Holder(event.to_operator_id, event.to_name, event.at, event.lease_until)
    return replace(c, holder=holder), (
        _show(Notice.HUMAN_CHANGED, name=event.to_name),
        NotifyOperators(Notice.OP_CLAIMED),
        StartTimer(Timer.HUMAN_LEASE, event.lease_until),
    )


def lease_expired(c: Conversation, event: HumanLeaseExpired, limits: Limits) -> Change:
    holder = _holder(c)
    if event.at < holder.lease_until:  # renewed since the timer was set
        return c, (StartTimer(Timer.HUMAN_LEASE, holder.lease_until),)
    told = NotifyOperators(Notice.OP_LEASE_EXPIRED)
    return _to_handoff(c, event.at, limits, _show(Notice.HUMAN_GONE), told)


def remind(c: Conversation, event: HandoffReminderDue, limits: Limits) -> Change:
    """Remind ever more rarely, for as long as it takes: a request never ends by itself."""
    minutes = str(int((event.at - c.requested_at) // 60))
    reminded = replace(c, reminders=c.reminders + 1)
    pause = limits.reminder_seconds * 2 ** min(reminded.reminders, 8)
    return reminded, (
        NotifyOperators(Notice.OP_REMINDER, {"minutes": minutes}),
        StartTimer(Timer.HANDOFF_REMINDER, event.at + pause),
    )


# --- the table ----------------------------------------------------------------------------------

AI_ANY: Mapping[type[Event], Transition] = {  # in every state in which the AI holds authority
    UserStarted: say_ai_is_on,
    UserRequestedHuman: request_human,
    UserWithdrewConsent: stop_ai,
    UserBlockedBot: note_blocked,
    Ended: end,
    PolicyEscalated: escalate,
    HealthDegraded: degrade,
    HumanClaimed: claim,
}

TRANSITIONS: Mapping[State, Mapping[type[Event], Transition]] = {
    State.CONSENT_REQUIRED: {
        UserStarted: greet,
        UserMessaged: ask_consent,
        UserOptedIn: start_ai,
        UserRequestedHuman: request_human,
        UserCancelled: nothing_to_cancel,
        UserWithdrewConsent: ai_is_off,
        UserClearedContext: clear_context,
        UserBlockedBot: note_blocked,
        Ended: end,
        PolicyEscalated: escalate,
        HumanClaimed: claim,
    },
    State.AI_READY: {
        **AI_ANY,
        UserMessaged: gather,
        UserEdited: edited_while_waiting,
        UserCancelled: cancel_waiting,
        UserClearedContext: clear_context_and_pending,
        TurnDue: generate,
    },
    State.AI_GENERATING: {
        **AI_ANY,
        UserMessaged: gather_again,
        UserEdited: edited_while_working,
        UserCancelled: cancel_work,
        UserClearedContext: clear_context_and_pending,
        AiDrafted: moderate,
        GenerationFailed: generation_failed,
        HandoffRecommended: offer_person,
    },
    State.MODERATING: {
        **AI_ANY,
        UserMessaged: gather_again,
        UserEdited: edited_while_working,
        UserCancelled: cancel_work,
        UserClearedContext: clear_context_and_pending,
        HandoffRecommended: offer_person,
        DraftApproved: send,
        DraftBlocked: withhold,
        ModerationUnavailable: hand_over_unmoderated,
    },
    State.BOT_SENDING: {
        **AI_ANY,
        UserMessaged: gather_for_later,
        UserCancelled: nothing_to_cancel,
        UserClearedContext: clear_context,
        Delivered: delivered,
        DeliveryFailed: not_deliverable,
        DeliveryTimedOut: doubt,
        ReplyRecalled: recalled,
    },
    State.DELIVERY_UNKNOWN: {
        **AI_ANY,
        UserStarted: ask_whether_it_arrived,
        UserMessaged: gather_in_doubt,
        UserCancelled: nothing_to_cancel,
        UserClearedContext: clear_context,
        Delivered: delivered,
        DeliveryConfirmed: confirm,
        DeliveryDisproved: send_again,
        DeliveryUnresolved: give_up_proof,
        DeliveryFailed: not_deliverable,
        ReplyRecalled: recalled,
    },
    State.HANDOFF_PENDING: {
        UserStarted: repeat_place,
        UserMessaged: keep_waiting,
        UserRequestedHuman: repeat_place,
        UserCancelled: withdraw_request,
        UserWithdrewConsent: stop_ai_meanwhile,
        UserClearedContext: clear_context,
        UserBlockedBot: note_blocked,
        Ended: end,
        HumanClaimed: claim,
        HandoffReminderDue: remind,
    },
    State.HUMAN_ACTIVE: {
        UserStarted: already_human,
        UserMessaged: pass_on,
        UserRequestedHuman: already_human,
        UserCancelled: nothing_to_cancel,
        UserWithdrewConsent: stop_ai_with_human,
        UserClearedContext: clear_context,
        UserBlockedBot: note_blocked,
        Ended: end,
        HumanClaimed: claim_again,
        HumanMessaged: speak,
        HumanReleased: release,
        HumanTransferred: transfer,
        HumanLeaseExpired: lease_expired,
    },
    State.ENDED: {
        UserStarted: greet,
        UserMessaged: ask_consent,
        UserOptedIn: start_ai,
        UserRequestedHuman: request_human,
        UserCancelled: nothing_to_cancel,
        UserWithdrewConsent: ai_is_off,
        UserClearedContext: clear_context,
        UserBlockedBot: note_blocked,
        Ended: say_ended,
    },
}

# Results that belong to `in_flight` are looked up here, whatever the state.
IN_FLIGHT: Mapping[type[Event], Transition] = {
    Delivered: flight_landed,
    DeliveryConfirmed: flight_confirmed,
    DeliveryTimedOut: flight_goes_on,
    DeliveryDisproved: flight_recalled,
    DeliveryUnresolved: flight_lost,
    DeliveryFailed: flight_lost,
    ReplyRecalled: flight_lost,
}

PEOPLE_ONLY: tuple[type[Event], ...] = (HumanMessaged, HumanReleased, HumanTransferred)


def _ignored() -> Iterable[tuple[State, type[Event], str]]:
    """Every pair that is ignored, with its reason."""
    turnless = set(State) - AI_STATES | {State.AI_READY}
    for state in turnless:
        for result in RESULTS:
            yield state, result, "no turn is under work: the result is stale"
    drafts: tuple[type[Event], ...] = (AiDrafted, GenerationFailed, HandoffRecommended)
    verdicts: tuple[type[Event], ...] = (DraftApproved, DraftBlocked, ModerationUnavailable)
    deliveries = tuple(set(RESULTS) - set(drafts) - set(verdicts))
    for event in (*verdicts, *deliveries):
        yield State.AI_GENERATING, event, "nothing of this turn was drafted yet"
    for event in (*deliveries, AiDrafted, GenerationFailed):
        yield State.MODERATING, event, "the draft is here; nothing of it has left"
    for state in (State.BOT_SENDING, State.DELIVERY_UNKNOWN):
        for event in (*drafts, *verdicts):
            yield state, event, "the draft was approved already"
        yield state, UserEdited, "the reply is leaving; the edit counts for the next turn"
    for event in (DeliveryConfirmed, DeliveryDisproved, DeliveryUnresolved):
        yield State.BOT_SENDING, event, "there is no doubt to settle"
    yield State.DELIVERY_UNKNOWN, DeliveryTimedOut, "it is being found out already"
    for state in set(State) - {State.AI_READY}:
        yield state, TurnDue, "no turn may start here; the next state re-arms the timer"
    for state in AI_STATES:
        yield state, UserOptedIn, "the AI is on already"
        yield state, HandoffReminderDue, "the request is over"
    for state in set(State) - {State.HUMAN_ACTIVE}:
        for event in (*PEOPLE_ONLY, HumanLeaseExpired):
            yield state, event, "nobody holds it"
    for state in (State.HANDOFF_PENDING, State.HUMAN_ACTIVE):
        yield state, UserOptedIn, "a person was asked for; an old button does not undo that"
        yield state, PolicyEscalated, "a person was asked for already"
    for state in set(State) - AI_STATES:
        yield state, UserEdited, "nothing is being answered; the store has the new text"
        yield state, HealthDegraded, "the AI is not on"
    for state in set(State) - AI_STATES - {State.HANDOFF_PENDING}:
        yield state, HandoffReminderDue, "the request is over"
    yield State.ENDED, HumanClaimed, "closed; the user has to write first"
    yield State.ENDED, PolicyEscalated, "closed"


IGNORED: Mapping[tuple[State, type[Event]], str] = {
    (state, event): reason for state, event, reason in _ignored()
}
