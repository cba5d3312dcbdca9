"""The state of the lab's Telegram: one bot, the people and groups around it, and what was said.

Everything is in memory and belongs to one event loop. Nothing here knows about HTTP. What people
do is in talk.py and groups.py, what the bot may ask for is in methods/.
"""

import asyncio
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bot.lab.botapi.faults import FaultBoard
from bot.lab.botapi.journal import Call, Journal
from bot.lab.botapi.limits import FloodLimits
from bot.lab.botapi.records import Chat, Json, Member, Message, Seen, Topic, User, seen
from bot.lab.botapi.refusals import bad_request, forbidden
from bot.lab.botapi.updates import UpdateQueue
from bot.lab.botapi.webhook import Webhook, WebhookCourier

T = TypeVar("T")

LAB_TOKEN = "7000000001:LAB-token-that-opens-nothing-anywhere"  # noqa: S105 (a token of the lab)
CALLBACK_SECONDS = 15.0  # after that the query is too old to be answered


@dataclass(frozen=True, slots=True)
class ChatAction:
    chat_id: int
    action: str
    thread_id: int
    at: float


@dataclass(frozen=True, slots=True)
class Draft:
    draft_id: int
    text: str
    at: float


@dataclass(slots=True)
class Press:
    """A callback query and what the person who pressed got to see."""

    id: str
    user_id: int
    chat_id: int
    message_id: int
    data: str
    at: float
    answered: bool = False
    text: str = ""
    alert: bool = False


@dataclass(slots=True)
class StoredFile:
    file_id: str
    unique_id: str
    path: str
    data: bytes


@dataclass(slots=True)
class Hooks:
    """Listeners for judges and pages; they must not raise."""

    on_request: list[Callable[[str, Json], None]] = field(default_factory=list)
    on_update: list[Callable[[Json], None]] = field(default_factory=list)
    on_answer: list[Callable[[Call], None]] = field(default_factory=list)


