"""What follows from what became of a reply, also of one on the wire when a person took over."""

from dataclasses import replace

from bot.core.effects import (
    ContinueReply,
    Cover,
    Effect,
    NotifyOperators,
    RecallReply,
    StartDebounce,
)
from bot.core.events import (
    Delivered,
    DeliveryConfirmed,
    DeliveryDisproved,
    DeliveryFailed,
    DeliveryTimedOut,
    DeliveryUnresolved,
    ReplyRecalled,
    Result,
    UserStarted,
)
from bot.core.notices import Covering, Notice
from bot.core.states import Conversation, State
from bot.core.transitions.by_user import say_ai_is_on
from bot.core.transitions.moves import (
    Change,
    Limits,
    Move,
    ask_arrival,
    flight_of,
    settle_turn,
    show,
    to_handoff,
    turn_of,
)


def delivered(c: Conversation, event: Delivered, limits: Limits) -> Change:
    return settle_turn(c, event.at, Covering.AI)


def doubt(c: Conversation, event: DeliveryTimedOut, limits: Limits) -> Change:
    return replace(c, state=State.DELIVERY_UNKNOWN), ()


def confirm(c: Conversation, event: DeliveryConfirmed, limits: Limits) -> Change:
    return _go_on(c) if event.more else settle_turn(c, event.at, Covering.AI)


def send_again(c: Conversation, event: DeliveryDisproved, limits: Limits) -> Change:
    """It is proven that the part never arrived: the same words leave again, no model call."""
    return _go_on(c)


def _go_on(c: Conversation) -> Move:
    sending = replace(c, state=State.BOT_SENDING, requested_at=0.0)
    return sending, (ContinueReply(turn_of(c)),)


def give_up_proof(c: Conversation, event: DeliveryUnresolved, limits: Limits) -> Change:
    if not event.anyone:
        return ask_arrival(c, event.at)
    told = NotifyOperators(Notice.OP_DELIVERY)
    return to_handoff(c, event.at, limits, show(Notice.DELIVERY_HANDOFF), told)


def ask_whether_it_arrived(c: Conversation, event: UserStarted, limits: Limits) -> Change:
    if not c.requested_at:  # it is being found out without the user
        return say_ai_is_on(c, event, limits)
    return ask_arrival(c, event.at)


def not_deliverable(c: Conversation, event: DeliveryFailed, limits: Limits) -> Change:
    return settle_turn(c, event.at, Covering.NOTICE, show(Notice.DELIVERY_FAILED))


def recalled(c: Conversation, event: ReplyRecalled, limits: Limits) -> Change:
    return settle_turn(c, event.at, Covering.NOTICE, show(Notice.DELIVERY_FAILED))


def _settle_flight(c: Conversation, at: float, by: Covering, *then: Effect) -> Move:
    """Its messages get their one Cover; if the AI is back and waited for this, it goes on."""
    flight = flight_of(c)
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
    answer: it stays in flight until one takes over or the request is over (see `leave`)."""
    match c.state:
        case State.HANDOFF_PENDING:
            return c, ()
        case State.HUMAN_ACTIVE:
            return _settle_flight(c, event.at, Covering.HUMAN)
        case State.ENDED:
            return _settle_flight(c, event.at, Covering.NOTICE)
    refused = isinstance(event, DeliveryFailed)
    told = show(Notice.DELIVERY_FAILED if refused else Notice.CANCELLED)
    return _settle_flight(c, event.at, Covering.NOTICE, told)


def flight_recalled(c: Conversation, event: Result, limits: Limits) -> Change:
    """What is left of it must not leave: authority is elsewhere now."""
    return c, (RecallReply(flight_of(c)),)


def flight_goes_on(c: Conversation, event: Result, limits: Limits) -> Change:
    return c, ()
