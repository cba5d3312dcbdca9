"""What follows from drafts, verdicts and failures of the AI."""

from dataclasses import replace

from bot.core.effects import (
    CancelGeneration,
    Generate,
    Moderate,
    NotifyOperators,
    SendBot,
    StopDebounce,
)
from bot.core.events import (
    AiDrafted,
    DraftApproved,
    DraftBlocked,
    GenerationFailed,
    HandoffRecommended,
    HealthDegraded,
    ModerationUnavailable,
    PolicyEscalated,
    TurnDue,
)
from bot.core.notices import Covering, Notice
from bot.core.states import Conversation, State, Turn
from bot.core.transitions.moves import (
    Change,
    Limits,
    cover_pending,
    leave,
    may_restart,
    restart,
    settle_turn,
    show,
    to_consent,
    to_handoff,
    turn_of,
)


def generate(c: Conversation, event: TurnDue, limits: Limits) -> Change:
    if not c.pending or c.in_flight is not None:
        return None
    turn = Turn(c.covered + 1, c.version)
    working = replace(c, state=State.AI_GENERATING, turn=turn)
    return working, (StopDebounce(), Generate(turn))


def moderate(c: Conversation, event: AiDrafted, limits: Limits) -> Change:
    work = () if event.judged else (Moderate(turn_of(c)),)
    return replace(c, state=State.MODERATING, model_failures=0), work


def offer_person(c: Conversation, event: HandoffRecommended, limits: Limits) -> Change:
    return replace(c, turn=replace(turn_of(c), offers_person=True)), ()


def generation_failed(c: Conversation, event: GenerationFailed, limits: Limits) -> Change:
    failures = c.model_failures + 1
    if failures >= limits.max_model_failures:
        return degrade(
            replace(c, model_failures=failures), HealthDegraded(event.at, event.failure), limits
        )
    shown = show(Notice.MODEL_FAILED, failure=event.failure)
    told = NotifyOperators(Notice.OP_MODEL_TROUBLE, {"failure": event.failure})
    failed = replace(c, model_failures=failures)
    return settle_turn(failed, event.at, Covering.NOTICE, shown, told)


def degrade(c: Conversation, event: HealthDegraded, limits: Limits) -> Change:
    """Step aside after repeated failures; only the user's explicit act brings the AI back."""
    told = NotifyOperators(Notice.OP_MODEL_TROUBLE, {"failure": event.cause})
    idle, effects = leave(c)
    settled = cover_pending(idle, Covering.NOTICE)
    aside = to_consent(settled[0], event.at, Notice.HEALTH_DEGRADED, told)
    return aside[0], (*effects, *settled[1], *aside[1])


def send(c: Conversation, event: DraftApproved, limits: Limits) -> Change:
    """The final check (I5): a draft that newer messages overtook is dropped, within the cap."""
    if c.version > turn_of(c).covers_to and may_restart(c, event.at, limits):
        return restart(c, event.at)
    return replace(c, state=State.BOT_SENDING), (SendBot(turn_of(c)),)


def withhold(c: Conversation, event: DraftBlocked, limits: Limits) -> Change:
    dropped = CancelGeneration(turn_of(c))
    return settle_turn(c, event.at, Covering.NOTICE, dropped, show(Notice.NO_ANSWER))


def hand_over_unmoderated(c: Conversation, event: ModerationUnavailable, limits: Limits) -> Change:
    told = NotifyOperators(Notice.OP_MODERATION)
    return to_handoff(c, event.at, limits, show(Notice.NO_ANSWER_HANDOFF), told)


def escalate(c: Conversation, event: PolicyEscalated, limits: Limits) -> Change:
    told = NotifyOperators(Notice.OP_POLICY, {"rule": event.rule})
    return to_handoff(c, event.at, limits, show(Notice.POLICY_HANDOFF), told)
