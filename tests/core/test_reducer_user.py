"""What the user does, state by state: choosing, writing, cancelling, leaving."""

import pytest

from bot.core.effects import (
    CancelGeneration,
    Cover,
    GrantConsent,
    RecallReply,
    RelayToOperators,
    RevokeConsent,
    StartDebounce,
    StopDebounce,
    StopTimers,
)
from bot.core.events import (
    Delivered,
    Ended,
    Event,
    HumanReleased,
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
from bot.core.reducer import Outcome, reduce
from bot.core.states import Conversation, State, Turn
from tests.core.stages import (
    FIRST,
    NEW,
    SECOND,
    Stage,
    after,
    doubtful,
    gathering,
    generating,
    held,
    moderating,
    of,
    ready,
    refused,
    sending,
    shown,
    told,
    waiting,
)

AI = (ready, gathering, generating, moderating, sending, doubtful)

# --- choosing -------------------------------------------------------------------------------------


def test_a_first_message_asks_who_shall_answer() -> None:
    step = reduce(NEW, UserMessaged(10))
    assert step.conversation.state is State.CONSENT_REQUIRED
    assert shown(step) == [Notice.CONSENT]


def test_a_burst_before_consent_is_asked_once() -> None:
    c = after(NEW, UserMessaged(10))
    assert shown(reduce(c, UserMessaged(11))) == []


def test_a_message_long_after_the_question_asks_again() -> None:
    c = after(NEW, UserMessaged(10))
    assert shown(reduce(c, UserMessaged(40))) == [Notice.CONSENT]


def test_start_before_consent_asks_who_shall_answer() -> None:
    assert shown(reduce(NEW, UserStarted(10))) == [Notice.CONSENT]


def test_opting_in_lets_the_ai_read_what_waits_and_answers_it_at_once() -> None:
    c = after(NEW, UserMessaged(10), UserMessaged(11))
    step = reduce(c, UserOptedIn(20))
    assert step.conversation.state is State.AI_READY
    assert of(step, GrantConsent) == [GrantConsent(1, 2)]
    assert of(step, StartDebounce) == [StartDebounce(20, now=True)]


def test_opting_in_before_a_word_only_says_so() -> None:
    step = reduce(NEW, UserOptedIn(20))
    assert shown(step) == [Notice.AI_ON]
    assert len(step.effects) == 1


def test_opting_in_after_a_person_left_does_not_hand_their_talk_to_the_ai() -> None:
    c = after(held(), UserMessaged(70), UserMessaged(71), HumanReleased(80, 1), UserMessaged(90))
    assert of(reduce(c, UserOptedIn(100)), GrantConsent) == [GrantConsent(3, 3)]


@pytest.mark.parametrize("stage", AI)
def test_a_second_opt_in_is_ignored(stage: Stage) -> None:
    assert refused(stage(), UserOptedIn(99)) is Outcome.IGNORED


@pytest.mark.parametrize("c", [waiting(), held()], ids=["waiting", "held"])
def test_an_old_start_button_does_not_undo_a_request_for_a_person(c: Conversation) -> None:
    assert refused(c, UserOptedIn(99)) is Outcome.IGNORED


@pytest.mark.parametrize("stage", AI)
def test_start_while_the_ai_is_on_says_so(stage: Stage) -> None:
    assert shown(reduce(stage(), UserStarted(99))) == [Notice.AI_ON]


@pytest.mark.parametrize(
    ("c", "notice"),
    [(waiting(), Notice.HANDOFF_WAITING), (held(), Notice.ALREADY_HUMAN)],
    ids=["waiting", "held"],
)
@pytest.mark.parametrize("event", [UserStarted(99), UserRequestedHuman(99)])
def test_start_and_human_say_where_a_request_stands(
    c: Conversation, notice: Notice, event: Event
) -> None:
    step = reduce(c, event)
    assert step.conversation.state is c.state
    assert shown(step) == [notice]


# --- asking for a person --------------------------------------------------------------------------


@pytest.mark.parametrize("stage", AI)
def test_a_person_can_be_asked_for_whatever_the_ai_does(stage: Stage) -> None:
    step = reduce(stage(), UserRequestedHuman(99))
    assert step.conversation.state is State.HANDOFF_PENDING
    assert shown(step) == [Notice.HANDOFF_REQUESTED]
    assert told(step) == [Notice.OP_REQUESTED]


def test_asking_for_a_person_drops_the_draft_under_work() -> None:
    step = reduce(generating(), UserRequestedHuman(99))
    assert of(step, CancelGeneration) == [CancelGeneration(Turn(1, 1))]
    assert step.conversation.turn is None


def test_asking_for_a_person_recalls_what_has_not_begun_to_leave() -> None:
    step = reduce(sending(), UserRequestedHuman(99))
    assert of(step, RecallReply) == [RecallReply(Turn(1, 1))]
    assert step.conversation.in_flight == Turn(1, 1)


# --- writing --------------------------------------------------------------------------------------


def test_a_sticker_alone_is_answered_with_a_friendly_line() -> None:
    step = reduce(ready(), UserMessaged(10, readable=False, kind="sticker"))
    assert shown(step) == [Notice.UNREADABLE]
    assert of(step, Cover) == [Cover(1, 1, Covering.NOTICE)]
    assert not step.conversation.pending


def test_an_album_is_answered_with_one_line() -> None:
    c = after(ready(), UserMessaged(10, False, "photo"))
    step = reduce(c, UserMessaged(11, False, "photo"))
    assert shown(step) == []
    assert of(step, Cover) == [Cover(2, 2, Covering.NOTICE)]


def test_a_sticker_after_words_belongs_to_their_turn() -> None:
    step = reduce(gathering(), UserMessaged(11, False, "sticker"))
    assert step.conversation.pending
    assert of(step, StartDebounce)


def test_words_while_a_reply_leaves_become_the_next_turn() -> None:
    c = after(sending(), UserMessaged(20))
    step = reduce(c, Delivered(21, c.epoch, FIRST))
    assert of(step, StartDebounce) == [StartDebounce(21)]
    c = after(step.conversation, TurnDue(23))
    assert c.turn == Turn(2, 2)


def test_words_while_waiting_for_a_person_are_acknowledged_now_and_then() -> None:
    c = waiting(at=50)
    assert shown(reduce(c, UserMessaged(51))) == []
    assert shown(reduce(c, UserMessaged(90))) == [Notice.HANDOFF_WAITING]


def test_words_to_a_person_are_passed_on_and_settled() -> None:
    step = reduce(held(), UserMessaged(70))
    assert of(step, RelayToOperators) == [RelayToOperators(1, 1, 1)]
    assert of(step, Cover) == [Cover(1, 1, Covering.HUMAN)]


def test_a_message_after_the_end_starts_anew() -> None:
    c = after(ready(), Ended(20))
    step = reduce(c, UserMessaged(21))
    assert step.conversation.state is State.CONSENT_REQUIRED
    assert shown(step) == [Notice.CONSENT]


# --- editing --------------------------------------------------------------------------------------


def test_an_edit_of_a_waiting_message_waits_for_the_typist_again() -> None:
    assert of(reduce(gathering(), UserEdited(11, 1)), StartDebounce)


def test_an_edit_of_an_answered_message_changes_nothing() -> None:
    c = sending()
    c = after(c, Delivered(20, c.epoch, FIRST), UserMessaged(30))
    assert refused(c, UserEdited(31, 1)) is Outcome.IGNORED


@pytest.mark.parametrize("stage", [generating, moderating])
def test_an_edit_of_a_message_under_work_starts_the_draft_again(stage: Stage) -> None:
    step = reduce(stage(), UserEdited(20, 1))
    assert step.conversation.state is State.AI_READY
    assert of(step, CancelGeneration) == [CancelGeneration(Turn(1, 1))]
    assert of(step, StartDebounce)


def test_an_edit_at_the_cap_does_not_hold_up_the_reply() -> None:
    assert refused(generating(at=10), UserEdited(200, 1)) is Outcome.IGNORED


def test_an_edit_of_a_later_message_does_not_disturb_the_turn_under_work() -> None:
    c = after(generating(at=10), UserMessaged(200))
    assert refused(c, UserEdited(201, 2)) is Outcome.IGNORED


# --- cancelling -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [generating, moderating])
def test_cancel_stops_the_answer_and_settles_its_messages(stage: Stage) -> None:
    step = reduce(stage(), UserCancelled(20, FIRST))
    assert step.conversation.state is State.AI_READY
    assert not step.conversation.pending
    assert of(step, CancelGeneration) == [CancelGeneration(Turn(1, 1))]
    assert of(step, Cover) == [Cover(1, 1, Covering.NOTICE)]
    assert shown(step) == [Notice.CANCELLED]


def test_cancel_while_the_typist_pauses_settles_what_waits() -> None:
    step = reduce(gathering(), UserCancelled(11))
    assert of(step, Cover) == [Cover(1, 1, Covering.NOTICE)]
    assert of(step, StopDebounce)


def test_the_cancel_button_still_counts_after_another_message_joined() -> None:
    """The button names the turn that was shown; the newer message started the draft again."""
    c = after(generating(), UserMessaged(13))
    assert shown(reduce(c, UserCancelled(14, FIRST))) == [Notice.CANCELLED]
    c = after(c, TurnDue(16))
    assert c.turn is not None
    assert c.turn.id == SECOND
    assert shown(reduce(c, UserCancelled(17, FIRST))) == [Notice.CANCELLED]


def test_the_cancel_button_of_a_settled_answer_is_over() -> None:
    c = sending()
    c = after(c, Delivered(20, c.epoch, FIRST))
    assert refused(c, UserCancelled(21, FIRST)) is Outcome.IGNORED
    c = after(c, UserMessaged(30))
    assert refused(c, UserCancelled(31, FIRST)) is Outcome.IGNORED
    assert refused(after(c, TurnDue(32)), UserCancelled(33, FIRST)) is Outcome.IGNORED


@pytest.mark.parametrize("stage", [ready, sending, doubtful, held])
def test_cancel_with_nothing_under_work_says_so(stage: Stage) -> None:
    assert shown(reduce(stage(), UserCancelled(99))) == [Notice.NOTHING_TO_CANCEL]


@pytest.mark.parametrize("c", [NEW, sending(), held(), after(ready(), Ended(5))])
def test_an_old_cancel_button_is_over(c: Conversation) -> None:
    assert refused(c, UserCancelled(99, "turn:msg-9")) is Outcome.IGNORED


def test_cancelling_the_request_asks_again_who_shall_answer() -> None:
    step = reduce(waiting(), UserCancelled(60))
    assert step.conversation.state is State.CONSENT_REQUIRED
    assert shown(step) == [Notice.HANDOFF_CANCELLED]
    assert told(step) == [Notice.OP_WITHDRAWN]
    assert of(step, StopTimers)


def test_the_cancel_button_of_an_answer_does_not_withdraw_the_request() -> None:
    assert refused(waiting(generating()), UserCancelled(60, FIRST)) is Outcome.IGNORED


# --- stopping the AI ------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", AI)
def test_stop_ai_takes_authority_and_consent_at_once(stage: Stage) -> None:
    c = stage()
    step = reduce(c, UserWithdrewConsent(99))
    assert step.conversation.state is State.CONSENT_REQUIRED
    assert step.conversation.epoch == c.epoch + 1
    assert of(step, RevokeConsent) == [RevokeConsent(c.version)]
    assert shown(step) == [Notice.AI_OFF]


def test_stop_ai_keeps_what_waits_for_the_next_choice() -> None:
    step = reduce(gathering(), UserWithdrewConsent(11))
    assert step.conversation.pending
    assert of(step, Cover) == []


@pytest.mark.parametrize("c", [NEW, after(ready(), Ended(5))], ids=["new", "ended"])
def test_stop_ai_while_it_is_off_says_so(c: Conversation) -> None:
    assert shown(reduce(c, UserWithdrewConsent(99))) == [Notice.AI_OFF]


@pytest.mark.parametrize(
    ("c", "notice"),
    [(waiting(gathering()), Notice.HANDOFF_WAITING), (held(gathering()), Notice.ALREADY_HUMAN)],
    ids=["waiting", "held"],
)
def test_stop_ai_during_a_request_revokes_and_is_answered(c: Conversation, notice: Notice) -> None:
    step = reduce(c, UserWithdrewConsent(99))
    assert step.conversation.state is c.state
    assert of(step, RevokeConsent) == [RevokeConsent(1)]
    assert shown(step) == [notice]


# --- a new start ----------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [gathering, generating, moderating])
def test_new_clears_away_what_waits_for_an_answer_as_well(stage: Stage) -> None:
    step = reduce(stage(), UserClearedContext(20))
    assert step.conversation.state is State.AI_READY
    assert step.conversation.context_from == 1
    assert of(step, Cover) == [Cover(1, 1, Covering.NOTICE)]
    assert of(step, StopDebounce)
    assert shown(step) == [Notice.NEW_STARTED]


def test_new_while_a_reply_leaves_hides_that_turn_from_the_next() -> None:
    step = reduce(sending(), UserClearedContext(20))
    assert step.conversation.state is State.BOT_SENDING
    assert step.conversation.context_from == 1


@pytest.mark.parametrize("c", [NEW, waiting(), held(), after(ready(), Ended(5))])
def test_new_where_the_ai_is_silent_only_clears(c: Conversation) -> None:
    step = reduce(c, UserClearedContext(99))
    assert step.conversation.state is c.state
    assert shown(step) == [Notice.NEW_STARTED]


# --- leaving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [*AI, waiting, held])
def test_the_end_settles_everything(stage: Stage) -> None:
    step = reduce(stage(), Ended(99))
    c = step.conversation
    assert c.state is State.ENDED
    assert not c.pending
    assert c.holder is None
    assert shown(step) == [Notice.ENDED]


@pytest.mark.parametrize("c", [waiting(), held()], ids=["waiting", "held"])
def test_the_end_is_told_to_operators_whom_it_concerns(c: Conversation) -> None:
    assert told(reduce(c, Ended(99))) == [Notice.OP_ENDED]
    assert told(reduce(ready(), Ended(99))) == []


def test_a_second_end_is_answered_as_well() -> None:
    c = after(ready(), Ended(5))
    step = reduce(c, Ended(6))
    assert (step.conversation, shown(step)) == (c, [Notice.ENDED])


@pytest.mark.parametrize("stage", [*AI, waiting, held])
def test_a_block_ends_the_conversation_and_operators_are_told(stage: Stage) -> None:
    step = reduce(stage(), UserBlockedBot(99))
    assert step.conversation.state is State.ENDED
    assert step.conversation.blocked
    assert of(step, StopTimers)
    assert told(step) == [Notice.OP_BLOCKED]


def test_operators_are_told_of_a_block_once() -> None:
    c = after(ready(), UserBlockedBot(20))
    assert refused(c, UserBlockedBot(21)) is Outcome.IGNORED


@pytest.mark.parametrize(
    "event",
    [
        UserStarted(30),
        UserMessaged(30),
        UserOptedIn(30),
        UserRequestedHuman(30),
        UserCancelled(30),
        UserWithdrewConsent(30),
        UserClearedContext(30),
        Ended(30),
    ],
)
def test_whoever_comes_back_is_spoken_to_again(event: Event) -> None:
    """A notice to somebody who blocked the bot is not sent, so the mark must not stay."""
    step = reduce(after(ready(), UserBlockedBot(20)), event)
    assert not step.conversation.blocked
    assert shown(step)


def test_a_second_block_after_coming_back_is_told_again() -> None:
    c = after(ready(), UserBlockedBot(20), UserRequestedHuman(30))
    assert told(reduce(c, UserBlockedBot(40))) == [Notice.OP_BLOCKED]
