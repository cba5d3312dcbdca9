"""What people see besides answers: their language, help, typing, the status line, buttons."""

from bot.lab.botapi import Fault, Harm
from bot.lab.practice.scripts import Reply
from tests.stage import OWNER, USER, Stage

START_FA, PERSON_FA = "شروع دستیار هوش مصنوعی", "گفت‌وگو با یک نفر"
WORKING = "I am working on it"


def labels(stage: Stage, chat_id: int, text: str) -> list[str]:
    """The buttons under the newest message with this text."""
    seen = next(each for each in reversed(stage.from_bot(chat_id)) if text in each.text)
    return [button["text"] for row in seen.keyboard for button in row]


async def test_a_persian_user_is_spoken_to_in_persian(live: Stage) -> None:
    live.telegram.add_user(USER, "سارا", language_code="fa")
    live.telegram.user_starts(USER)
    await live.shows(USER, "سلام")
    assert labels(live, USER, "سلام") == [START_FA, PERSON_FA]
    live.press(USER, START_FA)
    await live.state(USER, "ai_ready")
    live.telegram.user_sends_media(USER, "sticker")
    await live.until(lambda: len(live.from_bot(USER)) == 3 or None)
    live.telegram.user_sends(USER, "/fly")
    await live.until(lambda: len(live.from_bot(USER)) == 4 or None)
    latin = [seen.text for seen in live.from_bot(USER) if "assistant" in seen.text.lower()]
    assert latin == []


async def test_the_bots_language_follows_the_user_and_the_setting_wins(on_stage: Stage) -> None:
    async with on_stage.bot():
        on_stage.telegram.user_starts(USER)
        await on_stage.shows(USER, "Hello!")
        on_stage.telegram.add_user(USER, language_code="fa-IR")
        on_stage.telegram.user_sends(USER, "/start")
        await on_stage.shows(USER, "سلام")
    async with on_stage.bot(language="en"):
        on_stage.telegram.user_sends(USER, "/start")
        await on_stage.shows(USER, "Hello!", times=2)


async def test_help_tells_users_and_operators_what_is_theirs(live: Stage) -> None:
    for chat_id in (USER, OWNER):
        live.telegram.user_sends(chat_id, "/help")
    assert "/claim" not in (await live.shows(USER, "/stop_ai")).text
    assert "/claim" in (await live.shows(OWNER, "/stop_ai")).text


async def test_the_command_menu_is_set_in_both_languages(on_stage: Stage) -> None:
    world = on_stage.telegram
    world.add_user(OWNER, started=True)
    async with on_stage.bot():
        await world.wait_for(lambda: len(world.commands) == 4)
    named = {key: {each["command"] for each in menu} for key, menu in world.commands.items()}
    for (scope, _), commands in named.items():
        assert {"start", "help", "human", "stop_ai", "memory", "tasks"} <= commands
        assert ("claim" in commands) == (str(OWNER) in scope)
    assert {language for _, language in named} == {"", "fa"}


async def test_typing_is_shown_while_the_assistant_works(live: Stage) -> None:
    await live.start_ai()
    live.model.hold()
    live.telegram.user_sends(USER, "Think")
    await live.until(lambda: [a for a in live.telegram.actions if a.chat_id == USER] or None)
    assert live.telegram.actions[-1].action == "typing"
    live.model.release()
    await live.covered(1)


async def test_a_slow_answer_is_announced_and_the_line_is_removed_afterwards(
    on_stage: Stage,
) -> None:
    async with on_stage.bot(status_after_seconds=0.1):
        await on_stage.start_ai()
        on_stage.model.hold()
        on_stage.model.script(Reply(text="At last."))
        on_stage.telegram.user_sends(USER, "Think hard")
        await on_stage.shows(USER, WORKING)
        assert labels(on_stage, USER, WORKING) == ["Cancel", "Talk to a person"]
        on_stage.model.release()
        await on_stage.shows(USER, "At last.")
        await on_stage.until(lambda: on_stage.count(USER, WORKING) == 0 or None)


