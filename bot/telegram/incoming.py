"""What a Telegram update is for us: plain values. parsing.py makes them.

Whether the sender may do anything is not decided here, and no field is trusted: names and text
are what a stranger typed.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from bot.telegram.port import Entity

UNREADABLE = "unreadable"  # an update that the library cannot read; it is in `api_kwargs` then


class TopicChange(StrEnum):
    CREATED = "created"
    EDITED = "edited"
    CLOSED = "closed"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """A service line of a topic. Bots hear nothing of a topic that is deleted."""

    change: TopicChange
    name: str = ""  # of a topic that was created or renamed


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    update_id: int
    chat_id: int
    chat_type: str  # private, group, supergroup
    message_id: int
    user_id: int  # 0: nobody in particular (an anonymous admin, a channel)
    user_name: str  # what Telegram shows; may be empty
    username: str  # without @; may be empty
    language_code: str
    text: str  # as sent; the caption of media
    kind: str  # "text", "empty" (nothing visible), "photo", "sticker", …, "service", "other"
    detail: str  # the emoji of a sticker, the name of a file …
    command: str  # "start" for "/start@our_bot now"; "" unless the text begins with a command to us
    argument: str  # "now"
    reply_to: int  # message_id; 0: none
    media_group_id: str
    date: float  # seconds since the epoch, UTC
    is_edit: bool
    forwarded: bool
    thread_id: int = 0  # the topic of a forum; 0: the General topic, or no forum
    is_forum: bool = False
    as_chat_id: int = 0  # an anonymous admin (the group itself) or a channel speaks; 0: nobody does
    entities: tuple[Entity, ...] = ()  # of the text or the caption
    topic_event: TopicEvent | None = None  # what this service line says of its topic
    from_us: bool = False  # a service line about something that the bot did
    migrated_to: int = 0  # the group goes on under this id


@dataclass(frozen=True, slots=True)
class IncomingPress:
    update_id: int
    callback_id: str
    chat_id: int  # 0: the message is of an inline query or unknown
    chat_type: str
    message_id: int
    user_id: int  # who pressed
    user_name: str
    username: str
    language_code: str
    data: str


@dataclass(frozen=True, slots=True)
class IncomingBlock:
    """The user blocked the bot in the private chat, or let it back in."""

    update_id: int
    chat_id: int
    user_id: int
    blocked: bool


@dataclass(frozen=True, slots=True)
class IncomingReaction:
    """Somebody changed their reactions to a message."""

    update_id: int
    chat_id: int
    chat_type: str
    message_id: int
    user_id: int  # 0: an anonymous admin or a channel
    user_name: str
    username: str
    language_code: str
    emoji: str  # what there is now: the first emoji; "" if none is left
    odd: bool  # there is one that is no plain emoji (a custom one, a paid star)


@dataclass(frozen=True, slots=True)
class IncomingStanding:
    """What the bot may do in a group has changed."""

    update_id: int
    chat_id: int
    chat_type: str
    title: str
    is_forum: bool
    by_user_id: int
    by_name: str
    status: str  # creator, administrator, member, restricted, left, kicked
    rights: frozenset[str]  # can_manage_topics, can_pin_messages, can_delete_messages, …


@dataclass(frozen=True, slots=True)
class IncomingOther:
    """Nothing for us; `what` is the kind of update, or UNREADABLE."""

    update_id: int
    what: str


Incoming: TypeAlias = (
    IncomingMessage
    | IncomingPress
    | IncomingBlock
    | IncomingReaction
    | IncomingStanding
    | IncomingOther
)
