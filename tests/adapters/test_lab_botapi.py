"""The lab's Bot API server keeps Telegram's rules, over real HTTP, for python-telegram-bot."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeChat,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaPhoto,
    MessageEntity,
    ReplyKeyboardMarkup,
    Update,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from bot.lab.botapi import ALL_RIGHTS, Fate, Fault, Harm, Network, Telegram, serve_telegram
from bot.lab.botapi.app import build_app
from bot.lab.serve import LoopbackServer, serve
from tests.judges import Judgement, attach_judges

SARA = 42
NOT_MODIFIED = "Message is not modified"


@dataclass
class Lab:
    world: Telegram
    url: str
    bot: Bot
    judgement: Judgement

    def raw(self, method: str, token: str = "") -> str:
        return f"{self.url}/bot{token or self.world.token}/{method}"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def _retry_after_is_a_timedelta(monkeypatch: pytest.MonkeyPatch) -> None:
    """python-telegram-bot warns about every 429 otherwise, and warnings are errors here."""
    monkeypatch.setenv("PTB_TIMEDELTA", "true")


@pytest.fixture
async def lab(clock: Clock) -> AsyncIterator[Lab]:
    """A served world with Sara in it and a real Bot; every request and update is judged."""
    world = Telegram(clock=clock)
    judgement = attach_judges(world)
    world.add_user(SARA, "Sara", language_code="fa", started=True)
    async with serve_telegram(world) as url, make_bot(world, url) as bot:
        yield Lab(world, url, bot, judgement)
    assert judgement.complaints == []


def make_bot(world: Telegram, url: str) -> Bot:
    return Bot(world.token, base_url=f"{url}/bot", base_file_url=f"{url}/file/bot")


def keyboard(*data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup([[InlineKeyboardButton(d, callback_data=d) for d in data]])


async def poll(lab: Lab, after: Update | None = None, timeout: int = 10) -> tuple[Update, ...]:
    return await lab.bot.get_updates(offset=after.update_id + 1 if after else None, timeout=timeout)


# Sending


async def test_a_sent_text_is_trimmed_and_its_entities_move_along(lab: Lab) -> None:
    bold = MessageEntity("bold", 4, 6)  # "hello" and one of the trailing spaces
    sent = await lab.bot.send_message(SARA, "\n😀 hello   ", entities=[bold])
    assert sent.text == "😀 hello"
    assert [(e.type, e.offset, e.length) for e in sent.entities] == [("bold", 3, 5)]
    assert lab.world.bot_texts(SARA) == ["😀 hello"]


async def test_leading_space_inside_an_entity_is_kept(lab: Lab) -> None:
    sent = await lab.bot.send_message(SARA, "  x", entities=[MessageEntity("code", 1, 2)])
    assert sent.text == " x"


@pytest.mark.parametrize("text", ["", " \n ", "\u200b\u200d", "\u2800"])
async def test_a_text_without_anything_visible_is_refused(lab: Lab, text: str) -> None:
    with pytest.raises(BadRequest, match=r"[Tt]ext (is|must be non-)\s?empty"):
        await lab.bot.send_message(SARA, text)


async def test_4096_utf16_units_pass_and_4097_do_not(lab: Lab) -> None:
    await lab.bot.send_message(SARA, "😀" * 2048)
    with pytest.raises(BadRequest, match="Message is too long"):
        await lab.bot.send_message(SARA, "😀" * 2048 + "x")


async def test_markup_does_not_count_towards_the_limit(lab: Lab) -> None:
    sent = await lab.bot.send_message(SARA, f"<b>{'x' * 4096}</b>", parse_mode="HTML")
    assert sent.text is not None
    assert len(sent.text) == 4096


async def test_callback_data_takes_1_to_64_bytes(lab: Lab) -> None:
    await lab.bot.send_message(SARA, "x", reply_markup=keyboard("د" * 32))
    lab.world.hooks.on_request.clear()  # the judge rightly dislikes what follows
    for data in ("", "د" * 32 + "x"):
        answer = await post(
            lab, "sendMessage", chat_id=SARA, text="x", reply_markup=one_button(data)
        )
        assert answer["description"] == "Bad Request: BUTTON_DATA_INVALID"


def one_button(data: str) -> dict[str, Any]:
    return {"inline_keyboard": [[{"text": "x", "callback_data": data}]]}


async def post(lab: Lab, method: str, **params: Any) -> dict[str, Any]:
    async with httpx.AsyncClient() as client:
        answer = await client.post(lab.raw(method), json=params)
    body: dict[str, Any] = answer.json()
    assert body.get("error_code", 200) == answer.status_code
    return body


@pytest.mark.parametrize(
    ("entities", "words"),
    [
        ([{"type": "bold", "offset": 0, "length": 6}], "ends after the end of the text"),
        ([{"type": "bold", "offset": 7, "length": 1}], "begins after the end of the text"),
        ([{"type": "bold", "offset": 1, "length": 2}], "begins in a middle of a UTF-16 symbol"),
        ([{"type": "sparkle", "offset": 0, "length": 2}], "Unsupported type specified"),
        ([{"type": "text_link", "offset": 0, "length": 2}], 'find field "url"'),
    ],
)
async def test_entities_that_do_not_fit_are_refused(
    lab: Lab, entities: list[dict[str, Any]], words: str
) -> None:
    lab.world.hooks.on_request.clear()
    answer = await post(lab, "sendMessage", chat_id=SARA, text="😀abc", entities=entities)
    assert answer["error_code"] == 400
    assert words in answer["description"]


@pytest.mark.parametrize("mode", ["HTML", "MarkdownV2", "Markdown"])
async def test_broken_markup_is_refused(lab: Lab, mode: str) -> None:
    broken = {"HTML": "<b>x", "MarkdownV2": "x*", "Markdown": "x*"}[mode]
    with pytest.raises(BadRequest, match="Can't parse entities"):
        await lab.bot.send_message(SARA, broken, parse_mode=mode)


async def test_ids_grow_over_all_private_chats_and_are_never_used_again(lab: Lab) -> None:
    lab.world.add_user(43, started=True)
    first = await lab.bot.send_message(SARA, "a")
    second = await lab.bot.send_message(43, "b")
    await lab.bot.delete_message(43, second.message_id)
    third = await lab.bot.send_message(SARA, "c")
    assert [second.message_id, third.message_id] == [first.message_id + 1, first.message_id + 2]


async def test_a_reply_to_a_missing_message_is_refused_unless_allowed(lab: Lab) -> None:
    with pytest.raises(BadRequest, match="Message to be replied not found"):
        await lab.bot.send_message(SARA, "x", reply_to_message_id=77)
    sent = await lab.bot.send_message(
        SARA, "x", reply_to_message_id=77, allow_sending_without_reply=True
    )
    answer = await lab.bot.send_message(SARA, "y", reply_to_message_id=sent.message_id)
    assert answer.reply_to_message is not None
    assert answer.reply_to_message.message_id == sent.message_id


# Who can be written to


async def test_who_cannot_be_reached_is_refused_as_telegram_does(lab: Lab) -> None:
    with pytest.raises(BadRequest, match="Chat not found"):
        await lab.bot.send_message(99, "x")
    group = lab.world.create_group("Few", SARA, [50], kind="group")
    with pytest.raises(Forbidden, match="bot is not a member of the group chat"):
        await lab.bot.send_message(group.id, "x")
    lab.world.add_bot(group.id, SARA)
    with pytest.raises(Forbidden, match="bot can't initiate conversation with a user"):
        await lab.bot.send_message(50, "x")
    lab.world.user_is_deactivated(50)
    with pytest.raises(Forbidden, match="user is deactivated"):
        await lab.bot.send_message(50, "x")
    lab.world.remove_bot(group.id, SARA)
    with pytest.raises(Forbidden, match="bot was kicked from the group chat"):
        await lab.bot.send_message(group.id, "x")


async def test_a_block_reaches_the_bot_as_update_and_as_403(lab: Lab) -> None:
    lab.world.user_blocks(SARA)
    (update,) = await poll(lab)
    assert update.my_chat_member is not None
    assert update.my_chat_member.new_chat_member.status == "kicked"
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await lab.bot.send_message(SARA, "x")
    with pytest.raises(ValueError, match="unblock"):
        lab.world.user_sends(SARA, "hello?")
    lab.world.user_unblocks(SARA)
    await lab.bot.send_message(SARA, "x")


async def test_an_upgraded_group_names_its_new_id(lab: Lab) -> None:
    group = lab.world.create_group("Few", SARA, kind="group")
    lab.world.add_bot(group.id, SARA)
    new = lab.world.upgrade_group(group.id, SARA)
    with pytest.raises(ChatMigrated) as moved:
        await lab.bot.send_message(group.id, "x")
    assert moved.value.new_chat_id == new.id
    await lab.bot.send_message(new.id, "x")


# Edits and deletions: the proof of delivery stands on these words


async def test_an_edit_to_the_same_words_proves_the_message_is_there(lab: Lab) -> None:
    text = "  See *this* https://dabir.example.com/x. \n"
    marks = [MessageEntity("italic", 6, 6), MessageEntity("bold", 6, 6)]
    sent = await lab.bot.send_message(SARA, text, entities=marks, reply_markup=keyboard("a", "b"))

    def again(**change: Any) -> Any:
        same: dict[str, Any] = {
            "text": text,
            "entities": marks[::-1],
            "reply_markup": keyboard("a", "b"),
        }
        return lab.bot.edit_message_text(
            chat_id=SARA, message_id=sent.message_id, **{**same, **change}
        )

    with pytest.raises(BadRequest, match=NOT_MODIFIED):
        await again()
    await again(reply_markup=keyboard("a"))
    with pytest.raises(BadRequest, match=NOT_MODIFIED):
        await again(reply_markup=keyboard("a"))
    await again(reply_markup=None)  # takes the keyboard away
    (seen,) = lab.world.messages(SARA)
    assert (seen.keyboard, seen.edited) == ((), False)


async def test_a_missing_and_a_foreign_message_are_told_apart(lab: Lab) -> None:
    theirs = lab.world.user_sends(SARA, "mine")[0]
    with pytest.raises(BadRequest, match="Message can't be edited"):
        await lab.bot.edit_message_text("x", SARA, theirs.id)
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await lab.bot.edit_message_text("x", SARA, theirs.id + 1)
    ours = await lab.bot.send_message(SARA, "x")
    lab.world.user_deletes(SARA, ours.message_id)
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await lab.bot.edit_message_text("x", SARA, ours.message_id)
    keys = await lab.bot.send_message(SARA, "x", reply_markup=ReplyKeyboardMarkup([["Yes"]]))
    with pytest.raises(BadRequest, match="Message can't be edited"):
        await lab.bot.edit_message_text("y", SARA, keys.message_id)


async def test_a_keyboard_edit_without_change_is_not_modified(lab: Lab) -> None:
    sent = await lab.bot.send_message(SARA, "x")
    with pytest.raises(BadRequest, match=NOT_MODIFIED):
        await lab.bot.edit_message_reply_markup(SARA, sent.message_id)
    await lab.bot.edit_message_reply_markup(SARA, sent.message_id, reply_markup=keyboard("a"))
    assert lab.world.messages(SARA)[0].keyboard[0][0]["callback_data"] == "a"


async def test_deleting_follows_age_and_place(lab: Lab, clock: Clock) -> None:
    sent = await lab.bot.send_message(SARA, "x")
    await lab.bot.delete_message(SARA, sent.message_id)
    with pytest.raises(BadRequest, match="Message to delete not found"):
        await lab.bot.delete_message(SARA, sent.message_id)
    theirs = lab.world.user_sends(SARA, "old")[0]
    clock.now += 48 * 3600 + 1
    with pytest.raises(BadRequest, match="Message can't be deleted"):
        await lab.bot.delete_message(SARA, theirs.id)
    group = lab.world.create_group("G", SARA)
    lab.world.add_bot(group.id, SARA)
    foreign = lab.world.user_sends(group.id, "x", user_id=SARA)[0]
    with pytest.raises(BadRequest, match="Message can't be deleted"):
        await lab.bot.delete_message(group.id, foreign.id)


# Updates


async def test_an_open_poll_is_answered_as_soon_as_something_happens(lab: Lab) -> None:
    polling = asyncio.create_task(poll(lab, timeout=30))
    await lab.world.wait_for(lambda: lab.world.updates.polling)
    lab.world.user_sends(SARA, "hello")
    (update,) = await polling
    assert update.message is not None
    assert update.message.text == "hello"


async def test_a_poll_without_news_ends_empty_after_its_timeout(lab: Lab) -> None:
    assert await poll(lab, timeout=1) == ()


async def test_updates_stay_until_an_offset_above_confirms_them(lab: Lab) -> None:
    for text in "abc":
        lab.world.user_sends(SARA, text)
    first, *_ = await poll(lab)
    assert len(await poll(lab)) == 3
    assert len(await poll(lab, first)) == 2
    assert len(await lab.bot.get_updates(offset=-1)) == 1
    assert len(lab.world.updates) == 1
    assert len(await lab.bot.get_updates(offset=first.update_id - 5)) == 1


async def test_limit_is_kept(lab: Lab) -> None:
    for text in "abc":
        lab.world.user_sends(SARA, text)
    assert len(await lab.bot.get_updates(limit=2)) == 2


async def test_the_last_list_of_allowed_kinds_is_remembered(lab: Lab) -> None:
    sent = lab.world.user_sends(SARA, "x")[0]
    lab.world.user_reacts(SARA, sent.id, "👍")  # not asked for: never queued
    (update,) = await lab.bot.get_updates(allowed_updates=["message_reaction"])
    lab.world.user_sends(SARA, "y")
    lab.world.user_reacts(SARA, sent.id)
    (reaction,) = await poll(lab, update)
    assert reaction.message_reaction is not None
    assert reaction.message_reaction.old_reaction[0].to_dict()["emoji"] == "👍"


async def test_a_second_poller_ends_the_older_one_with_409(lab: Lab) -> None:
    older = asyncio.create_task(poll(lab, timeout=30))
    await lab.world.wait_for(lambda: lab.world.updates.polling)
    async with make_bot(lab.world, lab.url) as second:
        newer = asyncio.create_task(second.get_updates(timeout=30))
        with pytest.raises(Conflict, match="terminated by other getUpdates request; make sure"):
            await older
        lab.world.user_sends(SARA, "for the newer")
        assert len(await newer) == 1


async def test_a_poller_that_hangs_up_leaves_no_poll_behind(lab: Lab) -> None:
    polling = asyncio.create_task(poll(lab, timeout=30))
    await lab.world.wait_for(lambda: lab.world.updates.polling)
    polling.cancel()
    await lab.world.wait_for(lambda: not lab.world.updates.polling)
    (call,) = lab.world.journal.calls("getUpdates")
    assert call.fate is Fate.CLIENT_LEFT


async def test_an_update_whose_answer_was_lost_comes_again(lab: Lab) -> None:
    lab.world.user_sends(SARA, "once")
    lab.world.faults.add(Fault(Harm.CUT_AFTER, "getUpdates"))
    with pytest.raises(NetworkError):
        await poll(lab)
    assert len(await poll(lab)) == 1


async def test_updates_come_twice_and_in_the_wrong_order_if_ordered(lab: Lab) -> None:
    lab.world.user_sends(SARA, "a")
    lab.world.user_sends(SARA, "b")
    lab.world.updates.reverse_next = True
    later, earlier = await poll(lab)
    assert later.update_id > earlier.update_id
    lab.world.updates.redeliver(earlier.update_id)
    same, *_ = await poll(lab, later)
    assert same.update_id == earlier.update_id
    copied = lab.world.updates.repeat(earlier.update_id)
    (copy,) = await poll(lab, later)
    assert copy.update_id == copied
    assert copy.message == earlier.message


# People


async def test_a_long_paste_arrives_as_several_messages(lab: Lab) -> None:
    sent = lab.world.user_sends(SARA, "word " * 1800)
    updates = await poll(lab)
    texts = [u.message.text for u in updates if u.message and u.message.text]
    assert len(texts) == len(sent) == 3
    assert all(len(text) <= 4096 for text in texts)
    assert " ".join(texts).split() == ["word"] * 1800


async def test_commands_mentions_and_links_are_marked(lab: Lab) -> None:
    lab.world.user_sends(
        SARA, "😀 /start@dabir_lab_bot @somebody see https://a.example/b?c=1, #tag"
    )
    (update,) = await poll(lab)
    assert update.message is not None
    found = update.message.parse_entities()
    assert {str(e.type): text for e, text in found.items()} == {
        "bot_command": "/start@dabir_lab_bot",
        "mention": "@somebody",
        "url": "https://a.example/b?c=1",
        "hashtag": "#tag",
    }


async def test_a_deep_link_starts_with_its_payload(lab: Lab) -> None:
    lab.world.user_starts(77, "once-code")
    (update,) = await poll(lab)
    assert update.message is not None
    assert update.message.text == "/start once-code"


async def test_an_album_is_several_messages_with_one_group_id(lab: Lab) -> None:
    lab.world.user_sends_album(SARA, ["photo", "photo", "video"], caption="three")
    messages = [update.message for update in await poll(lab)]
    assert len({m.media_group_id for m in messages if m}) == 1
    assert [m.caption for m in messages if m] == ["three", None, None]


async def test_an_edit_and_an_edit_without_new_words_both_arrive(lab: Lab) -> None:
    sent = lab.world.user_sends(SARA, "helo")[0]
    lab.world.user_edits(SARA, sent.id, "hello")
    lab.world.user_edits(SARA, sent.id)
    original, *edits = await poll(lab)
    assert original.message is not None
    assert original.message.text == "helo"  # the queued update keeps its words
    assert [e.edited_message.text for e in edits if e.edited_message] == ["hello", "hello"]
    (seen,) = lab.world.messages(SARA)
    assert (seen.text, seen.edited) == ("hello", True)


async def test_a_press_is_answered_once_and_in_time(lab: Lab, clock: Clock) -> None:
    sent = await lab.bot.send_message(SARA, "x", reply_markup=keyboard("yes"))
    press = lab.world.user_presses(SARA, sent.message_id, "yes")
    (update,) = await poll(lab)
    assert update.callback_query is not None
    assert update.callback_query.data == "yes"
    assert update.callback_query.from_user.id == SARA
    await update.callback_query.answer("done")
    assert (press.answered, press.text) == (True, "done")
    with pytest.raises(BadRequest, match="Query is too old"):
        await update.callback_query.answer()
    late = lab.world.user_presses(SARA, sent.message_id, "yes")
    clock.now += 60
    with pytest.raises(BadRequest, match="Query is too old"):
        await lab.bot.answer_callback_query(late.id)
    with pytest.raises(BadRequest, match="query id is invalid"):
        await lab.bot.answer_callback_query("123")


async def test_a_press_under_a_deleted_message_is_inaccessible(lab: Lab) -> None:
    sent = await lab.bot.send_message(SARA, "x", reply_markup=keyboard("yes"))
    await lab.bot.delete_message(SARA, sent.message_id)
    lab.world.user_forges_press(SARA, sent.message_id, "forged")
    (update,) = await poll(lab)
    assert update.callback_query is not None
    assert update.callback_query.message is not None
    assert not update.callback_query.message.is_accessible


async def test_in_a_group_a_plain_member_hears_what_is_meant_for_it(lab: Lab) -> None:
    group = lab.world.create_group("G", SARA)
    lab.world.add_bot(group.id, SARA)
    ours = await lab.bot.send_message(group.id, "hi")
    for text in ("chatter", "/help", "/help@other_bot", "hey @dabir_lab_bot"):
        lab.world.user_sends(group.id, text, user_id=SARA)
    lab.world.user_sends(group.id, "an answer", user_id=SARA, reply_to=ours.message_id)
    texts = [u.message.text for u in await poll(lab) if u.message and u.message.text]
    assert texts == ["/help", "hey @dabir_lab_bot", "an answer"]


async def test_replies_in_a_plain_supergroup_carry_a_thread_but_no_topic(lab: Lab) -> None:
    group = lab.world.create_group("G", SARA)
    lab.world.add_bot(group.id, SARA, rights=ALL_RIGHTS)
    first = lab.world.user_sends(group.id, "a", user_id=SARA)[0]
    answer = lab.world.user_sends(group.id, "b", user_id=SARA, reply_to=first.id)[0]
    assert answer.data["message_thread_id"] == first.id
    assert "is_topic_message" not in answer.data


# Topics


async def forum(lab: Lab, rights: frozenset[str] | None = ALL_RIGHTS) -> int:
    group = lab.world.create_group("Desk", SARA, [43], forum=True)
    lab.world.add_bot(group.id, SARA, rights=rights)
    return group.id


async def test_a_topic_lives_and_dies_with_the_right_words(lab: Lab) -> None:
    desk = await forum(lab)
    topic = await lab.bot.create_forum_topic(desk, "Sara | 1")
    thread = topic.message_thread_id
    sent = await lab.bot.send_message(desk, "card", message_thread_id=thread)
    assert sent.is_topic_message
    assert sent.message_thread_id == thread
    assert sent.reply_to_message is not None
    assert sent.reply_to_message.forum_topic_created is not None
    with pytest.raises(BadRequest, match=r"(?i)topic_not_modified"):
        await lab.bot.edit_forum_topic(desk, thread, name="Sara | 1")
    await lab.bot.edit_forum_topic(desk, thread, name="Sara | 2")
    await lab.bot.close_forum_topic(desk, thread)
    with pytest.raises(BadRequest, match=r"(?i)topic_not_modified"):
        await lab.bot.close_forum_topic(desk, thread)
    await lab.bot.send_message(desk, "still ours", message_thread_id=thread)
    lab.world.admins_write_in_closed_topics = False
    with pytest.raises(BadRequest, match=r"(?i)topic_closed"):
        await lab.bot.send_message(desk, "x", message_thread_id=thread)
    await lab.bot.reopen_forum_topic(desk, thread)
    lab.world.user_deletes_topic(desk, thread)
    with pytest.raises(BadRequest, match="Message thread not found"):
        await lab.bot.send_message(desk, "x", message_thread_id=thread)
    with pytest.raises(BadRequest, match=r"(?i)topic_deleted"):
        await lab.bot.edit_forum_topic(desk, thread, name="z")
    with pytest.raises(BadRequest, match=r"(?i)topic_id_invalid"):
        await lab.bot.edit_forum_topic(desk, 9999, name="z")
    for general in (1, 9999):
        with pytest.raises(BadRequest, match="Message thread not found"):
            await lab.bot.send_message(desk, "x", message_thread_id=general)


async def test_topics_need_a_forum_and_the_right(lab: Lab) -> None:
    plain = lab.world.create_group("Plain", SARA)
    lab.world.add_bot(plain.id, SARA, rights=ALL_RIGHTS)
    with pytest.raises(BadRequest, match="The chat is not a forum"):
        await lab.bot.create_forum_topic(plain.id, "x")
    desk = await forum(lab, rights=None)
    with pytest.raises(BadRequest, match="Not enough rights to create a topic"):
        await lab.bot.create_forum_topic(desk, "x")


async def test_a_supergroup_counts_its_own_ids_and_the_bot_hears_its_own_pin(lab: Lab) -> None:
    desk = await forum(lab)
    sent = await lab.bot.send_message(desk, "card")
    assert sent.message_id < 10
    await lab.bot.pin_chat_message(desk, sent.message_id)
    assert lab.world.chats[desk].pinned == [sent.message_id]
    pins = [u for u in await poll(lab) if u.message and u.message.pinned_message]
    assert len(pins) == 1
    await lab.bot.unpin_chat_message(desk, sent.message_id)
    assert (await lab.bot.get_chat(desk)).pinned_message is None


# Other methods


async def test_media_go_up_and_come_down_again(lab: Lab) -> None:
    sent = await lab.bot.send_document(SARA, b"some bytes", caption="a file", filename="a.txt")
    assert sent.document is not None
    file = await lab.bot.get_file(sent.document.file_id)
    assert bytes(await file.download_as_bytearray()) == b"some bytes"
    again = await lab.bot.send_document(SARA, sent.document.file_id)
    assert again.document is not None
    voice = lab.world.user_sends_media(SARA, "voice", data=b"la la")
    heard = await lab.bot.get_file(voice.data["voice"]["file_id"])
    assert bytes(await heard.download_as_bytearray()) == b"la la"
    with pytest.raises(BadRequest, match="Wrong remote file identifier"):
        await lab.bot.send_photo(SARA, "no-such-file")


async def test_an_album_that_is_copied_stays_one_under_another_id(lab: Lab) -> None:
    album = lab.world.user_sends_album(SARA, ["photo", "video"])
    single = lab.world.user_sends_media(SARA, "photo")
    ids = [each.id for each in (*album, single)]
    copies = await lab.bot.copy_messages(SARA, SARA, ids)
    forwards = await lab.bot.forward_messages(SARA, SARA, ids)
    old = album[0].data["media_group_id"]
    for made in (copies, forwards):
        groups = [
            lab.world.message(SARA, each.message_id).data.get("media_group_id") for each in made
        ]
        assert groups[0] == groups[1] not in (None, old)
        assert groups[2] is None


async def test_an_album_of_the_bot_shares_a_group_id(lab: Lab) -> None:
    media = [InputMediaPhoto(b"one", caption="*c*", parse_mode="Markdown"), InputMediaPhoto(b"two")]
    sent = await lab.bot.send_media_group(SARA, media)
    assert len({message.media_group_id for message in sent}) == 1
    assert sent[0].caption == "c"
    assert [seen.kind for seen in lab.world.messages(SARA)] == ["photo", "photo"]


async def test_copies_hide_the_author_and_forwards_name_them(lab: Lab) -> None:
    theirs = lab.world.user_sends(SARA, "words")[0]
    copy = await lab.bot.copy_message(SARA, SARA, theirs.id)
    assert "forward_origin" not in lab.world.message(SARA, copy.message_id).data
    forwarded = await lab.bot.forward_message(SARA, SARA, theirs.id)
    assert forwarded.forward_origin is not None
    assert forwarded.forward_origin.to_dict()["sender_user"]["id"] == SARA
    with pytest.raises(BadRequest, match="Message to copy not found"):
        await lab.bot.copy_message(SARA, SARA, 999)
    with pytest.raises(BadRequest, match="Message to forward not found"):
        await lab.bot.forward_message(SARA, SARA, 999)


async def test_batches_skip_what_is_not_there_and_refuse_what_is_no_list(lab: Lab) -> None:
    one, two = lab.world.user_sends(SARA, "one")[0], lab.world.user_sends(SARA, "two")[0]
    copies = await lab.bot.copy_messages(SARA, SARA, [one.id, 999, two.id])
    assert lab.world.bot_texts(SARA) == ["one", "two"]
    await lab.bot.delete_messages(SARA, [999, *(copy.message_id for copy in copies)])
    assert lab.world.bot_texts(SARA) == []
    lab.world.hooks.on_request.clear()
    refused: list[Any] = [[], [{}], "x"]
    for wrong in refused:
        answer = await post(lab, "deleteMessages", chat_id=SARA, message_ids=wrong)
        assert answer["error_code"] == 400


async def test_commands_are_kept_by_scope_and_language(lab: Lab) -> None:
    fa = [BotCommand("help", "راهنما")]
    await lab.bot.set_my_commands([BotCommand("help", "Help")])
    await lab.bot.set_my_commands(fa, scope=BotCommandScopeChat(SARA), language_code="fa")
    assert [c.description for c in await lab.bot.get_my_commands()] == ["Help"]
    kept = await lab.bot.get_my_commands(scope=BotCommandScopeChat(SARA), language_code="fa")
    assert kept == tuple(fa)
    await lab.bot.delete_my_commands()
    assert await lab.bot.get_my_commands() == ()
    with pytest.raises(BadRequest, match=r"(?i)bot_command_invalid"):
        await lab.bot.set_my_commands([BotCommand("Help!", "x")])


async def test_typing_drafts_and_reactions_are_seen(lab: Lab) -> None:
    theirs = lab.world.user_sends(SARA, "x")[0]
    await lab.bot.send_chat_action(SARA, "typing")
    assert [action.action for action in lab.world.actions] == ["typing"]
    await lab.bot.send_message_draft(SARA, draft_id=7, text="thinking")
    assert lab.world.drafts[SARA].text == "thinking"
    await lab.bot.set_message_reaction(SARA, theirs.id, "👍")
    assert lab.world.messages(SARA)[0].reactions[0]["emoji"] == "👍"
    with pytest.raises(BadRequest, match="Message to react not found"):
        await lab.bot.set_message_reaction(SARA, 999, "👍")
    await lab.bot.send_message(SARA, "done")
    assert lab.world.drafts == {}


async def test_members_and_admins_of_a_group(lab: Lab) -> None:
    desk = await forum(lab)
    admins = await lab.bot.get_chat_administrators(desk)
    assert {admin.user.id for admin in admins} == {SARA, lab.bot.id}
    assert (await lab.bot.get_chat_member(desk, 43)).status == "member"
    assert (await lab.bot.get_chat(desk)).is_forum
    await lab.bot.leave_chat(desk)
    with pytest.raises(Forbidden):
        await lab.bot.send_message(desk, "x")


async def test_unknown_methods_and_tokens_are_turned_away(lab: Lab) -> None:
    lab.world.hooks.on_request.clear()
    async with httpx.AsyncClient() as client:
        unknown = await client.post(lab.raw("makeTea"))
        assert (unknown.status_code, unknown.json()) == (
            404,
            {"ok": False, "error_code": 404, "description": "Not Found"},
        )
        wrong = await client.get(lab.raw("getMe", "123:abc"))
        assert (wrong.status_code, wrong.json()["description"]) == (401, "Unauthorized")
    with pytest.raises(InvalidToken):
        async with Bot("123:abc", base_url=f"{lab.url}/bot"):
            pass


async def test_get_json_form_and_multipart_all_work(lab: Lab) -> None:
    markup = json.dumps(one_button("x"))
    async with httpx.AsyncClient() as client:
        url, text = lab.raw("SENDMESSAGE"), {"chat_id": str(SARA), "text": "x"}
        answers = [
            await client.get(url, params=text),
            await client.post(url, data={**text, "reply_markup": markup}),
            await client.post(url, json={**text, "reply_markup": json.loads(markup)}),
            await client.post(url, data={**text, "reply_markup": markup}, files={"z": b"1"}),
        ]
    lab.judgement.complaints.clear()  # "z" is no parameter, and that is what the judge says
    assert [a.status_code for a in answers] == [200] * 4
    assert [bool(seen.keyboard) for seen in lab.world.messages(SARA)] == [False, True, True, True]


# Faults


async def test_a_flood_wait_carries_retry_after(lab: Lab) -> None:
    lab.world.faults.add(Fault(Harm.REFUSE, "sendMessage", retry_after=3, chat_id=SARA))
    with pytest.raises(RetryAfter) as flood:
        await lab.bot.send_message(SARA, "x")
    assert flood.value.retry_after == timedelta(seconds=3)
    await lab.bot.send_message(SARA, "x")
    assert lab.world.bot_texts(SARA) == ["x"]


async def test_a_lost_answer_times_out_though_the_message_is_there(lab: Lab) -> None:
    lab.world.faults.add(Fault(Harm.STALL_AFTER, "sendMessage"))
    with pytest.raises(TimedOut):
        await lab.bot.send_message(SARA, "there", read_timeout=0.2)
    assert lab.world.bot_texts(SARA) == ["there"]
    (call,) = lab.world.journal.calls("sendMessage")
    assert (call.fate, call.status) == (Fate.LOST, 200)


@pytest.mark.parametrize(
    ("harm", "there", "fate"),
    [
        (Harm.CUT_BEFORE, False, Fate.NEVER_PROCESSED),
        (Harm.CUT_AFTER, True, Fate.LOST),
        (Harm.CUT_DURING, True, Fate.LOST),
    ],
)
async def test_a_cut_connection_is_a_network_error(
    lab: Lab, harm: Harm, there: bool, fate: Fate
) -> None:
    lab.world.faults.add(Fault(harm, "sendMessage", times=1))
    with pytest.raises(NetworkError) as cut:
        await lab.bot.send_message(SARA, "x")
    assert not isinstance(cut.value, BadRequest | TimedOut)
    assert isinstance(cut.value.__cause__, httpx.RemoteProtocolError | httpx.ReadError)
    assert bool(lab.world.bot_texts(SARA)) is there
    assert [call.fate for call in lab.world.journal.calls("sendMessage")] == [fate]
    await lab.bot.send_message(SARA, "y")


async def test_a_stall_before_processing_leaves_nothing(lab: Lab) -> None:
    lab.world.faults.add(Fault(Harm.STALL_BEFORE, "sendMessage"))
    with pytest.raises(TimedOut):
        await lab.bot.send_message(SARA, "x", read_timeout=0.2)
    assert lab.world.bot_texts(SARA) == []


async def test_a_slow_server_still_does_it_after_the_client_left(lab: Lab) -> None:
    lab.world.faults.add(Fault(method="sendMessage", delay=0.4))
    with pytest.raises(TimedOut):
        await lab.bot.send_message(SARA, "late", read_timeout=0.1)
    assert lab.world.bot_texts(SARA) == []
    await lab.world.wait_for(lambda: lab.world.bot_texts(SARA) == ["late"])
    (call,) = await lab.world.wait_for(
        lambda: [c for c in lab.world.journal.calls("sendMessage") if c.fate is not Fate.PENDING]
    )
    assert call.fate is Fate.CLIENT_LEFT


async def test_a_proxy_may_answer_with_html(lab: Lab) -> None:
    lab.world.faults.add(
        Fault(Harm.REFUSE, "getUpdates", status=502, body="<html>Bad Gateway</html>")
    )
    with pytest.raises(NetworkError, match="Bad Gateway"):
        await poll(lab)
    assert await poll(lab, timeout=0) == ()


async def test_faults_wait_their_turn_and_spare_the_poll(lab: Lab) -> None:
    lab.world.faults.add(Fault(Harm.REFUSE, skip=1, times=2, description="Bad Request: no"))
    await lab.bot.send_message(SARA, "1")
    for text in "23":
        with pytest.raises(BadRequest, match="No"):
            await lab.bot.send_message(SARA, text)
        assert await poll(lab, timeout=0) == ()
    await lab.bot.send_message(SARA, "4")
    assert lab.world.bot_texts(SARA) == ["1", "4"]
    assert lab.world.faults.armed() == {}


async def test_a_network_that_is_down_and_up_again(lab: Lab) -> None:
    lab.world.faults.network = Network.CUT
    with pytest.raises(NetworkError):
        await lab.bot.send_message(SARA, "x")
    lab.world.faults.clear()
    await lab.bot.send_message(SARA, "y")
    assert lab.world.bot_texts(SARA) == ["y"]


async def test_a_refusing_port_is_a_connect_error_and_comes_back() -> None:
    world = Telegram()
    world.add_user(SARA, started=True)
    server = LoopbackServer(build_app(world))
    await server.start()
    try:
        async with make_bot(world, server.url) as bot:
            await server.refuse()
            with pytest.raises(NetworkError) as refused:
                await bot.send_message(SARA, "x")
            assert isinstance(refused.value.__cause__, httpx.ConnectError)
            await server.accept()
            await bot.send_message(SARA, "y")
    finally:
        await server.stop()
    assert world.bot_texts(SARA) == ["y"]


async def test_real_flood_limits_hold_back_one_chat_and_not_the_others(clock: Clock) -> None:
    world = Telegram(clock=clock, limits=True)
    group = world.create_group("G", SARA)
    world.add_bot(group.id, SARA)
    for user in (SARA, 43):
        world.add_user(user, started=True)
    async with serve_telegram(world) as url, make_bot(world, url) as bot:
        for _ in range(4):
            await bot.send_message(SARA, "x")
        with pytest.raises(RetryAfter):
            await bot.send_message(SARA, "x")
        await bot.send_message(43, "x")
        for _ in range(20):
            clock.now += 0.5
            await bot.send_message(group.id, "x")
        with pytest.raises(RetryAfter, match=r"Retry in 0:00:5[01]"):
            await bot.send_message(group.id, "x")
        clock.now += 51
        await bot.send_message(group.id, "x")


async def test_stopping_does_not_wait_for_an_open_poll_or_a_stall() -> None:
    world = Telegram()
    world.add_user(SARA, started=True)
    world.faults.add(Fault(Harm.STALL_BEFORE, "sendMessage"))
    loop = asyncio.get_running_loop()
    async with httpx.AsyncClient(timeout=30) as client, serve(build_app(world)) as url:
        base = f"{url}/bot{world.token}"
        waiting = [
            asyncio.create_task(client.get(f"{base}/getUpdates?timeout=30")),
            asyncio.create_task(client.get(f"{base}/sendMessage?chat_id={SARA}&text=x")),
        ]
        await world.wait_for(lambda: world.updates.polling and len(world.journal) == 2)
        began = loop.time()
    assert loop.time() - began < 5
    for gone in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(gone, httpx.TransportError)


# Webhook


class Receiver:
    """A webhook that refuses as often as it is told to."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.bodies: list[dict[str, Any]] = []
        self.secrets: list[bytes | None] = []

    async def __call__(self, scope: Any, receive: Callable[[], Any], send: Any) -> None:
        if scope["type"] != "http":
            return
        body = (await receive())["body"]
        self.secrets.append(dict(scope["headers"]).get(b"x-telegram-bot-api-secret-token"))
        status = 200
        if self.refusals:
            self.refusals -= 1
            status = 500
        else:
            self.bodies.append(json.loads(body))
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def test_a_webhook_gets_each_update_in_order_until_it_says_2xx(lab: Lab) -> None:
    receiver = Receiver(refusals=2)
    polling = asyncio.create_task(poll(lab, timeout=30))
    await lab.world.wait_for(lambda: lab.world.updates.polling)
    async with serve(receiver) as hook:
        await lab.bot.set_webhook(f"{hook}/here", secret_token="s3cret")
        with pytest.raises(Conflict, match="terminated by setWebhook request"):
            await polling
        for text in "abc":
            lab.world.user_sends(SARA, text)
        await lab.world.wait_for(lambda: not len(lab.world.updates))
        assert [body["message"]["text"] for body in receiver.bodies] == ["a", "b", "c"]
        assert receiver.secrets == [b"s3cret"] * 5
        info = await lab.bot.get_webhook_info()
        assert (info.url, info.pending_update_count) == (f"{hook}/here", 0)
        assert info.last_error_message == "Wrong response from the webhook: 500"
        with pytest.raises(Conflict, match="can't use getUpdates method while webhook is active"):
            await poll(lab)
        await lab.bot.delete_webhook()
    lab.world.user_sends(SARA, "d")
    assert len(await poll(lab)) == 1


