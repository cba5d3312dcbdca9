"""Turns of the AI: gathering, drafting, checking, and when something goes wrong."""

import pytest

from bot.core.effects import (
    CancelGeneration,
    Cover,
    Generate,
    Moderate,
    SendBot,
    StartDebounce,
    StopDebounce,
)
from bot.core.events import (
    AiDrafted,
    Delivered,
    DraftApproved,
    DraftBlocked,
    GenerationFailed,
    HandoffRecommended,
    HealthDegraded,
    ModerationUnavailable,
    PolicyEscalated,
    TurnDue,
    UserMessaged,
    UserOptedIn,
)
from bot.core.notices import Covering, Notice
from bot.core.reducer import Outcome, reduce
from bot.core.states import Conversation, State, Turn
from bot.core.transitions.moves import Limits
from tests.core.stages import (
    FIRST,
    NEW,
    SECOND,
    Stage,
    after,
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


def test_each_message_starts_the_quiet_period_again() -> None:
    c = gathering(at=10)
    assert of(reduce(c, UserMessaged(11)), StartDebounce) == [StartDebounce(11)]


def test_one_turn_answers_all_that_waits() -> None:
    c = after(gathering(), UserMessaged(11), UserMessaged(12))
    step = reduce(c, TurnDue(14))
    assert step.conversation.state is State.AI_GENERATING
    assert of(step, Generate) == [Generate(Turn(1, 3))]
    assert of(step, StopDebounce)


def test_a_timer_with_nothing_to_answer_changes_nothing() -> None:
    assert refused(ready(), TurnDue(10)) is Outcome.IGNORED


@pytest.mark.parametrize("stage", [generating, moderating])
def test_a_message_during_the_work_drops_the_draft_and_gathers_again(stage: Stage) -> None:
    step = reduce(stage(), UserMessaged(20))
    assert step.conversation.state is State.AI_READY
    assert step.conversation.restarts == 1
    assert of(step, CancelGeneration) == [CancelGeneration(Turn(1, 1))]
    assert of(step, StartDebounce) == [StartDebounce(20, restarts=1)]


def test_the_restarted_turn_answers_the_old_and_the_new() -> None:
    c = after(generating(), UserMessaged(20), TurnDue(22))
    assert c.turn == Turn(1, 2)


def test_after_the_last_restart_a_message_waits_for_the_next_turn() -> None:
    c = _restarted(Limits().max_restarts)
    step = reduce(c, UserMessaged(50))
    assert step.conversation.state is State.AI_GENERATING
    assert step.effects == ()


def test_at_the_cap_the_reply_goes_out_for_what_it_covers() -> None:
    c = _restarted(Limits().max_restarts)
    turn = c.turn
    assert turn is not None
    c = after(c, UserMessaged(50), AiDrafted(51, c.epoch, turn.id))
    step = reduce(c, DraftApproved(52, c.epoch, turn.id))
    assert of(step, SendBot) == [SendBot(turn)]


def test_after_the_longest_wait_a_message_waits_for_the_next_turn() -> None:
    c = generating(at=10)
    late = 10 + Limits().max_turn_seconds
    assert reduce(c, UserMessaged(late)).conversation.state is State.AI_GENERATING


def test_a_delivered_reply_gives_back_all_restarts() -> None:
    c = _restarted(2)
    assert c.turn is not None
    turn_id = c.turn.id
    c = after(c, AiDrafted(51, c.epoch, turn_id), DraftApproved(52, c.epoch, turn_id))
    assert after(c, Delivered(53, c.epoch, turn_id)).restarts == 0


def test_the_wait_for_the_next_turn_is_counted_anew() -> None:
    """An old wait would let the next reply go out although newer messages came."""
    c = sending()
    c = after(c, UserMessaged(20), Delivered(500, c.epoch, FIRST))
    assert c.waiting_since == 500
    c = after(c, TurnDue(502), UserMessaged(503))
    assert c.state is State.AI_READY


def test_a_draft_is_checked_before_anybody_sees_it() -> None:
    c = generating()
    step = reduce(c, AiDrafted(14, c.epoch, FIRST))
    assert step.conversation.state is State.MODERATING
    assert step.effects == (Moderate(Turn(1, 1)),)


def test_an_approved_draft_leaves() -> None:
    c = moderating()
    step = reduce(c, DraftApproved(15, c.epoch, FIRST))
    assert step.conversation.state is State.BOT_SENDING
    assert step.effects == (SendBot(Turn(1, 1)),)


def test_an_overtaken_draft_is_dropped_at_the_final_check() -> None:
    """Cannot come about by events, which restart at once; the check holds all the same."""
    c = Conversation("c", State.MODERATING, epoch=1, version=2, turn=Turn(1, 1), waiting_since=10)
    step = reduce(c, DraftApproved(15, 1, FIRST))
    assert step.conversation.state is State.AI_READY
    assert of(step, SendBot) == []
    assert of(step, CancelGeneration)


def test_a_blocked_draft_is_replaced_by_neutral_words() -> None:
    c = moderating()
    step = reduce(c, DraftBlocked(15, c.epoch, FIRST))
    assert step.conversation.state is State.AI_READY
    assert shown(step) == [Notice.NO_ANSWER]
    assert of(step, Cover) == [Cover(1, 1, Covering.NOTICE, FIRST)]
    assert of(step, CancelGeneration)


def test_a_check_out_of_reach_passes_the_conversation_to_a_person() -> None:
    c = moderating()
    step = reduce(c, ModerationUnavailable(15, c.epoch, FIRST))
    assert step.conversation.state is State.HANDOFF_PENDING
    assert shown(step) == [Notice.NO_ANSWER_HANDOFF]
    assert told(step) == [Notice.OP_MODERATION]
    assert step.conversation.pending


@pytest.mark.parametrize("stage", [generating, moderating])
def test_a_recommended_person_is_offered_with_the_reply(stage: Stage) -> None:
    c = after(stage(), HandoffRecommended(14, 1, FIRST))
    assert c.turn == Turn(1, 1, offers_person=True)


@pytest.mark.parametrize(
    "result", [AiDrafted(20, 0, FIRST), AiDrafted(20, 1, SECOND), Delivered(20, 9, FIRST)]
)
def test_a_result_of_another_epoch_or_turn_is_stale(result: AiDrafted) -> None:
    assert refused(generating(), result) is Outcome.STALE


def test_a_draft_that_comes_twice_is_checked_once() -> None:
    c = moderating()
    assert refused(c, AiDrafted(20, c.epoch, FIRST)) is Outcome.IGNORED


def test_a_verdict_after_a_new_message_is_stale() -> None:
    c = after(moderating(), UserMessaged(14))
    assert refused(c, DraftApproved(15, c.epoch, FIRST)) is Outcome.STALE


# --- failures -------------------------------------------------------------------------------------


def test_a_failed_generation_is_told_and_settles_its_messages() -> None:
    c = generating()
    step = reduce(c, GenerationFailed(20, c.epoch, FIRST, "timeout"))
    assert step.conversation.state is State.AI_READY
    assert shown(step) == [Notice.MODEL_FAILED]
    assert told(step) == [Notice.OP_MODEL_TROUBLE]
    assert of(step, Cover) == [Cover(1, 1, Covering.NOTICE, FIRST)]


def test_repeated_failures_let_the_assistant_step_aside() -> None:
    c = _failed(Limits().max_model_failures - 1)
    assert c.turn is not None
    step = reduce(c, GenerationFailed(90, c.epoch, c.turn.id, "timeout"))
    assert step.conversation.state is State.CONSENT_REQUIRED
    assert shown(step) == [Notice.HEALTH_DEGRADED]
    assert not step.conversation.pending


def test_a_draft_ends_a_row_of_failures_whatever_becomes_of_it() -> None:
    c = _failed(2)
    assert c.turn is not None
    turn_id = c.turn.id
    c = after(c, AiDrafted(90, c.epoch, turn_id), DraftBlocked(91, c.epoch, turn_id))
    c = after(c, UserMessaged(92), TurnDue(94))
    assert c.turn is not None
    step = reduce(c, GenerationFailed(95, c.epoch, c.turn.id, "timeout"))
    assert shown(step) == [Notice.MODEL_FAILED]


def test_starting_the_assistant_again_forgets_the_failures() -> None:
    c = after(_failed(2), HealthDegraded(90, "timeout"), UserOptedIn(100))
    assert c.model_failures == 0


def test_degraded_health_settles_what_waits_by_its_notice() -> None:
    step = reduce(generating(), HealthDegraded(20, "timeout"))
    assert shown(step) == [Notice.HEALTH_DEGRADED]
    assert of(step, Cover) == [Cover(1, 1, Covering.NOTICE)]
    assert of(step, CancelGeneration)


def test_degraded_health_while_a_reply_leaves_lets_what_is_on_the_wire_finish() -> None:
    c = after(sending(), UserMessaged(19))
    step = reduce(c, HealthDegraded(20, "timeout"))
    assert step.conversation.in_flight == Turn(1, 1)
    assert of(step, Cover) == [Cover(2, 2, Covering.NOTICE)]


@pytest.mark.parametrize("c", [NEW, waiting(), held()], ids=["new", "waiting", "held"])
def test_degraded_health_while_the_ai_is_off_changes_nothing(c: Conversation) -> None:
    assert refused(c, HealthDegraded(99, "timeout")) is Outcome.IGNORED


@pytest.mark.parametrize("stage", [ready, gathering, generating, moderating, sending])
def test_a_rule_passes_the_conversation_to_a_person(stage: Stage) -> None:
    step = reduce(stage(), PolicyEscalated(99, "keyword"))
    assert step.conversation.state is State.HANDOFF_PENDING
    assert shown(step) == [Notice.POLICY_HANDOFF]
    assert told(step) == [Notice.OP_POLICY]


def _restarted(times: int) -> Conversation:
    """Under work again after so many newer messages."""
    c = generating(at=10)
    for number in range(times):
        c = after(c, UserMessaged(20 + 4 * number), TurnDue(22 + 4 * number))
    return c


def _failed(times: int) -> Conversation:
    """Under work again after so many failures in a row."""
    c = generating(at=10)
    for number in range(times):
        assert c.turn is not None
        failed = GenerationFailed(20 + 4 * number, c.epoch, c.turn.id, "timeout")
        c = after(c, failed, UserMessaged(21 + 4 * number), TurnDue(23 + 4 * number))
    return c
