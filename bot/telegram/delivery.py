"""Brings what is queued to Telegram: in order within a chat, each message once.

Rule 1: a row is marked as on the wire, and that is committed, before the request is made.
Rule 2: only when it is certain that nothing was sent is a send repeated.
Rule 3: when it is not known whether a message arrived, nothing else is sent to that chat until it
        is known (bot/telegram/probing.py) or given up.
Rule 4: that a message did not arrive is believed only after LATE_SECONDS of watching, counted by
        a clock that does not jump: a request that nobody waits for any more may still arrive.
Rule 5: a chat that must wait, for whatever reason, holds up no other chat.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

import structlog

from bot.coordinator import Coordinator
from bot.core.events import (
    Delivered,
    DeliveryConfirmed,
    DeliveryDisproved,
    DeliveryFailed,
    DeliveryTimedOut,
    DeliveryUnresolved,
    Event,
    ReplyRecalled,
    UserBlockedBot,
)
from bot.core.notices import Notice
from bot.desk.staffing import Desk
from bot.errors import (
    Blocked,
    DabirError,
    FloodWait,
    Migrated,
    Refused,
    RetryLater,
    StoreUnavailable,
    Unknown,
)
from bot.scribe import Aftermath, Scribe
from bot.store import conversations, outbox
from bot.store.outbox import Author, Claimed, Status
from bot.store.port import Database, Sql
from bot.telegram import payload
from bot.telegram.fleeting import Fleeting
from bot.telegram.pacing import Pace
from bot.telegram.payload import CopyOf, SendPart
from bot.telegram.port import Messenger, Part
from bot.telegram.probing import Absent, Finding, Found, Unproven, candidate_ids, find
from bot.telegram.sender import EntitiesRefused
from bot.telegram.texts import phrase

log = structlog.get_logger(__name__)

CLAIM_SECONDS = 60.0  # longer than START_SECONDS and any request; see sender.py for its time-outs
START_SECONDS = 10.0  # a sender that was held up longer between claim and request gives up
DOUBT_SECONDS = 90.0  # a claim for finding out: many requests, none so late that it outlasts it
LATE_SECONDS = CLAIM_SECONDS  # so long after it began a request may still take effect at Telegram
MOST_WATCHED = 1000
RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
PROBE_SECONDS = (2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 60.0, 60.0, 60.0, 60.0)
MOST_CHATS = 200


_Request: TypeAlias = tuple[str, int]  # the message, and which attempt to send it


class Delivery:
    def __init__(
        self,
        *,
        database: Database,
        coordinator: Coordinator,
        scribe: Scribe,
        desk: Desk,
        messenger: Messenger,
        lines: Fleeting,
        pace: Pace,
        clock: Callable[[], float],
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        late_seconds: float = LATE_SECONDS,
    ) -> None:
        self._database = database
        self._coordinator = coordinator
        self._scribe = scribe
        self._desk = desk
        self._messenger = messenger
        self._lines = lines
        self._pace = pace
        self._clock = clock
        self._monotonic = monotonic  # for spans of time: it never jumps
        self._sleep = sleep
        self._late_seconds = late_seconds
        self._watched_since: dict[_Request, float] = {}  # made by this process, or looked for
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
                await self._later(claimed, 0.0)
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
                self._watch(claimed)
                if claimed.status is Status.SENDING:
                    await self._send(claimed)
                else:
                    await self._find_out(claimed)
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
                self._step(sql, claimed, DeliveryTimedOut, aftermath)
            return claimed

        return await self._coordinator.transact(claim)

    def _watch(self, claimed: Claimed) -> None:
        """From when on this process knows of the request that may still arrive."""
        now = self._monotonic()
        if len(self._watched_since) > MOST_WATCHED:
            recent = now - self._late_seconds
            watched = self._watched_since.items()
            self._watched_since = {each: since for each, since in watched if since > recent}
        self._watched_since.setdefault(_request_of(claimed), now)

    # --- sending ----------------------------------------------------------------------------------

    async def _send(self, claimed: Claimed) -> None:
        chat_id = claimed.outgoing.chat_id
        self._pace.sent(chat_id, self._monotonic())
        try:
            message_id = await self._request(claimed)
        except FloodWait as error:
            self._pace.flood(chat_id, self._monotonic(), error.delay_seconds)
            await self._later(claimed, error.delay_seconds)
        except RetryLater as error:
            await self._later(claimed, _at(RETRY_SECONDS, claimed.attempts - 1))
            log.warning("send_put_off", id=claimed.outgoing.id, cause=str(error))
        except EntitiesRefused:
            await self._send_plainly(claimed)
        except Blocked:
            await self._blocked(claimed)
        except Migrated as error:
            await self._migrated(claimed, error.new_chat_id)
        except Refused as error:
            await self._refused(claimed, str(error))
        except Unknown:
            await self._doubt(claimed)
        else:
            await self._arrived(claimed, message_id)

    async def _request(self, claimed: Claimed) -> int:
        what = payload.read(claimed.outgoing.payload)
        if not self._may_begin(claimed):
            raise RetryLater("this process was held up before the request")
        chat_id = claimed.outgoing.chat_id
        match what:
            case SendPart(part):
                return await self._messenger.send(chat_id, part)
            case CopyOf(from_chat_id, message_id):
                return await self._messenger.copy(chat_id, from_chat_id, message_id)

    def _may_begin(self, claimed: Claimed) -> bool:
        """Whether a request that begins now ends before somebody else may claim the message."""
        return self._clock() <= claimed.until - CLAIM_SECONDS + START_SECONDS

    async def _arrived(self, claimed: Claimed, message_id: int) -> None:
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if outbox.settle(sql, claimed, Status.SENT, at, message_id=message_id):
                self._after_arrival(sql, claimed, aftermath, doubted=False)

        await self._coordinator.transact(settle)

    def _after_arrival(
        self, sql: Sql, claimed: Claimed, aftermath: Aftermath, *, doubted: bool
    ) -> None:
        if claimed.outgoing.author is not Author.AI:
            return
        out = claimed.outgoing
        tally = outbox.tally(sql, out.conversation_id, out.turn_id)
        at = self._clock()
        event: Event | None = None
        if tally.open and doubted:
            event = DeliveryConfirmed(at, out.epoch, out.turn_id, more=True)
        elif not tally.open and tally.lost:
            event = ReplyRecalled(at, out.epoch, out.turn_id)
        elif not tally.open:
            confirmed = DeliveryConfirmed if doubted else Delivered
            event = confirmed(at, out.epoch, out.turn_id)
        if event is not None:
            self._coordinator.step(sql, out.conversation_id, event, aftermath)

    async def _later(self, claimed: Claimed, delay_seconds: float) -> None:
        """Nothing was sent: wait and send it then."""
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            back = outbox.settle(sql, claimed, Status.PENDING, at, not_before=at + delay_seconds)
            if back:
                self._recall_if_overtaken(sql, claimed, aftermath)

        await self._coordinator.transact(settle)

    def _recall_if_overtaken(self, sql: Sql, claimed: Claimed, aftermath: Aftermath) -> None:
        """A person took over while the request was being refused: it must not leave any more."""
        out = claimed.outgoing
        if out.author is not Author.AI:
            return
        loaded = conversations.load(sql, out.conversation_id)
        if loaded is None or loaded[0].epoch == out.epoch:
            return
        outbox.drop(sql, out.conversation_id, out.turn_id, self._clock())
        self._step(sql, claimed, ReplyRecalled, aftermath)

    async def _send_plainly(self, claimed: Claimed) -> None:
        """Telegram refuses the formatting: the same words without it, at once."""
        what = payload.read(claimed.outgoing.payload)
        if not isinstance(what, SendPart) or not what.part.entities:
            await self._refused(claimed, "the text cannot be read by Telegram")
            return
        plain = payload.write(SendPart(Part(what.part.text, (), what.part.keyboard)))
        at = self._clock()
        await self._database.transact(
            lambda sql: outbox.settle(sql, claimed, Status.PENDING, at, payload=plain)
        )
        log.warning("formatting_refused", id=claimed.outgoing.id)

    async def _blocked(self, claimed: Claimed) -> None:
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            out = claimed.outgoing
            if not outbox.settle(sql, claimed, Status.FAILED, at):
                return
            blocker = conversations.conversation_id(out.chat_id)
            self._coordinator.step(sql, blocker, UserBlockedBot(at), aftermath)
            self._step(sql, claimed, DeliveryFailed, aftermath)

        await self._coordinator.transact(settle)

    async def _migrated(self, claimed: Claimed, new_chat_id: int) -> None:
        at = self._clock()

        def settle(sql: Sql) -> None:
            if outbox.settle(sql, claimed, Status.PENDING, at):
                outbox.move_chat(sql, claimed.outgoing.chat_id, new_chat_id)

        await self._database.transact(settle)

    async def _refused(self, claimed: Claimed, reason: str) -> None:
        at = self._clock()
        out = claimed.outgoing
        log.warning("send_refused", id=out.id, reason=reason)

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if not outbox.settle(sql, claimed, Status.FAILED, at):
                return
            if out.author is Author.AI:
                outbox.drop(sql, out.conversation_id, out.turn_id, at)
                self._step(sql, claimed, DeliveryFailed, aftermath)
            elif out.author is Author.HUMAN:
                self._tell_sender(sql, claimed, reason, aftermath)

        await self._coordinator.transact(settle)

    def _tell_sender(self, sql: Sql, claimed: Claimed, reason: str, aftermath: Aftermath) -> None:
        """An operator is never left believing that words arrived which did not."""
        out = claimed.outgoing
        operator = int(out.id.rsplit(":", 2)[1])
        self._scribe.tell(
            sql,
            self._desk.contact(sql, operator),
            Notice.OP_NOT_DELIVERED,
            {"conversation": out.conversation_id, "reason": reason},
            key=out.id,
            at=self._clock(),
            aftermath=aftermath,
        )

    def _step(
        self,
        sql: Sql,
        claimed: Claimed,
        kind: type[DeliveryTimedOut | DeliveryFailed | DeliveryDisproved | ReplyRecalled],
        aftermath: Aftermath,
    ) -> None:
        out = claimed.outgoing
        if out.author is Author.AI:
            event = kind(self._clock(), out.epoch, out.turn_id)
            self._coordinator.step(sql, out.conversation_id, event, aftermath)

    # --- doubt ------------------------------------------------------------------------------------

    async def _doubt(self, claimed: Claimed) -> None:
        at = self._clock()
        log.warning("delivery_unknown", id=claimed.outgoing.id)

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            later = at + PROBE_SECONDS[0]
            if outbox.settle(sql, claimed, Status.UNKNOWN, at, not_before=later):
                self._step(sql, claimed, DeliveryTimedOut, aftermath)

        await self._coordinator.transact(settle)

    async def _find_out(self, claimed: Claimed) -> None:
        """One attempt to learn whether the message arrived."""
        what = payload.read(claimed.outgoing.payload)
        if isinstance(what, CopyOf):  # a copy says nothing that an edit could be compared with
            await self._unresolved(claimed)
            return
        looked_at = self._monotonic()
        try:
            finding = await self._probe(claimed, what.part, looked_at)
        except FloodWait as error:
            self._pace.flood(claimed.outgoing.chat_id, self._monotonic(), error.delay_seconds)
            finding = Unproven("flood wait")
        except Blocked:
            await self._blocked(claimed)
            return
        except RetryLater as error:  # the network is down: that is no failed proof
            await self._still_unknown(claimed, str(error), counts=False)
            return
        except DabirError as error:
            finding = Unproven(type(error).__name__)
        match finding:
            case Found(message_id):
                await self._confirmed(claimed, message_id)
            case Absent():
                await self._absent(claimed, looked_at)
            case Unproven(reason):
                await self._still_unknown(claimed, reason)

    async def _probe(self, claimed: Claimed, part: Part, looked_at: float) -> Finding:
        """Post a notice, whose id is an upper bound, look between, remove the notice."""
        chat_id = claimed.outgoing.chat_id
        contact = await self._database.read(lambda sql: self._desk.contact(sql, chat_id))
        notice = phrase(Notice.CHECKING_DELIVERY, contact.language)
        high = await self._messenger.send(chat_id, notice)
        await self._lines.note(chat_id, high)
        try:
            finding = await self._look(claimed, part, high, looked_at)
        except DabirError:
            await self._lines.remove(chat_id, high)
            raise
        await self._lines.remove(chat_id, high)
        return finding

    async def _look(self, claimed: Claimed, part: Part, high: int, looked_at: float) -> Finding:
        chat_id = claimed.outgoing.chat_id
        known = await self._database.read(lambda sql: outbox.known_ids(sql, claimed.low_id, high))
        candidates = candidate_ids(claimed.low_id, high, known)
        if candidates is None:
            return Unproven("too many ids to look at")
        finding = await find(
            self._messenger,
            chat_id,
            part,
            candidates,
            may_go_on=partial(self._may_begin, claimed),
            put_down=partial(self._put_down, claimed),
        )
        if not isinstance(finding, Found) or not claimed.looked_before:
            return finding
        if self._may_still_come(claimed, looked_at) > 0:
            # An earlier look whose answer was lost may have made a notice say this; the message
            # itself may be on its way still. Once it cannot come any more, one is as good as it.
            return Absent()
        later = [each for each in candidates if each > finding.message_id]
        await self._lines.sweep(chat_id, later)  # notices whose senders died
        return finding

    async def _put_down(self, claimed: Claimed, message_id: int) -> bool:
        """Not if somebody else has taken over: they may have found it and taken it for ours."""

        def put_down(sql: Sql) -> bool:
            held = outbox.holds(sql, claimed)
            if held:
                self._lines.put_down(sql, claimed.outgoing.chat_id, message_id)
            return held

        return await self._database.transact(put_down)

    async def _confirmed(self, claimed: Claimed, message_id: int) -> None:
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if outbox.settle(sql, claimed, Status.SENT, at, message_id=message_id):
                self._after_arrival(sql, claimed, aftermath, doubted=True)

        await self._coordinator.transact(settle)
        log.info("delivery_confirmed", id=claimed.outgoing.id)

    async def _absent(self, claimed: Claimed, looked_at: float) -> None:
        """It was not (surely) there. If it could not come any more by then, that is proof."""
        left = self._may_still_come(claimed, looked_at)
        if left <= 0:
            await self._disproved(claimed)
            return
        at = self._clock()
        await self._database.transact(
            lambda sql: outbox.settle(sql, claimed, Status.UNKNOWN, at, not_before=at + left)
        )

    def _may_still_come(self, claimed: Claimed, looked_at: float) -> float:
        """For how many seconds after `looked_at` the request could take effect; <= 0: no more."""
        return self._watched_since[_request_of(claimed)] + self._late_seconds - looked_at

    async def _disproved(self, claimed: Claimed) -> None:
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if outbox.settle(sql, claimed, Status.PENDING, at):
                self._step(sql, claimed, DeliveryDisproved, aftermath)

        await self._coordinator.transact(settle)
        log.info("delivery_disproved", id=claimed.outgoing.id)

    async def _still_unknown(self, claimed: Claimed, reason: str, *, counts: bool = True) -> None:
        if counts and claimed.probes + 1 >= len(PROBE_SECONDS):
            await self._unresolved(claimed)
            return
        at = self._clock()
        later = at + _at(PROBE_SECONDS, claimed.probes + 1)

        def settle(sql: Sql) -> None:
            if outbox.settle(sql, claimed, Status.UNKNOWN, at, not_before=later) and counts:
                outbox.count_probe(sql, claimed)

        await self._database.transact(settle)
        log.info("delivery_still_unknown", id=claimed.outgoing.id, cause=reason)

    async def _unresolved(self, claimed: Claimed) -> None:
        """No proof can be had: a person decides, or the user is asked."""
        at = self._clock()
        out = claimed.outgoing

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if not outbox.settle(sql, claimed, Status.UNRESOLVED, at):
                return
            if out.author is Author.AI:
                outbox.drop(sql, out.conversation_id, out.turn_id, at)
                anyone = self._desk.anyone_for(sql, out.chat_id)
                event = DeliveryUnresolved(at, out.epoch, out.turn_id, anyone)
                self._coordinator.step(sql, out.conversation_id, event, aftermath)
            elif out.author is Author.HUMAN:
                self._tell_sender(sql, claimed, "no answer came; it may have arrived", aftermath)

        await self._coordinator.transact(settle)
        log.warning("delivery_unresolved", id=out.id)


def _request_of(claimed: Claimed) -> _Request:
    return claimed.outgoing.id, claimed.attempts


def _at(delays: tuple[float, ...], index: int) -> float:
    return delays[min(index, len(delays) - 1)]
