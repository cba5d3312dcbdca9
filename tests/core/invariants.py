"""The promises of the reducer, checked after every step of the model world.

Each is named after its number on the design page; L1 to L3 say that nothing waits for ever.
"""

from collections.abc import Callable

from bot.core.effects import ContinueReply, Cover, Generate, RelayToOperators, SendBot, ShowNotice
from bot.core.effects import Timer as Alarm
from bot.core.events import (
    DeliveryConfirmed,
    DeliveryDisproved,
    DraftApproved,
    HumanClaimed,
    UserBlockedBot,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
    UserWithdrewConsent,
)
from bot.core.notices import Covering, Notice
from bot.core.reducer import Outcome
from bot.core.states import AI_STATES, State, authority
from tests.core.model_world import ON_WIRE, OPEN, Part, Taken, World

WORKING = {State.AI_GENERATING, State.MODERATING, State.BOT_SENDING, State.DELIVERY_UNKNOWN}
SENDING = {State.BOT_SENDING, State.DELIVERY_UNKNOWN}
OFFERS_A_CHOICE = {
    Notice.CONSENT,
    Notice.AI_OFF,
    Notice.HUMAN_LEFT,
    Notice.HANDOFF_CANCELLED,
    Notice.HEALTH_DEGRADED,
}
SAYS_A_PERSON_WILL_COME = {
    Notice.HANDOFF_REQUESTED,
    Notice.HANDOFF_WAITING,
    Notice.HUMAN_GONE,
    Notice.NO_ANSWER_HANDOFF,
    Notice.POLICY_HANDOFF,
    Notice.DELIVERY_HANDOFF,
}
STANDING = OFFERS_A_CHOICE | SAYS_A_PERSON_WILL_COME | {Notice.AI_ON, Notice.ENDED}


def i1_at_most_one_holds_authority(world: World, taken: Taken) -> None:
    c = taken.step.conversation
    assert (c.holder is not None) == (c.state is State.HUMAN_ACTIVE)
    assert (c.turn is not None) == (c.state in WORKING)
    assert c.turn is None or c.in_flight is None, "two replies at once"


def i1_the_epoch_rises_exactly_when_the_holder_changes(world: World, taken: Taken) -> None:
    before, after = taken.before, taken.step.conversation
    changed = authority(before) != authority(after)
    assert after.epoch == before.epoch + int(changed)


def i1_only_the_holder_is_relayed_to(world: World, taken: Taken) -> None:
    holder = taken.step.conversation.holder
    for effect in taken.step.effects:
        if isinstance(effect, RelayToOperators):
            assert holder is not None
            assert effect.operator_id == holder.operator_id


def i2_what_is_not_applied_changes_nothing(world: World, taken: Taken) -> None:
    if taken.step.outcome is not Outcome.APPLIED:
        assert taken.step.conversation == taken.before
        assert taken.step.effects == ()


def i2_a_result_of_an_older_epoch_or_another_turn_is_stale(world: World, taken: Taken) -> None:
    turn_id, epoch = getattr(taken.event, "turn_id", ""), getattr(taken.event, "epoch", None)
    before = taken.before
    flying = before.in_flight is not None and turn_id == before.in_flight.id
    if epoch is None or flying:
        return
    other = bool(turn_id) and (before.turn is None or turn_id != before.turn.id)
    if other or epoch != before.epoch:
        assert taken.step.outcome is Outcome.STALE


def i3_after_a_claim_or_a_request_nothing_of_the_ai_can_begin(world: World, taken: Taken) -> None:
    for row in world.rows:
        if row.author == "ai" and row.status is Part.PENDING:
            assert world.c.turn is not None
            assert world.c.turn.id == row.turn_id, "a part of a reply that was taken back"
            assert world.c.state in SENDING
            assert world.c.epoch == row.epoch
    if isinstance(taken.event, HumanClaimed | UserRequestedHuman):
        assert not any(isinstance(e, SendBot | ContinueReply) for e in taken.step.effects)
        assert authority(taken.step.conversation) != "ai"


def i3_the_words_of_a_person_follow_a_reply_on_the_wire(world: World, taken: Taken) -> None:
    on_wire = [row for row in world.rows if row.status in ON_WIRE]
    assert len(on_wire) <= 1, "something overtook a message on the wire"


