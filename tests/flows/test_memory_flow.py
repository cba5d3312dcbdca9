"""What is kept about somebody: by the model's tools, by commands, and only if it was said."""

import json
from pathlib import Path

from bot.lab.practice.scripts import Call, Reply
from tests.stage import USER, Stage

OTHER = 77


def call(name: str, **arguments: str) -> Call:
    return Call(name, json.dumps(arguments))


async def ask(stage: Stage, text: str, chat_id: int = USER) -> None:
    """Write, and wait until it is answered."""
    version = (await stage.conversation(chat_id)).version
    stage.telegram.user_sends(chat_id, text)
    await stage.covered(version + 1, chat_id)


async def test_what_the_model_was_told_to_remember_is_shown_and_used_later(live: Stage) -> None:
    await live.start_ai()
    await ask(live, "Remember that my sister is called Leila")
    live.telegram.user_sends(USER, "/new")
    await ask(live, "What is my sister called?")
    assert "Leila" in live.model.requests[-1].texts[-1], "memory is shown with the question"
    live.telegram.user_sends(USER, "/memory")
    assert "Leila" in (await live.shows(USER, "This is what I remember:")).text


async def test_a_task_is_added_listed_and_done_by_the_model(live: Stage) -> None:
    await live.start_ai()
    await ask(live, "Remind me to call the bank tomorrow at 10:00")
    live.telegram.user_sends(USER, "/tasks")
    listed = await live.shows(USER, "Your open tasks:")
    assert "1. call the bank (" in listed.text
    assert "10:00" in listed.text
    await ask(live, "I am done with call the bank")
    live.telegram.user_sends(USER, "/tasks")
    await live.shows(USER, "You have no open tasks.")


async def test_tasks_are_ticked_off_by_number_and_by_name(live: Stage) -> None:
    await live.start_ai()
    tasks = ("buy milk", "water the roses")
    calls = tuple(call("add_task", text=text) for text in tasks)
    live.model.script(Reply("Both noted.", calls))
    await ask(live, "Two things to do")
    live.telegram.user_sends(USER, "/done roses")
    await live.shows(USER, "Done: water the roses")
    live.telegram.user_sends(USER, "/done 1")
    await live.shows(USER, "Done: buy milk")
    live.telegram.user_sends(USER, "/done 1")
    await live.shows(USER, "I find no open task")


async def test_a_note_by_command_needs_no_assistant_and_no_model(live: Stage) -> None:
    live.telegram.user_sends(USER, "/remember I am vegetarian")
    await live.shows(USER, "I will remember: I am vegetarian")
    live.telegram.user_sends(USER, "/memory")
    assert "I am vegetarian" in (await live.shows(USER, "This is what I remember:")).text
    assert live.model.requests == []


async def test_an_empty_memory_says_so(live: Stage) -> None:
    for command in ("/memory", "/tasks"):
        live.telegram.user_sends(USER, command)
    await live.shows(USER, "I do not remember anything yet.")
    await live.shows(USER, "You have no open tasks.")


async def test_each_accepted_turn_leaves_what_was_said(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="An ANSWER-LINE."))
    await ask(live, "A QUESTION-LINE?")
    lines = " ".join(line.text for line in await live.lines())
    for words in ("ANSWER-LINE", "QUESTION-LINE"):
        assert words in lines


async def test_lines_of_a_dropped_draft_are_never_written(live: Stage) -> None:
    await live.start_ai()
    live.model.hold()
    live.model.script(
        Reply("Noted the first.", (call("remember", text="DROPPED", kind="fact"),)),
        Reply("Noted the second.", (call("remember", text="KEPT", kind="fact"),)),
    )
    live.telegram.user_sends(USER, "Remember one")
    await live.model.until_asked(1)
    live.telegram.user_sends(USER, "No, remember two")
    await live.model.until_asked(2)
    live.model.release()
    await live.shows(USER, "Noted the second.")
    await live.covered(2)
    live.telegram.user_sends(USER, "/memory")
    shown = await live.shows(USER, "This is what I remember:")
    assert "KEPT" in shown.text
    assert "DROPPED" not in shown.text
    assert all("DROPPED" not in line.text for line in await live.lines())


async def test_a_cancelled_draft_leaves_no_line(live: Stage) -> None:
    await live.start_ai()
    live.model.hold()
    live.model.script(Reply("Noted.", (call("remember", text="CANCELLED-LINE", kind="fact"),)))
    live.telegram.user_sends(USER, "Remember this")
    await live.model.until_asked(1)
    live.telegram.user_sends(USER, "/cancel")
    await live.shows(USER, "Stopped.")
    live.model.release()
    live.telegram.user_sends(USER, "/memory")
    await live.shows(USER, "I do not remember anything yet.")


async def test_recall_finds_what_was_said_long_ago(on_stage: Stage) -> None:
    async with on_stage.bot(model_max_messages=3):
        await on_stage.start_ai()
        await ask(on_stage, "The wifi password of the cabin is on the fridge")
        on_stage.model.script(Reply(text="One."), Reply(text="Two."))
        for text in ("Something else", "And another thing"):
            await ask(on_stage, text)
        on_stage.model.script(
            Reply(tool_calls=(call("recall", query="cabin wifi"),)), Reply(text="On the fridge.")
        )
        await ask(on_stage, "Where do I find that thing?")
        found = on_stage.model.requests[-1].body["messages"][-1]
        assert found["role"] == "tool"
        assert "on the fridge" in found["content"]


