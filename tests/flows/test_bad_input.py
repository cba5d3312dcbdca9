"""Whatever people and their apps send: one clear sentence, nothing lost, and the bot goes on."""

from typing import Any

import pytest

from bot.lab.practice.scripts import Reply
from tests.stage import OWNER, USER, Stage

FIRST = 5000  # chats of tests that need many: one message each, so that no chat has to wait
READABLE = {
    "emoji only": "😀👨‍👩‍👧‍👦🇮🇷",
    "broken Markdown": "**bold `code _x_ [link](http:// <b>x</b> & &amp; ~~~",
    "right to left": "سلام! این یک \u202eآزمایش\u202c با English وسط آن است",
    "override of direction": "\u202egnihtemos",
    "control characters": "bell\x07 escape\x1b[31m null-ish\x01 end",
    "NUL": "before\x00after",
    "half of a character": "half \ud83d of an emoji",
    "combining marks": "Z" + "\u0300" * 300,
    "one very long word": "x" * 4096,
    "placeholders": "{name} %s {0} %(x)d ${HOME}",
}
INVISIBLE = {
    "blanks": "  \n\t ",
    "zero width": "\u200b\u200d\ufeff",
    "braille blank": "\u2800\u2800",
    "direction marks": "\u200f\u202e\u2066",
    "control characters": "\x00\x01\x1f",
}
KINDS = {
    "sticker": "your sticker",
    "poll": "your poll",
    "location": "your location",
    "venue": "your place",
    "contact": "your contact",
    "photo": "your photo",
    "voice": "your voice message",
    "video_note": "your video message",
    "document": "your file",
    "dice": "your dice",
    "animation": "your animation",
    "story": "your story",
}


def hear_text(stage: Stage, chat_id: int, text: str) -> int:
    """Let the bot hear a text exactly as it is: no app would have tidied it up."""
    world = stage.telegram
    message = world.post(world.private_chat(chat_id), world.person(chat_id), {"text": text})
    world.updates.put("message", message.data)
    return message.id


def unknown_to_judges(stage: Stage) -> None:
    """The judges know no update that Telegram would not send today."""
    stage.telegram.hooks.on_update.clear()
    stage.telegram.hooks.on_answer.clear()


async def test_strange_but_readable_texts_are_answered(live: Stage) -> None:
    for chat_id in range(FIRST, FIRST + len(READABLE)):
        await live.start_ai(chat_id)
    for chat_id, text in enumerate(READABLE.values(), FIRST):
        hear_text(live, chat_id, text)
    for chat_id, name in enumerate(READABLE, FIRST):
        await live.covered(1, chat_id)
        await live.state(chat_id, "ai_ready")
        [row] = await live.rows(
            "SELECT covered_by FROM messages WHERE chat_id = :chat AND author = 'user'",
            chat=chat_id,
        )
        assert row == ("ai",), name
    assert await live.rows("SELECT update_id FROM inbox WHERE outcome = 'parked'") == []


async def test_texts_in_which_nothing_can_be_seen_get_a_friendly_line(live: Stage) -> None:
    for chat_id in range(FIRST, FIRST + len(INVISIBLE)):
        await live.start_ai(chat_id)
    for chat_id, text in enumerate(INVISIBLE.values(), FIRST):
        hear_text(live, chat_id, text)
    for chat_id in range(FIRST, FIRST + len(INVISIBLE)):
        await live.shows(chat_id, "looks empty")
        await live.covered(1, chat_id)
    assert live.model.requests == []


async def test_what_cannot_be_read_yet_is_named_in_a_friendly_line(live: Stage) -> None:
    for chat_id, kind in enumerate(KINDS, FIRST):
        await live.start_ai(chat_id)
        live.telegram.user_sends_media(chat_id, kind)
    for chat_id, (kind, name) in enumerate(KINDS.items(), FIRST):
        await live.shows(chat_id, name)
        await live.covered(1, chat_id)
        [row] = await live.rows(
            "SELECT kind, covered_by FROM messages WHERE chat_id = :chat AND author = 'user'",
            chat=chat_id,
        )
        assert row == (kind, "notice")
    assert live.model.requests == []


async def test_a_caption_is_read_like_a_text(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="A fine bridge."))
    live.telegram.user_sends_media(USER, "photo", caption="What bridge is this?")
    await live.shows(USER, "A fine bridge.")
    assert "What bridge is this?" in live.model.requests[0].texts[-1]
    assert "[photo]" in live.model.requests[0].texts[-1]


async def test_an_album_gets_one_line_for_all_its_pictures(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_sends_album(USER, ("photo", "photo", "photo"))
    await live.shows(USER, "your photo")
    await live.covered(3)
    await live.everything_so_far()
    assert live.count(USER, "your photo") == 1


async def test_an_album_with_a_caption_is_one_turn(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="Lovely pictures."))
    live.telegram.user_sends_album(USER, ("photo", "photo"), caption="Our garden")
    await live.shows(USER, "Lovely pictures.")
    await live.covered(2)
    assert len(live.model.requests) == 1


