"""Puts down what became of a message that was to leave, and what follows from it."""

from collections.abc import Callable
from dataclasses import replace

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
from bot.desk.staffing import Desk
from bot.scribe import Aftermath, Scribe
from bot.store import conversations, copies, outbox, topics
from bot.store.copies import MessageRef
from bot.store.outbox import Author, Claimed, Outgoing, Status
from bot.store.port import Database, Sql
from bot.telegram import payload
from bot.telegram.characters import units
from bot.telegram.failures import Failures
from bot.telegram.payload import Album, CopyOf, EditOf, Pin, SendPart
from bot.telegram.port import Part

log = structlog.get_logger(__name__)

PROBE_SECONDS = (2.0, 3.0, 5.0, 10.0, 30.0, 60.0, 60.0, 60.0, 60.0, 60.0)
NO_ANSWER = "no answer came; it may have arrived"


class Settling:
    def __init__(
        self,
        *,
        database: Database,
        coordinator: Coordinator,
        scribe: Scribe,
        desk: Desk,
        clock: Callable[[], float],
        late_seconds: float,
    ) -> None:
        self._database = database
        self._coordinator = coordinator
        self._failures = Failures(scribe, desk, clock)
        self._desk = desk
        self._clock = clock
        self._late_seconds = late_seconds

    async def arrived(self, claimed: Claimed, ids: tuple[int, ...], *, doubted: bool) -> None:
        """It is there, as these messages (none: it was something done to another message)."""
        at = self._clock()
        first = ids[0] if ids else 0

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            left = payload.emptied(claimed.outgoing.payload)
            if outbox.settle(sql, claimed, Status.SENT, at, message_id=first, payload=left):
                for each in ids[1:]:
                    outbox.know_id(sql, claimed.outgoing.chat_id, each)
                self._note_copies(sql, claimed, ids, aftermath)
                self._after_arrival(sql, claimed, aftermath, doubted=doubted)

        await self._coordinator.transact(settle)
        if doubted:
            log.info("delivery_confirmed", id=claimed.outgoing.id)

    def _note_copies(
        self, sql: Sql, claimed: Claimed, ids: tuple[int, ...], aftermath: Aftermath
    ) -> None:
        """Replies, edits and reactions find what stands for what."""
        out = claimed.outgoing
        aftermath.cards = aftermath.cards or bool(out.topic)  # it may just have been opened
        what = payload.read(out.payload)
        match what:
            case SendPart(stands_for=MessageRef() as original):
                originals: tuple[MessageRef, ...] = (original,)
            case CopyOf(chat_id, message_id):
                originals = (MessageRef(chat_id, message_id),)
            case Album(chat_id, message_ids):
                originals = tuple(MessageRef(chat_id, each) for each in sorted(message_ids))
            case _:
                originals = ()
        if len(originals) == len(ids):
            for original, message_id in zip(originals, ids, strict=True):
                shown = MessageRef(out.chat_id, message_id)
                copies.note(sql, shown, original, out.conversation_id)
        elif originals:  # which of them is missing cannot be known
            self._failures.tell(sql, claimed.outgoing, "part of it cannot be copied", aftermath)
        if isinstance(what, SendPart) and what.card and ids:
            self._pin_card(sql, out, what.card, ids[0], aftermath)

    def _pin_card(
        self, sql: Sql, out: Outgoing, card: int, message_id: int, aftermath: Aftermath
    ) -> None:
        topics.card_sent(sql, out.conversation_id, card, message_id)
        pin = Outgoing(
            f"pin:{out.id}",
            out.conversation_id,
            out.chat_id,
            Author.SYSTEM,
            payload.write(Pin(message_id)),
        )
        outbox.put(sql, pin, self._clock())
        aftermath.chats.add(out.chat_id)

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

    async def later(self, claimed: Claimed, delay_seconds: float) -> None:
        """Nothing was sent: wait and send it then."""
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            back = outbox.settle(sql, claimed, Status.PENDING, at, not_before=at + delay_seconds)
            if back:
                self._recall_if_overtaken(sql, claimed, aftermath)

        await self._coordinator.transact(settle)

    async def unanswered(self, claimed: Claimed, delay_seconds: float) -> None:
        """It may be repeated, so it is. Once the lost request cannot take effect any more, what
        was last done to the same message is done again, lest the older one has the last word."""
        at = self._clock()
        out = claimed.outgoing

        def settle(sql: Sql) -> None:
            back = outbox.settle(sql, claimed, Status.PENDING, at, not_before=at + delay_seconds)
            again = payload.once_more(payload.read(out.payload))
            if back and again is not None:
                id = f"again:{out.id}:{claimed.attempts}"
                row = Outgoing(id, out.conversation_id, out.chat_id, Author.SYSTEM, again)
                outbox.put(sql, row, at, wait_seconds=self._late_seconds, alone=True)

        await self._database.transact(settle)

    def _recall_if_overtaken(self, sql: Sql, claimed: Claimed, aftermath: Aftermath) -> None:
        """A person took over while the request was being refused: it must not leave any more."""
        out = claimed.outgoing
        if out.author is not Author.AI:
            return
        loaded = conversations.load(sql, out.conversation_id)
        if loaded is None or loaded[0].epoch == out.epoch:
            return
        outbox.drop(sql, out.conversation_id, out.turn_id, self._clock())
        self.step(sql, claimed, ReplyRecalled, aftermath)

    async def plainly(self, claimed: Claimed) -> None:
        """Telegram refuses the formatting: the same words without it, at once."""
        what = payload.read(claimed.outgoing.payload)
        if not isinstance(what, SendPart | EditOf) or not what.part.entities:
            await self.refused(claimed, "the text cannot be read by Telegram")
            return
        bare = Part(what.part.text, (), what.part.keyboard)
        plain = payload.write(replace(what, part=bare))
        at = self._clock()
        await self._database.transact(
            lambda sql: outbox.settle(sql, claimed, Status.PENDING, at, payload=plain)
        )
        log.warning("formatting_refused", id=claimed.outgoing.id)

    async def elsewhere(self, claimed: Claimed, label: str) -> None:
        """Its topic cannot be had: it goes to the General topic, under a line that says whose."""
        at = self._clock()
        what = payload.read(claimed.outgoing.payload)
        if isinstance(what, SendPart):
            what = replace(what, part=_labelled(what.part, label))
        text = payload.write(what)
        await self._database.transact(
            lambda sql: outbox.settle(sql, claimed, Status.PENDING, at, payload=text, topic="")
        )
        log.warning("topic_not_available", id=claimed.outgoing.id)

    async def blocked(self, claimed: Claimed) -> None:
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            out = claimed.outgoing
            if not outbox.settle(sql, claimed, Status.FAILED, at):
                return
            blocker = conversations.conversation_id(out.chat_id)
            self._coordinator.step(sql, blocker, UserBlockedBot(at), aftermath)
            self.step(sql, claimed, DeliveryFailed, aftermath)

        await self._coordinator.transact(settle)

    async def migrated(self, claimed: Claimed, new_chat_id: int) -> None:
        at = self._clock()

        def settle(sql: Sql) -> None:
            if outbox.settle(sql, claimed, Status.PENDING, at):
                outbox.move_chat(sql, claimed.outgoing.chat_id, new_chat_id)
                topics.move_chat(sql, claimed.outgoing.chat_id, new_chat_id)

        await self._database.transact(settle)

    async def refused(self, claimed: Claimed, reason: str) -> None:
        at = self._clock()
        out = claimed.outgoing
        log.warning("send_refused", id=out.id, reason=reason)

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if not outbox.settle(sql, claimed, Status.FAILED, at):
                return
            if out.author is Author.AI:
                outbox.drop(sql, out.conversation_id, out.turn_id, at)
                self.step(sql, claimed, DeliveryFailed, aftermath)
            else:
                self._failures.tell(sql, claimed.outgoing, reason, aftermath)

        await self._coordinator.transact(settle)

    def step(
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

    async def doubt(self, claimed: Claimed) -> None:
        at = self._clock()
        log.warning("delivery_unknown", id=claimed.outgoing.id)

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            later = at + PROBE_SECONDS[0]
            if outbox.settle(sql, claimed, Status.UNKNOWN, at, not_before=later):
                self.step(sql, claimed, DeliveryTimedOut, aftermath)

        await self._coordinator.transact(settle)

    async def look_again(self, claimed: Claimed, seconds: float) -> None:
        """It was not there, but may still come: look again when it cannot come any more."""
        at = self._clock()
        await self._database.transact(
            lambda sql: outbox.settle(sql, claimed, Status.UNKNOWN, at, not_before=at + seconds)
        )

    async def disproved(self, claimed: Claimed) -> None:
        at = self._clock()

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if outbox.settle(sql, claimed, Status.PENDING, at):
                self.step(sql, claimed, DeliveryDisproved, aftermath)

        await self._coordinator.transact(settle)
        log.info("delivery_disproved", id=claimed.outgoing.id)

    async def still_unknown(self, claimed: Claimed, reason: str, *, counts: bool = True) -> None:
        if counts and claimed.probes + 1 >= len(PROBE_SECONDS):
            await self.unresolved(claimed)
            return
        at = self._clock()
        later = at + at_step(PROBE_SECONDS, claimed.probes + 1)

        def settle(sql: Sql) -> None:
            if outbox.settle(sql, claimed, Status.UNKNOWN, at, not_before=later) and counts:
                outbox.count_probe(sql, claimed)

        await self._database.transact(settle)
        log.info("delivery_still_unknown", id=claimed.outgoing.id, cause=reason)

    async def unresolved(self, claimed: Claimed) -> None:
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
            else:
                self._failures.tell(sql, claimed.outgoing, NO_ANSWER, aftermath)

        await self._coordinator.transact(settle)
        log.warning("delivery_unresolved", id=out.id)


def at_step(delays: tuple[float, ...], index: int) -> float:
    return delays[min(index, len(delays) - 1)]


def _labelled(part: Part, label: str) -> Part:
    head = f"{label}\n"
    moved = tuple(replace(each, offset=each.offset + units(head)) for each in part.entities)
    return Part(head + part.text, moved, part.keyboard)
