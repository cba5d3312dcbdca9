"""What bot.store.topics and the outbox's topic column promise, on every database."""

import asyncio

import pytest

from bot.store import copies, outbox, topics
from bot.store.copies import MessageRef
from bot.store.migrations import BOT_SCHEMA, migrate
from bot.store.outbox import Author, Outgoing, Status
from bot.store.port import Database, Sql
from bot.store.topics import Topic
from bot.telegram import payload
from bot.telegram.payload import Album, CopyOf, SendPart
from bot.telegram.port import Part
from tests.contracts.conftest import Connect

GROUP = -1_001_234_567_890
NAME = "tg:42"


@pytest.fixture
async def ready(database: Database) -> Database:
    await migrate(database, [BOT_SCHEMA], now=1)
    return database


async def want(database: Database, chat_id: int = GROUP) -> Topic:
    return await database.transact(lambda sql: topics.want(sql, NAME, chat_id))


async def opened(database: Database, thread_id: int = 7) -> Topic:
    topic = await want(database)

    def open_it(sql: Sql) -> None:
        generation = topics.begin(sql, topic, "Sara | 42", 5.0)
        assert topics.opened(sql, NAME, generation, thread_id, 6.0)

    await database.transact(open_it)
    return await want(database)


async def test_of_many_who_open_it_at_once_one_may(ready: Database, connect: Connect) -> None:
    stores = [await connect() for _ in range(8)]
    seen = await asyncio.gather(*(want(each) for each in stores))
    begun = await asyncio.gather(
        *(
            each.transact(lambda sql, topic=topic: topics.begin(sql, topic, "n", 5.0))  # type: ignore[misc]
            for each, topic in zip(stores, seen, strict=True)
        )
    )
    assert sorted(begun) == [0] * 7 + [1]


async def test_an_opening_that_was_overtaken_records_nothing(ready: Database) -> None:
    topic = await want(ready)
    first = await ready.transact(lambda sql: topics.begin(sql, topic, "n", 5.0))
    again = await want(ready)
    assert (again.opening_since, again.name) == (5.0, "n")
    second = await ready.transact(lambda sql: topics.begin(sql, again, "n", 9.0))
    assert (first, second) == (1, 2)
    assert not await ready.transact(lambda sql: topics.opened(sql, NAME, first, 7, 0.0))
    assert await ready.transact(lambda sql: topics.opened(sql, NAME, second, 8, 0.0))
    assert (await want(ready)).thread_id == 8


async def test_an_opening_is_found_by_its_name(ready: Database) -> None:
    topic = await want(ready)
    await ready.transact(lambda sql: topics.begin(sql, topic, "n", 5.0))
    found = await ready.read(lambda sql: topics.being_opened(sql, GROUP, "n"))
    assert found is not None
    assert found.conversation_id == NAME
    await ready.transact(lambda sql: topics.not_begun(sql, NAME, 1))
    assert await ready.read(lambda sql: topics.being_opened(sql, GROUP, "n")) is None


async def test_a_lost_topic_is_noticed_once(ready: Database) -> None:
    topic = await opened(ready)
    assert await ready.read(lambda sql: topics.at(sql, GROUP, 7)) == topic
    assert await ready.transact(lambda sql: topics.lost(sql, NAME, 7))
    assert not await ready.transact(lambda sql: topics.lost(sql, NAME, 7))
    assert (await want(ready)).thread_id == 0
    assert await ready.read(lambda sql: topics.at(sql, GROUP, 7)) is None


async def test_another_group_is_another_topic(ready: Database) -> None:
    await opened(ready)
    moved = await want(ready, GROUP - 1)
    assert (moved.chat_id, moved.thread_id, moved.card_id) == (GROUP - 1, 0, 0)


async def test_a_card_that_changes_while_it_is_shown_is_due_again(ready: Database) -> None:
    topic = await opened(ready)
    assert await ready.read(topics.next_due) == 6.0
    assert [each.conversation_id for each in await ready.read(lambda s: topics.due(s, 6.0))] == [
        NAME
    ]
    assert await ready.transact(lambda sql: topics.take_up(sql, topic))
    assert not await ready.transact(lambda sql: topics.take_up(sql, topic))
    await ready.transact(lambda sql: topics.touch(sql, NAME, 9.0))
    await ready.transact(lambda sql: topics.touch(sql, NAME, 12.0))
    assert await ready.read(topics.next_due) == 9.0