async def test_a_sticker_after_a_question_belongs_to_its_turn(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="Both seen."))
    live.telegram.user_sends(USER, "What do you think?")
    live.telegram.user_sends_media(USER, "sticker")
    await live.shows(USER, "Both seen.")
    await live.covered(2)
    assert live.count(USER, "your sticker") == 0


async def test_a_hundred_thousand_characters_are_answered_within_the_budget(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="That was long."))
    parts = live.telegram.user_sends(USER, "word " * 20_000)
    assert len(parts) == 25
    await live.shows(USER, "That was long.")
    await live.covered(25)
    assert len(live.model.requests) == 1
    sent = live.model.requests[0].texts[-1]
    assert len(sent) < 60_000
    assert "left out" in sent


async def test_a_burst_of_forwards_is_one_turn(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="All forwards seen."))
    for number in range(5):
        live.telegram.user_forwards(USER, f"forward {number}", hidden_name="Somebody")
    await live.shows(USER, "All forwards seen.")
    await live.covered(5)
    assert len(live.model.requests) == 1


async def test_lines_of_telegram_itself_are_no_messages(live: Stage) -> None:
    await live.start_ai()
    world = live.telegram
    chat, person = world.private_chat(USER), world.person(USER)
    timer = {"message_auto_delete_timer_changed": {"message_auto_delete_time": 86400}}
    for content in (timer, {"write_access_allowed": {"from_request": True}}):
        world.post_service(chat, person, content)
    await live.everything_so_far()
    assert (await live.conversation()).version == 0
    assert len(live.from_bot(USER)) == 2, "the assistant is on, and what /privacy says"


async def test_updates_that_are_not_for_us_disturb_nothing(live: Stage) -> None:
    world = live.telegram
    person = world.add_user(USER).as_json()
    channel = {"id": -1_001_234_567_890, "type": "channel", "title": "News"}
    post = {"message_id": 1, "date": world.now, "chat": channel, "text": "Hello"}
    await world.wait_for(lambda: world.updates.polling)
    world.updates.allowed = None  # Telegram still holds what an earlier program had asked for
    world.hear("channel_post", post)
    world.hear("edited_channel_post", post | {"edit_date": world.now})
    world.hear("inline_query", {"id": "1", "from": person, "query": "x", "offset": ""})
    answer = {"poll_id": "1", "user": person, "option_ids": [0], "option_persistent_ids": ["1"]}
    world.hear("poll_answer", answer)
    await live.opt_in()
    ignored = await live.rows("SELECT count(*) FROM inbox WHERE outcome = 'ignored'")
    assert ignored == [(4,)]
    assert live.telegram.journal.calls("sendMessage", chat_id=-1_001_234_567_890) == []


async def test_an_update_of_a_kind_nobody_knows_yet_is_passed_over(on_stage: Stage) -> None:
    on_stage.telegram.add_user(USER, started=True)
    unknown_to_judges(on_stage)
    on_stage.telegram.hear("telepathy", {"thought": "hello", "date": 1})
    on_stage.telegram.user_sends(USER, "Hello")
    async with on_stage.bot():
        await on_stage.shows(USER, "assistant")


async def test_an_update_that_cannot_be_understood_stops_neither_bot_nor_the_next_ones(
    on_stage: Stage,
) -> None:
    on_stage.telegram.add_user(USER, started=True)
    unknown_to_judges(on_stage)
    on_stage.telegram.hear("message", {"message_id": "?", "chat": 7, "text": {"no": "text"}})
    on_stage.telegram.user_sends(USER, "Hello")
    async with on_stage.bot():
        await on_stage.shows(USER, "assistant")
        [parked] = await on_stage.rows("SELECT raw FROM inbox WHERE outcome = 'parked'")
        assert '"no"' in parked[0]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/done", "Please write it like this: /done 1"),
        ("/done 99", "I find no open task “99”"),
        ("/remember", "Please write it like this: /remember"),
        ("/remember   \n ", "Please write it like this: /remember"),
        ("/fly me to the moon", "I do not know fly"),
        ("/HELP", "/privacy – what happens"),
        ("/help@dabir_lab_bot please", "/privacy – what happens"),
        ("/cancel nonsense", "nothing to cancel"),
        ("/queue", "for operators only"),
        ("/start 'OR 1=1", "Nobody has read it yet"),
    ],
)
async def test_a_command_with_a_wrong_argument_gets_one_clear_line(
    live: Stage, typed: str, answer: str
) -> None:
    hear_command(live, typed)
    await live.shows(USER, answer)
    assert len(live.from_bot(USER)) == 1
    assert (await live.conversation()).version == 0


