"""What goes to a conversation's topic: opened once, healed, nothing lost or put elsewhere."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.app import Parts, Running
from bot.lab.botapi import Fault, Harm, Seen
from bot.lab.botapi.groups import ALL_RIGHTS
from bot.store import conversations, outbox, topics
from bot.store.conversations import Contact
from bot.store.copies import MessageRef
from bot.store.outbox import Author, Outgoing
from bot.store.port import Sql
from bot.telegram import payload
from bot.telegram.payload import Album, CopyOf, EditOf, Payload, React, SendPart
from bot.telegram.port import Part
from tests.stage import OWNER, USER, Stage

OFTEN = Parts(idle_seconds=0.05, hurries=True)
NAME = f"tg:{USER}"


@dataclass
class Desk:
    stage: Stage
    running: Running
    chat_id: int
    queued: int = 0

    async def know(self, user_id: int, name: str) -> None:
        contact = Contact(f"tg:{user_id}", user_id, name, "en")
        await self.running.database.transact(lambda sql: conversations.ensure(sql, contact))

    async def queue(self, *payloads: Payload, user_id: int = USER) -> None:
        """Queue rows for the user's topic, in order."""

        def put(sql: Sql) -> None:
            for each in payloads:
                self.queued += 1
                outgoing = Outgoing(
                    f"relay:tg:{user_id}:{self.queued}",
                    f"tg:{user_id}",
                    self.chat_id,
                    Author.RELAY,
                    payload.write(each),
                    topic=f"tg:{user_id}",
                )
                outbox.put(sql, outgoing, 0.0)

        await self.running.database.transact(put)

    async def say(self, *texts: str, user_id: int = USER) -> None:
        await self.queue(*(SendPart(Part(each)) for each in texts), user_id=user_id)

    async def sent(self) -> None:
        """Wait until nothing is left to send."""
        open_rows = "status IN ('pending', 'sending', 'unknown')"
        await self.stage.until_rows(
            f"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM outbox WHERE {open_rows})", timeout=20
        )

    def names(self) -> list[str]:
        group = self.stage.telegram.chats[self.chat_id]
        return [topic.name for topic in group.topics.values() if not topic.deleted]

    async def thread(self, user_id: int = USER) -> int:
        topic = await self.running.database.read(lambda sql: topics.of(sql, f"tg:{user_id}"))
        assert topic is not None
        return topic.thread_id

    async def shown(self, user_id: int = USER) -> list[Seen]:
        thread = await self.thread(user_id)
        seen = self.stage.telegram.messages(self.chat_id, thread_id=thread)
        return [each for each in seen if not each.service and each.author == "bot"]

    async def texts(self, user_id: int = USER) -> list[str]:
        """What was relayed into the topic; the card is no relay."""
        return [each.text for each in await self.shown(user_id) if not each.keyboard]


@asynccontextmanager
async def desk(
    stage: Stage,
    *,
    rights: Sequence[str] = tuple(ALL_RIGHTS),
    forum: bool = True,
    share: bool = False,
) -> AsyncIterator[Desk]:
    stage.telegram.add_user(OWNER)
    group = stage.telegram.create_group("Desk", OWNER, forum=forum)
    async with stage.bot(parts=OFTEN, share=share) as running:
        stage.telegram.add_bot(group.id, OWNER, rights=rights)
        yield Desk(stage, running, group.id)


async def test_the_first_message_opens_the_topic_and_the_next_use_it(on_stage: Stage) -> None:
    async with desk(on_stage) as at:
        await at.know(USER, "Sara")
        await at.say("one", "two", "three")
        await at.sent()
        assert await at.texts() == ["one", "two", "three"]
        assert at.names() == ["⚪ Sara | 42"]


async def test_a_topic_that_was_deleted_is_opened_again_and_nothing_is_lost(
    on_stage: Stage,
) -> None:
    async with desk(on_stage) as at:
        await at.know(USER, "Sara")
        await at.say("one")
        await at.sent()
        on_stage.telegram.user_deletes_topic(at.chat_id, await at.thread())
        await at.say("two", "three")
        await at.sent()
        assert await at.texts() == ["two", "three"]
        assert len(at.names()) == 1


