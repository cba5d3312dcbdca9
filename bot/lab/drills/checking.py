"""Drills about moderation: out of reach, or a no. The user cannot tell the two apart."""

from bot.lab.drills.record import DrillStage
from bot.lab.practice.scripts import Reply
from bot.lab.stage import OWNER, USER

NEUTRAL = "I have no good answer to that."


async def _ask(stage: DrillStage, draft: str) -> None:
    await stage.meet_operators()
    await stage.opt_in()
    await stage.step("the user starts the assistant")
    stage.model.script(Reply(text=draft))
    stage.telegram.user_sends(USER, "Say something")
    await stage.until(lambda: stage.count(USER, NEUTRAL) or stage.count(USER, draft) or None)


def _check_unseen(stage: DrillStage, draft: str) -> None:
    seen = stage.sent(USER, draft) + stage.sent(OWNER, draft)
    stage.check("nobody saw the draft", seen == 0, f"{seen} messages hold it")
    judged = draft in "".join(stage.model.moderated)
    stage.check("the moderation endpoint was asked about it", judged)


async def _handed_over(stage: DrillStage) -> None:
    await stage.state(USER, "handoff_pending")
    await stage.shows(OWNER, "could not be checked")


async def moderation_times_out(stage: DrillStage) -> None:
    draft = "A draft that nobody judged."
    stage.model.moderate(stalled=True)
    async with stage.bot(moderation="endpoint", moderation_timeout=0.3):
        await _ask(stage, draft)
        await stage.covered(1) if stage.count(USER, draft) else await _handed_over(stage)
        await stage.step("the judgement does not come")
        stage.model.moderate(stalled=False)
        stage.telegram.user_sends(USER, "Hello?")
        await stage.everything_so_far()
        await stage.step("moderation is back; the user writes on")
        after, happened = await stage.conversation(), await stage.events()
    _check_unseen(stage, draft)
    stage.check("the log says: unavailable", "ModerationUnavailable" in happened, happened)
    stage.check("a person is waited for", after.state == "handoff_pending", after.state)
    stage.check("the AI did not go on", len(stage.model.requests) == 1, len(stage.model.requests))
    stage.check("the operators were told once", stage.sent(OWNER, "could not be checked") == 1)


async def moderation_blocks(stage: DrillStage) -> None:
    draft = "A forbidden word."
    stage.model.moderate(flagged=("forbidden",))
    async with stage.bot(moderation="endpoint"):
        await _ask(stage, draft)
        await stage.covered(1)
        await stage.step("the draft is blocked")
        stage.model.script(Reply(text="A harmless one."))
        stage.telegram.user_sends(USER, "Then something else")
        await stage.shows(USER, "A harmless one.")
        await stage.covered(2)
        await stage.step("the next answer passes")
        happened = await stage.events()
        remembered = [line for line in await stage.lines() if "forbidden" in line.text]
        offers = [seen.keyboard for seen in stage.from_bot(USER) if NEUTRAL in seen.text]
    _check_unseen(stage, draft)
    stage.check("the log says: blocked", "DraftBlocked" in happened, happened)
    stage.check("a person is offered", "Talk to a person" in str(offers), offers)
    stage.check("nothing of it went into memory", not remembered)
