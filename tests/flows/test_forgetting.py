"""/forget_me destroys all that is kept, whatever happens in between, and leaves no word on disk."""

from pathlib import Path

import pytest

from bot.lab.practice.scripts import Reply
from tests.stage import USER, Stage

CANARY = "kanarienvogel"
RECEIPT = "It is done. Destroyed"
OTHER = 77


def files_with(folder: Path, word: str = CANARY) -> list[str]:
    """Every file under `folder`, logs of the database included, that holds the word."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if word.encode() in path.read_bytes()]


async def say_much(stage: Stage) -> None:
    await stage.start_ai()
    stage.model.script(Reply(text=f"A {CANARY} answers."))
    stage.telegram.user_sends(USER, f"My {CANARY} is called Hansi")
    await stage.covered(1)
    stage.telegram.user_sends(USER, f"/remember my {CANARY} is yellow")
    await stage.shows(USER, "I will remember")


async def forget(stage: Stage, *, receipt: bool = True) -> None:
    stage.telegram.user_sends(USER, "/forget_me")
    await stage.shows(USER, "cannot be undone")
    stage.press(USER, "Destroy everything")
    if receipt:
        await stage.shows(USER, RECEIPT)


@pytest.mark.parametrize("store", ["sql", "file"])
async def test_no_word_is_left_in_any_file(on_stage: Stage, store: str) -> None:
    folder = on_stage.folder
    where = {} if store == "sql" else {"memory_url": f"file://{folder}/lines"}
    settings = on_stage.settings.model_validate({**on_stage.given, **where})
    on_stage.settings = settings
    async with on_stage.bot():
        await say_much(on_stage)
        assert files_with(folder), "or the search proves nothing"
        await forget(on_stage)
        assert files_with(folder) == []
        assert "Nothing of it is left in the store." in on_stage.from_bot(USER)[-1].text
    assert files_with(folder) == []


async def test_lines_of_memory_are_unreadable_on_disk_before_as_well(on_stage: Stage) -> None:
    """Messages are there in the clear; what memory keeps is not."""
    on_stage.settings = on_stage.settings.model_validate(
        {**on_stage.given, "memory_url": f"file://{on_stage.folder}/lines"}
    )
    async with on_stage.bot():
        await say_much(on_stage)
        await on_stage.until_rows("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM memory_outbox)")
        assert list((on_stage.folder / "lines").glob("*.txt"))
        assert files_with(on_stage.folder / "lines") == []


async def test_others_keep_what_is_theirs_and_who_comes_again_starts_anew(live: Stage) -> None:
    await say_much(live)
    live.telegram.user_sends(OTHER, "/remember mine stays")
    await live.shows(OTHER, "I will remember")
    await forget(live)
    live.telegram.user_sends(OTHER, "/memory")
    assert "mine stays" in (await live.shows(OTHER, "This is what I remember")).text
    live.telegram.user_sends(USER, "/memory")
    await live.shows(USER, "I do not remember anything yet.")
    live.telegram.user_sends(USER, "/remember I am new here")
    await live.shows(USER, "I will remember: I am new here")
    live.telegram.user_sends(USER, "/memory")
    assert CANARY not in (await live.shows(USER, "This is what I remember")).text
    assert (await live.conversation()).state == "ended"


async def test_keep_everything_keeps_it_and_the_question_is_spent(live: Stage) -> None:
    await say_much(live)
    live.telegram.user_sends(USER, "/forget_me")
    asked = await live.shows(USER, "cannot be undone")
    live.press(USER, "Keep everything")
    await live.shows(USER, "Everything stays as it is.")
    live.telegram.user_presses(USER, asked.message_id, "Destroy everything")
    live.telegram.user_sends(USER, "/memory")
    assert CANARY in (await live.shows(USER, "This is what I remember")).text


async def test_a_forged_or_foreign_press_destroys_nothing(live: Stage) -> None:
    await say_much(live)
    live.telegram.user_sends(USER, "/forget_me")
    asked = await live.shows(USER, "cannot be undone")
    data = asked.keyboard[0][0]["callback_data"]
    live.telegram.add_user(OTHER, started=True)
    live.telegram.user_forges_press(OTHER, 1, data)
    live.telegram.user_forges_press(USER, 1, "v1:forget:" + "A" * 16)
    await live.everything_so_far(OTHER)
    live.telegram.user_sends(USER, "/memory")
    assert CANARY in (await live.shows(USER, "This is what I remember")).text


@pytest.mark.parametrize("step", ["count", "sweep", "settle", "scrub", "receipt"])
async def test_killed_at_any_step_it_is_finished_at_the_next_start(
    on_stage: Stage, step: str
) -> None:
    bot = await on_stage.process(program="tests.crash.dies_forgetting", words=[step])
    await say_much(on_stage)
    await forget(on_stage, receipt=False)
    assert await bot.ended(20) == -9
    assert await on_stage.lines() == [], "its key went with the yes"
    again = await on_stage.process()
    await on_stage.shows(USER, RECEIPT)
    await again.kill()
    for database in on_stage.observers.values():
        await database.close()
    on_stage.observers.clear()
    assert files_with(on_stage.folder) == []
    assert on_stage.count(USER, RECEIPT) == 1


# Temporary chats, export, status


async def test_a_temporary_chat_leaves_no_line_and_no_word(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_sends(USER, "/temporary")
    await live.shows(USER, "Temporary chat: from now on")
    live.model.script(Reply(text=f"A {CANARY} answers."))
    live.telegram.user_sends(USER, f"My {CANARY} is called Hansi")
    await live.covered(1)
    live.telegram.user_sends(USER, "/remember this")
    await live.shows(USER, "so I keep nothing")
    assert await live.lines() == []
    live.telegram.user_sends(USER, "/temporary")
    await live.shows(USER, "The temporary chat is over")
    words = await live.rows("SELECT text FROM messages WHERE text LIKE :w", w=f"%{CANARY}%")
    assert words == []
    live.telegram.user_sends(USER, "/remember that")
    await live.shows(USER, "I will remember: that")


async def test_export_sends_two_files_and_leaves_no_copy_of_them(live: Stage) -> None:
    await say_much(live)
    live.telegram.user_sends(USER, "/export")
    await live.shows(USER, "as two files")
    await live.until(lambda: len(live.telegram.journal.calls("sendDocument")) == 2 or None)
    await live.until_rows(
        "SELECT 1 WHERE 2 ="
        " (SELECT COUNT(*) FROM outbox WHERE payload LIKE :e AND status = 'sent')",
        e='%"document"%""%',
    )


async def test_the_status_of_memory_says_how_much_there_is(live: Stage) -> None:
    await say_much(live)
    live.telegram.user_sends(USER, "/memory status")
    assert "3" in (await live.shows(USER, "Lines that I keep about you")).text


async def test_the_wrong_secret_stops_the_start_with_one_sentence(on_stage: Stage) -> None:
    right = {"memory_secret": "a" * 20}
    bot = await on_stage.process(changes=right)
    on_stage.telegram.user_sends(USER, "/remember me")
    await on_stage.shows(USER, "I will remember")
    await bot.kill()
    wrong = await on_stage.process(changes={"memory_secret": "b" * 20}, waits=False)
    assert await wrong.ended(20) == 2
    assert "MEMORY_SECRET is not the one" in wrong.said
    assert "Traceback" not in wrong.said
    missing = await on_stage.process(waits=False)
    assert await missing.ended(20) == 2
    assert "MEMORY_SECRET is missing" in missing.said
