"""What the lab's Telegram keeps: people, chats, topics and messages.

A message's `data` is the Bot API object itself and is replaced, never changed, so an update that
is waiting in the queue keeps the words it was made with.
"""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

SUPERGROUP_OFFSET = -1_000_000_000_000


@dataclass(slots=True)
class User:
    id: int
    first_name: str
    last_name: str = ""
    username: str = ""
    language_code: str = ""
    is_bot: bool = False
    deactivated: bool = False
    hides_forwards: bool = False  # forwards of theirs name them, but do not link to them

    def as_json(self) -> Json:
        optional = {
            "last_name": self.last_name,
            "username": self.username,
            "language_code": self.language_code,
        }
        return {
            "id": self.id,
            "is_bot": self.is_bot,
            "first_name": self.first_name,
            **{key: value for key, value in optional.items() if value},
        }


RIGHTS = (
    "can_be_edited",
    "is_anonymous",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
    "can_send_welcome_messages",
)
OUTSIDE = frozenset({"left", "kicked"})


@dataclass(slots=True)
class Member:
    """A person's standing in a group, or (status member/kicked) the bot's in a private chat."""

    user: User
    status: str = "member"  # creator, administrator, member, restricted, left, kicked
    rights: frozenset[str] = frozenset()

    @property
    def present(self) -> bool:
        return self.status not in OUTSIDE

    @property
    def is_admin(self) -> bool:
        return self.status in ("creator", "administrator")

    def can(self, right: str) -> bool:
        return self.status == "creator" or (self.is_admin and right in self.rights)

    def as_json(self) -> Json:
        answer: Json = {"user": self.user.as_json(), "status": self.status}
        if self.status == "administrator":
            answer |= {right: right in self.rights for right in RIGHTS}
        elif self.status == "creator":
            answer["is_anonymous"] = False
        elif self.status == "kicked":
            answer["until_date"] = 0
        return answer


@dataclass(slots=True)
class Topic:
    id: int  # message_id of its "created" line, as message_thread_id
    name: str
    icon_color: int
    icon_custom_emoji_id: str = ""
    closed: bool = False
    deleted: bool = False
    creator_id: int = 0


@dataclass(slots=True)
class Message:
    data: Json
    author_id: int
    kind: str  # the content's field name: text, photo, pinned_message, …
    service: bool = False
    reactions: dict[int, list[Json]] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)  # earlier texts, oldest first
    reply_keyboard: Json | None = None  # shown to people, but no part of the Bot API object

    @property
    def id(self) -> int:
        return int(self.data["message_id"])

    @property
    def text(self) -> str:
        return str(self.data.get("text") or self.data.get("caption") or "")


@dataclass(slots=True)
class Chat:
    id: int
    type: str  # private, group, supergroup
    title: str = ""
    user: User | None = None  # the other side of a private chat
    username: str = ""
    is_forum: bool = False
    members: dict[int, Member] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)  # what is still there, by id
    pinned: list[int] = field(default_factory=list)
    last_id: int = 0  # supergroups count for themselves
    migrated_to: int = 0
    deleted_ids: set[int] = field(default_factory=set)
    instance: str = ""  # chat_instance of callback queries
    _json: Json | None = None

    def as_json(self) -> Json:
        if self._json is None:
            self._json = self._described()
        return self._json

    def renamed(self) -> None:
        self._json = None

    def _described(self) -> Json:
        if self.user is not None:
            name = self.user.as_json()
            kept = ("first_name", "last_name", "username")
            return {"id": self.id, "type": "private", **{k: name[k] for k in kept if k in name}}
        answer: Json = {"id": self.id, "type": self.type, "title": self.title}
        if self.username:
            answer["username"] = self.username
        if self.is_forum:
            answer["is_forum"] = True
        return answer


@dataclass(frozen=True, slots=True)
class Seen:
    """One message as a person sees it now."""

    message_id: int
    author: str  # "bot" or "user:<id>"
    kind: str
    text: str
    entities: tuple[Json, ...]
    keyboard: tuple[tuple[Json, ...], ...]
    edited: bool
    service: bool
    date: int
    thread_id: int
    reply_to: int
    media_group_id: str
    reactions: tuple[Json, ...]

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


def seen(message: Message, bot_id: int) -> Seen:
    data = message.data
    markup = message.reply_keyboard or data.get("reply_markup") or {}
    rows = markup.get("inline_keyboard") or markup.get("keyboard") or []
    return Seen(
        message_id=message.id,
        author="bot" if message.author_id == bot_id else f"user:{message.author_id}",
        kind=message.kind,
        text=message.text,
        entities=tuple(data.get("entities") or data.get("caption_entities") or ()),
        keyboard=tuple(tuple(row) for row in rows),
        edited=bool(message.versions),
        service=message.service,
        date=int(data["date"]),
        thread_id=int(data.get("message_thread_id", 0)),
        reply_to=int(data.get("reply_to_message", {}).get("message_id", 0)),
        media_group_id=str(data.get("media_group_id", "")),
        reactions=tuple(r for given in message.reactions.values() for r in given),
    )
