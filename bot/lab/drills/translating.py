"""The drill about translation: beside its source, and open about what it cannot do."""

from contextlib import suppress

from bot.app import Parts
from bot.lab.botapi import Seen
from bot.lab.drills.record import DrillStage
from bot.lab.stage import OWNER, USER

SOURCE = "سلام! بسته‌ٔ من کجاست؟"
VIEW = "Hello! Where is my parcel?"
UNSUPPORTED = "Kie estas mia pakaĵo?"
ANSWER = "Hello! Your parcel is on its way."
ANSWER_VIEW = "سلام! بسته‌ٔ شما در راه است."
UNDONE = "SELECT 1 FROM effects WHERE kind = 'aid'"


async def translation(stage: DrillStage) -> None:
    async with stage.bot(parts=Parts(hurries=True)):
        await stage.meet_operators()
        stage.telegram.user_sends(USER, "/human")
        await stage.state(USER, "handoff_pending")
        stage.telegram.user_sends(OWNER, f"/claim {USER}")
        await stage.state(USER, "human_active")
        await stage.shows(OWNER, "You are talking to")
        await stage.step("the owner takes the conversation")
        await _ask_for_it(stage)
        await _from_the_user(stage)
        await _to_the_user(stage)
        await _unsupported(stage)
        prompts = len(stage.model.requests)
        stage.telegram.user_sends(OWNER, "/release")
        await stage.state(USER, "consent_required")
        await stage.shows(USER, "has left")
        stage.press(USER, "Start the AI assistant")
        await stage.state(USER, "ai_ready")
        stage.telegram.user_sends(USER, "Good morning")
        await stage.model.until_asked(prompts + 1)
        await stage.covered((await stage.conversation()).version)
        await stage.step("the person leaves; the user starts the assistant and writes")
        asked = [str(each.body) for each in stage.model.requests[prompts:]]
    seen = any(words in each for each in asked for words in (VIEW, SOURCE, ANSWER, ANSWER_VIEW))
    stage.check(
        "no translation and no source of one is in the AI's prompt", bool(asked) and not seen
    )


async def _seen(stage: DrillStage, chat_id: int, text: str) -> Seen | None:
    """What must be seen there; None if it does not come: the claims below say what that means."""
    with suppress(TimeoutError):
        return await stage.shows(chat_id, text, timeout=5)
    return None


async def _ask_for_it(stage: DrillStage) -> None:
    stage.telegram.user_sends(OWNER, "/translate fa en")
    await stage.shows(USER, "read you in translation")
    stage.telegram.user_sends(USER, "ممنون")
    await stage.shows(OWNER, "ممنون")
    await stage.until_rows(f"SELECT 1 WHERE NOT EXISTS ({UNDONE})")
    asked = len(stage.model.requests)
    stage.check("nothing is translated before the user agreed", asked == 0, asked)
    await stage.step("the owner wants to read in translation; the user is asked")
    stage.press(USER, "Allow translation")
    await stage.shows(OWNER, "Thank you")
    await stage.step("the user agrees")


async def _from_the_user(stage: DrillStage) -> None:
    stage.model.hold()
    stage.telegram.user_sends(USER, SOURCE)
    await stage.shows(OWNER, SOURCE)
    stage.check("the source waits for no translation", stage.sent(OWNER, VIEW) == 0)
    stage.model.release()
    view = await stage.shows(OWNER, VIEW)
    await stage.step("the user writes in Persian")
    stage.check("the source stands beside the translation", SOURCE in view.text, view.text)
    labelled = "Machine translation" in view.text and "by practice" in view.text
    stage.check("the translation is labelled", labelled, view.text)
    kept = await stage.rows(
        "SELECT m.text FROM translations t JOIN messages m ON m.chat_id = t.chat_id"
        " AND m.message_id = t.message_id WHERE t.language = 'en' ORDER BY m.seq"
    )
    stage.check("it is tied to its source, which is unchanged", kept[-1:] == [(SOURCE,)], kept)


async def _to_the_user(stage: DrillStage) -> None:
    stage.telegram.user_sends(OWNER, ANSWER)
    preview = await _seen(stage, OWNER, "Nothing is sent yet")
    await stage.everything_so_far()
    unsent = stage.sent(USER, ANSWER_VIEW) + stage.sent(USER, ANSWER)
    stage.check("the operator's words are not sent before they confirmed", unsent == 0, unsent)
    await stage.step("the owner answers in English")
    if preview is None:
        return
    stage.press(OWNER, "Send")
    shown = await stage.shows(USER, ANSWER_VIEW)
    await stage.step("the owner confirms")
    stage.check("the user sees the original below it", ANSWER in shown.text, shown.text)
    authors = await stage.rows("SELECT author FROM messages WHERE text = :text", text=ANSWER)
    stage.check("it is on record as the person's", authors == [("human",)], authors)


async def _unsupported(stage: DrillStage) -> None:
    stage.telegram.user_sends(OWNER, "/translate eo en")
    await stage.shows(OWNER, "Esperanto (eo)")
    stage.telegram.user_sends(USER, UNSUPPORTED)
    await stage.shows(OWNER, UNSUPPORTED)
    said = await _seen(stage, OWNER, "There is no translation")
    await stage.step("the user writes in a language that the model does not have")
    stage.check("the source is shown all the same", stage.sent(OWNER, UNSUPPORTED) >= 1)
    why = said is not None and "does not translate between these languages" in said.text
    stage.check("the operator is told why there is no translation", why, said and said.text)
    made = await stage.rows("SELECT 1 FROM translations WHERE source_language = 'eo'")
    stage.check("none was made up", not made, len(made))
    held = await stage.conversation()
    stage.check("nobody's authority changed", held.state == "human_active", held.state)