# The lab's own routes and its process


async def test_the_same_controls_work_over_http(lab: Lab) -> None:
    async with httpx.AsyncClient(base_url=lab.url) as client:
        said = await client.post("/lab/do/user_sends", json={"chat_id": SARA, "text": "hi"})
        assert said.json()["result"][0]["text"] == "hi"
        armed = await client.post("/lab/faults", json={"harm": "refuse", "retry_after": 2})
        with pytest.raises(RetryAfter):
            await lab.bot.send_message(SARA, "x")
        await client.post("/lab/faults", json={"harm": "cut_before", "times": None})
        assert len((await client.get("/lab/faults")).json()["faults"]) == 1
        await client.delete(f"/lab/faults/{armed.json()['fault'] + 1}")
        await lab.bot.send_message(SARA, "y", reply_markup=keyboard("k"))
        seen = (await client.get(f"/lab/messages/{SARA}")).json()["messages"]
        assert [(m["author"], m["text"]) for m in seen] == [(f"user:{SARA}", "hi"), ("bot", "y")]
        pressed = await client.post(
            "/lab/do/user_presses",
            json={"chat_id": SARA, "message_id": seen[1]["message_id"], "button": "k"},
        )
        assert pressed.json()["result"]["data"] == "k"
        calls = (await client.get("/lab/journal?method=sendMessage&after=1")).json()["calls"]
        assert [(c["status"], c["fate"]) for c in calls] == [(429, "answered"), (200, "answered")]
        state = (await client.get("/lab/state")).json()
        assert state["pending_updates"] == 2
        await client.post("/lab/updates", json={"repeat": None})
        changed = await client.get(f"/lab/changes?since={state['version']}")
        assert changed.json()["version"] > state["version"]
        for path, wrong in {
            "/lab/do/aclose": {},
            "/lab/do/user_sends": {"chat": 1},
            "/lab/faults": {"harm": "tickle"},
            "/lab/network": {"network": "sideways"},
            "/lab/updates": {},
        }.items():
            assert (await client.post(path, json=wrong)).status_code == 400
        group = await client.post(
            "/lab/do/create_group", json={"title": "G", "owner_id": SARA, "forum": True}
        )
        desk = group.json()["result"]["id"]
        await client.post("/lab/do/add_bot", json={"chat_id": desk, "by": SARA, "rights": "all"})
        await lab.bot.create_forum_topic(desk, "x")