async def test_a_card_belongs_to_the_generation_it_was_sent_for(ready: Database) -> None:
    topic = await opened(ready)
    shown = {"card_id": 0, "card_epoch": 1}
    assert await ready.transact(lambda sql: topics.card_shown(sql, topic, "d", **shown))
    await ready.transact(lambda sql: topics.card_sent(sql, NAME, 1, 99))
    await ready.transact(lambda sql: topics.card_sent(sql, NAME, 2, 100))  # not sent yet
    assert (await want(ready)).card_id == 99
    await ready.transact(lambda sql: topics.lost(sql, NAME, 7))
    assert not await ready.transact(lambda sql: topics.card_shown(sql, topic, "e", **shown))


async def test_a_muted_topic_stays_muted_when_it_is_opened_again(ready: Database) -> None:
    await opened(ready)
    await ready.transact(lambda sql: topics.mute(sql, NAME, silent=True))
    await ready.transact(lambda sql: topics.lost(sql, NAME, 7))
    assert (await want(ready)).silent is True


def outgoing(id: str, what: payload.Payload, topic: str = NAME) -> Outgoing:
    return Outgoing(id, NAME, GROUP, Author.RELAY, payload.write(what), topic=topic)


async def test_a_row_keeps_its_topic_until_it_is_sent_elsewhere(ready: Database) -> None:
    first = outgoing("a", SendPart(Part("x")))
    await ready.transact(lambda sql: outbox.put(sql, first, 1.0))
    claimed = await ready.transact(lambda sql: outbox.claim_head(sql, GROUP, 2.0, 60.0))
    assert claimed is not None
    assert claimed.outgoing == first
    await ready.transact(lambda sql: outbox.settle(sql, claimed, Status.PENDING, 3.0, topic=""))
    again = await ready.transact(lambda sql: outbox.claim_head(sql, GROUP, 4.0, 60.0))
    assert again is not None
    assert again.outgoing.topic == ""


async def test_what_waits_for_its_album_holds_the_next_back(ready: Database) -> None:
    def put(sql: Sql) -> None:
        outbox.put(sql, outgoing("a", Album(42, (1,))), 1.0, wait_seconds=2.0)
        outbox.put(sql, outgoing("b", SendPart(Part("x"))), 1.0)

    await ready.transact(put)
    assert await ready.transact(lambda sql: outbox.claim_head(sql, GROUP, 2.0, 60.0)) is None
    grown = payload.write(Album(42, (1, 2)))
    assert await ready.transact(lambda sql: outbox.rewrite(sql, "a", grown, 4.0))
    claimed = await ready.transact(lambda sql: outbox.claim_head(sql, GROUP, 4.0, 60.0))
    assert claimed is not None
    assert payload.read(claimed.outgoing.payload) == Album(42, (1, 2))
    assert not await ready.transact(lambda sql: outbox.rewrite(sql, "a", grown, 9.0))


async def test_where_a_message_is_going_is_known_before_it_is_there(ready: Database) -> None:
    def put(sql: Sql) -> None:
        outbox.put(sql, outgoing("a", SendPart(Part("x"), stands_for=MessageRef(42, 17))), 1.0)
        outbox.put(sql, outgoing("b", CopyOf(42, 18)), 1.0)
        outbox.put(sql, outgoing("c", Album(42, (19, 20))), 1.0)

    await ready.transact(put)
    for message_id, there in ((17, True), (18, True), (19, True), (20, True), (21, False)):
        going = await ready.read(
            lambda sql, it=message_id: outbox.going_to(sql, NAME, 42, it)  # type: ignore[misc]
        )
        assert going == (frozenset({GROUP}) if there else frozenset())


async def test_ids_of_a_supergroup_and_of_private_chats_do_not_mix(ready: Database) -> None:
    def note(sql: Sql) -> None:
        copies.note(sql, MessageRef(GROUP, 10), MessageRef(42, 11), NAME)
        copies.note(sql, MessageRef(42, 12), MessageRef(GROUP, 13), NAME)

    await ready.transact(note)
    assert await ready.read(lambda sql: outbox.known_ids(sql, GROUP, 5, 20)) == {10}
    assert await ready.read(lambda sql: outbox.known_ids(sql, 77, 5, 20)) == {12}
    found = await ready.read(lambda sql: copies.conversation_of(sql, MessageRef(42, 11)))
    assert found == NAME