async def test_a_topic_that_was_closed_is_reopened(on_stage: Stage) -> None:
    on_stage.telegram.admins_write_in_closed_topics = False
    async with desk(on_stage) as at:
        await at.say("one")
        await at.sent()
        on_stage.telegram.user_closes_topic(at.chat_id, OWNER, await at.thread())
        await at.say("two", "three")
        await at.sent()
        assert await at.texts() == ["one", "two", "three"]


async def test_without_the_right_to_open_topics_it_goes_to_general_with_a_name(
    on_stage: Stage,
) -> None:
    async with desk(on_stage, rights=()) as at:
        await at.know(USER, "Sara")
        await at.say("one", "two")
        await at.sent()
        assert on_stage.telegram.bot_texts(at.chat_id) == ["Sara | 42\none", "Sara | 42\ntwo"]


async def test_an_opening_whose_answer_is_lost_leads_to_one_topic(on_stage: Stage) -> None:
    on_stage.telegram.faults.add(Fault(Harm.CUT_AFTER, method="createForumTopic"))
    async with desk(on_stage) as at:
        await at.say("one", "two")
        await at.sent()
        assert await at.texts() == ["one", "two"]
        assert len(at.names()) == 1


async def test_an_opening_that_never_arrived_is_made_again(on_stage: Stage) -> None:
    on_stage.telegram.faults.add(Fault(Harm.CUT_BEFORE, method="createForumTopic"))
    async with desk(on_stage) as at:
        await at.say("one")
        await at.sent()
        assert await at.texts() == ["one"]
        assert len(at.names()) == 1


async def test_two_workers_open_one_topic(on_stage: Stage) -> None:
    async with desk(on_stage, share=True) as at, on_stage.bot(share=True, parts=OFTEN):
        for user_id in range(100, 110):
            await at.say("one", "two", user_id=user_id)
        await at.sent()
        for user_id in range(100, 110):
            assert await at.texts(user_id) == ["one", "two"]
        assert len(at.names()) == 10


async def test_an_album_stays_one_and_replies_edits_and_reactions_find_it(
    on_stage: Stage,
) -> None:
    async with desk(on_stage) as at:
        on_stage.telegram.add_user(USER, started=True)
        album = on_stage.telegram.user_sends_album(USER, ("photo", "video"), caption="look")
        said = on_stage.telegram.user_sends(USER, "hello")[0]
        voice = on_stage.telegram.user_sends_media(USER, "voice")
        here = MessageRef(USER, said.id)
        await at.queue(
            Album(USER, tuple(each.id for each in album)),
            SendPart(Part("hello"), answers=MessageRef(USER, album[1].id), stands_for=here),
            CopyOf(USER, voice.id, answers=here),
            EditOf(here, Part("hello!")),
            React(MessageRef(USER, voice.id), "👍"),
            EditOf(MessageRef(USER, album[0].id), Part("look!"), caption=True),
        )
        await at.sent()
        photo, video, text, sound = [each for each in await at.shown() if not each.keyboard]
        assert photo.media_group_id == video.media_group_id != ""
        assert (photo.text, text.text) == ("look!", "hello!")
        assert (text.reply_to, sound.reply_to) == (video.message_id, text.message_id)
        assert [each["emoji"] for each in sound.reactions] == ["👍"]


async def test_a_copy_whose_answer_is_lost_is_found_and_not_made_again(on_stage: Stage) -> None:
    async with desk(on_stage) as at:
        on_stage.telegram.add_user(USER, started=True)
        sticker = on_stage.telegram.user_sends_media(USER, "sticker")
        await at.say("one")
        await at.sent()
        on_stage.telegram.faults.add(Fault(Harm.CUT_AFTER, method="copyMessage"))
        await at.queue(CopyOf(USER, sticker.id))
        await at.say("two")
        await at.sent()
        assert [each.kind for each in await at.shown() if not each.keyboard] == [
            "text",
            "sticker",
            "text",
        ]


