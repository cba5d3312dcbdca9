"""Telegram's updates become our plain values, however odd they are."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import Bot, Message, Update

from bot.telegram.incoming import (
    IncomingBlock,
    IncomingMessage,
    IncomingOther,
    IncomingPress,
    IncomingReaction,
    IncomingStanding,
    TopicChange,
    TopicEvent,
)
from bot.telegram.parsing import MEDIA, SERVICE, parse
from bot.telegram.port import Entity

BOT = Bot("1:a")
USER = {"id": 7, "is_bot": False, "first_name": "Sara", "last_name": "K", "username": "sara",
        "language_code": "fa"}  # fmt: skip
PRIVATE = {"id": 7, "type": "private", "first_name": "Sara"}
GROUP = {"id": -100, "type": "supergroup", "title": "Group"}
FORUM = {"id": -1007, "type": "supergroup", "title": "Desk", "is_forum": True}
THING: dict[str, Any] = {"file_id": "f", "file_unique_id": "u"}
SIZED = {**THING, "width": 1, "height": 1}
TIMED = {**THING, "duration": 1}


def update(**fields: Any) -> Update:
    made = Update.de_json({"update_id": 1, **fields}, BOT)
    assert made is not None
    return made


def message(**fields: Any) -> dict[str, Any]:
    return {"message_id": 5, "date": 1_700_000_000, "chat": PRIVATE, "from": USER, **fields}


def read(**fields: Any) -> IncomingMessage:
    incoming = parse(update(message=message(**fields)), "my_bot")
    assert isinstance(incoming, IncomingMessage)
    return incoming


def command(text: str, length: int, offset: int = 0, **fields: Any) -> tuple[str, str]:
    entity = {"type": "bot_command", "offset": offset, "length": length}
    incoming = read(text=text, entities=[entity], **fields)
    assert incoming.text == text
    return incoming.command, incoming.argument


def test_a_plain_message_is_read_whole() -> None:
    assert read(text="سلام") == IncomingMessage(
        update_id=1, chat_id=7, chat_type="private", message_id=5, user_id=7, user_name="Sara K",
        username="sara", language_code="fa", text="سلام", kind="text", detail="", command="",
        argument="", reply_to=0, media_group_id="", date=1_700_000_000.0, is_edit=False,
        forwarded=False,
    )  # fmt: skip


def test_an_edit_a_forward_and_a_reply_say_so() -> None:
    assert read(text="x", reply_to_message=message(message_id=3)).reply_to == 3
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Z"}
    assert read(text="x", forward_origin=origin).forwarded
    edited = parse(update(edited_message=message(text="x", edit_date=1_700_000_001)), "b")
    assert isinstance(edited, IncomingMessage)
    assert edited.is_edit


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("/start", 6, ("start", "")),
        ("/start  abc\ndef ", 6, ("start", "abc\ndef")),
        ("/Start@My_Bot x", 13, ("start", "x")),
        ("/start@my_bot2 x", 14, ("", "")),
        ("/start@my_bo x", 12, ("", "")),
        ("/remember 😀 tea", 9, ("remember", "😀 tea")),
        ("/start", 3, ("st", "art")),  # what Telegram marks is what counts
    ],
)
def test_commands_to_us_are_recognised(text: str, length: int, expected: tuple[str, str]) -> None:
    assert command(text, length) == expected


def test_a_command_inside_a_text_is_text() -> None:
    assert command("😀 /start", 6, offset=3) == ("", "")
    assert read(text="/start").command == ""  # no entity: it was quoted or escaped
    caption = read(caption="/start", photo=[SIZED], caption_entities=[])
    assert (caption.command, caption.text, caption.kind) == ("", "/start", "photo")


@pytest.mark.parametrize(
    ("fields", "kind", "detail"),
    [
        ({"text": "\u200b \u2060"}, "empty", ""),
        ({"text": "\u0007"}, "empty", ""),
        ({"photo": [SIZED]}, "photo", ""),
        ({"sticker": {**SIZED, "type": "regular", "is_animated": False, "is_video": False,
                      "emoji": "😀"}}, "sticker", "😀"),
        ({"voice": TIMED}, "voice", ""),
        ({"video": {**SIZED, **TIMED, "file_name": "v.mp4"}}, "video", "v.mp4"),
        ({"video_note": {**TIMED, "length": 1}}, "video_note", ""),
        ({"audio": {**TIMED, "file_name": "a.mp3"}}, "audio", "a.mp3"),
        ({"document": {**THING, "file_name": "d.pdf"}}, "document", "d.pdf"),
        ({"animation": {**SIZED, **TIMED}, "document": THING}, "animation", ""),
        ({"location": {"longitude": 1.0, "latitude": 2.0}}, "location", ""),
        ({"venue": {"location": {"longitude": 1.0, "latitude": 2.0}, "title": "Café",
                    "address": "x"}, "location": {"longitude": 1.0, "latitude": 2.0}},
         "venue", "Café"),
        ({"contact": {"phone_number": "1", "first_name": "Ali"}}, "contact", "Ali"),
        ({"dice": {"emoji": "🎲", "value": 3}}, "dice", "🎲"),
        ({"poll": {"id": "1", "question": "Tea?", "options": [], "total_voter_count": 0,
                   "is_closed": False, "is_anonymous": True, "type": "regular",
                   "allows_multiple_answers": False,
                   "allows_revoting": True, "members_only": False}}, "poll", "Tea?"),
        ({"story": {"chat": PRIVATE, "id": 1}}, "story", ""),
        ({"new_chat_title": "x"}, "service", ""),
        ({"group_chat_created": True}, "service", ""),
        ({"a_kind_of_next_year": {}}, "other", ""),
    ],
)  # fmt: skip
def test_each_kind_has_its_name(fields: dict[str, Any], kind: str, detail: str) -> None:
    incoming = read(**fields)
    assert (incoming.kind, incoming.detail) == (kind, detail)


def test_the_kinds_are_fields_of_the_library() -> None:
    assert {*MEDIA, *SERVICE} <= set(Message.__slots__)


def test_text_is_kept_but_for_what_no_store_takes() -> None:
    assert read(text=" a\0b\ud800c\u202e\r\n ").text == " a\ufffdb\ufffdc\u202e\r\n "


def test_a_message_from_nobody_in_particular() -> None:
    assert read(**{"from": None}, text="x").user_id == 0
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    incoming = read(**{"from": anonymous}, sender_chat=GROUP, chat=GROUP, text="x")
    assert (incoming.user_id, incoming.user_name, incoming.chat_type) == (0, "Group", "supergroup")


def press(**fields: Any) -> IncomingPress:
    query = {"id": "9", "from": USER, "chat_instance": "c", **fields}
    incoming = parse(update(callback_query=query), "my_bot")
    assert isinstance(incoming, IncomingPress)
    return incoming


def test_a_press_is_the_pressers() -> None:
    stranger = {"id": 8, "is_bot": False, "first_name": "Eve"}
    query = press(**{"from": stranger}, message=message(text="x", chat=GROUP), data="v1:start")
    assert query == IncomingPress(
        update_id=1, callback_id="9", chat_id=-100, chat_type="supergroup", message_id=5,
        user_id=8, user_name="Eve", username="", language_code="", data="v1:start",
    )  # fmt: skip


def test_a_press_on_an_inaccessible_message_keeps_its_place() -> None:
    query = press(message={"message_id": 5, "date": 0, "chat": PRIVATE}, data="v1:human")
    assert (query.chat_id, query.message_id, query.data) == (7, 5, "v1:human")


def test_a_press_without_message_or_data() -> None:
    query = press(inline_message_id="i", game_short_name="g")
    assert (query.chat_id, query.message_id, query.data, query.chat_type) == (0, 0, "", "")


def membership(status: str, chat: dict[str, Any]) -> dict[str, Any]:
    bot = {"id": 1, "is_bot": True, "first_name": "B"}
    new = {"status": status, "user": bot, "until_date": 0}
    old = {"status": "member", "user": bot}
    return {"chat": chat, "from": USER, "date": 1, "old_chat_member": old, "new_chat_member": new}


@pytest.mark.parametrize(("status", "blocked"), [("kicked", True), ("member", False)])
def test_a_block_in_the_private_chat(status: str, blocked: bool) -> None:
    incoming = parse(update(my_chat_member=membership(status, PRIVATE)), "my_bot")
    assert incoming == IncomingBlock(1, 7, 7, blocked)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({}, "unknown"),
        ({"an_update_of_next_year": {"x": 1}}, "unknown"),
        ({"channel_post": message(chat={"id": -1, "type": "channel", "title": "C"})},
         "channel_post"),
        ({"message": message(chat={"id": -1, "type": "channel", "title": "C"})}, "channel_post"),
        ({"business_message": message(text="x", business_connection_id="b")}, "business_message"),
        ({"poll": {"id": "1", "question": "q", "options": [], "total_voter_count": 0,
                   "is_closed": False, "is_anonymous": True, "type": "regular",
                   "allows_multiple_answers": False,
                   "allows_revoting": True, "members_only": False}}, "poll"),
    ],
)  # fmt: skip
def test_everything_else_is_named(fields: dict[str, Any], what: str) -> None:
    assert parse(update(**fields), "my_bot") == IncomingOther(1, what)


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=3),
    st.sampled_from(["bot_command", "mention", "new_type"]),
)
def test_no_text_and_entities_raise(text: str, places: list[tuple[int, int]], kind: str) -> None:
    entities = [{"type": kind, "offset": offset, "length": length} for offset, length in places]
    incoming = read(text=text, entities=entities)
    assert incoming.kind in ("text", "empty")
    assert "\0" not in incoming.text
    incoming.text.encode()
    incoming.argument.encode()


def test_dates_are_utc_seconds() -> None:
    assert read(text="x").date == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC).timestamp()


# --- the operators' group ---


def in_topic(**fields: Any) -> dict[str, Any]:
    created = message(
        message_id=50,
        chat=FORUM,
        text=None,
        forum_topic_created={"name": "S", "icon_color": 7322096},
    )
    created.pop("text", None)
    fields = {"reply_to_message": created, **fields}
    return message(chat=FORUM, message_thread_id=50, is_topic_message=True, **fields)


def test_a_message_of_a_topic_names_it_and_answers_nothing() -> None:
    said = parse(update(message=in_topic(text="hi")), "my_bot")
    assert isinstance(said, IncomingMessage)
    assert (said.thread_id, said.reply_to, said.is_forum) == (50, 0, True)


def test_a_reply_within_a_topic_answers_its_message() -> None:
    answered = message(message_id=51, chat=FORUM, text="x")
    said = parse(update(message=in_topic(text="hi", reply_to_message=answered)), "my_bot")
    assert isinstance(said, IncomingMessage)
    assert (said.thread_id, said.reply_to) == (50, 51)


def test_a_thread_of_replies_in_a_plain_supergroup_is_no_topic() -> None:
    said = parse(update(message=message(chat=GROUP, text="x", message_thread_id=9)), "my_bot")
    assert isinstance(said, IncomingMessage)
    assert said.thread_id == 0


def test_an_anonymous_admin_is_nobody_in_particular() -> None:
    said = parse(update(message=in_topic(text="x", sender_chat=FORUM)), "my_bot")
    assert isinstance(said, IncomingMessage)
    assert (said.user_id, said.as_chat_id) == (0, FORUM["id"])


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        (
            {"forum_topic_created": {"name": "S | 1", "icon_color": 1}},
            TopicEvent(TopicChange.CREATED, "S | 1"),
        ),
        ({"forum_topic_edited": {"name": "T"}}, TopicEvent(TopicChange.EDITED, "T")),
        ({"forum_topic_closed": {}}, TopicEvent(TopicChange.CLOSED)),
        ({"forum_topic_reopened": {}}, TopicEvent(TopicChange.REOPENED)),
    ],
)
def test_what_happens_to_a_topic_is_told(fields: dict[str, Any], event: TopicEvent) -> None:
    line = message(chat=FORUM, message_thread_id=50, is_topic_message=True, **fields)
    line.pop("text", None)
    said = parse(update(message=line), "my_bot")
    assert isinstance(said, IncomingMessage)
    assert (said.kind, said.topic_event, said.thread_id) == ("service", event, 50)


def test_formats_are_kept_and_what_telegram_finds_itself_is_not() -> None:
    marks = [
        {"type": "bold", "offset": 0, "length": 2},
        {"type": "url", "offset": 3, "length": 5},
        {"type": "text_link", "offset": 0, "length": 2, "url": "https://a.b/"},
    ]
    said = parse(update(message=message(text="hi a.bcd", entities=marks)), "my_bot")
    assert isinstance(said, IncomingMessage)
    assert said.entities == (
        Entity("bold", 0, 2),
        Entity("text_link", 0, 2, url="https://a.b/"),
    )


@pytest.mark.parametrize(
    ("new", "emoji", "odd"),
    [
        ([{"type": "emoji", "emoji": "👍"}], "👍", False),
        ([], "", False),
        ([{"type": "custom_emoji", "custom_emoji_id": "5"}], "", True),
    ],
)
def test_a_reaction_says_what_there_is_now(
    new: list[dict[str, str]], emoji: str, odd: bool
) -> None:
    changed = {
        "chat": FORUM,
        "message_id": 60,
        "user": {"id": 7, "is_bot": False, "first_name": "Sara"},
        "date": 1,
        "old_reaction": [],
        "new_reaction": new,
    }
    said = parse(update(message_reaction=changed), "my_bot")
    assert isinstance(said, IncomingReaction)
    assert (said.chat_id, said.message_id, said.user_id) == (FORUM["id"], 60, 7)
    assert (said.emoji, said.odd) == (emoji, odd)


def test_what_the_bot_may_do_in_a_group_is_told() -> None:
    said = parse(update(my_chat_member=membership("kicked", GROUP)), "my_bot")
    assert isinstance(said, IncomingStanding)
    assert (said.chat_id, said.status, said.by_user_id) == (GROUP["id"], "kicked", 7)
    assert said.rights == frozenset()