async def test_after_new_nothing_that_was_said_before_comes_back_through_recall(
    live: Stage,
) -> None:
    await live.start_ai()
    live.model.script(Reply(text="Noted, that is between us."))
    await ask(live, "SAID-BEFORE-NEW about the cabin")
    live.telegram.user_sends(USER, "/new")
    await live.shows(USER, "A new start")
    before = len(live.model.requests)
    live.model.script(Reply(tool_calls=(call("recall", query="cabin"),)), Reply(text="No idea."))
    await ask(live, "What about the cabin?")
    sent = json.dumps([each.body for each in live.model.requests[before:]])
    assert "SAID-BEFORE-NEW" not in sent
    assert "between us" not in sent


async def test_after_stop_ai_nothing_that_was_said_before_comes_back_at_all(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="Noted, that is between us."))
    await ask(live, "SAID-BEFORE-STOP about the cabin")
    live.telegram.user_sends(USER, "/stop_ai")
    await live.state(USER, "consent_required")
    live.telegram.user_forges_press(USER, 1, "v1:start")
    await live.state(USER, "ai_ready")
    before = len(live.model.requests)
    live.model.script(Reply(tool_calls=(call("recall", query="cabin"),)), Reply(text="No idea."))
    await ask(live, "What about the cabin?")
    sent = json.dumps([each.body for each in live.model.requests[before:]])
    assert "SAID-BEFORE-STOP" not in sent
    assert "between us" not in sent


async def test_one_persons_memory_is_no_part_of_anothers_prompt(live: Stage) -> None:
    for chat_id in (USER, OTHER):
        await live.start_ai(chat_id)
    await ask(live, "Remember that my favourite number is 4711")
    before = len(live.model.requests)
    await ask(live, "What is my favourite number?", OTHER)
    sent = json.dumps([each.body for each in live.model.requests[before:]])
    assert "4711" not in sent


async def test_memory_survives_a_restart(on_stage: Stage) -> None:
    async with on_stage.bot():
        on_stage.telegram.user_sends(USER, "/remember I am vegetarian")
        await on_stage.shows(USER, "I will remember")
    async with on_stage.bot():
        on_stage.telegram.user_sends(USER, "/memory")
        await on_stage.shows(USER, "• I am vegetarian")


async def test_while_memory_is_down_the_bot_says_so_and_still_answers(
    on_stage: Stage, tmp_path: Path
) -> None:
    folder = tmp_path / "lines"
    url = type(on_stage.settings.memory_url)(f"file://{folder}")
    async with on_stage.bot(memory_url=url):
        on_stage.telegram.user_sends(USER, "/remember I am vegetarian")
        await on_stage.shows(USER, "I will remember")
        await on_stage.until_rows("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM memory_outbox)")
        folder.rename(tmp_path / "unmounted")
        folder.write_text("a file where the directory was")
        await on_stage.start_ai()
        on_stage.model.script(Reply(text="All the same, here I am."))
        on_stage.telegram.user_sends(USER, "Are you there?")
        on_stage.telegram.user_sends(USER, "/memory")
        await on_stage.shows(USER, "All the same, here I am.", timeout=20)
        await on_stage.shows(USER, "I cannot read my memory at the moment.", timeout=20)
        on_stage.telegram.user_sends(USER, "/remember I live in Oslo")
        await on_stage.shows(USER, "I will remember: I live in Oslo")
        folder.unlink()
        (tmp_path / "unmounted").rename(folder)
        on_stage.telegram.user_sends(USER, "/memory")
        shown = await on_stage.shows(USER, "This is what I remember:")
        assert "vegetarian" in shown.text
        assert "Oslo" in shown.text


async def test_a_note_that_is_markup_or_very_long_is_kept_as_it_is(live: Stage) -> None:
    note = "<b>x</b> *y* [z](http://example.org) " + "very " * 600
    live.telegram.user_sends(USER, f"/remember {note}")
    await live.shows(USER, "I will remember: <b>x</b> *y*")
    live.telegram.user_sends(USER, "/memory")
    shown = await live.shows(USER, "This is what I remember:")
    assert "<b>x</b> *y* [z](" in shown.text


async def test_why_shows_the_lines_behind_the_last_answer_with_their_ids(live: Stage) -> None:
    live.telegram.user_sends(USER, "/why")
    await live.shows(USER, "There is no answer yet")
    await live.start_ai()
    live.telegram.user_sends(USER, "/remember My sister is called Leila")
    await live.shows(USER, "I will remember")
    await ask(live, "What is my sister called?")
    live.telegram.user_sends(USER, "/why")
    shown = await live.shows(USER, "For my last answer I was shown these lines")
    line = next(each for each in await live.lines() if each.kind == "fact")
    assert "My sister is called Leila" in shown.text
    assert line.id in shown.text


async def test_an_answer_without_memory_says_so(live: Stage) -> None:
    await live.start_ai()
    await ask(live, "Hello")
    live.telegram.user_sends(USER, "/why")
    await live.shows(USER, "My last answer used nothing from my memory")


async def test_memory_find_finds_words_of_any_kind_and_says_when_there_are_none(
    live: Stage,
) -> None:
    live.telegram.user_sends(USER, "/remember My sister is called Leila")
    await live.shows(USER, "I will remember")
    live.telegram.user_sends(USER, "/memory find sisters")
    assert "Leila" in (await live.shows(USER, "This is what I keep about “sisters”")).text
    live.telegram.user_sends(USER, "/memory find zebra")
    await live.shows(USER, "I keep nothing about “zebra”")


async def test_memory_find_in_one_chat_sees_nothing_of_another(live: Stage) -> None:
    live.telegram.user_sends(OTHER, "/remember The zebra is mine")
    await live.shows(OTHER, "I will remember")
    live.telegram.user_sends(USER, "/memory find zebra")
    await live.shows(USER, "I keep nothing about “zebra”")
