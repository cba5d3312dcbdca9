"""What the bot needs from Telegram. Adapter: sender.py (python-telegram-bot)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entity:
    """A formatted run, as the Bot API's MessageEntity: offset and length in UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str = ""
    language: str = ""
    custom_emoji_id: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    text: str
    data: str = ""  # callback_data, at most 64 bytes of UTF-8
    url: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One Telegram message: at most 4096 UTF-16 units after entities, never empty."""

    text: str
    entities: tuple[Entity, ...] = ()
    keyboard: tuple[tuple[Button, ...], ...] = ()


class EditOutcome(StrEnum):
    EDITED = "edited"  # it was ours and said something else
    NOT_MODIFIED = "not_modified"  # it is ours and says exactly this already
    NOT_FOUND = "not_found"  # no such message in this chat
    NOT_OURS = "not_ours"  # somebody else's message, or one that cannot be edited


@dataclass(frozen=True, slots=True)
class Manner:
    """How a message is put into its chat."""

    thread_id: int = 0  # the topic; 0: none, or General
    reply_to: int = 0  # message_id in the same chat; if it is gone the message is sent all the same
    silent: bool = False


PLAINLY = Manner()


class Messenger(Protocol):
    """Contract: tests/adapters/test_sender.py.

    Every method raises RetryLater (nothing was sent; FloodWait for a 429), Blocked, Migrated,
    TopicGone, TopicClosed, Refused, or Unknown (the request was written and no answer came).
    """

    async def send(self, chat_id: int, part: Part, manner: Manner = PLAINLY) -> int:
        """Send one message and return its message_id."""
        ...

    async def edit(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        """Make our message say `part`. The outcome is also the proof that it exists."""
        ...

    async def delete(self, chat_id: int, message_id: int) -> bool:
        """Remove our message. False if it was not there or is too old."""
        ...

    async def send_document(self, chat_id: int, name: str, content: bytes) -> int:
        """Send a file of at most 50 MB and return the message_id."""
        ...

    async def copy(
        self, chat_id: int, from_chat_id: int, message_id: int, manner: Manner = PLAINLY
    ) -> int:
        """Copy a message of any kind (no link to its author); return the copy's message_id."""
        ...

    async def show_typing(self, chat_id: int, thread_id: int = 0) -> None:
        """Best effort: shows "typing…" for about five seconds. Never raises."""
        ...

    async def answer_press(self, callback_id: str, text: str = "") -> None:
        """Best effort: stops the button's spinner. Never raises."""
        ...


class Relay(Protocol):
    """What passing messages on needs besides. Raises what Messenger raises.

    All but `copy_album` may be repeated. Contract: tests/adapters/test_sender.py.
    """

    async def copy_album(
        self, chat_id: int, from_chat_id: int, message_ids: Sequence[int], manner: Manner = PLAINLY
    ) -> tuple[int, ...]:
        """Copy messages so that an album stays one; ids of the copies, in order.

        What cannot be copied is left out. There is no reply (the Bot API has none here).
        """
        ...

    async def edit_caption(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        """Make the caption of our message say `part`; an empty text takes it away."""
        ...

    async def touch(self, chat_id: int, message_id: int) -> EditOutcome:
        """Take the buttons from our message. NOT_MODIFIED: it is ours and had none."""
        ...

    async def react(self, chat_id: int, message_id: int, emoji: str) -> None:
        """Put the bot's one reaction on a message; "" takes it away."""
        ...

    async def pin(self, chat_id: int, message_id: int) -> None:
        """Pin a message without a sound."""
        ...


class Forum(Protocol):
    """Topics of a group. Raises what Messenger raises; all but `open_topic` may be repeated.

    Contract: tests/adapters/test_forum.py.
    """

    async def open_topic(self, chat_id: int, name: str) -> int:
        """Open a topic and return its thread id."""
        ...

    async def rename_topic(self, chat_id: int, thread_id: int, name: str) -> bool:
        """Name a topic. False: it had that name already."""
        ...

    async def has_topic(self, chat_id: int, thread_id: int) -> bool:
        """Whether there is such a topic. Changes nothing."""
        ...

    async def reopen_topic(self, chat_id: int, thread_id: int) -> None:
        """Reopen a topic; nothing happens if it is open."""
        ...

    async def delete_topic(self, chat_id: int, thread_id: int) -> None:
        """Delete a topic and all that was said in it; nothing happens if it is gone."""
        ...
