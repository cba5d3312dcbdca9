"""Topics through the real library, against the lab's Telegram."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from bot.errors import Refused, TopicClosed, TopicGone
from bot.lab.botapi import LAB_TOKEN, Telegram, serve_telegram
from bot.lab.botapi.groups import ALL_RIGHTS
from bot.telegram.forum import TelegramForum
from bot.telegram.port import Forum, Manner, Messenger, Part
from bot.telegram.sender import TelegramMessenger, build_bot
from tests.judges import attach_judges

OWNER = 1000


@dataclass
class Desk:
    world: Telegram
    forum: Forum
    messenger: Messenger
    chat_id: int


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    world = Telegram()
    judgement = attach_judges(world)
    world.add_user(OWNER)
    group = world.create_group("Desk", OWNER, forum=True)
    world.add_bot(group.id, OWNER, rights=ALL_RIGHTS)
    async with serve_telegram(world) as url:
        bot = build_bot(LAB_TOKEN, url)
        async with bot:
            yield Desk(world, TelegramForum(bot), TelegramMessenger(bot), group.id)
    assert judgement.complaints == []


async def test_a_topic_is_opened_and_written_in(desk: Desk) -> None:
    thread_id = await desk.forum.open_topic(desk.chat_id, "Sara | 42")
    sent = await desk.messenger.send(desk.chat_id, Part("x"), Manner(thread_id=thread_id))
    assert desk.world.message(desk.chat_id, sent).data["message_thread_id"] == thread_id


async def test_a_name_is_changed_once(desk: Desk) -> None:
    thread_id = await desk.forum.open_topic(desk.chat_id, "a")
    assert await desk.forum.rename_topic(desk.chat_id, thread_id, "b")
    assert not await desk.forum.rename_topic(desk.chat_id, thread_id, "b")


async def test_looking_for_a_topic_changes_nothing(desk: Desk) -> None:
    thread_id = await desk.forum.open_topic(desk.chat_id, "a")
    before = len(desk.world.messages(desk.chat_id))
    assert await desk.forum.has_topic(desk.chat_id, thread_id)
    assert not await desk.forum.has_topic(desk.chat_id, thread_id + 1)
    assert len(desk.world.messages(desk.chat_id)) == before


async def test_a_closed_topic_is_said_to_be_closed_and_reopened(desk: Desk) -> None:
    desk.world.admins_write_in_closed_topics = False
    thread_id = await desk.forum.open_topic(desk.chat_id, "a")
    desk.world.user_closes_topic(desk.chat_id, OWNER, thread_id)
    with pytest.raises(TopicClosed):
        await desk.messenger.send(desk.chat_id, Part("x"), Manner(thread_id=thread_id))
    await desk.forum.reopen_topic(desk.chat_id, thread_id)
    await desk.forum.reopen_topic(desk.chat_id, thread_id)
    assert await desk.messenger.send(desk.chat_id, Part("x"), Manner(thread_id=thread_id))


async def test_a_deleted_topic_is_gone_for_everything(desk: Desk) -> None:
    thread_id = await desk.forum.open_topic(desk.chat_id, "a")
    await desk.forum.delete_topic(desk.chat_id, thread_id)
    await desk.forum.delete_topic(desk.chat_id, thread_id)
    assert not await desk.forum.has_topic(desk.chat_id, thread_id)
    with pytest.raises(TopicGone):
        await desk.messenger.send(desk.chat_id, Part("x"), Manner(thread_id=thread_id))
    with pytest.raises(TopicGone):
        await desk.forum.rename_topic(desk.chat_id, thread_id, "b")


async def test_without_the_right_it_is_refused_in_plain_words(desk: Desk) -> None:
    desk.world.set_bot_rights(desk.chat_id, OWNER, ())
    with pytest.raises(Refused, match=r"(?i)not enough rights to create a topic"):
        await desk.forum.open_topic(desk.chat_id, "a")