class World:
    def __init__(
        self,
        token: str = LAB_TOKEN,
        *,
        username: str = "dabir_lab_bot",
        first_name: str = "Dabir",
        clock: Callable[[], float] = time.time,
        limits: bool = False,
        journal_cap: int | None = None,
        reads_all_group_messages: bool = False,
        admins_write_in_closed_topics: bool = True,
    ) -> None:
        self.token = token
        self.clock = clock
        self.reads_all_group_messages = reads_all_group_messages
        self.admins_write_in_closed_topics = admins_write_in_closed_topics
        self.bot = User(int(token.partition(":")[0]), first_name, username=username, is_bot=True)
        self.users: dict[int, User] = {self.bot.id: self.bot}
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, StoredFile] = {}
        self.actions: list[ChatAction] = []
        self.drafts: dict[int, Draft] = {}
        self.presses: dict[str, Press] = {}
        self.commands: dict[tuple[str, str], list[Json]] = {}
        self.profile: dict[str, str] = {}
        self.hooks = Hooks()
        self.journal = Journal(clock, journal_cap)
        self.faults = FaultBoard()
        self.limits = FloodLimits(clock) if limits else None
        self.updates = UpdateQueue(clock, self._update_queued, self.changed)
        self.webhook = Webhook()
        self.courier = WebhookCourier(self.updates, clock, self.changed)
        self.version = 0  # grows with everything that happens
        self.closing = asyncio.Event()  # open long polls and stalls end when it is set
        self._waiters: set[asyncio.Future[None]] = set()
        self._private_id = 0  # private chats and basic groups share one sequence per account
        self.numbers = itertools.count(1)

    # Time and waiting

    @property
    def now(self) -> int:
        return int(self.clock())

    def changed(self) -> None:
        """Tell everyone who waits that something happened."""
        self.version += 1
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _update_queued(self, update: Json) -> None:
        for listener in self.hooks.on_update:
            listener(update)
        self.changed()

    async def wait_for(self, wanted: Callable[[], T], timeout: float = 10.0) -> T:
        """Return `wanted()` as soon as it is truthy. Raises TimeoutError that says what came last.

        Woken by every change; nothing is polled.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while not (answer := wanted()):
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.add(waiter)
            try:
                async with asyncio.timeout_at(deadline):
                    await waiter
            except TimeoutError:
                raise TimeoutError(f"not within {timeout} s; {self._last_calls()}") from None
            finally:
                self._waiters.discard(waiter)
        return answer

    def _last_calls(self) -> str:
        last = list(self.journal)[-5:]
        return "last calls: " + ", ".join(f"{c.method} {c.status} {c.fate}" for c in last)

    async def aclose(self) -> None:
        """End open polls and stalls, and stop the webhook's deliveries."""
        self.closing.set()
        await self.courier.aclose()
        self.changed()

    # What people see

    def messages(self, chat_id: int, *, thread_id: int | None = None) -> list[Seen]:
        """What is in a chat now, oldest first: edits applied, deleted messages gone."""
        chat = self.chats.get(chat_id)
        all_seen = [seen(m, self.bot.id) for m in chat.messages.values()] if chat else []
        return [s for s in all_seen if thread_id is None or s.thread_id == thread_id]

    def bot_texts(self, chat_id: int) -> list[str]:
        """The texts of the bot's messages in a chat, oldest first."""
        return [s.text for s in self.messages(chat_id) if s.author == "bot" and not s.service]

    def message(self, chat_id: int, message_id: int) -> Message:
        """Raises KeyError if it is not there."""
        return self.chats[chat_id].messages[message_id]

    # Chats as the bot finds them

    def chat_for_bot(self, raw: Any) -> Chat:
        """The chat a request names. Raises Refusal as Telegram does for one out of reach."""
        if raw in (None, ""):
            raise bad_request("chat_id is empty")
        chat = self._named(str(raw))
        if chat.migrated_to:
            raise bad_request(
                "group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to
            )
        if chat.type == "private":
            return chat
        mine = chat.members.get(self.bot.id)
        if mine is None or mine.status == "left":
            raise forbidden(f"bot is not a member of the {chat.type} chat")
        if mine.status == "kicked":
            raise forbidden(f"bot was kicked from the {chat.type} chat")
        return chat

    def _named(self, name: str) -> Chat:
        if name.startswith("@"):
            for chat in self.chats.values():
                if chat.username and chat.username.lower() == name[1:].lower():
                    return chat
            raise bad_request("chat not found")
        try:
            number = int(name)
        except ValueError:
            raise bad_request("chat not found") from None
        if number in self.chats:
            return self.chats[number]
        if self._met(number):
            raise forbidden("bot can't initiate conversation with a user")
        raise bad_request("chat not found")

    def _met(self, user_id: int) -> bool:
        return any(
            user_id in chat.members and self.bot.id in chat.members
            for chat in self.chats.values()
            if chat.type != "private"
        )

    def chat_to_write(self, raw: Any) -> Chat:
        """Like chat_for_bot, and the other side must still want to hear from the bot."""
        chat = self.chat_for_bot(raw)
        if chat.user is not None:
            if chat.user.deactivated:
                raise forbidden("user is deactivated")
            if not chat.members[self.bot.id].present:
                raise forbidden("bot was blocked by the user")
        return chat

    def bot_in(self, chat: Chat) -> Member:
        return chat.members.get(self.bot.id) or Member(self.bot, "left")

    # Posting

    def next_id(self, chat: Chat) -> int:
        if chat.type == "supergroup":
            chat.last_id += 1
            return chat.last_id
        self._private_id += 1
        return self._private_id

    def post(
        self,
        chat: Chat,
        author: User,
        content: Json,
        *,
        thread_id: int = 0,
        reply_to: Message | None = None,
        service: bool = False,
        extra: Json | None = None,
    ) -> Message:
        """Add a message. The first key of `content` is its kind."""
        data: Json = {
            "message_id": self.next_id(chat),
            "from": author.as_json(),
            "chat": chat.as_json(),
            "date": self.now,
        }
        topic = chat.topics.get(thread_id)
        if thread_id:
            data["message_thread_id"] = thread_id
            if topic is not None:
                data["is_topic_message"] = True
        if reply_to is None and topic is not None:
            reply_to = chat.messages.get(topic.id)  # as in a real forum: the topic's first line
        if reply_to is not None:
            inner = reply_to.data
            data["reply_to_message"] = {k: inner[k] for k in inner if k != "reply_to_message"}
        data |= extra or {}
        data |= content
        message = Message(data, author.id, next(iter(content)), service)
        chat.messages[message.id] = message
        self.changed()
        return message

    def post_service(
        self, chat: Chat, author: User, content: Json, *, thread_id: int = 0
    ) -> Message:
        """Add a line such as "… pinned a message". Bots hear these, their own included."""
        message = self.post(chat, author, content, thread_id=thread_id, service=True)
        if self.bot_in(chat).present:
            self.updates.put("message", message.data)
        return message

    def revise(self, message: Message, changes: Json, *, gone: tuple[str, ...] = ()) -> None:
        """Edit a message: a new Bot API object takes the place of the old one."""
        before = message.text
        data = {key: value for key, value in message.data.items() if key not in gone}
        data |= changes
        data["edit_date"] = self.now
        message.data = data
        if message.text != before:
            message.versions.append(before)
        self.changed()

    def remove(self, chat: Chat, message_id: int) -> None:
        del chat.messages[message_id]
        chat.deleted_ids.add(message_id)
        if message_id in chat.pinned:
            chat.pinned.remove(message_id)
        self.changed()

    def open_topic(
        self, chat: Chat, author: User, name: str, icon_color: int = 0x6FB9F0, icon: str = ""
    ) -> Topic:
        created: Json = {"name": name, "icon_color": icon_color}
        if icon:
            created["icon_custom_emoji_id"] = icon
        topic = Topic(chat.last_id + 1, name, icon_color, icon, creator_id=author.id)
        chat.topics[topic.id] = topic
        self.post_service(chat, author, {"forum_topic_created": created}, thread_id=topic.id)
        return topic

    def store_file(self, data: bytes, folder: str, suffix: str = "") -> StoredFile:
        number = next(self.numbers)
        stored = StoredFile(
            f"lab-file-{number}", f"lab{number}", f"{folder}/file_{number}{suffix}", data
        )
        self.files[stored.file_id] = stored
        return stored

    def hear(self, update_kind: str, payload: Json) -> int | None:
        """Queue any update, also of a kind the lab does not play (business_message, …)."""
        return self.updates.put(update_kind, payload)
