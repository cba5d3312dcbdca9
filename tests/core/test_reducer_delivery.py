"""A reply on its way: arrived, refused, in doubt, and in flight when authority moved away."""

import pytest

from bot.core.effects import (
    ContinueReply,
    Cover,
    Generate,
    RecallReply,
    RelayToOperators,
    StartDebounce,
)
from bot.core.events import (
    Delivered,
    DeliveryConfirmed,
    DeliveryDisproved,
    DeliveryFailed,
    DeliveryTimedOut,
    DeliveryUnresolved,
    DraftApproved,
    Ended,
    HumanReleased,
    ReplyRecalled,
    TurnDue,
    UserBlockedBot,
    UserCancelled,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
    UserStarted,
    UserWithdrewConsent,
)
from bot.core.notices import Covering, Notice
from bot.core.reducer import Outcome, reduce
from bot.core.states import Conversation, State, Turn
from tests.core.stages import (
    FIRST,
    after,
    asking,
    claim,
    doubtful,
    held,
    of,
    refused,
    sending,
    shown,
    told,
    waiting,
)

TURN = Turn(1, 1)
BY_AI = Cover(1, 1, Covering.AI, FIRST)
BY_HUMAN = Cover(1, 1, Covering.HUMAN, FIRST)
BY_NOTICE = Cover(1, 1, Covering.NOTICE, FIRST)


def test_a_reply_that_arrived_settles_its_messages() -> None:
    c = sending()
    step = reduce(c, Delivered(20, c.epoch, FIRST))
    assert step.conversation.state is State.AI_READY
    assert step.effects == (BY_AI,)


def test_a_reply_that_arrives_twice_settles_once() -> None:
    c = sending()
    landed = Delivered(20, c.epoch, FIRST)
    assert refused(after(c, landed), landed) is Outcome.STALE


@pytest.mark.parametrize("lost", [DeliveryFailed, ReplyRecalled])
def test_a_refused_reply_is_told(lost: type[DeliveryFailed | ReplyRecalled]) -> None:
    c = sending()
    step = reduce(c, lost(20, c.epoch, FIRST))
    assert step.conversation.state is State.AI_READY
    assert shown(step) == [Notice.DELIVERY_FAILED]
    assert of(step, Cover) == [BY_NOTICE]


# --- doubt ----------------------------------------------------------------------------------------


def test_a_send_without_an_answer_is_in_doubt_and_nothing_else_leaves() -> None:
    c = sending()
    step = reduce(c, DeliveryTimedOut(50, c.epoch, FIRST))
    assert step.conversation.state is State.DELIVERY_UNKNOWN
    assert step.effects == ()


def test_a_confirmed_reply_settles_its_messages() -> None:
    c = doubtful()
    step = reduce(c, DeliveryConfirmed(60, c.epoch, FIRST))
    assert step.conversation.state is State.AI_READY
    assert step.effects == (BY_AI,)


def test_a_confirmed_part_lets_the_next_part_leave() -> None:
    c = doubtful()
    step = reduce(c, DeliveryConfirmed(60, c.epoch, FIRST, more=True))
    assert step.conversation.state is State.BOT_SENDING
    assert step.effects == (ContinueReply(TURN),)


def test_a_part_that_is_proven_absent_leaves_again_without_the_model() -> None:
    c = doubtful()
    step = reduce(c, DeliveryDisproved(60, c.epoch, FIRST))
    assert step.conversation.state is State.BOT_SENDING
    assert step.effects == (ContinueReply(TURN),)


def test_without_a_proof_a_person_takes_over() -> None:
    c = doubtful()
    step = reduce(c, DeliveryUnresolved(110, c.epoch, FIRST, anyone=True))
    assert step.conversation.state is State.HANDOFF_PENDING
    assert shown(step) == [Notice.DELIVERY_HANDOFF]
    assert told(step) == [Notice.OP_DELIVERY]


