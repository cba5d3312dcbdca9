"""A person writes and one good answer comes back, over real HTTP."""

from bot.lab.practice.scripts import Reply
from tests.stage import OWNER, USER, Stage


async def test_a_first_message_gets_a_choice_and_no_model_call(live: Stage) -> None:
    live.telegram.user_sends(USER, "Hello?")
    notice = await live.shows(USER, "assistant")
    labels = [button["text"] for row in notice.keyboard for button in row]
    assert labels == ["Start the AI assistant", "Talk to a person"]
    assert live.model.requests == []


async def test_what_was_asked_before_the_choice_is_answered_after_it(live: Stage) -> None:
    live.telegram.user_sends(USER, "What is the capital of France?")
    await live.shows(USER, "assistant")
    live.model.script(Reply(text="Paris."))
    live.press(USER, "Start the AI assistant")
    await live.shows(USER, "Paris.")
    assert "capital of France" in live.model.requests[0].texts[-1]


async def test_one_message_gets_one_reply_from_one_model_call(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Fine, thank you."))
    live.telegram.user_sends(USER, "How are you?")
    await live.shows(USER, "Fine, thank you.")
    conversation = await live.state(USER, "ai_ready")
    assert (conversation.version, conversation.covered) == (1, 1)
    assert len(live.model.requests) == 1


async def test_stop_ai_silences_the_assistant_until_it_is_started_again(live: Stage) -> None:
    await live.opt_in()
    live.telegram.user_sends(USER, "/stop_ai")
    await live.state(USER, "consent_required")
    live.telegram.user_sends(USER, "Anybody there?")
    await live.until(lambda: len(live.from_bot(USER)) >= 3 or None)
    assert live.model.requests == []


async def test_a_reply_of_the_model_about_think_tags_keeps_them(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Wrap it in `<think>` and `</think>`."))
    live.telegram.user_sends(USER, "How do I mark reasoning?")
    seen = await live.shows(USER, "Wrap it in")
    assert "<think>" in seen.text
    assert "</think>" in seen.text


async def test_end_closes_and_the_next_message_starts_again(live: Stage) -> None:
    await live.opt_in()
    live.telegram.user_sends(USER, "/end")
    await live.state(USER, "ended")
    live.telegram.user_sends(USER, "Hello again")
    await live.state(USER, "consent_required")


async def test_a_stranger_gets_one_polite_line_once(on_stage: Stage) -> None:
    async with on_stage.bot(access="owner"):
        on_stage.telegram.user_sends(USER, "Let me in")
        on_stage.telegram.user_sends(USER, "Please")
        on_stage.telegram.user_starts(OWNER)
        await on_stage.shows(OWNER, "assistant")
        await on_stage.until(lambda: on_stage.from_bot(USER) or None)
        await on_stage.everything_so_far(OWNER)
        assert len(on_stage.from_bot(USER)) == 1


async def test_in_a_group_the_bot_keeps_silent(live: Stage) -> None:
    group = live.telegram.create_group("Family", USER)
    live.telegram.add_bot(group.id, USER)
    live.telegram.user_sends(group.id, "Hello all", user_id=USER)
    live.telegram.user_starts(USER)
    await live.shows(USER, "assistant")
    assert live.from_bot(group.id) == []