async def test_a_quick_answer_is_not_announced(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_sends(USER, "Hello")
    await live.covered(1)
    calls = live.telegram.journal.calls("sendMessage", chat_id=USER)
    assert all(WORKING not in call.params["text"] for call in calls)


async def test_cancel_stops_the_answer_and_removes_the_line(on_stage: Stage) -> None:
    async with on_stage.bot(status_after_seconds=0.1):
        await on_stage.start_ai()
        on_stage.model.hold()
        on_stage.model.script(Reply(text="Unwanted."), Reply(text="Wanted."))
        on_stage.telegram.user_sends(USER, "Think")
        await on_stage.shows(USER, WORKING)
        on_stage.press(USER, "Cancel")
        await on_stage.shows(USER, "Stopped.")
        await on_stage.until(lambda: on_stage.count(USER, WORKING) == 0 or None)
        on_stage.model.release()
        await on_stage.covered(1)
        on_stage.telegram.user_sends(USER, "Next")
        await on_stage.shows(USER, "Wanted.")
        assert on_stage.count(USER, "Unwanted.") == 0


async def test_the_line_leads_to_a_person_too(on_stage: Stage) -> None:
    async with on_stage.bot(status_after_seconds=0.1):
        await on_stage.start_ai()
        on_stage.model.hold()
        on_stage.telegram.user_sends(USER, "Think")
        await on_stage.shows(USER, WORKING)
        on_stage.press(USER, "Talk to a person")
        await on_stage.state(USER, "handoff_pending")
        await on_stage.until(lambda: on_stage.count(USER, WORKING) == 0 or None)
        on_stage.model.release()


async def test_an_old_cancel_button_does_not_stop_the_next_answer(on_stage: Stage) -> None:
    async with on_stage.bot():
        await on_stage.start_ai()
        on_stage.telegram.user_sends(USER, "First")
        await on_stage.covered(1)
        on_stage.model.hold()
        on_stage.model.script(Reply(text="Second answer."))
        on_stage.telegram.user_sends(USER, "Second")
        await on_stage.model.until_asked(2)
        press = on_stage.telegram.user_forges_press(USER, 1, "v1:cancel:turn:msg-1")
        await on_stage.until(lambda: press.answered or None)
        assert press.text
        on_stage.model.release()
        await on_stage.shows(USER, "Second answer.")


async def test_a_line_that_a_crash_left_behind_is_removed_at_the_next_start(
    on_stage: Stage,
) -> None:
    async with on_stage.bot(status_after_seconds=0.1):
        await on_stage.start_ai()
        on_stage.model.hold()
        on_stage.telegram.user_sends(USER, "Think")
        await on_stage.shows(USER, WORKING)
        await on_stage.until_rows("SELECT 1 FROM status_lines")
        never_away = Fault(Harm.REFUSE, method="deleteMessage", times=1, status=500)
        on_stage.telegram.faults.add(never_away)
    assert on_stage.count(USER, WORKING) == 1
    on_stage.model.release()
    async with on_stage.bot():
        await on_stage.until(lambda: on_stage.count(USER, WORKING) == 0 or None)
        await on_stage.covered(1)


async def test_new_clears_the_context(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_sends(USER, "My-old-topic")
    await live.covered(1)
    live.telegram.user_sends(USER, "/new")
    await live.shows(USER, "A new start")
    live.telegram.user_sends(USER, "My-new-topic")
    await live.covered(2)
    assert "My-old-topic" not in str(live.model.requests[-1].body)


async def test_an_answer_that_recommends_a_person_carries_the_button(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_sends(USER, "I want to talk to a human")
    await live.shows(USER, "I have asked for a person.")
    assert labels(live, USER, "I have asked for a person.") == ["Talk to a person"]
    await live.state(USER, "ai_ready")
    live.press(USER, "Talk to a person")
    await live.state(USER, "handoff_pending")


async def test_what_was_said_while_the_assistant_was_off_is_read_if_it_waits(live: Stage) -> None:
    """As the notice says: what is unanswered above is read; what was answered is not."""
    await live.start_ai()
    live.telegram.user_sends(USER, "Said-with-consent")
    await live.covered(1)
    live.telegram.user_sends(USER, "/stop_ai")
    await live.state(USER, "consent_required")
    live.telegram.user_sends(USER, "Waiting-for-the-choice")
    live.telegram.user_forges_press(USER, 1, "v1:start")
    await live.covered(2)
    sent = str(live.model.requests[-1].body)
    assert "Waiting-for-the-choice" in sent
    assert "Said-with-consent" not in sent


async def test_a_press_is_answered_although_the_store_has_much_to_do(live: Stage) -> None:
    live.telegram.user_starts(USER)
    await live.shows(USER, "assistant")
    press = live.press(USER, "Talk to a person")
    await live.until(lambda: press.answered or None)
    assert press.text == ""


async def test_privacy_and_end_are_in_the_users_hands(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_sends(USER, "/privacy")
    assert "/stop_ai" in (await live.shows(USER, "is not shown to the assistant")).text
    live.telegram.user_sends(USER, "/end")
    await live.shows(USER, "This conversation is closed.")
    live.telegram.user_forges_press(USER, 1, "v1:human")
    await live.state(USER, "handoff_pending")