def test_without_a_proof_and_without_operators_the_user_is_asked() -> None:
    c = doubtful()
    step = reduce(c, DeliveryUnresolved(110, c.epoch, FIRST, anyone=False))
    assert step.conversation.state is State.DELIVERY_UNKNOWN
    assert shown(step) == [Notice.DID_IT_ARRIVE]


def test_whoever_writes_on_instead_of_answering_is_asked_again() -> None:
    c = asking(at=10)
    assert shown(reduce(c, UserMessaged(111))) == []
    step = reduce(c, UserMessaged(200))
    assert shown(step) == [Notice.DID_IT_ARRIVE]
    assert shown(reduce(step.conversation, UserMessaged(201))) == []


def test_words_during_the_search_for_a_proof_raise_no_question() -> None:
    assert shown(reduce(doubtful(), UserMessaged(500))) == []


def test_start_asks_again_whether_it_arrived() -> None:
    assert shown(reduce(asking(), UserStarted(111))) == [Notice.DID_IT_ARRIVE]
    assert shown(reduce(doubtful(), UserStarted(111))) == [Notice.AI_ON]


def test_the_users_word_that_it_arrived_settles_it() -> None:
    c = asking()
    step = reduce(c, DeliveryConfirmed(120, c.epoch, FIRST))
    assert step.effects == (BY_AI,)
    assert step.conversation.requested_at == 0


def test_the_users_word_that_it_is_missing_sends_it_again() -> None:
    c = asking()
    step = reduce(c, DeliveryDisproved(120, c.epoch, FIRST))
    assert step.effects == (ContinueReply(TURN),)
    assert step.conversation.requested_at == 0


def test_a_question_that_is_over_is_not_repeated_for_the_next_doubt() -> None:
    c = asking()
    c = after(c, DeliveryDisproved(120, c.epoch, FIRST), DeliveryTimedOut(150, c.epoch, FIRST))
    assert shown(reduce(c, UserMessaged(500))) == []


def test_whoever_is_asked_may_still_turn_to_a_person() -> None:
    step = reduce(asking(), UserRequestedHuman(120))
    assert step.conversation.state is State.HANDOFF_PENDING


# --- in flight ------------------------------------------------------------------------------------


def test_a_reply_in_flight_that_arrives_is_the_ais_in_every_state() -> None:
    for c in (waiting(sending()), held(sending()), _off(), _back(), after(sending(), Ended(20))):
        step = reduce(c, Delivered(70, 1, FIRST))
        assert step.conversation.state is c.state
        assert step.conversation.in_flight is None
        assert of(step, Cover) == [BY_AI]


def test_a_lost_reply_in_flight_is_settled_by_the_person_who_took_over() -> None:
    step = reduce(held(sending()), ReplyRecalled(70, 1, FIRST))
    assert step.effects == (BY_HUMAN,)


def test_a_lost_reply_in_flight_of_a_closed_conversation_is_settled_by_the_end() -> None:
    step = reduce(after(sending(), Ended(20)), ReplyRecalled(21, 1, FIRST))
    assert step.effects == (BY_NOTICE,)


def test_a_lost_reply_in_flight_after_stop_ai_is_told() -> None:
    step = reduce(_off(), ReplyRecalled(21, 1, FIRST))
    assert of(step, Cover) == [BY_NOTICE]
    assert shown(step) == [Notice.CANCELLED]


def test_a_refused_reply_in_flight_after_stop_ai_is_told_as_such() -> None:
    assert shown(reduce(_off(), DeliveryFailed(21, 1, FIRST))) == [Notice.DELIVERY_FAILED]


def test_a_turn_that_was_sent_is_never_given_to_the_model_again() -> None:
    """Its parts have their ids already, so a second reply to the turn could not leave at all."""
    c = after(_off(), ReplyRecalled(21, 1, FIRST), UserOptedIn(30))
    assert not c.pending
    assert refused(c, TurnDue(31)) is Outcome.IGNORED
    c = after(c, UserMessaged(40), TurnDue(42))
    assert c.turn == Turn(2, 2)


