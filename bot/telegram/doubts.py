"""Finds out whether a message arrived whose request nobody answered. See probing.py.

Rule 1: that a message did not arrive is believed only after LATE_SECONDS of watching, counted by
        a clock that does not jump: a request that nobody waits for any more may still arrive.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from bot.core.notices import Notice
from bot.desk.staffing import Desk
from bot.errors import Blocked, DabirError, FloodWait, RetryLater, TopicClosed, TopicGone
from bot.store import outbox, topics
from bot.store.outbox import Claimed
from bot.store.port import Database, Sql
from bot.telegram import payload
from bot.telegram.fleeting import Fleeting
from bot.telegram.pacing import Pace
from bot.telegram.payload import REPEATABLE, Album, SendPart
from bot.telegram.port import EditOutcome, Manner, Messenger, Part, Relay
from bot.telegram.probing import Absent, Finding, Found, Unproven, candidate_ids, find
from bot.telegram.settling import Settling
from bot.telegram.texts import phrase

MOST_WATCHED = 1000
_Request: TypeAlias = tuple[str, int]  # the message, and which attempt to send it


class Doubts:
    def __init__(
        self,
        *,
        database: Database,
        settling: Settling,
        desk: Desk,
        messenger: Messenger,
        relay: Relay,
        lines: Fleeting,
        pace: Pace,
        may_begin: Callable[[Claimed], bool],
        monotonic: Callable[[], float] = time.monotonic,
        late_seconds: float,
    ) -> None:
        self._database = database
        self._settling = settling
        self._desk = desk
        self._messenger = messenger
        self._relay = relay
        self._lines = lines
        self._pace = pace
        self._may_begin = may_begin
        self._monotonic = monotonic  # for spans of time: it never jumps
        self._late_seconds = late_seconds
        self._watched_since: dict[_Request, float] = {}  # made by this process, or looked for

    def watch(self, claimed: Claimed) -> None:
        """From when on this process knows of the request that may still arrive."""
        now = self._monotonic()
        if len(self._watched_since) > MOST_WATCHED:
            recent = now - self._late_seconds
            watched = self._watched_since.items()
            self._watched_since = {each: since for each, since in watched if since > recent}
        self._watched_since.setdefault(_request_of(claimed), now)

    async def find_out(self, claimed: Claimed) -> None:
        """One attempt to learn whether the message arrived."""
        what = payload.read(claimed.outgoing.payload)
        if isinstance(what, REPEATABLE):
            await self._settling.unanswered(claimed, 0.0)
            return
        looked_at = self._monotonic()
        try:
            finding = await self._probe(claimed, what, looked_at)
        except FloodWait as error:
            self._pace.flood(claimed.outgoing.chat_id, self._monotonic(), error.delay_seconds)
            finding = Unproven("flood wait")
        except Blocked:
            await self._settling.blocked(claimed)
            return
        except RetryLater as error:  # the network is down: that is no failed proof
            await self._settling.still_unknown(claimed, str(error), counts=False)
            return
        except DabirError as error:
            finding = Unproven(type(error).__name__)
        match finding:
            case Found(message_id, together):
                ids = together or (message_id,)
                await self._settling.arrived(claimed, ids, doubted=True)
            case Absent():
                await self._absent(claimed, looked_at)
            case Unproven(reason):
                await self._settling.still_unknown(claimed, reason)

    async def _probe(self, claimed: Claimed, what: payload.Payload, looked_at: float) -> Finding:
        """Post a notice, whose id is an upper bound, look between, remove the notice."""
        chat_id = claimed.outgoing.chat_id

        def where(sql: Sql) -> tuple[str, int]:
            topic = topics.of(sql, claimed.outgoing.topic) if claimed.outgoing.topic else None
            return self._desk.contact(sql, chat_id).language, topic.thread_id if topic else 0

        language, thread_id = await self._database.read(where)
        notice = phrase(Notice.CHECKING_DELIVERY, language)
        try:
            high = await self._messenger.send(chat_id, notice, Manner(thread_id, silent=True))
        except (TopicGone, TopicClosed):  # any message of the group will do
            high = await self._messenger.send(chat_id, notice, Manner(silent=True))
        await self._lines.note(chat_id, high)
        try:
            finding = await self._look(claimed, what, high, looked_at)
        except DabirError:
            await self._lines.remove(chat_id, high)
            raise
        await self._lines.remove(chat_id, high)
        return finding

    async def _look(
        self, claimed: Claimed, what: payload.Payload, high: int, looked_at: float
    ) -> Finding:
        chat_id = claimed.outgoing.chat_id
        known = await self._database.read(
            lambda sql: outbox.known_ids(sql, chat_id, claimed.low_id, high)
        )
        candidates = candidate_ids(claimed.low_id, high, known)
        if candidates is None:
            return Unproven("too many ids to look at")
        if isinstance(what, Album):
            return await self._look_for_album(claimed, what, candidates)
        finding = await find(
            self._messenger
            if isinstance(what, SendPart)
            else _Copies(self._relay, self._messenger),
            chat_id,
            what.part if isinstance(what, SendPart) else Part(""),
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

    async def _look_for_album(
        self, claimed: Claimed, what: Album, candidates: Sequence[int]
    ) -> Finding:
        """An album arrives whole or not at all: all messages of ours that are not on record."""
        chat_id = claimed.outgoing.chat_id
        ours: list[int] = []
        for each in candidates:
            if not self._may_begin(claimed):
                return Unproven("this process was held up")
            if await self._relay.touch(chat_id, each) is EditOutcome.NOT_MODIFIED:
                ours.append(each)
        if not ours:
            return Absent()
        if len(ours) != len(what.message_ids):
            return Unproven("there are not as many as in the album")
        return Found(ours[0], tuple(ours))

    async def _put_down(self, claimed: Claimed, message_id: int) -> bool:
        """Not if somebody else has taken over: they may have found it and taken it for ours."""

        def put_down(sql: Sql) -> bool:
            held = outbox.holds(sql, claimed)
            if held:
                self._lines.put_down(sql, claimed.outgoing.chat_id, message_id)
            return held

        return await self._database.transact(put_down)

    async def _absent(self, claimed: Claimed, looked_at: float) -> None:
        """It was not (surely) there. If it could not come any more by then, that is proof."""
        left = self._may_still_come(claimed, looked_at)
        if left <= 0:
            await self._settling.disproved(claimed)
            return
        await self._settling.look_again(claimed, left)

    def _may_still_come(self, claimed: Claimed, looked_at: float) -> float:
        """For how many seconds after `looked_at` the request could take effect; <= 0: no more."""
        return self._watched_since[_request_of(claimed)] + self._late_seconds - looked_at


class _Copies:
    """What `find` asks for, where a copy is looked for: one of ours without buttons is it."""

    def __init__(self, relay: Relay, messenger: Messenger) -> None:
        self._relay = relay
        self._messenger = messenger

    async def edit(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        return await self._relay.touch(chat_id, message_id)

    async def delete(self, chat_id: int, message_id: int) -> bool:
        return await self._messenger.delete(chat_id, message_id)


def _request_of(claimed: Claimed) -> _Request:
    return claimed.outgoing.id, claimed.attempts
