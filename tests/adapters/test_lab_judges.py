"""The judges themselves: they speak up, and what the lab sends passes them."""

from typing import Any

import pytest

from bot.lab.botapi import ALL_RIGHTS, Telegram
from bot.lab.botapi.media import KINDS
from bot.lab.botapi.methods import METHODS
from tests.judges import (
    attach_judges,
    judge_request,
    judge_result,
    judge_update,
    refusal_due,
)

EVERY_KIND = (
    "message",
    "edited_message",
    "callback_query",
    "message_reaction",
    "my_chat_member",
    "chat_member",
)


@pytest.mark.parametrize(
    ("method", "params", "word"),
    [
        ("sendMesage", {"chat_id": 1, "text": "x"}, "no such method"),
        ("sendMessage", {"chat_id": 1, "text": "x", "colour": "red"}, "unknown parameter colour"),
        ("sendMessage", {"chat_id": 1}, "Field required"),
        ("deleteMessage", {"chat_id": 1, "message_id": "soon"}, "valid integer"),
    ],
)
def test_a_wrong_request_is_complained_about(
    method: str, params: dict[str, Any], word: str
) -> None:
    assert any(word in complaint for complaint in judge_request(method, params))


def test_a_right_request_passes_in_any_letter_case() -> None:
    assert judge_request("SENDMESSAGE", {"chat_id": "1", "text": "x"}) == []


def test_wrong_updates_are_complained_about() -> None:
    assert judge_update({"update_id": 1, "message": {"message_id": 1}})
    assert judge_update({"update_id": 1})
    chat = {"id": 1, "type": "private", "first_name": "A", "mood": "good"}
    message = {"message_id": 1, "date": 1, "chat": chat, "text": "x"}
    assert judge_update({"update_id": 1, "message": message}) == [
        "update.message.chat: unknown field mood"
    ]


def test_a_wrong_result_is_complained_about() -> None:
    assert judge_result("sendMessage", {"message_id": 1})
    assert judge_result("deleteMessage", {"ok": True})


@pytest.mark.parametrize(
    ("params", "due"),
    [
        ({"text": ""}, "message text is empty"),
        ({"text": "x" * 4097}, "message is too long"),
        ({"text": "<b>x", "parse_mode": "HTML"}, "can't parse entities"),
        ({"text": "x.", "parse_mode": "MarkdownV2"}, "can't parse entities"),
        ({"text": "x" + " " * 4100}, ""),
        ({"text": "a & b", "parse_mode": "HTML"}, ""),
        ({"text": "fine"}, ""),
    ],
)
def test_teremok_says_what_is_due_where_it_is_right(params: dict[str, Any], due: str) -> None:
    said = refusal_due("sendMessage", {"chat_id": 1, **params})
    assert due in said
    assert bool(due) == bool(said)


def test_every_method_of_the_lab_is_one_of_the_bot_api() -> None:
    assert [name for name in METHODS if judge_request(name, {})[:1] == [f"{name}: no such"]] == []
    assert all("no such method" not in c for name in METHODS for c in judge_request(name, {}))


def test_every_update_that_people_cause_passes() -> None:
    world = Telegram()
    judgement = attach_judges(world)
    world.updates.allow(EVERY_KIND)
    heard: list[dict[str, Any]] = []
    world.hooks.on_update.append(heard.append)
    world.add_user(42, "Sara", last_name="R", username="sara", language_code="fa")
    start = world.user_starts(42, "code")
    for kind in KINDS:
        world.user_sends_media(42, kind, caption="x" if kind == "photo" else "", reply_to=start.id)
    world.user_sends_album(42, ["photo", "video"], caption="both")
    world.user_forwards(42, "news", hidden_name="Nobody")
    world.user_forwards(42, "news")
    world.user_edits(42, start.id, "/start other")
    world.user_reacts(42, start.id, "👍")
    world.user_reacts(42, start.id)
    world.user_forges_press(42, start.id, "x")
    world.user_forges_press(42, 9999, "x")
    world.user_blocks(42)
    world.user_unblocks(42)
    basic = world.create_group("Few", 42, [43], kind="group")
    world.add_bot(basic.id, 42)
    world.upgrade_group(basic.id, 42)
    desk = world.create_group("Desk", 42, [43], forum=True)
    world.add_bot(desk.id, 42, rights=ALL_RIGHTS)
    topic = world.user_opens_topic(desk.id, 42, "Help")
    world.user_sends(desk.id, "in a topic", user_id=43, thread_id=topic.id)
    world.user_sends(desk.id, "from nobody", user_id=42, anonymous=True)
    world.user_closes_topic(desk.id, 42, topic.id)
    world.user_reopens_topic(desk.id, 42, topic.id)
    world.user_joins(desk.id, 44)
    world.set_user_rights(desk.id, 44, 42, ALL_RIGHTS)
    world.user_leaves(desk.id, 44)
    world.remove_bot(desk.id, 42)
    assert judgement.complaints == []
    kinds = {key for update in heard for key in update if key != "update_id"}
    assert kinds == set(EVERY_KIND)