def test_a_lost_reply_in_flight_waits_for_the_person_who_was_asked_for() -> None:
    c = waiting(sending())
    step = reduce(c, ReplyRecalled(51, 1, FIRST))
    assert step.conversation.in_flight == TURN
    assert step.effects == ()


def test_whoever_takes_over_reads_what_a_lost_reply_was_to_answer() -> None:
    c = after(waiting(sending()), ReplyRecalled(51, 1, FIRST), UserMessaged(52))
    step = reduce(c, claim())
    assert of(step, RelayToOperators) == [RelayToOperators(1, 2, 1)]
    assert of(step, Cover) == [Cover(2, 2, Covering.HUMAN)]
    assert of(step, RecallReply) == [RecallReply(TURN)]
    assert reduce(step.conversation, ReplyRecalled(60, 2, FIRST)).effects == (BY_HUMAN,)


def test_a_withdrawn_request_settles_what_a_lost_reply_was_to_answer() -> None:
    c = after(waiting(sending()), ReplyRecalled(51, 1, FIRST))
    step = reduce(c, UserCancelled(60))
    assert of(step, RecallReply) == [RecallReply(TURN)]
    step = reduce(step.conversation, ReplyRecalled(60, 1, FIRST))
    assert of(step, Cover) == [BY_NOTICE]
    assert shown(step) == [Notice.CANCELLED]


@pytest.mark.parametrize("event", [Ended(60), UserBlockedBot(60)])
def test_a_closed_request_settles_what_a_lost_reply_was_to_answer(
    event: Ended | UserBlockedBot,
) -> None:
    c = after(waiting(sending()), ReplyRecalled(51, 1, FIRST))
    step = reduce(c, event)
    assert of(step, RecallReply) == [RecallReply(TURN)]
    assert reduce(step.conversation, ReplyRecalled(60, 1, FIRST)).effects == (BY_NOTICE,)


def test_a_reply_in_flight_that_is_proven_absent_must_not_leave() -> None:
    step = reduce(held(doubtful()), DeliveryDisproved(70, 1, FIRST))
    assert step.effects == (RecallReply(TURN),)


def test_a_reply_in_flight_with_parts_left_must_not_go_on() -> None:
    step = reduce(held(doubtful()), DeliveryConfirmed(70, 1, FIRST, more=True))
    assert step.effects == (RecallReply(TURN),)


def test_a_reply_in_flight_in_doubt_goes_on_being_looked_for() -> None:
    step = reduce(held(sending()), DeliveryTimedOut(70, 1, FIRST))
    assert step.conversation.in_flight == TURN
    assert step.effects == ()


def test_words_to_a_person_are_theirs_although_a_reply_is_still_in_flight() -> None:
    """The AI must neither read nor answer them once it is started again."""
    c = after(held(sending()), UserMessaged(70), HumanReleased(80, 1), Delivered(90, 1, FIRST))
    assert not c.pending
    assert not of(reduce(c, UserOptedIn(100)), Generate)
    assert not reduce(c, UserOptedIn(100)).conversation.pending


def test_the_ai_waits_for_its_last_reply_before_it_begins_another() -> None:
    c = after(_back(), UserMessaged(32))
    assert refused(c, TurnDue(34)) is Outcome.IGNORED
    step = reduce(c, Delivered(40, 1, FIRST))
    assert of(step, StartDebounce) == [StartDebounce(40)]
    assert after(step.conversation, TurnDue(42)).turn == Turn(2, 2)


def test_the_wait_for_a_reply_in_flight_does_not_use_up_the_next_turns_time() -> None:
    c = after(_back(), UserMessaged(32), Delivered(400, 1, FIRST))
    assert c.waiting_since == 400


def test_a_late_verdict_on_the_reply_in_flight_changes_nothing() -> None:
    assert refused(_off(), DraftApproved(21, 1, FIRST)) is Outcome.IGNORED


def _off() -> Conversation:
    """The user stopped the AI while its reply was leaving."""
    return after(sending(), UserWithdrewConsent(20))


def _back() -> Conversation:
    """… and started it again before that reply landed."""
    return after(_off(), UserOptedIn(30))
