"""Brings what is queued to Telegram: in order within a chat, each message once.

Rule 1: a row is marked as on the wire, and that is committed, before the request is made.
Rule 2: only when it is certain that nothing was sent is a send repeated.
Rule 3: when it is not known whether a message arrived, nothing else is sent to that chat until it
        is known (bot/telegram/doubts.py) or given up.
Rule 4: a chat that must wait, for whatever reason, holds up no other chat.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

import structlog

from bot.coordinator import Coordinator
from bot.core.events import DeliveryTimedOut
from bot.desk.staffing import Desk
from bot.desk.topics import Topics
from bot.errors import (
    Blocked,
    FloodWait,
    Migrated,
    Refused,
    RetryLater,
    StoreUnavailable,
    Unknown,
)
from bot.scribe import Aftermath, Scribe
from bot.store import outbox
from bot.store.outbox import Claimed, Status
from bot.store.port import Database, Sql
from bot.telegram import payload
from bot.telegram.answers import EntitiesRefused
from bot.telegram.carrying import Carrier, NoTopic, TopicChanged
from bot.telegram.doubts import Doubts
from bot.telegram.fleeting import Fleeting
from bot.telegram.pacing import Pace
from bot.telegram.payload import REPEATABLE
from bot.telegram.port import Forum, Messenger, Relay
from bot.telegram.settling import Settling, at_step

log = structlog.get_logger(__name__)

CLAIM_SECONDS = 60.0  # longer than START_SECONDS and any request; see sender.py for its time-outs
START_SECONDS = 10.0  # a sender that was held up longer between claim and request gives up
DOUBT_SECONDS = 90.0  # a claim for finding out: many requests, none so late that it outlasts it
LATE_SECONDS = CLAIM_SECONDS  # so long after it began a request may still take effect at Telegram
RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
MOST_CHATS = 200


class Delivery:
    def __init__(
        self,
        *,
        database: Database,
        coordinator: Coordinator,
        scribe: Scribe,
        desk: Desk,
        messenger: Messenger,
        relay: Relay,
        forum: Forum,
        lines: Fleeting,
        pace: Pace,
        clock: Callable[[], float],
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        late_seconds: float = LATE_SECONDS,
    ) -> None:
        self._database = database
        self._coordinator = coordinator
        self._pace = pace
        self._clock = clock
        self._monotonic = monotonic  # for spans of time: it never jumps
        self._sleep = sleep
        self._settling = Settling(
            database=database,
            coordinator=coordinator,
            scribe=scribe,
            desk=desk,
            clock=clock,
            late_seconds=late_seconds,
        )
        self._carrier = Carrier(
            database=database,
            messenger=messenger,
            relay=relay,
            topics=Topics(database, forum, clock=clock, late_seconds=late_seconds),
            may_begin=self._may_begin,
        )
        self._doubts = Doubts(
            database=database,
            settling=self._settling,
            desk=desk,
            messenger=messenger,
            relay=relay,
            lines=lines,
            pace=pace,
            may_begin=self._may_begin,
            monotonic=monotonic,
            late_seconds=late_seconds,
        )
        self._busy: set[int] = set()  # chats that are being drained
        self._handed: dict[int, deque[Claimed]] = {}  # claimed already, to be sent first

    def claim_now(self, sql: Sql, chat_id: int) -> Claimed | None:
        """Claim a chat's next message in the transaction that queued it, if it may leave at once.

        Saves a look and a transaction. What is claimed here is given to `hand` after the commit.
        """
        if chat_id in self._busy or self._pace.wait(chat_id, self._monotonic(), chat_id < 0) > 0:
            return None
        now = self._clock()
        return outbox.claim_head(sql, chat_id, now, now + CLAIM_SECONDS, doubts=False)

    def hand(self, claimed: Claimed) -> None:
        """Take a message that is claimed; `drain` its chat afterwards."""
        self._handed.setdefault(claimed.outgoing.chat_id, deque()).append(claimed)

    async def give_back(self) -> None:
        """Put back what was handed over and will not be sent any more: the bot stops.

        Where the database cannot be reached the next start finds out that nothing was sent.
        """
        handed = [claimed for queue in self._handed.values() for claimed in queue]
        self._handed.clear()
        try:
            for claimed in handed:
                await self._settling.later(claimed, 0.0)
        except StoreUnavailable as error:
            log.warning("not_put_back", messages=len(handed), cause=str(error))

    async def due_chats(self) -> tuple[list[int], float | None]:
        """Chats with something to do now, and when to look again."""
        now = self._clock()

        def look(sql: Sql) -> tuple[list[int], float | None]:
            return list(outbox.due_chats(sql, now, MOST_CHATS)), outbox.next_due(sql, now)

        return await self._database.read(look)

    async def drain(self, chat_id: int) -> None:
        """Send what is due in one chat, one message after the other."""
        self._busy.add(chat_id)
        try:
            while (claimed := await self._next(chat_id)) is not None:
                self._doubts.watch(claimed)
                if claimed.status is Status.SENDING:
                    await self._send(claimed)
                else:
                    await self._doubts.find_out(claimed)
        finally:
            self._busy.discard(chat_id)

    async def _next(self, chat_id: int) -> Claimed | None:
        """The next message of a chat, as soon as it may leave; None if there is none now."""
        while True:
            if handed := self._handed.pop(chat_id, None):
                claimed = handed.popleft()
                if handed:
                    self._handed[chat_id] = handed
                return claimed
            wait = self._pace.wait(chat_id, self._monotonic(), is_group=chat_id < 0)
            if wait <= 0:
                return await self._claim(chat_id)
            await self._sleep(wait)

    async def _claim(self, chat_id: int) -> Claimed | None:
        now = self._clock()

        def claim(sql: Sql, aftermath: Aftermath) -> Claimed | None:
            claimed = outbox.claim_head(
                sql, chat_id, now, now + CLAIM_SECONDS, doubt_until=now + DOUBT_SECONDS
            )
            if claimed is not None and claimed.fresh_doubt:  # its sender died or was paused
                self._settling.step(sql, claimed, DeliveryTimedOut, aftermath)
            return claimed

        return await self._coordinator.transact(claim)

    # --- sending ----------------------------------------------------------------------------------

    async def _send(self, claimed: Claimed) -> None:
        settling, chat_id = self._settling, claimed.outgoing.chat_id
        self._pace.sent(chat_id, self._monotonic())
        try:
            ids = await self._carrier.carry(claimed)
        except FloodWait as error:
            self._pace.flood(chat_id, self._monotonic(), error.delay_seconds)
            await settling.later(claimed, error.delay_seconds)
        except RetryLater as error:
            waits = max(error.delay_seconds, at_step(RETRY_SECONDS, claimed.attempts - 1))
            await settling.later(claimed, waits)
            log.warning("send_put_off", id=claimed.outgoing.id, cause=str(error))
        except EntitiesRefused:
            await settling.plainly(claimed)
        except NoTopic as error:
            await settling.elsewhere(claimed, error.label)
        except TopicChanged:
            await settling.later(claimed, 0.0)
        except Blocked as error:
            await self._blocked(claimed, error)
        except Migrated as error:
            await settling.migrated(claimed, error.new_chat_id)
        except Refused as error:
            await settling.refused(claimed, str(error))
        except Unknown:
            await self._unanswered(claimed)
        else:
            await settling.arrived(claimed, ids, doubted=False)

    async def _blocked(self, claimed: Claimed, error: Blocked) -> None:
        if claimed.outgoing.chat_id < 0:  # the bot was thrown out of the group: no user did that
            await self._settling.refused(claimed, str(error))
        else:
            await self._settling.blocked(claimed)

    async def _unanswered(self, claimed: Claimed) -> None:
        if isinstance(payload.read(claimed.outgoing.payload), REPEATABLE):
            await self._settling.unanswered(claimed, at_step(RETRY_SECONDS, claimed.attempts - 1))
        else:
            await self._settling.doubt(claimed)

    def _may_begin(self, claimed: Claimed) -> bool:
        """Whether a request that begins now ends before somebody else may claim the message."""
        return self._clock() <= claimed.until - CLAIM_SECONDS + START_SECONDS