async def test_fifty_conversations_at_once_stay_apart(on_stage: Stage) -> None:
    users = range(5000, 5050)
    async with desk(on_stage) as at:
        for user_id in users:
            await at.say(f"first of {user_id}", user_id=user_id)
        await at.sent()
        for user_id in users:
            assert await at.texts(user_id) == [f"first of {user_id}"]
        assert len(at.names()) == 50


async def test_flood_waits_lose_and_reorder_nothing(on_stage: Stage) -> None:
    async with desk(on_stage) as at:
        await at.say("start")
        await at.sent()
        for method in ("sendMessage", "createForumTopic"):
            wait = Fault(Harm.REFUSE, method=method, chat_id=at.chat_id, retry_after=1, times=2)
            on_stage.telegram.faults.add(wait)
        words = [f"line {number}" for number in range(8)]
        for word in words:
            await at.say(word)
            await at.say(word, user_id=77)
        await at.sent()
        assert await at.texts() == ["start", *words]
        assert await at.texts(77) == words


async def test_a_bot_that_stops_in_the_middle_goes_on_after_the_next_start(
    on_stage: Stage,
) -> None:
    words = [f"line {number}" for number in range(6)]
    async with desk(on_stage) as at:
        await at.say(*words)
    async with on_stage.bot(parts=OFTEN) as running:
        at.running = running
        await at.sent()
        assert await at.texts() == words
        assert len(at.names()) == 1


# --- the card ---


async def card(at: Desk, *words: str) -> Seen:
    """Wait until the topic's one card says this."""

    def found(seen: list[Seen]) -> Seen | None:
        cards = [each for each in seen if each.keyboard]
        whole = len(cards) == 1 and all(word in cards[0].text for word in words)
        return cards[0] if whole else None

    thread = await at.thread()
    return await at.stage.until(
        lambda: found(at.stage.telegram.messages(at.chat_id, thread_id=thread))
    )


async def test_a_topic_has_one_pinned_card_that_says_how_it_stands(on_stage: Stage) -> None:
    async with desk(on_stage) as at:
        await at.know(USER, "Sara")
        await at.say("one", "two")
        await at.sent()
        shown = await card(at, "Sara", "nobody answers yet", "epoch 0")
        group = on_stage.telegram.chats[at.chat_id]
        await on_stage.until(lambda: group.pinned == [shown.message_id] or None)
        assert [[key["text"] for key in row] for row in shown.keyboard] == [
            ["Take", "Release", "Pass"],
            ["Draft", "Summary"],
            ["End", "Mute"],
        ]
        assert shown.keyboard[0][0]["callback_data"] == "v1:desk:take:tg:42"
        on_stage.telegram.user_sends(USER, "/human")
        await card(at, "waits for a person", "Waits since")
        await on_stage.until(lambda: at.names() == ["🔴 User 42 | 42"] or None)
        on_stage.telegram.user_sends(OWNER, "/claim")
        changed = await card(at, f"With User {OWNER} since")
        assert changed.message_id == shown.message_id
        assert changed.keyboard[0][0]["text"] == "Take over"


async def test_a_card_that_was_deleted_is_sent_again(on_stage: Stage) -> None:
    async with desk(on_stage) as at:
        await at.know(USER, "Sara")
        await at.say("one")
        await at.sent()
        shown = await card(at, "Sara")
        on_stage.telegram.user_deletes(at.chat_id, shown.message_id)
        on_stage.telegram.user_sends(USER, "/human")
        await card(at, "waits for a person")


async def test_a_topic_that_is_opened_again_has_its_card(on_stage: Stage) -> None:
    async with desk(on_stage) as at:
        await at.know(USER, "Sara")
        await at.say("one")
        await at.sent()
        await card(at, "Sara")
        on_stage.telegram.user_deletes_topic(at.chat_id, await at.thread())
        await at.say("two")
        await at.sent()
        await card(at, "Sara")
        assert await at.texts() == ["two"]
