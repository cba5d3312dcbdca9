"""Keeps the pinned card and the name of each topic true to its conversation.

A card is sent and pinned through the outbox, so that there is one. It is changed by edits, which
may be repeated: those wait while messages have to leave for the same group, but not for ever.
"""

import hashlib
from collections.abc import Callable
from zoneinfo import ZoneInfo

import structlog

from bot.desk.naming import topic_name
from bot.errors import DabirError, FloodWait, RetryLater, TopicGone, Unknown
from bot.store import conversations, outbox, topics
from bot.store.outbox import Author, Outgoing, Status
from bot.store.port import Database, Sql
from bot.store.topics import Topic
from bot.telegram import payload
from bot.telegram.cardface import Face, face
from bot.telegram.pacing import Pace
from bot.telegram.parts import part_to_json
from bot.telegram.payload import SendPart
from bot.telegram.port import EditOutcome, Forum, Messenger, Part

log = structlog.get_logger(__name__)

WAIT_SECONDS = 2.0  # while messages have to leave first
PATIENCE_SECONDS = 60.0  # so long a card gives way


class Cards:
    def __init__(
        self,
        *,
        database: Database,
        messenger: Messenger,
        forum: Forum,
        pace: Pace,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        zone: ZoneInfo,
        language: str,
    ) -> None:
        self._database = database
        self._messenger = messenger
        self._forum = forum
        self._pace = pace
        self._clock = clock
        self._monotonic = monotonic
        self._zone = zone
        self._language = language

    async def look(self) -> tuple[float | None, frozenset[int]]:
        """Bring up to date what is due; when to look again, and the groups with a card to send."""
        now = self._clock()
        due = await self._database.read(lambda sql: list(topics.due(sql, now)))
        sends: set[int] = set()
        waits = False
        for topic in due:
            if await self._gives_way(topic, now):
                waits = True
            elif await self._bring_up_to_date(topic):
                sends.add(topic.chat_id)
        next_due = await self._database.read(topics.next_due)
        if waits:
            next_due = max(now + WAIT_SECONDS, next_due or 0.0)
        return next_due, frozenset(sends)

    async def _gives_way(self, topic: Topic, now: float) -> bool:
        """Relays go first: of what a group may send in a minute, a card takes what is left."""
        if not topic.card_shown:  # a new one takes its place in the outbox
            return False
        if self._pace.wait(topic.chat_id, self._monotonic(), is_group=True) > 0:
            return True
        if now - topic.card_due > PATIENCE_SECONDS:
            return False
        return await self._database.read(lambda sql: outbox.waiting_in(sql, topic.chat_id))

    async def _bring_up_to_date(self, topic: Topic) -> bool:
        """True: a card is in the outbox."""

        def take_up(sql: Sql) -> tuple[Part, str, Topic] | None:
            if not topics.take_up(sql, topic):
                return None
            known = conversations.peek(sql, topic.conversation_id)
            fresh = topics.of(sql, topic.conversation_id)
            if known is None or fresh is None or not fresh.thread_id:
                return None
            conversation, contact = known
            failed_at = outbox.last_failure(sql, topic.conversation_id)
            shown = Face(conversation, contact.user_name, failed_at, fresh.silent)
            name = topic_name(contact.user_name, conversation.id, conversation.state)
            return face(shown, self._language, self._zone), name, fresh

        taken = await self._database.transact(take_up)
        if taken is None:
            return False
        part, name, fresh = taken
        try:
            if name != fresh.name:
                await self._rename(fresh, name)
            return await self._show(fresh, part)
        except TopicGone:
            await self._database.transact(
                lambda sql: topics.lost(sql, fresh.conversation_id, fresh.thread_id)
            )
        except FloodWait as error:
            self._pace.flood(fresh.chat_id, self._monotonic(), error.delay_seconds)
            await self._again(fresh, error.delay_seconds)
        except (RetryLater, Unknown):
            await self._again(fresh, WAIT_SECONDS)
        except DabirError as error:
            log.warning("card_not_shown", conversation_id=topic.conversation_id, cause=str(error))
        return False

    async def _again(self, topic: Topic, seconds: float) -> None:
        due_at = self._clock() + seconds
        await self._database.transact(lambda sql: topics.touch(sql, topic.conversation_id, due_at))

    async def _rename(self, topic: Topic, name: str) -> None:
        await self._forum.rename_topic(topic.chat_id, topic.thread_id, name)
        self._pace.sent(topic.chat_id, self._monotonic())  # it leaves a line in the topic
        await self._database.transact(lambda sql: topics.named(sql, topic.conversation_id, name))

    async def _show(self, topic: Topic, part: Part) -> bool:
        digest = hashlib.sha256(part_to_json(part).encode()).hexdigest()[:16]
        if digest == topic.card_shown:
            return False
        if not topic.card_id:
            return await self._send(topic, part, digest)
        self._pace.sent(topic.chat_id, self._monotonic())
        outcome = await self._messenger.edit(topic.chat_id, topic.card_id, part)
        if outcome in (EditOutcome.NOT_FOUND, EditOutcome.NOT_OURS):  # somebody deleted it
            return await self._send(topic, part, digest)
        card = {"card_id": topic.card_id, "card_epoch": topic.card_epoch}
        await self._database.transact(lambda sql: topics.card_shown(sql, topic, digest, **card))
        return False

    async def _send(self, topic: Topic, part: Part, digest: str) -> bool:
        """Queue a card, unless one is on its way: then that one has to arrive first."""
        number = topic.card_epoch + 1
        at = self._clock()

        def send(sql: Sql) -> bool:
            on_its_way = outbox.peek(sql, _id_of(topic, topic.card_epoch))
            if not topic.card_id and on_its_way is not None and on_its_way[0] in OPEN:
                topics.touch(sql, topic.conversation_id, at + WAIT_SECONDS)
                return False
            if not topics.card_shown(sql, topic, digest, card_id=0, card_epoch=number):
                return False
            outgoing = Outgoing(
                _id_of(topic, number),
                topic.conversation_id,
                topic.chat_id,
                Author.SYSTEM,
                payload.write(SendPart(part, silent=True, card=number)),
                topic=topic.conversation_id,
            )
            outbox.put(sql, outgoing, at)
            return True

        return await self._database.transact(send)


OPEN = frozenset({Status.PENDING, Status.SENDING, Status.UNKNOWN})


def _id_of(topic: Topic, number: int) -> str:
    return f"card:{topic.conversation_id}:{number}"
