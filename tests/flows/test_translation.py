"""A translation stands beside its source, in both directions, and is sent only by a person."""

from bot.lab.practice.scripts import Fault, Reply
from tests.flows.test_aid import take
from tests.stage import OWNER, USER, Stage

PERSIAN = "سلام! بسته‌ی من کجاست؟"
ALLOW = "Allow translation"


async def translating(stage: Stage, pair: str = "fa en", *, allow: bool = True) -> None:
    """A user who went straight to a person; the owner holds them and reads in translation."""
    stage.telegram.user_starts(OWNER)
    await stage.shows(OWNER, "assistant")
    stage.telegram.user_sends(USER, "/human")
    await stage.state(USER, "handoff_pending")
    await take(stage)
    stage.telegram.user_sends(OWNER, f"/translate {pair}")
    await stage.shows(OWNER, "Translation is on")
    await stage.shows(USER, "read you in translation")
    if allow:
        stage.press(USER, ALLOW)
        await stage.shows(OWNER, "agrees")


async def test_the_users_words_are_shown_as_written_and_then_in_translation(live: Stage) -> None:
    await translating(live)
    live.model.hold()
    live.telegram.user_sends(USER, PERSIAN)
    await live.shows(OWNER, PERSIAN)  # the source waits for nothing
    assert live.count(OWNER, "parcel") == 0
    live.model.release()
    view = await live.shows(OWNER, "Hello! Where is my parcel?")
    assert PERSIAN in view.text
    assert "فارسی (fa)" in view.text
    assert "→ English (en), by practice" in view.text
    kept = await live.rows(
        "SELECT t.language, t.engine, t.source_language, m.text FROM translations t"
        " JOIN messages m ON m.chat_id = t.chat_id AND m.message_id = t.message_id"
    )
    assert kept == [("en", "practice", "fa", PERSIAN)]


async def test_an_unsupported_language_fails_openly(live: Stage) -> None:
    await translating(live, "tr en")
    live.telegram.user_sends(USER, "Paketim nerede?")
    await live.shows(OWNER, "Paketim nerede?")
    said = await live.shows(OWNER, "There is no translation")
    assert "“Paketim nerede?”" in said.text
    assert "the model does not translate between these languages" in said.text
    assert await live.rows("SELECT 1 FROM translations") == []
    assert (await live.conversation()).state == "human_active"


async def test_the_operators_words_are_sent_only_after_they_confirmed(live: Stage) -> None:
    await translating(live)
    live.telegram.user_sends(OWNER, "Hello! Your parcel is on its way.")
    preview = await live.shows(OWNER, "سلام! بسته‌ٔ شما در راه است.")
    assert "Hello! Your parcel is on its way." in preview.text
    await live.everything_so_far()
    assert live.count(USER, "در راه") == 0
    live.press(OWNER, "Send")
    live.press(OWNER, "Send")
    shown = await live.shows(USER, "سلام! بسته‌ٔ شما در راه است.")
    assert "Machine translation. In the original:\nHello! Your parcel is on its way." in shown.text
    await live.everything_so_far(OWNER)
    assert live.count(USER, "در راه") == 1
    source = await live.rows("SELECT text FROM messages WHERE author = 'human'")
    assert source == [("Hello! Your parcel is on its way.",)]


async def test_the_operator_can_send_what_they_wrote_instead(live: Stage) -> None:
    await translating(live)
    live.telegram.user_sends(OWNER, "Hello!")
    await live.shows(OWNER, "سلام!")
    live.press(OWNER, "Send as written")
    await live.shows(USER, "Hello!")
    assert live.count(USER, "سلام!") == 0
    assert live.count(USER, "Machine translation") == 0


async def test_words_that_cannot_be_translated_are_not_lost(live: Stage) -> None:
    await translating(live, "tr en")
    live.telegram.user_sends(OWNER, "Hello!")
    said = await live.shows(OWNER, "Nothing is sent yet. There is no translation")
    assert "Hello!" in said.text
    await live.everything_so_far()
    assert live.count(USER, "Hello!") == 0
    live.press(OWNER, "Send as written")
    await live.shows(USER, "Hello!")


async def test_a_discarded_translation_reaches_nobody(live: Stage) -> None:
    await translating(live)
    live.telegram.user_sends(OWNER, "Hello!")
    await live.shows(OWNER, "سلام!")
    live.press(OWNER, "Discard")
    await live.shows(OWNER, "Discarded, not sent:")
    await live.everything_so_far()
    assert live.count(USER, "سلام!") == live.count(USER, "Hello!\n") == 0


async def test_a_model_that_stalls_holds_up_no_message(on_stage: Stage) -> None:
    async with on_stage.bot(model_timeout=0.5):
        await translating(on_stage)
        on_stage.model.script(*[Reply(text="…", fault=Fault.STALL)] * 6)
        on_stage.telegram.user_sends(USER, PERSIAN)
        await on_stage.shows(OWNER, PERSIAN)
        await on_stage.shows(OWNER, "the model took too long")


