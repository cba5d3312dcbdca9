"""What became of a request to Telegram: the library's exceptions as ours.

Rule 1: nothing was written to the network: RetryLater. Written, and no answer: Unknown. A clear
        no: Refused. https://core.telegram.org/bots/api#making-requests
Rule 2: no text of a message goes into an error.
"""

import re
from collections.abc import Awaitable
from typing import TypeVar

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)

from bot.errors import (
    Blocked,
    DabirError,
    FloodWait,
    Migrated,
    Refused,
    RetryLater,
    TopicClosed,
    TopicGone,
    Unknown,
)

T = TypeVar("T")

# UnsupportedProtocol and ProxyError (the proxy refused the tunnel) come before any request.
NOTHING_WRITTEN = (
    httpx.ConnectTimeout,
    httpx.ConnectError,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.ProxyError,
)
BAD_ENTITIES = ("can't parse entities", "entity_", "entities_", "entity is", "wrong entity")
GONE = ("user_is_blocked", "input_user_deactivated", "user is deactivated", "bot was blocked")
TOPIC_GONE = ("message thread not found", "topic_deleted", "topic_id_invalid")
TOPIC_CLOSED = ("topic_closed",)


class EntitiesRefused(Refused):
    """Telegram does not accept the formatting; the same text without entities may go through."""


def translate(error: TelegramError, *, repeatable: bool) -> DabirError:
    """Say what became of a request. `repeatable`: doing it twice is the same as once."""
    match error:
        case RetryAfter():
            seconds = error._retry_after.total_seconds()
            return FloodWait(f"Telegram asks to wait {seconds:g} s", delay_seconds=seconds)
        case ChatMigrated():
            return Migrated("the group became a supergroup", new_chat_id=error.new_chat_id)
        case Forbidden():
            return Blocked(_described(error))
        case InvalidToken():
            return Refused("Telegram does not accept the bot token; check TELEGRAM_BOT_TOKEN")
        case EndPointNotFound():
            return Refused("this Bot API server does not know the method")
        case Conflict():
            return RetryLater(_described(error), delay_seconds=5.0)
        case BadRequest():
            return _refusal(error)
        case NetworkError() if isinstance(error.__cause__, NOTHING_WRITTEN):
            return RetryLater(f"Telegram is not reached ({type(error.__cause__).__name__})")
        case NetworkError() if isinstance(error.__cause__, httpx.HTTPError):
            return Unknown(f"Telegram did not answer ({type(error.__cause__).__name__})")
    if repeatable:
        return RetryLater("Telegram's answer cannot be read")
    return Unknown("Telegram's answer cannot be read")


def _refusal(error: BadRequest) -> DabirError:
    if says(error, GONE):
        return Blocked(_described(error))
    if says(error, BAD_ENTITIES):
        return EntitiesRefused("Telegram does not accept the formatting")
    if says(error, TOPIC_GONE):
        return TopicGone("the topic is gone")
    if says(error, TOPIC_CLOSED):
        return TopicClosed("the topic is closed")
    return Refused(_described(error))


def says(error: TelegramError, phrases: tuple[str, ...]) -> bool:
    message = error.message.lower()
    return any(phrase in message for phrase in phrases)


def _described(error: TelegramError) -> str:
    """Telegram's description without its prefix, up to where it might quote something."""
    plain = re.sub(r"^(?:Bad Request|Forbidden|Conflict): ", "", error.message)
    return re.split('["“«\n:]', plain, maxsplit=1)[0][:100].strip() or "refused"


async def asked(request: Awaitable[T]) -> T:
    """Await a request that must not be made twice."""
    return await _await(request, repeatable=False)


async def repeatably(request: Awaitable[T]) -> T:
    """Await a request that may be made again: no answer means RetryLater, or Unknown."""
    return await _await(request, repeatable=True)


async def _await(request: Awaitable[T], *, repeatable: bool) -> T:
    try:
        return await request
    except TelegramError as error:
        raise translate(error, repeatable=repeatable) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        sentence = "Telegram's answer cannot be read"
        raise (RetryLater(sentence) if repeatable else Unknown(sentence)) from error