def i4_each_message_is_covered_once_and_without_holes(world: World, taken: Taken) -> None:
    c = world.c
    flying = c.in_flight
    for version, message in world.messages.items():
        in_flight = flying is not None and flying.covers_from <= version <= flying.covers_to
        settled = version <= c.covered and not in_flight
        assert len(message.covered_by) == int(settled), f"{version}: {message.covered_by}"


def i4_covered_never_decreases(world: World, taken: Taken) -> None:
    before, after = taken.before, taken.step.conversation
    assert before.covered <= after.covered <= after.version
    assert after.version == before.version + isinstance(taken.event, UserMessaged)


def i4_a_notice_that_settles_is_shown(world: World, taken: Taken) -> None:
    by_notice = [
        effect
        for effect in taken.step.effects
        if isinstance(effect, Cover) and effect.by is Covering.NOTICE
    ]
    shown = any(isinstance(effect, ShowNotice) for effect in taken.step.effects)
    if not by_notice or shown or isinstance(taken.event, UserBlockedBot):
        return
    if taken.step.conversation.state is State.ENDED:  # it was closed, and that was shown
        return
    assert isinstance(taken.event, UserMessaged)
    assert not taken.event.readable
    spoken = [at for at, notice in world.notices if notice is Notice.UNREADABLE]
    assert spoken
    assert taken.at - spoken[-1] < world.limits.repeat_unreadable_seconds


def i5_a_reply_is_sent_for_the_newest_message_or_at_the_cap(world: World, taken: Taken) -> None:
    for effect in taken.step.effects:
        if not isinstance(effect, SendBot):
            continue
        c = taken.before
        capped = (
            c.restarts >= world.limits.max_restarts
            or taken.at - c.waiting_since >= world.limits.max_turn_seconds
        )
        assert capped or effect.turn.covers_to == c.version


def i5_the_time_of_waiting_counts_only_while_something_waits(world: World, taken: Taken) -> None:
    c = world.c
    if c.state is State.AI_READY and not c.pending:
        assert c.waiting_since == 0.0
        assert c.restarts == 0
    if c.state in AI_STATES and c.pending:
        assert c.waiting_since > 0.0


def i6_a_draft_leaves_only_when_it_was_approved(world: World, taken: Taken) -> None:
    if any(isinstance(effect, SendBot) for effect in taken.step.effects):
        assert taken.before.state is State.MODERATING
        assert isinstance(taken.event, DraftApproved)


def i7_a_turn_is_answered_once(world: World, taken: Taken) -> None:
    assert all(row.arrived <= 1 for row in world.rows), "the user got something twice"
    for effect in taken.step.effects:
        if isinstance(effect, Generate):
            assert not world.parts(effect.turn.id), "a second model call for a turn that was sent"


def i7_nothing_leaves_while_it_is_unknown_whether_the_last_arrived(
    world: World, taken: Taken
) -> None:
    if taken.before.state is State.DELIVERY_UNKNOWN:
        known = isinstance(taken.event, DeliveryConfirmed | DeliveryDisproved)
        for effect in taken.step.effects:
            assert not isinstance(effect, SendBot | Generate)
            assert known or not isinstance(effect, ContinueReply)


def i8_the_ai_is_asked_about_what_it_may_read(world: World, taken: Taken) -> None:
    for effect in taken.step.effects:
        if isinstance(effect, Generate):
            turn = effect.turn
            assert all(
                world.messages[version].consented
                for version in range(turn.covers_from, turn.covers_to + 1)
            )


def i8_consent_is_the_users_alone(world: World, taken: Taken) -> None:
    if isinstance(taken.event, UserWithdrewConsent):
        assert not any(message.consented for message in world.messages.values())
    if isinstance(taken.event, UserMessaged) and taken.before.state not in AI_STATES:
        assert not world.messages[taken.step.conversation.version].consented
    if isinstance(taken.event, UserOptedIn):  # what was settled before is not reached any more
        for version, message in world.messages.items():
            if Covering.HUMAN in message.covered_by and message.consented:
                assert version in _granted_before(world), f"{version} was said to a person"


def _granted_before(world: World) -> set[int]:
    """Messages that arrived while the AI was on, or were waiting when the user opted in."""
    granted: set[int] = set()
    for taken in world.taken:
        before, after = taken.before, taken.step.conversation
        if isinstance(taken.event, UserMessaged) and before.state in AI_STATES:
            granted.add(after.version)
        if isinstance(taken.event, UserOptedIn) and taken.step.outcome is Outcome.APPLIED:
            granted |= set(range(before.covered + 1, before.version + 1))
    return granted