async def test_words_for_a_person_are_not_translated_without_the_users_leave(live: Stage) -> None:
    await translating(live, allow=False)
    live.telegram.user_sends(USER, PERSIAN)
    await live.shows(OWNER, PERSIAN)
    shown = next(seen for seen in live.from_bot(OWNER) if PERSIAN in seen.text)
    live.telegram.user_sends(OWNER, "/translate", reply_to=shown.message_id)
    await live.shows(OWNER, "has not agreed to have that translated")
    assert live.model.requests == []
    live.press(USER, ALLOW)  # what came in meanwhile follows
    await live.shows(OWNER, "Where is my parcel?")
    live.telegram.user_sends(USER, "/stop_ai")
    await live.everything_so_far()
    asked = len(live.model.requests)
    live.telegram.user_sends(USER, "ممنون")
    await live.shows(OWNER, "ممنون")
    await live.everything_so_far()
    assert len(live.model.requests) == asked


async def test_a_user_who_says_no_is_read_as_written(live: Stage) -> None:
    await translating(live, allow=False)
    live.press(USER, "No, thank you")
    await live.shows(OWNER, "does not want their words to be translated")
    live.telegram.user_sends(USER, PERSIAN)
    await live.shows(OWNER, PERSIAN)
    await live.everything_so_far()
    assert live.model.requests == []


async def test_one_message_is_translated_by_replying_to_it(live: Stage) -> None:
    live.telegram.user_starts(OWNER)
    await live.shows(OWNER, "assistant")
    await live.opt_in()
    live.model.hold()
    live.telegram.user_sends(USER, PERSIAN)
    await live.model.until_asked(1)
    await take(live)
    live.model.release()
    shown = await live.shows(OWNER, PERSIAN)
    live.telegram.user_sends(OWNER, "/translate fa de", reply_to=shown.message_id)
    await live.shows(OWNER, "Hallo! Wo ist mein Paket?")
    assert live.count(USER, "Hallo") == 0
    notice = next(seen for seen in live.from_bot(OWNER) if "You are talking to" in seen.text)
    live.telegram.user_sends(OWNER, "/translate", reply_to=notice.message_id)
    await live.shows(OWNER, "I find no text to translate there")


async def test_translation_is_turned_off_and_ends_with_the_conversation(live: Stage) -> None:
    await translating(live)
    live.telegram.user_sends(OWNER, "/translate")
    await live.shows(OWNER, "Translation is off.")
    live.telegram.user_sends(OWNER, "Hello!")
    await live.shows(USER, "Hello!")
    live.telegram.user_sends(OWNER, "/translate fa en")
    await live.shows(OWNER, "Translation is on", times=2)
    live.telegram.user_sends(USER, "/end")
    await live.state(USER, "ended")
    assert await live.rows("SELECT active, consent FROM interpreting") == [(0, "none")]


async def test_a_language_that_does_not_exist_is_named(live: Stage) -> None:
    live.telegram.user_starts(OWNER)
    live.telegram.user_sends(USER, "/human")
    await live.state(USER, "handoff_pending")
    await take(live)
    live.telegram.user_sends(OWNER, "/translate klingon")
    await live.shows(OWNER, "I do not know the language “klingon”")
    live.telegram.user_sends(OWNER, "/translate en en")
    await live.shows(OWNER, "/translate fa en")
    assert await live.rows("SELECT 1 FROM interpreting") == []


async def test_no_translation_ever_enters_a_prompt_of_the_ai(live: Stage) -> None:
    await translating(live)
    live.telegram.user_sends(USER, PERSIAN)
    await live.shows(OWNER, "Where is my parcel?")
    live.telegram.user_sends(OWNER, "Hello!")
    await live.shows(OWNER, "Nothing is sent yet")
    live.press(OWNER, "Send")
    await live.shows(USER, "سلام!")
    live.telegram.user_sends(OWNER, "/release")
    await live.state(USER, "consent_required")
    asked = len(live.model.requests)
    live.telegram.user_sends(USER, "Good morning")
    await live.shows(USER, "has left")
    live.press(USER, "Start the AI assistant")
    await live.model.until_asked(asked + 1)
    await live.covered(2)
    prompt = str(live.model.requests[-1].body)
    assert "Good morning" in prompt
    for never in ("parcel", "سلام", "Hello!"):
        assert never not in prompt


async def test_an_edited_message_is_shown_in_translation_again(live: Stage) -> None:
    await translating(live)
    (said,) = live.telegram.user_sends(USER, "ممنون")
    await live.shows(OWNER, "Thank you")
    live.telegram.user_edits(USER, said.id, PERSIAN)
    await live.shows(OWNER, "Where is my parcel?")
    assert await live.rows("SELECT text FROM translations") == [("Hello! Where is my parcel?",)]


async def test_the_original_shown_to_the_user_is_what_was_translated(live: Stage) -> None:
    await translating(live)
    (said,) = live.telegram.user_sends(OWNER, "Hello!")
    await live.shows(OWNER, "Nothing is sent yet")
    live.telegram.user_edits(OWNER, said.id, "Something else.")
    await live.everything_so_far(OWNER)
    live.press(OWNER, "Send")
    shown = await live.shows(USER, "سلام!")
    assert shown.text.endswith("Hello!")
    assert live.count(USER, "Something else.") == 0
