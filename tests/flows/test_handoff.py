"""A person is asked for, comes, speaks, leaves; the AI never talks over them."""

import asyncio

from bot.lab.practice.scripts import Reply
from tests.stage import OWNER, USER, Stage


async def meet_owner(stage: Stage) -> None:
    stage.telegram.user_starts(OWNER)
    await stage.shows(OWNER, "assistant")


async def test_a_request_while_the_model_works_silences_the_late_draft(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Too late."))
    live.model.hold()
    live.telegram.user_sends(USER, "Help me")
    await live.model.until_asked(1)
    live.telegram.user_sends(USER, "/human")
    conversation = await live.state(USER, "handoff_pending")
    assert conversation.epoch == 2
    live.model.release()
    await live.everything_so_far()
    assert not any("Too late." in seen.text for seen in live.from_bot(USER))


async def test_the_owner_is_told_takes_over_speaks_and_leaves(live: Stage) -> None:
    await meet_owner(live)
    await live.opt_in()
    live.telegram.user_sends(USER, "/human")
    await live.until(
        lambda: any("Take" in str(seen.keyboard) for seen in live.from_bot(OWNER)) or None
    )
    live.press(OWNER, "Take")
    held = await live.state(USER, "human_active")
    assert held.holder is not None
    assert held.holder.operator_id == OWNER
    live.telegram.user_sends(OWNER, "Hello, this is a human.")
    await live.shows(USER, "Hello, this is a human.")
    live.telegram.user_sends(USER, "Good to hear.")
    await live.shows(OWNER, "Good to hear.")
    live.telegram.user_sends(OWNER, "/release")
    await live.state(USER, "consent_required")
    live.telegram.user_sends(USER, "And now?")
    live.telegram.user_sends(OWNER, "/queue")
    await asyncio.sleep(0)
    assert live.model.requests == []


async def test_a_claim_while_the_model_works_gives_the_word_to_the_person(live: Stage) -> None:
    await meet_owner(live)
    await live.opt_in()
    live.model.hold()
    live.telegram.user_sends(USER, "Help me")
    await live.model.until_asked(1)
    live.telegram.user_sends(OWNER, f"/claim {USER}")
    await live.state(USER, "human_active")
    await live.shows(OWNER, "Help me")
    live.model.release()
    live.telegram.user_sends(OWNER, "I am here.")
    await live.shows(USER, "I am here.")
    assert [entry.outcome for entry in await live.journal() if entry.event == "AiDrafted"] in (
        [],
        ["stale"],
    )


async def test_the_second_operator_is_told_who_holds_it(on_stage: Stage) -> None:
    other = 1001
    async with on_stage.bot(operators=frozenset({other})):
        for operator in (OWNER, other):
            on_stage.telegram.user_starts(operator)
            await on_stage.shows(operator, "assistant")
        on_stage.telegram.user_sends(USER, "/human")
        await on_stage.state(USER, "handoff_pending")
        on_stage.telegram.user_sends(OWNER, "/claim")
        await on_stage.state(USER, "human_active")
        on_stage.telegram.user_sends(other, f"/claim {USER}")
        await on_stage.shows(other, f"User {OWNER}")
        held = await on_stage.conversation(USER)
        assert held.holder is not None
        assert held.holder.operator_id == OWNER


async def test_cancelling_the_request_leads_to_the_choice_again(live: Stage) -> None:
    await live.opt_in()
    live.telegram.user_sends(USER, "/human")
    await live.state(USER, "handoff_pending")
    await live.until(
        lambda: any("Cancel the request" in str(m.keyboard) for m in live.from_bot(USER)) or None
    )
    live.press(USER, "Cancel the request")
    await live.state(USER, "consent_required")


async def test_a_forgotten_lease_leads_to_the_queue_and_never_to_the_ai(on_stage: Stage) -> None:
    async with on_stage.bot(human_lease_seconds=0.3):
        await meet_owner(on_stage)
        await on_stage.opt_in()
        on_stage.telegram.user_sends(OWNER, f"/claim {USER}")
        await on_stage.state(USER, "human_active")
        await on_stage.state(USER, "handoff_pending")
        on_stage.telegram.user_sends(USER, "Hello?")
        await on_stage.everything_so_far()
        assert on_stage.model.requests == []


async def test_a_stranger_cannot_use_operator_commands_or_buttons(live: Stage) -> None:
    await live.opt_in()
    other = 77
    live.telegram.user_sends(other, "/human")
    await live.state(other, "handoff_pending")
    live.telegram.user_sends(USER, f"/claim {other}")
    live.telegram.user_sends(USER, "/queue")
    notice = live.from_bot(USER)[0]
    live.telegram.user_forges_press(USER, notice.message_id, f"v1:claim:tg:{other}")
    live.telegram.user_sends(USER, "/privacy")
    await live.until(lambda: len(live.from_bot(USER)) >= 5 or None)
    assert (await live.conversation(other)).state == "handoff_pending"