def l1_whoever_waits_for_the_ai_waits_for_something_that_comes(world: World, taken: Taken) -> None:
    c = world.c
    parts = world.parts(c.turn.id) if c.turn else []
    match c.state:
        case State.AI_READY if c.pending:
            assert world.debounce is not None or c.in_flight is not None
        case State.AI_GENERATING | State.MODERATING:
            kind = "generate" if c.state is State.AI_GENERATING else "moderate"
            stored = [(w.kind, w.epoch, w.turn.id) for w in world.work]
            assert c.turn is not None
            assert (kind, c.epoch, c.turn.id) in stored
        case State.BOT_SENDING:
            assert any(row.status in OPEN and row.epoch == c.epoch for row in parts)
        case State.DELIVERY_UNKNOWN:
            asked = world.notices and Notice.DID_IT_ARRIVE in {n for _, n in world.notices}
            doubtful = any(row.status is Part.UNRESOLVED for row in parts)
            assert any(row.status is Part.UNKNOWN for row in parts) or (asked and doubtful)


def l2_whoever_waits_for_a_person_is_not_forgotten(world: World, taken: Taken) -> None:
    c = world.c
    if c.state is State.HANDOFF_PENDING:
        assert world.timers.get(Alarm.HANDOFF_REMINDER, (0, -1))[1] == c.epoch
    if c.state is State.HUMAN_ACTIVE:
        assert world.timers.get(Alarm.HUMAN_LEASE, (0, -1))[1] == c.epoch
        assert not c.pending
    if c.state not in {State.HANDOFF_PENDING, State.HUMAN_ACTIVE}:
        assert not world.timers
    if c.state is State.ENDED:
        assert not c.pending
    bounced = isinstance(taken.event, UserBlockedBot)  # the failure follows at once
    if c.in_flight is not None and c.state is not State.HANDOFF_PENDING and not bounced:
        assert any(row.status in ON_WIRE for row in world.parts(c.in_flight.id))


def l3_the_last_standing_notice_tells_the_truth(world: World, taken: Taken) -> None:
    standing = [notice for _, notice in world.notices if notice in STANDING]
    if world.c.state is State.CONSENT_REQUIRED and standing:
        assert standing[-1] in OFFERS_A_CHOICE
    if world.c.state is State.CONSENT_REQUIRED and world.c.version:
        assert standing
    if world.c.state is State.HANDOFF_PENDING:
        assert standing
        assert standing[-1] in SAYS_A_PERSON_WILL_COME


CHECKS: tuple[Callable[[World, Taken], None], ...] = (
    i1_at_most_one_holds_authority,
    i1_the_epoch_rises_exactly_when_the_holder_changes,
    i1_only_the_holder_is_relayed_to,
    i2_what_is_not_applied_changes_nothing,
    i2_a_result_of_an_older_epoch_or_another_turn_is_stale,
    i3_after_a_claim_or_a_request_nothing_of_the_ai_can_begin,
    i3_the_words_of_a_person_follow_a_reply_on_the_wire,
    i4_each_message_is_covered_once_and_without_holes,
    i4_covered_never_decreases,
    i4_a_notice_that_settles_is_shown,
    i5_a_reply_is_sent_for_the_newest_message_or_at_the_cap,
    i5_the_time_of_waiting_counts_only_while_something_waits,
    i6_a_draft_leaves_only_when_it_was_approved,
    i7_a_turn_is_answered_once,
    i7_nothing_leaves_while_it_is_unknown_whether_the_last_arrived,
    i8_the_ai_is_asked_about_what_it_may_read,
    i8_consent_is_the_users_alone,
    l1_whoever_waits_for_the_ai_waits_for_something_that_comes,
    l2_whoever_waits_for_a_person_is_not_forgotten,
    l3_the_last_standing_notice_tells_the_truth,
)


def i4_in_the_end_every_message_is_settled_or_its_user_is_asked(world: World) -> None:
    """To be checked once `world.settle()` let everything run to its end."""
    c = world.c
    assert c.state not in WORKING
    waiting = [v for v, message in world.messages.items() if not message.covered_by]
    if waiting:
        assert c.state in {State.CONSENT_REQUIRED, State.HANDOFF_PENDING}
        standing = [notice for _, notice in world.notices if notice in STANDING]
        assert standing[-1] in OFFERS_A_CHOICE | SAYS_A_PERSON_WILL_COME
