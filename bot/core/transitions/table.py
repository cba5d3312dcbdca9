"""The table: which transition each event has in each state, and why the others are ignored."""

from collections.abc import Iterable, Mapping

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
from bot.core.states import AI_STATES, State
from bot.core.transitions.by_ai import (
    degrade,
    escalate,
    generate,
    generation_failed,
    hand_over_unmoderated,
    moderate,
    offer_person,
    send,
    withhold,
)
from bot.core.transitions.by_delivery import (
    ask_whether_it_arrived,
    confirm,
    delivered,
    doubt,
    flight_confirmed,
    flight_goes_on,
    flight_landed,
    flight_lost,
    flight_recalled,
    give_up_proof,
    not_deliverable,
    recalled,
    send_again,
)
from bot.core.transitions.by_people import (
    claim,
    claim_again,
    lease_expired,
    release,
    remind,
    speak,
    transfer,
)
from bot.core.transitions.by_user import (
    ai_is_off,
    already_human,
    ask_consent,
    cancel_waiting,
    cancel_work,
    clear_context,
    clear_context_and_pending,
    edited_while_waiting,
    edited_while_working,
    end,
    gather,
    gather_again,
    gather_for_later,
    gather_in_doubt,
    greet,
    keep_waiting,
    note_blocked,
    nothing_to_cancel,
    pass_on,
    repeat_place,
    request_human,
    say_ai_is_on,
    say_ended,
    start_ai,
    stop_ai,
    stop_ai_meanwhile,
    stop_ai_with_human,
    withdraw_request,
)
from bot.core.transitions.moves import RESULTS, Transition

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