async def test_waiting_at_the_journal_over_http_ends_with_the_call(lab: Lab) -> None:
    async with httpx.AsyncClient(base_url=lab.url, timeout=30) as client:
        waiting = asyncio.create_task(client.get("/lab/journal?method=sendMessage&wait=20"))
        await lab.bot.send_message(SARA, "x")
        assert len((await waiting).json()["calls"]) == 1


async def runner() -> tuple[asyncio.subprocess.Process, dict[str, Any]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.lab.botapi", "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    line: dict[str, Any] = json.loads(await process.stdout.readline())
    return process, line


async def test_the_runner_prints_its_address_and_ends_with_0_on_sigterm() -> None:
    process, line = await runner()
    async with Bot(line["token"], base_url=f"{line['url']}/bot") as bot:
        assert bot.username == "dabir_lab_bot"
        polling = asyncio.create_task(bot.get_updates(timeout=30))
        async with httpx.AsyncClient(base_url=line["url"]) as client:
            await client.get("/lab/journal?method=getUpdates&wait=20")
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
        with pytest.raises(TelegramError):
            await polling


async def test_the_runner_ends_with_its_parent() -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-m', 'bot.lab.botapi'])\n"
        "sys.stdin.read()",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert parent.stdout is not None
    child = json.loads(await parent.stdout.readline())["pid"]
    ended = os.pidfd_open(child)
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(ended, gone.set)
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(20):
        await gone.wait()
    asyncio.get_running_loop().remove_reader(ended)
    os.close(ended)
