"""Sends, edits and deletes through python-telegram-bot, and says what became of each request.

Rule 1: nothing was written to the network: RetryLater. Written, and no answer: Unknown. A clear
        no: Refused. https://core.telegram.org/bots/api#making-requests
Rule 2: an answer that is not Telegram's (a proxy's 502 page, broken JSON) proves nothing about a
        send; an edit or a delete may simply be repeated.
Rule 3: no text of a message goes into an error or a log line.
"""

import json
import os
import ssl
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar

import httpx
import structlog
import telegram
from telegram.constants import ChatAction
from telegram.error import (
    BadRequest,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)
from telegram.request import HTTPXRequest, RequestData

from bot.errors import (
    Misconfigured,
    RetryLater,
)
from bot.telegram.answers import asked, repeatably, says, translate
from bot.telegram.port import PLAINLY, Button, EditOutcome, Entity, Manner, Part

# Without it the library warns whenever it reads the seconds of a 429.
os.environ.setdefault("PTB_TIMEDELTA", "true")

log = structlog.get_logger(__name__)
T = TypeVar("T")

ANSWER_CHARACTERS = 200  # https://core.telegram.org/bots/api#answercallbackquery
NO_PREVIEW = telegram.LinkPreviewOptions(is_disabled=True)
# The pool looks at all of its connections for each request: many of them cost more than they bring.
CONNECTIONS = 32
CONNECT_SECONDS, READ_SECONDS, WRITE_SECONDS, POOL_SECONDS = 10.0, 20.0, 10.0, 10.0

TOO_MUCH = frozenset({405, 411, 413, 414, 415, 431})  # permanent, whoever answers them
NOT_MODIFIED = ("message is not modified", "message_not_modified")
NOT_FOUND = ("message to edit not found", "message_id_invalid", "message identifier is not")
NOT_OURS = (
    "message can't be edited",
    "message_author_required",
    "message_edit_time_expired",
    "there is no text in the message to edit",
)
NOT_THERE = (
    "message to delete not found",
    "message can't be deleted",
    "message_delete_forbidden",
    "message_id_invalid",
)


class _Request(HTTPXRequest):
    """Like its parent, but a broken answer is neither logged (it holds text) nor a KeyError."""

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = HTTPXRequest.DEFAULT_NONE,
        write_timeout: Any = HTTPXRequest.DEFAULT_NONE,
        connect_timeout: Any = HTTPXRequest.DEFAULT_NONE,
        pool_timeout: Any = HTTPXRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        code, payload = await super().do_request(
            url, method, request_data, read_timeout, write_timeout, connect_timeout, pool_timeout
        )
        if 400 <= code < 500:
            _raise_for(code, payload)
        return code, payload

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = _answer(payload)
        if answer is None or (answer.get("ok") and "result" not in answer):
            raise TelegramError("this is no answer of a Bot API")
        if not answer.get("ok") and "description" not in answer:
            raise TelegramError("this is no answer of a Bot API")
        return answer


