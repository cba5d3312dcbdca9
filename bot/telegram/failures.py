"""Tells people what did not arrive: nobody is left believing that words arrived which did not."""

import re
from collections.abc import Callable

from bot.core.notices import Notice
from bot.desk.staffing import Desk
from bot.scribe import Aftermath, Scribe
from bot.store import conversations, messages
from bot.store.copies import MessageRef
from bot.store.outbox import Author, Outgoing
from bot.store.port import Sql
from bot.telegram import payload
from bot.telegram.payload import Again, Album, CopyOf, Document, EditOf, Pin, React, SendPart


class Failures:
    def __init__(self, scribe: Scribe, desk: Desk, clock: Callable[[], float]) -> None:
        self._scribe = scribe
        self._desk = desk
        self._clock = clock

    def tell(self, sql: Sql, out: Outgoing, reason: str, aftermath: Aftermath) -> None:
        """Queue what has to be said about it; nothing for what nobody wrote."""
        if out.author is Author.HUMAN:
            self._tell_operator(sql, out, reason, aftermath)
        elif out.author is Author.RELAY:
            self._tell_desk(sql, out, reason, aftermath)

    def _tell_operator(self, sql: Sql, out: Outgoing, reason: str, aftermath: Aftermath) -> None:
        """Where they wrote it: in the topic, as an answer to it, or in their private chat."""
        named = re.search(rf"human:{re.escape(out.conversation_id)}:(\d+)", out.id)
        operator = int(named[1]) if named else 0
        source = _source(payload.read(out.payload))
        contact, topic = self._desk.contact(sql, operator), ""
        if source is not None and source.chat_id < 0:
            contact = conversations.Contact(
                out.conversation_id, source.chat_id, "", self._desk.language
            )
            topic = out.conversation_id
        self._scribe.tell(
            sql,
            contact,
            Notice.OP_NOT_DELIVERED,
            {"conversation": out.conversation_id, "reason": reason},
            key=out.id,
            at=self._clock(),
            aftermath=aftermath,
            topic=topic,
            answers=source if topic else None,
        )

    def _tell_desk(self, sql: Sql, out: Outgoing, reason: str, aftermath: Aftermath) -> None:
        """The operators learn what they cannot see, the user what did not get through."""
        what = payload.read(out.payload)
        known = conversations.peek(sql, out.conversation_id)
        if known is None or isinstance(what, Pin):
            return
        user = known[1]
        place = conversations.Contact(out.conversation_id, out.chat_id, "", self._desk.language)
        if out.chat_id > 0:
            place = self._desk.contact(sql, out.chat_id)
        source = _source(what)
        said = messages.by_id(sql, *source) if source else None
        values = {"name": user.user_name, "reason": reason, "conversation": out.conversation_id}
        values |= {"kind": said.kind if said else "", "emoji": getattr(what, "emoji", "")}
        notice = Notice.OP_REACTED if isinstance(what, React) else Notice.OP_NOT_RELAYED
        self._scribe.tell(
            sql,
            place,
            notice,
            values,
            key=out.id,
            at=self._clock(),
            aftermath=aftermath,
            topic=out.topic,
            answers=source if isinstance(what, React) else None,
        )
        if isinstance(what, SendPart | CopyOf | Album) and source is not None:
            self._scribe.tell(
                sql,
                user,
                Notice.NOT_PASSED_ON,
                values,
                key=out.id,
                at=self._clock(),
                aftermath=aftermath,
                answers=source,
            )


def _source(what: payload.Payload) -> MessageRef | None:
    """The message that somebody wrote, which this passes on or is about."""
    match what:
        case SendPart(stands_for=stands_for):
            return stands_for
        case CopyOf(chat_id, message_id):
            return MessageRef(chat_id, message_id)
        case Album(chat_id, message_ids):
            return MessageRef(chat_id, min(message_ids))
        case EditOf(of):
            return of
        case React(to):
            return to
        case Again() | Pin() | Document():
            return None
