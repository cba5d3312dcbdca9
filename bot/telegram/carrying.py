"""Makes the request for one row of the outbox: into its topic, as an answer to what it answers.

Where a message stands for another, the two are looked up now: everything before it in this chat
has been sent.
"""

from collections.abc import Callable

from bot.desk.naming import short_id
from bot.desk.topics import Topics
from bot.errors import Blocked, Migrated, Refused, RetryLater, TopicClosed, TopicGone
from bot.store import conversations, copies, outbox
from bot.store.copies import MessageRef
from bot.store.outbox import Claimed
from bot.store.port import Database, Sql
from bot.store.topics import Topic
from bot.telegram import payload, untrusted
from bot.telegram.payload import Again, Album, CopyOf, Document, EditOf, Pin, React, SendPart
from bot.telegram.port import EditOutcome, Manner, Messenger, Relay

MOST_OPENINGS = 6  # of topics for one message; then it goes to the General topic


class NoTopic(Refused):
    """The group has no topic for it. `label` says whose conversation it belongs to."""

    def __init__(self, label: str) -> None:
        super().__init__("the group has no topic for it")
        self.label = label


class TopicChanged(RetryLater):
    """The topic was healed: the same message again, at once."""


class Carrier:
    def __init__(
        self,
        *,
        database: Database,
        messenger: Messenger,
        relay: Relay,
        topics: Topics,
        may_begin: Callable[[Claimed], bool],
    ) -> None:
        self._database = database
        self._messenger = messenger
        self._relay = relay
        self._topics = topics
        self._may_begin = may_begin

    async def carry(self, claimed: Claimed) -> tuple[int, ...]:
        """Send what the row holds; ids of the new messages (none if one was changed).

        Raises what the messenger raises, and NoTopic, TopicChanged.
        """
        what = payload.read(claimed.outgoing.payload)
        topic = await self._topic(claimed) if claimed.outgoing.topic else None
        if not self._may_begin(claimed):
            raise RetryLater("this process was held up before the request")
        try:
            return await self._request(claimed, what, topic)
        except TopicGone:
            if topic is None:
                raise
            await self._topics.lost(topic)
        except TopicClosed:
            if topic is None:
                raise
            await self._reopen(claimed, topic)
        raise TopicChanged("the topic was healed")

    async def _topic(self, claimed: Claimed) -> Topic:
        out = claimed.outgoing
        if claimed.attempts > MOST_OPENINGS:
            raise await self._no_topic(claimed)
        try:
            return await self._topics.open(out.topic, out.chat_id, lambda: self._may_begin(claimed))
        except (Blocked, Migrated):
            raise
        except Refused:
            raise await self._no_topic(claimed) from None

    async def _reopen(self, claimed: Claimed, topic: Topic) -> None:
        try:
            await self._topics.reopen(topic)
        except TopicGone:
            await self._topics.lost(topic)
        except (Blocked, Migrated):
            raise
        except Refused:
            raise await self._no_topic(claimed) from None

    async def _no_topic(self, claimed: Claimed) -> NoTopic:
        name = claimed.outgoing.topic
        known = await self._database.read(lambda sql: conversations.peek(sql, name))
        user = untrusted.name(known[1].user_name, "en") if known else "–"
        return NoTopic(f"{user} | {short_id(name)}")

    async def _request(
        self, claimed: Claimed, what: payload.Payload, topic: Topic | None
    ) -> tuple[int, ...]:
        chat_id = claimed.outgoing.chat_id
        match what:
            case SendPart(part, answers, silent):
                manner = await self._manner(chat_id, topic, answers, silent=silent)
                return (await self._messenger.send(chat_id, part, manner),)
            case CopyOf(from_chat_id, message_id, answers, silent):
                manner = await self._manner(chat_id, topic, answers, silent=silent)
                return (await self._messenger.copy(chat_id, from_chat_id, message_id, manner),)
            case Album(from_chat_id, message_ids, silent):
                manner = await self._manner(chat_id, topic, None, silent=silent)
                return await self._relay.copy_album(chat_id, from_chat_id, message_ids, manner)
            case Document(name, content):
                data = content.encode("utf-8", "backslashreplace")
                return (await self._messenger.send_document(chat_id, name, data),)
            case EditOf():
                await self._edit(chat_id, what)
            case React(to, emoji):
                await self._relay.react(chat_id, await self._standing_for(to, chat_id), emoji)
            case Again():
                await self._again(claimed, what, topic)
            case Pin(message_id):
                await self._relay.pin(chat_id, message_id)
        return ()

    async def _manner(
        self, chat_id: int, topic: Topic | None, answers: MessageRef | None, *, silent: bool
    ) -> Manner:
        def counterpart(sql: Sql) -> int:
            return copies.counterpart(sql, answers, chat_id) if answers else 0

        reply_to = await self._database.read(counterpart) if answers else 0
        muted = topic is not None and topic.silent
        return Manner(topic.thread_id if topic else 0, reply_to, silent or muted)

    async def _edit(self, chat_id: int, what: EditOf) -> None:
        message_id = await self._standing_for(what.of, chat_id)
        edit = self._relay.edit_caption if what.caption else self._messenger.edit
        outcome = await edit(chat_id, message_id, what.part)
        if outcome in (EditOutcome.NOT_FOUND, EditOutcome.NOT_OURS):
            raise Refused("the message to change is not there any more")

    async def _again(self, claimed: Claimed, what: Again, topic: Topic | None) -> None:
        chat_id = claimed.outgoing.chat_id
        written = await self._database.read(
            lambda sql: outbox.newest_sent(sql, chat_id, what.beginning)
        )
        if not written:
            return
        try:
            await self._request(claimed, payload.read(written), topic)
        except (Blocked, Migrated):
            raise
        except Refused:  # it was removed meanwhile, which nobody has to be told
            return

    async def _standing_for(self, original: MessageRef, chat_id: int) -> int:
        message_id = await self._database.read(
            lambda sql: copies.counterpart(sql, original, chat_id)
        )
        if not message_id:
            raise Refused("the message it is about was not passed on")
        return message_id
