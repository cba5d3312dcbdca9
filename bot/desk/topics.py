"""Opens topics of the operators' group, and heals those that were closed or deleted.

Rule 1: that a topic is being opened is committed before Telegram is asked (compare-and-set on its
        generation), so of many who want it at once one asks.
Rule 2: an answer that never came is found out, not guessed: by the line that Telegram posts for a
        new topic, or by asking for the topics between the ids that are known. Only when it could
        not be opened late any more is it asked for again.
"""

from collections.abc import Callable

import structlog

from bot.core.states import State
from bot.desk.naming import topic_name
from bot.errors import Blocked, DabirError, FloodWait, Refused, RetryLater, Unknown
from bot.store import conversations, outbox, topics
from bot.store.port import Database, Sql
from bot.store.topics import Topic
from bot.telegram.port import Forum

log = structlog.get_logger(__name__)

LOOK_SECONDS = 2.0  # after a request without an answer, before the first look
LOOK_AHEAD = 12  # ids after the last one known that the new topic may have
CARD_SECONDS = 0.1  # a new topic gets its card at once


class Topics:
    def __init__(
        self,
        database: Database,
        forum: Forum,
        *,
        clock: Callable[[], float],
        late_seconds: float,
    ) -> None:
        self._database = database
        self._forum = forum
        self._clock = clock
        self._late_seconds = late_seconds

    async def open(
        self, conversation_id: str, chat_id: int, may_begin: Callable[[], bool]
    ) -> Topic:
        """The conversation's topic in this group, opened if need be.

        Raises RetryLater: not yet; Refused: the group is no forum, or the bot may not open topics.
        """
        topic = await self._database.transact(
            lambda sql: topics.want(sql, conversation_id, chat_id)
        )
        if topic.thread_id:
            return topic
        if topic.opening_since and not await self._is_lost(topic):
            return await self._current(conversation_id)
        await self._ask(topic, may_begin)
        return await self._current(conversation_id)

    async def lost(self, topic: Topic) -> None:
        """Its messages are refused because it is gone: it has to be opened again."""
        log.info("topic_lost", conversation_id=topic.conversation_id)
        await self._database.transact(
            lambda sql: topics.lost(sql, topic.conversation_id, topic.thread_id)
        )

    async def reopen(self, topic: Topic) -> None:
        log.info("topic_reopened", conversation_id=topic.conversation_id)
        await self._forum.reopen_topic(topic.chat_id, topic.thread_id)

    async def _current(self, conversation_id: str) -> Topic:
        topic = await self._database.read(lambda sql: topics.of(sql, conversation_id))
        if topic is None or not topic.thread_id:
            raise RetryLater("the topic is being opened", delay_seconds=LOOK_SECONDS)
        return topic

    async def _ask(self, topic: Topic, may_begin: Callable[[], bool]) -> None:
        """Ask Telegram to open it, unless somebody else does."""
        name, chat_id = topic.conversation_id, topic.chat_id
        title = await self._database.read(lambda sql: _title(sql, name))
        at = self._clock()
        generation = await self._database.transact(lambda sql: topics.begin(sql, topic, title, at))
        if not generation:
            return
        try:
            if not may_begin():
                raise RetryLater("this process was held up before the request")
            thread_id = await self._forum.open_topic(chat_id, title)
        except Unknown:
            log.warning("topic_opening_unknown", conversation_id=name)
            raise RetryLater("no answer from Telegram", delay_seconds=LOOK_SECONDS) from None
        except DabirError:
            await self._database.transact(lambda sql: topics.not_begun(sql, name, generation))
            raise
        log.info("topic_opened", conversation_id=name)
        if not await self._record(name, generation, thread_id):
            await self._drop_surplus(topic, thread_id)

    async def _record(self, name: str, generation: int, thread_id: int) -> bool:
        def record(sql: Sql) -> bool:
            outbox.know_id(sql, _chat_of(sql, name), thread_id)
            if topics.opened(sql, name, generation, thread_id, self._clock() + CARD_SECONDS):
                return True
            now = topics.of(sql, name)
            return now is not None and now.thread_id == thread_id

        return await self._database.transact(record)

    async def _drop_surplus(self, topic: Topic, thread_id: int) -> None:
        """We were held up and another was opened meanwhile: ours is empty."""
        log.warning("surplus_topic", conversation_id=topic.conversation_id)
        try:
            await self._forum.delete_topic(topic.chat_id, thread_id)
        except (Blocked, Refused, RetryLater, FloodWait, Unknown) as error:
            log.info("surplus_topic_stays", cause=type(error).__name__)

    async def _is_lost(self, topic: Topic) -> bool:
        """Look for a topic whose opening was never answered. True: it was not opened."""
        asked_at = self._clock()

        def ids(sql: Sql) -> list[int]:
            low = topic.opening_low
            high = max(outbox.last_known_id(sql, topic.chat_id), low + LOOK_AHEAD)
            known = outbox.known_ids(sql, topic.chat_id, low, high + 1)
            known |= topics.threads_above(sql, topic.chat_id, low)
            return [each for each in range(low + 1, high + 1) if each not in known]

        candidates = (await self._database.read(ids))[:60]
        found = [each for each in candidates if await self._forum.has_topic(topic.chat_id, each)]
        if len(found) == 1:
            await self._record(topic.conversation_id, topic.generation, found[0])
            log.info("topic_found", conversation_id=topic.conversation_id)
            return False
        return asked_at - topic.opening_since >= self._late_seconds


def created(sql: Sql, chat_id: int, thread_id: int, name: str, at: float) -> None:
    """Telegram says that a topic was opened: perhaps the one whose answer never came.

    Call it for the bot's own topics only; nobody else could know what name is awaited.
    """
    topic = topics.being_opened(sql, chat_id, name)
    if topic is not None:
        topics.opened(sql, topic.conversation_id, topic.generation, thread_id, at + CARD_SECONDS)


def _title(sql: Sql, conversation_id: str) -> str:
    known = conversations.peek(sql, conversation_id)
    if known is None:
        return topic_name("", conversation_id, State.CONSENT_REQUIRED)
    return topic_name(known[1].user_name, conversation_id, known[0].state)


def _chat_of(sql: Sql, conversation_id: str) -> int:
    topic = topics.of(sql, conversation_id)
    return topic.chat_id if topic else 0
