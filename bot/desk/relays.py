"""What passes between a user and the operators, put into the outbox within the step's transaction.

Nobody's authority is decided here: whoever calls has made sure of it. Replies, edits and reactions
name the message they are about; delivery finds what stands for it on the other side.
"""

from collections.abc import Sequence
from dataclasses import replace

from bot.core.states import Conversation, State
from bot.desk import interpreting
from bot.desk.places import Place
from bot.store import conversations, copies, outbox
from bot.store.conversations import Contact
from bot.store.copies import MessageRef
from bot.store.messages import StoredMessage
from bot.store.outbox import Author, Outgoing, Status
from bot.store.port import Sql
from bot.telegram import payload
from bot.telegram.characters import has_visible
from bot.telegram.parts import entities_from_json
from bot.telegram.payload import Album, CopyOf, EditOf, Payload, React, SendPart
from bot.telegram.port import Part

ALBUM_SECONDS = 1.0  # parts of an album come 0.2 to 2 s apart; each part waits for the next
MOST_IN_ALBUM = 10  # https://core.telegram.org/bots/api#sendmediagroup


def to_operators(
    sql: Sql, c: Conversation, place: Place, said: Sequence[StoredMessage], at: float
) -> None:
    """Show the user's messages where operators see it, each once a place and epoch."""
    for message in said:
        id = f"relay:{c.id}:{message.version}:{place.chat_id}:{c.epoch}"
        outgoing = Outgoing(id, c.id, place.chat_id, Author.RELAY, "", c.epoch, topic=place.topic)
        _pass_on(sql, outgoing, message, f"relay:{c.id}:{place.chat_id}:{c.epoch}", at)


def to_user(
    sql: Sql, c: Conversation, contact: Contact, operator_id: int, said: StoredMessage, at: float
) -> None:
    """Bring what the holder wrote to the user."""
    id = f"human:{c.id}:{operator_id}:{said.message_id}"
    outgoing = Outgoing(id, c.id, contact.chat_id, Author.HUMAN, "", c.epoch)
    sent = interpreting.as_sent(sql, contact, said)
    if sent is not said:  # a translation has its own words
        sent = replace(sent, entities="")
    _pass_on(sql, outgoing, sent, f"human:{c.id}:{operator_id}", at)


def edit(
    sql: Sql, conversation_id: str, edited: StoredMessage, *, key: str, at: float
) -> frozenset[int]:
    """Let what stands for an edited message say the same. The chats that get something to do.

    `key`: of the update, so that the same edit is passed on once.
    """
    source = MessageRef(edited.chat_id, edited.message_id)
    caption = edited.kind != "text"
    if not caption and not has_visible(edited.text):
        return frozenset()
    if edited.author == "human" and _was_translated(sql, conversation_id, edited):
        return frozenset()  # its new words have not been translated, let alone confirmed
    what = EditOf(source, _part(edited), caption)
    return _about(sql, conversation_id, source, edited.chat_id, what, key=key, at=at)


def react(
    sql: Sql,
    conversation_id: str,
    seen: MessageRef,
    emoji: str,
    *,
    user_id: int,
    key: str,
    at: float,
) -> frozenset[int]:
    """Put the same reaction on what stands for `seen`. The chats that get something to do.

    `user_id`: who reacted.
    """
    what = React(seen, emoji)
    return _about(sql, conversation_id, seen, user_id, what, key=key, at=at)


def _about(
    sql: Sql,
    conversation_id: str,
    seen: MessageRef,
    user_id: int,
    what: Payload,
    *,
    key: str,
    at: float,
) -> frozenset[int]:
    known = conversations.peek(sql, conversation_id)
    if known is None:
        return frozenset()
    conversation, contact = known
    from_user = seen.chat_id == contact.chat_id
    places = _counterparts(sql, conversation_id, seen)
    if from_user:
        places = {each: topic for each, topic in places.items() if _may_see(conversation, each)}
    for chat_id, topic in places.items():
        whose = f"relay:{conversation_id}" if from_user else f"human:{conversation_id}:{user_id}"
        outgoing = Outgoing(
            f"{key}:{chat_id}:{whose}:{seen.message_id}",
            conversation_id,
            chat_id,
            Author.RELAY if from_user else Author.HUMAN,
            payload.write(what),
            conversation.epoch,
            topic=topic,
        )
        outbox.put(sql, outgoing, at)
    return frozenset(places)


def _counterparts(sql: Sql, conversation_id: str, seen: MessageRef) -> dict[int, str]:
    """The other chats that show this message, or are going to, and the topic there."""
    original = copies.original_of(sql, seen)
    chats = {each.chat_id for each in copies.copies_of(sql, original or seen)}
    chats |= outbox.going_to(sql, conversation_id, *seen)
    if original is not None:
        chats.add(original.chat_id)
    chats.discard(seen.chat_id)
    return {each: conversation_id if each < 0 else "" for each in sorted(chats)}


def _was_translated(sql: Sql, conversation_id: str, message: StoredMessage) -> bool:
    known = conversations.peek(sql, conversation_id)
    return known is not None and interpreting.as_sent(sql, known[1], message) is not message


def _may_see(c: Conversation, chat_id: int) -> bool:
    """What a user changes after a person has left is no longer that person's to read."""
    if chat_id < 0:
        return c.state in (State.HANDOFF_PENDING, State.HUMAN_ACTIVE)
    return c.holder is not None and c.holder.operator_id == chat_id


def _pass_on(sql: Sql, outgoing: Outgoing, message: StoredMessage, series: str, at: float) -> None:
    if message.media_group and _joins_album(sql, outgoing, message, series, at):
        return
    answers = MessageRef(message.chat_id, message.reply_to) if message.reply_to else None
    source = MessageRef(message.chat_id, message.message_id)
    if message.kind == "text" and has_visible(message.text):
        # Plain words are sent, so that they can be edited and a doubtful send can be proven.
        what: Payload = SendPart(_part(message), answers, stands_for=source)
    else:
        what = CopyOf(*source, answers)
    outbox.put(sql, _with(outgoing, outgoing.id, what), at)


def _joins_album(
    sql: Sql, outgoing: Outgoing, message: StoredMessage, series: str, at: float
) -> bool:
    """Parts of an album arrive one by one and leave as one. False: the album has left already."""
    id = f"{series}:album:{message.media_group}"
    known = outbox.peek(sql, id)
    if known is None:
        what = Album(message.chat_id, (message.message_id,))
        outbox.put(sql, _with(outgoing, id, what), at, wait_seconds=ALBUM_SECONDS)
        return True
    status, text = known
    if status is not Status.PENDING:
        return False
    so_far = payload.read(text)
    if not isinstance(so_far, Album):
        return False
    if message.message_id in so_far.message_ids:
        return True
    if len(so_far.message_ids) == MOST_IN_ALBUM:
        return False
    grown = Album(so_far.chat_id, (*so_far.message_ids, message.message_id), so_far.silent)
    return outbox.rewrite(sql, id, payload.write(grown), at + ALBUM_SECONDS)


def _with(outgoing: Outgoing, id: str, what: Payload) -> Outgoing:
    return replace(outgoing, id=id, payload=payload.write(what))


def _part(message: StoredMessage) -> Part:
    return Part(message.text, entities_from_json(message.entities))
