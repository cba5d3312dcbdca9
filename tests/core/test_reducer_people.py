"""People: requests, claims, leases, handing on, giving back."""

import pytest

from bot.core.effects import (
    CancelGeneration,
    Cover,
    RecallReply,
    RelayToOperators,
    RelayToUser,
    StartTimer,
    StopTimers,
    Timer,
)
from bot.core.events import (
    Ended,
    Event,
    HandoffReminderDue,
    HumanLeaseExpired,
    HumanMessaged,
    HumanReleased,
    HumanTransferred,
    PolicyEscalated,
    UserCancelled,
    UserMessaged,
    UserOptedIn,
)
from bot.core.notices import Covering, Notice
from bot.core.reducer import Outcome, reduce
from bot.core.states import Conversation, Holder, State, Turn
from bot.core.transitions.moves import Limits
from tests.core.stages import (
    LEASE,
    NEW,
    after,
    claim,
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

CLAIMABLE = (
    NEW,
    ready(),
    gathering(),
    generating(),
    moderating(),
    sending(),
    doubtful(),
    waiting(),
)


@pytest.mark.parametrize("c", CLAIMABLE, ids=lambda c: c.state)
def test_an_operator_may_claim_at_any_time(c: Conversation) -> None:
    step = reduce(c, claim(60))
    assert step.conversation.state is State.HUMAN_ACTIVE
    assert step.conversation.holder == Holder(1, "Operator 1", 60, 60 + LEASE)
    assert step.conversation.epoch == c.epoch + 1
    assert shown(step) == [Notice.HUMAN_JOINED]
    assert told(step) == [Notice.OP_CLAIMED]
    assert of(step, StartTimer) == [StartTimer(Timer.HUMAN_LEASE, 60 + LEASE)]


def test_a_closed_conversation_cannot_be_claimed() -> None:
    assert refused(after(ready(), Ended(5)), claim(60)) is Outcome.IGNORED


def test_a_claim_settles_what_waits_and_passes_it_on() -> None:
    c = after(waiting(gathering()), UserMessaged(51))
    step = reduce(c, claim(60))
    assert of(step, Cover) == [Cover(1, 2, Covering.HUMAN)]
    assert of(step, RelayToOperators) == [RelayToOperators(1, 2, 1)]


def test_a_claim_drops_the_draft_under_work() -> None:
    assert of(reduce(generating(), claim(60)), CancelGeneration) == [CancelGeneration(Turn(1, 1))]


def test_a_claim_recalls_the_reply_and_passes_on_its_question() -> None:
    step = reduce(sending(), claim(60))
    assert of(step, RecallReply) == [RecallReply(Turn(1, 1))]
    assert of(step, RelayToOperators) == [RelayToOperators(1, 1, 1)]
    assert of(step, Cover) == []


def test_of_two_operators_who_claim_one_holds_it() -> None:
    assert refused(held(), claim(61, operator=2)) is Outcome.IGNORED


def test_a_second_claim_of_the_holder_only_renews_the_lease() -> None:
    c = held(at=60)
    step = reduce(c, claim(100))
    assert step.conversation.epoch == c.epoch
    assert step.effects == (StartTimer(Timer.HUMAN_LEASE, 100 + LEASE),)


# --- talking --------------------------------------------------------------------------------------


def test_the_holders_words_go_to_the_user_and_renew_the_lease() -> None:
    step = reduce(held(), HumanMessaged(100, 1, 7, 100 + LEASE))
    assert of(step, RelayToUser) == [RelayToUser(1, 7)]
    assert of(step, StartTimer) == [StartTimer(Timer.HUMAN_LEASE, 100 + LEASE)]


def test_the_words_of_another_operator_go_nowhere() -> None:
    assert refused(held(), HumanMessaged(100, 2, 7, 100 + LEASE)) is Outcome.IGNORED


def test_a_lease_never_gets_shorter() -> None:
    c = held(at=60)
    step = reduce(c, HumanMessaged(61, 1, 7, 62))
    assert step.conversation.holder == c.holder


# --- giving back ----------------------------------------------------------------------------------


def test_after_a_release_the_user_chooses_again() -> None:
    step = reduce(held(), HumanReleased(100, 1))
    assert step.conversation.state is State.CONSENT_REQUIRED
    assert step.conversation.holder is None
    assert shown(step) == [Notice.HUMAN_LEFT]
    assert told(step) == [Notice.OP_RELEASED]
    assert of(step, StopTimers)


def test_a_release_by_another_operator_changes_nothing() -> None:
    assert refused(held(), HumanReleased(100, 2)) is Outcome.IGNORED


def test_a_transfer_changes_the_holder_and_the_epoch() -> None:
    c = held()
    step = reduce(c, HumanTransferred(100, 1, 2, "Operator 2", 100 + LEASE))
    assert step.conversation.holder == Holder(2, "Operator 2", 100, 100 + LEASE)
    assert step.conversation.epoch == c.epoch + 1
    assert shown(step) == [Notice.HUMAN_CHANGED]
    assert told(step) == [Notice.OP_CLAIMED]
    assert of(step, StartTimer) == [StartTimer(Timer.HUMAN_LEASE, 100 + LEASE)]


def test_a_transfer_by_another_operator_changes_nothing() -> None:
    transfer = HumanTransferred(100, 2, 3, "Operator 3", 100 + LEASE)
    assert refused(held(), transfer) is Outcome.IGNORED


def test_a_transfer_to_oneself_changes_nothing() -> None:
    transfer = HumanTransferred(100, 1, 1, "Operator 1", 100 + LEASE)
    assert refused(held(), transfer) is Outcome.IGNORED


# --- time -----------------------------------------------------------------------------------------


def test_an_expired_lease_puts_the_user_back_in_the_queue() -> None:
    c = held(at=60)
    step = reduce(c, HumanLeaseExpired(60 + LEASE, c.epoch))
    assert step.conversation.state is State.HANDOFF_PENDING
    assert step.conversation.holder is None
    assert shown(step) == [Notice.HUMAN_GONE]
    assert told(step) == [Notice.OP_LEASE_EXPIRED]


def test_a_lease_that_was_renewed_meanwhile_goes_on() -> None:
    c = after(held(at=60), HumanMessaged(600, 1, 7, 600 + LEASE))
    step = reduce(c, HumanLeaseExpired(60 + LEASE, c.epoch))
    assert step.conversation == c
    assert step.effects == (StartTimer(Timer.HUMAN_LEASE, 600 + LEASE),)


def test_the_lease_timer_of_an_earlier_holder_is_stale() -> None:
    c = after(held(at=60), HumanTransferred(100, 1, 2, "Operator 2", 100 + LEASE))
    assert refused(c, HumanLeaseExpired(9999, c.epoch - 1)) is Outcome.STALE


def test_an_unclaimed_request_is_brought_to_mind_ever_more_rarely() -> None:
    c = waiting(at=50)
    first = reduce(c, HandoffReminderDue(350, c.epoch))
    assert told(first) == [Notice.OP_REMINDER]
    second = reduce(first.conversation, HandoffReminderDue(950, c.epoch))
    due = [effect.due_at for step in (first, second) for effect in of(step, StartTimer)]
    pause = Limits().reminder_seconds
    assert due == [350 + 2 * pause, 950 + 4 * pause]


def test_an_unclaimed_request_never_ends_by_itself() -> None:
    c = waiting(at=50)
    for number in range(50):
        c = after(c, HandoffReminderDue(1e6 * number, c.epoch))
    assert c.state is State.HANDOFF_PENDING


def test_the_reminder_of_an_earlier_request_is_stale() -> None:
    c = after(waiting(), UserCancelled(60), UserOptedIn(61))
    c = waiting(c, at=70)
    assert refused(c, HandoffReminderDue(350, c.epoch - 1)) is Outcome.STALE


def test_a_second_request_counts_its_reminders_anew() -> None:
    c = after(waiting(), HandoffReminderDue(350, 0), UserCancelled(360))
    assert waiting(c, at=400).reminders == 0


@pytest.mark.parametrize("c", [waiting(), held()], ids=["waiting", "held"])
def test_a_rule_changes_nothing_once_a_person_was_asked_for(c: Conversation) -> None:
    assert refused(c, PolicyEscalated(99, "keyword")) is Outcome.IGNORED


@pytest.mark.parametrize(
    "event",
    [HumanMessaged(99, 1, 7, 700), HumanReleased(99, 1), HumanTransferred(99, 1, 2, "", 700)],
)
@pytest.mark.parametrize("c", [NEW, ready(), waiting()], ids=["new", "ready", "waiting"])
def test_whoever_holds_nothing_can_do_nothing(c: Conversation, event: Event) -> None:
    assert refused(c, event) is Outcome.IGNORED