def hear_command(stage: Stage, typed: str) -> None:
    """Send it with the mark that Telegram's apps put on a command, whatever its spelling."""
    mark = {"type": "bot_command", "offset": 0, "length": len(typed.split()[0])}
    stage.telegram.user_sends(USER, typed, entities=[mark])


async def test_wrong_arguments_of_operators_are_answered(live: Stage) -> None:
    for typed in ("/claim nonsense here", f"/claim {OWNER}"):
        live.telegram.user_sends(OWNER, typed)
    await live.until(lambda: len(live.from_bot(OWNER)) == 2 or None)
    assert all("There is no open conversation" in seen.text for seen in live.from_bot(OWNER))
    live.telegram.user_sends(OWNER, "/release 5")
    await live.until(lambda: len(live.from_bot(OWNER)) == 3 or None)


async def test_a_command_for_another_bot_is_not_obeyed_and_not_lost(live: Stage) -> None:
    await live.start_ai()
    live.model.script(Reply(text="That is for another bot."))
    live.telegram.user_sends(USER, "/end@somebody_elses_bot")
    await live.shows(USER, "That is for another bot.")
    await live.state(USER, "ai_ready")


FORGED = [
    "",
    "v0:start",
    "v2:human",
    "v1:",
    "v1:nonsense",
    "v1:cancel:turn:msg-99999999999999999999",
    "v1:arrived:turn:msg-1",
    "v1:claim:tg:1000; DROP TABLE messages",
    f"v1:claim:tg:{OWNER}",
    "v1:start\n",
    "ｖ1:start",
    "x" * 64,
]


async def test_forged_and_outdated_buttons_say_so_and_change_nothing(live: Stage) -> None:
    live.telegram.user_starts(USER)
    notice = await live.shows(USER, "assistant")
    presses = [live.telegram.user_forges_press(USER, notice.message_id, data) for data in FORGED]
    await live.until(lambda: all(press.answered for press in presses) or None)
    assert {press.text for press in presses} == {"This button is no longer in use."}
    assert (await live.conversation()).state == "consent_required"
    assert len(live.from_bot(USER)) == 1


async def test_a_button_pressed_twice_works_once(live: Stage) -> None:
    live.telegram.user_starts(USER)
    await live.shows(USER, "assistant")
    presses = [live.press(USER, "Start the AI assistant") for _ in range(2)]
    await live.until(lambda: all(press.answered for press in presses) or None)
    await live.everything_so_far()
    assert live.count(USER, "assistant is on") == 1
    assert [press.text for press in presses] == ["", "This button is no longer in use."]


async def test_a_button_in_somebody_elses_chat_moves_neither_conversation(live: Stage) -> None:
    other = 77
    for chat_id in (USER, other):
        live.telegram.user_starts(chat_id)
        await live.shows(chat_id, "assistant")
    notice = live.from_bot(other)[0]
    press = live.telegram.user_forges_press(other, notice.message_id, "v1:start", user_id=USER)
    await live.until(lambda: press.answered or None)
    assert press.text
    for chat_id in (USER, other):
        assert (await live.conversation(chat_id)).state == "consent_required"


async def test_a_button_under_a_message_that_is_gone_still_works(live: Stage) -> None:
    live.telegram.user_starts(USER)
    notice = await live.shows(USER, "assistant")
    live.telegram.user_deletes(USER, notice.message_id)
    live.telegram.user_forges_press(USER, notice.message_id, "v1:start")
    await live.state(USER, "ai_ready")


async def test_in_groups_nothing_is_said_whatever_happens_there(live: Stage) -> None:
    world, admin = live.telegram, OWNER
    group = world.create_group("Family", admin, [USER])
    world.add_bot(group.id, admin, rights=["can_delete_messages"])
    world.user_sends(group.id, "Hello all", user_id=USER)
    world.user_sends(group.id, "/start@dabir_lab_bot", user_id=admin)
    world.user_sends(group.id, "/queue", user_id=admin, anonymous=True)
    world.user_sends_media(group.id, "photo", user_id=USER, caption="Look")
    world.user_forges_press(group.id, 1, "v1:claim:tg:42", user_id=admin)
    world.user_forges_press(group.id, 1, "v1:start", user_id=USER)
    world.remove_bot(group.id, admin)
    other = world.create_group("Small", admin, [USER], kind="group")
    world.add_bot(other.id, admin)
    world.upgrade_group(other.id, admin)
    await live.opt_in()
    assert live.from_bot(group.id) == []
    assert live.from_bot(other.id) == []
    assert await live.rows("SELECT id FROM conversations WHERE chat_id < 0") == []
    assert live.model.requests == []
    asked: list[Any] = [
        call for call in world.journal if str(call.params.get("chat_id", "")).startswith("-")
    ]
    assert asked == []