def _answer(payload: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _raise_for(code: int, payload: bytes) -> None:
    """Raise for the refusals that the library would misread; leave the others to it."""
    answer = _answer(payload)
    if code == 429:
        raise RetryAfter(_retry_after(answer or {}))
    if code in TOO_MUCH:
        raise BadRequest(f"HTTP {code}")
    if answer is None or "description" not in answer:
        # A proxy or a sign-in page on the way: it did not pass the request on. The library would
        # take its 403 for a user who blocked the bot.
        stranger = httpx.ProxyError(f"HTTP {code}, not from Telegram")
        raise NetworkError("answered by something on the way to Telegram") from stranger
    if code not in (400, 401, 403, 404, 409):
        raise BadRequest(str(answer["description"]))


def _retry_after(answer: dict[str, Any]) -> timedelta:
    """What a 429 asks for; 5 s if it does not say (a proxy's page)."""
    parameters = answer.get("parameters")
    seconds = parameters.get("retry_after") if isinstance(parameters, dict) else None
    if not isinstance(seconds, int | float) or not 0 < seconds < 10**8:
        seconds = 5
    return timedelta(seconds=seconds)


def build_bot(
    token: str, base_url: str, *, proxy: str | None = None, connections: int = CONNECTIONS
) -> telegram.Bot:
    """Build the library's bot for the Bot API server at `base_url` (TELEGRAM_API_URL).

    Polling has its own connection, so that a long poll never holds a send up.
    Raises Misconfigured if the token, the address or the proxy cannot be used at all.
    """
    root = base_url.rstrip("/")
    try:
        return telegram.Bot(
            token,
            base_url=f"{root}/bot",
            base_file_url=f"{root}/file/bot",
            request=_request(proxy, connections),
            get_updates_request=_request(proxy, 1),
        )
    except InvalidToken as error:
        raise Misconfigured(
            "TELEGRAM_BOT_TOKEN is no bot token; use the one from @BotFather.",
            setting="TELEGRAM_BOT_TOKEN",
        ) from error
    except (RuntimeError, ValueError, httpx.InvalidURL) as error:
        raise Misconfigured(
            "TELEGRAM_PROXY cannot be used; use http://host:port.", setting="TELEGRAM_PROXY"
        ) from error


def _request(proxy: str | None, connections: int) -> HTTPXRequest:
    return _Request(
        connection_pool_size=connections,
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        write_timeout=WRITE_SECONDS,
        pool_timeout=POOL_SECONDS,
        proxy=proxy or None,
        httpx_kwargs={"verify": _certificates()},
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes a tenth of a second, so all connections share them."""
    return httpx.create_ssl_context()


class TelegramMessenger:
    """The Messenger port over the library's bot. Link previews are off: a preview that is added
    later would make an edit that changes nothing look like a change."""

    def __init__(self, bot: telegram.Bot) -> None:
        self._bot = bot

    async def send(self, chat_id: int, part: Part, manner: Manner = PLAINLY) -> int:
        sent = await asked(
            self._bot.send_message(
                chat_id,
                part.text,
                entities=_entities(part.entities),
                reply_markup=_markup(part.keyboard),
                link_preview_options=NO_PREVIEW,
                reply_parameters=_reply(manner.reply_to),
                message_thread_id=manner.thread_id or None,
                disable_notification=manner.silent or None,
            )
        )
        return sent.message_id

    async def send_document(self, chat_id: int, name: str, content: bytes) -> int:
        file = telegram.InputFile(content, filename=name)
        sent = await asked(self._bot.send_document(chat_id, file))
        return sent.message_id

    async def edit(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        return await _edited(
            self._bot.edit_message_text(
                part.text,
                chat_id,
                message_id,
                entities=_entities(part.entities),
                reply_markup=_markup(part.keyboard),
                link_preview_options=NO_PREVIEW,
            )
        )

    async def delete(self, chat_id: int, message_id: int) -> bool:
        try:
            return bool(await self._bot.delete_message(chat_id, message_id))
        except TelegramError as error:
            if isinstance(error, BadRequest) and says(error, NOT_THERE):
                return False
            raise translate(error, repeatable=True) from error

    async def copy(
        self, chat_id: int, from_chat_id: int, message_id: int, manner: Manner = PLAINLY
    ) -> int:
        copied = await asked(
            self._bot.copy_message(
                chat_id,
                from_chat_id,
                message_id,
                reply_parameters=_reply(manner.reply_to),
                message_thread_id=manner.thread_id or None,
                disable_notification=manner.silent or None,
            )
        )
        return copied.message_id

    async def copy_album(
        self, chat_id: int, from_chat_id: int, message_ids: Sequence[int], manner: Manner = PLAINLY
    ) -> tuple[int, ...]:
        copied = await asked(
            self._bot.copy_messages(
                chat_id,
                from_chat_id,
                sorted(message_ids),
                message_thread_id=manner.thread_id or None,
                disable_notification=manner.silent or None,
            )
        )
        return tuple(each.message_id for each in copied)

    async def edit_caption(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        return await _edited(
            self._bot.edit_message_caption(
                chat_id,
                message_id,
                caption=part.text,
                caption_entities=_entities(part.entities),
                reply_markup=_markup(part.keyboard),
            )
        )

    async def touch(self, chat_id: int, message_id: int) -> EditOutcome:
        return await _edited(self._bot.edit_message_reply_markup(chat_id, message_id))

    async def react(self, chat_id: int, message_id: int, emoji: str) -> None:
        await repeatably(self._bot.set_message_reaction(chat_id, message_id, emoji or None))

    async def pin(self, chat_id: int, message_id: int) -> None:
        await repeatably(self._bot.pin_chat_message(chat_id, message_id, disable_notification=True))

    async def show_typing(self, chat_id: int, thread_id: int = 0) -> None:
        try:
            await self._bot.send_chat_action(
                chat_id, ChatAction.TYPING, message_thread_id=thread_id or None
            )
        except TelegramError as error:
            log.debug("typing_not_shown", chat_id=chat_id, error=type(error).__name__)

    async def answer_press(self, callback_id: str, text: str = "") -> None:
        try:
            await self._bot.answer_callback_query(callback_id, text[:ANSWER_CHARACTERS] or None)
        except TelegramError as error:
            log.debug("press_not_answered", error=type(error).__name__)


async def _edited(request: Awaitable[object]) -> EditOutcome:
    try:
        await request
    except TelegramError as error:
        outcome = _edit_outcome(error) if isinstance(error, BadRequest) else None
        if outcome is None:
            raise translate(error, repeatable=True) from error
        return outcome
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RetryLater("Telegram's answer cannot be read") from error
    return EditOutcome.EDITED


def _edit_outcome(error: BadRequest) -> EditOutcome | None:
    if says(error, NOT_MODIFIED):
        return EditOutcome.NOT_MODIFIED
    if says(error, NOT_FOUND):
        return EditOutcome.NOT_FOUND
    if says(error, NOT_OURS):
        return EditOutcome.NOT_OURS
    return None


def _entities(entities: tuple[Entity, ...]) -> list[telegram.MessageEntity] | None:
    if not entities:
        return None
    return [
        telegram.MessageEntity(
            entity.type,
            entity.offset,
            entity.length,
            url=entity.url or None,
            language=entity.language or None,
            custom_emoji_id=entity.custom_emoji_id or None,
        )
        for entity in entities
    ]


def _markup(
    keyboard: tuple[tuple[Button, ...], ...],
) -> telegram.InlineKeyboardMarkup | None:
    if not keyboard:
        return None
    return telegram.InlineKeyboardMarkup(
        [
            [
                telegram.InlineKeyboardButton(
                    button.text, url=button.url or None, callback_data=button.data or None
                )
                for button in row
            ]
            for row in keyboard
        ]
    )


def _reply(message_id: int) -> telegram.ReplyParameters | None:
    if not message_id:
        return None
    return telegram.ReplyParameters(message_id, allow_sending_without_reply=True)
