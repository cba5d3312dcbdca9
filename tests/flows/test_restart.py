"""Nothing is lost and nothing is doubled across restarts."""

from bot.lab.practice.scripts import Reply
from tests.stage import USER, Stage


async def test_what_was_written_while_the_bot_was_down_is_answered_once(on_stage: Stage) -> None:
    async with on_stage.bot():
        await on_stage.opt_in()
    on_stage.telegram.user_sends(USER, "Are you")
    on_stage.telegram.user_sends(USER, "there?")
    on_stage.model.script(Reply(text="I am."))
    async with on_stage.bot():
        await on_stage.shows(USER, "I am.")
        await on_stage.covered(2)
        assert len(on_stage.model.requests) == 1
    async with on_stage.bot():
        on_stage.model.script(Reply(text="Next."))
        on_stage.telegram.user_sends(USER, "Good")
        await on_stage.shows(USER, "Next.")
        assert len(on_stage.model.requests) == 2


async def test_a_turn_that_was_cut_by_a_stop_is_answered_after_it(on_stage: Stage) -> None:
    async with on_stage.bot():
        await on_stage.opt_in()
        on_stage.model.hold()
        on_stage.telegram.user_sends(USER, "Think about it")
        await on_stage.model.until_asked(1)
    on_stage.model.script(Reply(text="Thought about it."))
    on_stage.model.release()
    async with on_stage.bot():
        await on_stage.shows(USER, "Thought about it.")
        assert sum("Thought" in seen.text for seen in on_stage.from_bot(USER)) == 1


async def test_the_same_update_twice_is_one_message(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Once."))
    live.telegram.user_sends(USER, "Hello")
    await live.shows(USER, "Once.")
    live.telegram.updates.redeliver()
    await live.everything_so_far()
    assert (await live.conversation()).version == 1


async def test_the_same_message_under_another_update_id_is_one_message(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Once."))
    live.telegram.user_sends(USER, "Hello")
    await live.shows(USER, "Once.")
    live.telegram.updates.repeat()
    await live.everything_so_far()
    assert (await live.conversation()).version == 1
