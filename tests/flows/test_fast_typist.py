"""However fast and however long somebody types: one reply that covers all, or the next turn."""

import asyncio

import pytest

from bot.lab.practice.scripts import Reply
from tests.stage import USER, Stage


async def type_out(stage: Stage, texts: list[str], gap_seconds: float) -> None:
    """Type like a person: the gaps are real time, because they are what is tested."""
    for text in texts:
        stage.telegram.user_sends(USER, text)
        await asyncio.sleep(gap_seconds)


@pytest.mark.parametrize("count", [2, 3, 10])
async def test_rapid_messages_are_one_turn_with_one_reply(live: Stage, count: int) -> None:
    await live.opt_in()
    live.model.script(Reply(text="All of it."))
    await type_out(live, [f"part {number}" for number in range(count)], 0.01)
    await live.shows(USER, "All of it.")
    await live.covered(count)
    assert len(live.model.requests) == 1
    asked = live.model.requests[0].texts[-1]
    assert all(f"part {number}" in asked for number in range(count))


async def test_with_default_settings_two_halves_of_a_thought_are_one_turn(on_stage: Stage) -> None:
    async with on_stage.bot(debounce_quiet=1.5, debounce_cap=8.0):
        await on_stage.opt_in()
        on_stage.model.script(Reply(text="Both."))
        await type_out(on_stage, ["I wanted to ask", "about the weather"], 1.2)
        await on_stage.shows(USER, "Both.")
        assert len(on_stage.model.requests) == 1


async def test_a_message_during_generation_is_covered_by_the_one_reply(live: Stage) -> None:
    await live.opt_in()
    live.model.hold()
    live.model.script(Reply(text="Not seen."), Reply(text="All three."))
    live.telegram.user_sends(USER, "first")
    live.telegram.user_sends(USER, "second")
    await live.model.until_asked(1)
    live.telegram.user_sends(USER, "third")
    await live.model.until_asked(2)
    live.model.release()
    await live.shows(USER, "All three.")
    await live.covered(3)
    replies = [seen for seen in live.from_bot(USER) if "three" in seen.text]
    assert len(replies) == 1
    assert "first" in live.model.requests[1].texts[-1]
    assert "third" in live.model.requests[1].texts[-1]


async def test_a_typist_who_never_stops_is_answered_all_the_same(live: Stage) -> None:
    await live.opt_in()
    await live.shows(USER, "is on")
    live.model.configure(latency_seconds=0.3)
    answered = asyncio.Event()

    async def type_until_answered() -> int:
        lines = 0
        while not answered.is_set():
            live.telegram.user_sends(USER, f"line {lines}")
            lines += 1
            await asyncio.sleep(0.1)
        return lines

    typing = asyncio.create_task(type_until_answered())
    await live.shows(USER, "line", timeout=40)
    answered.set()
    await live.covered(await typing, timeout=40)


async def test_a_paste_that_telegram_splits_is_one_turn(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Long, but fine."))
    parts = live.telegram.user_sends(USER, "word " * 1800)
    assert len(parts) == 3
    await live.shows(USER, "Long, but fine.")
    await live.covered(3)
    assert len(live.model.requests) == 1


async def test_an_edit_before_the_answer_counts_and_one_after_it_causes_none(live: Stage) -> None:
    await live.opt_in()
    live.model.hold()
    live.model.script(Reply(text="Four."), Reply(text="Six."))
    [message] = live.telegram.user_sends(USER, "What is 2 + 2?")
    await live.model.until_asked(1)
    live.telegram.user_edits(USER, message.id, "What is 3 + 3?")
    await live.model.until_asked(2)
    live.model.release()
    await live.shows(USER, "Six.")
    await live.covered(1)
    assert "3 + 3" in live.model.requests[1].texts[-1]
    live.telegram.user_edits(USER, message.id, "What is 4 + 4?")
    live.telegram.user_sends(USER, "Thanks")
    await live.model.until_asked(3)
    assert len(live.model.requests) == 3
