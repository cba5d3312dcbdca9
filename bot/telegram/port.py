"""What the bot needs from Telegram. Adapter: sender.py (python-telegram-bot)."""

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


class Messenger(Protocol):
    """Contract: tests/adapters/test_sender.py.

    Every method raises RetryLater (nothing was sent; FloodWait for a 429), Blocked, Migrated,
    Refused, or Unknown (the request was written and no answer came).
    """

    async def send(self, chat_id: int, part: Part, *, reply_to: int = 0) -> int:
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

    async def copy(self, chat_id: int, from_chat_id: int, message_id: int) -> int:
        """Copy a message of any kind (no link to its author); return the copy's message_id."""
        ...

    async def show_typing(self, chat_id: int) -> None:
        """Best effort: shows "typing…" for about five seconds. Never raises."""
        ...

    async def answer_press(self, callback_id: str, text: str = "") -> None:
        """Best effort: stops the button's spinner. Never raises."""
        ...
