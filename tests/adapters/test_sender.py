"""Every answer and every failure of the Bot API becomes exactly one of ours.

A loopback server says what it is told to say; python-telegram-bot and httpx are the real ones.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import aiogram.methods
import httpx
import pytest
import telegram.error
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    PassportDecryptionError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from bot.errors import (
    Blocked,
    DabirError,
    FloodWait,
    Migrated,
    Misconfigured,
    Refused,
    RetryLater,
    TopicClosed,
    TopicGone,
    Unknown,
)
from bot.telegram.answers import EntitiesRefused, translate
from bot.telegram.port import Button, EditOutcome, Entity, Manner, Part
from bot.telegram.sender import TelegramMessenger, build_bot

TOKEN = "123456:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
PART = Part(
    "bold link",
    (Entity("bold", 0, 4), Entity("text_link", 5, 4, url="https://a.b/")),
    ((Button("Go", "v1:start"), Button("See", url="https://a.b/")),),
)
SENT = {"ok": True, "result": {"message_id": 42, "date": 1, "chat": {"id": 7, "type": "private"}}}
SECRET = "a private sentence"


@dataclass
class Script:
    """What the server answers: a status and a body, or None to hang up after reading."""

    status: int = 200
    body: Any = field(default_factory=lambda: SENT)
    hang_up: bool = False
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(head.lower().split("content-length:")[1].split()[0])
            form = parse_qs((await reader.readexactly(length)).decode(), strict_parsing=False)
            method = head.split()[1].rsplit("/", 1)[1]
            self.requests.append((method, {name: values[0] for name, values in form.items()}))
            if not self.hang_up:
                text = self.body if isinstance(self.body, str) else json.dumps(self.body)
                payload = text.encode()
                start = f"HTTP/1.1 {self.status} X\r\nContent-Length: {len(payload)}\r\n"
                writer.write(f"{start}Connection: close\r\n\r\n".encode() + payload)
                await writer.drain()
        finally:
            writer.close()

    @asynccontextmanager
    async def messenger(self) -> AsyncIterator[TelegramMessenger]:
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        bot = build_bot(TOKEN, f"http://127.0.0.1:{port}/")
        try:
            yield TelegramMessenger(bot)
        finally:
            await bot.shutdown()
            await bot.request.shutdown()
            server.close()
            await server.wait_closed()


def refusal(code: int, description: str, **parameters: Any) -> Script:
    body: dict[str, Any] = {"ok": False, "error_code": code, "description": description}
    if parameters:
        body["parameters"] = parameters
    return Script(code, body)


Call = Callable[[TelegramMessenger], Awaitable[Any]]


def send(messenger: TelegramMessenger) -> Awaitable[int]:
    return messenger.send(7, Part(SECRET))


def copy(messenger: TelegramMessenger) -> Awaitable[int]:
    return messenger.copy(7, 8, 9)


def copy_album(messenger: TelegramMessenger) -> Awaitable[tuple[int, ...]]:
    return messenger.copy_album(7, 8, (9, 10))


def edit_caption(messenger: TelegramMessenger) -> Awaitable[EditOutcome]:
    return messenger.edit_caption(7, 42, Part(SECRET))


def touch(messenger: TelegramMessenger) -> Awaitable[EditOutcome]:
    return messenger.touch(7, 42)


def react(messenger: TelegramMessenger) -> Awaitable[None]:
    return messenger.react(7, 42, "👍")


def pin(messenger: TelegramMessenger) -> Awaitable[None]:
    return messenger.pin(7, 42)


def edit(messenger: TelegramMessenger) -> Awaitable[EditOutcome]:
    return messenger.edit(7, 42, Part(SECRET))


def delete(messenger: TelegramMessenger) -> Awaitable[bool]:
    return messenger.delete(7, 42)


CALLS: list[Call] = [send, copy, copy_album, edit, edit_caption, touch, react, pin, delete]
ONCE_ONLY: list[Call] = [send, copy, copy_album]
REPEATABLE: list[Call] = [edit, edit_caption, touch, react, pin, delete]


async def error_of(script: Script, call: Call) -> DabirError:
    async with script.messenger() as messenger:
        with pytest.raises(DabirError) as caught:
            await call(messenger)
    assert SECRET not in str(caught.value)
    assert TOKEN not in str(caught.value)
    return caught.value


# --- requests ---


def judged(method: str, form: dict[str, str]) -> Any:
    """Parse a request by aiogram's model of the method; it must know every parameter."""
    model = getattr(aiogram.methods, method[0].upper() + method[1:])
    params = {name: _parsed(value) for name, value in form.items()}
    assert set(params) <= set(model.model_fields)
    return model.model_validate(params)


def _parsed(value: str) -> Any:
    return json.loads(value) if value[:1] in "[{" or value in ("true", "false") else value


async def test_a_message_goes_out_whole() -> None:
    script = Script()
    async with script.messenger() as messenger:
        assert await messenger.send(7, PART, Manner(reply_to=3)) == 42
    ((method, form),) = script.requests
    sent = judged(method, form)
    assert (method, sent.text) == ("sendMessage", PART.text)
    assert "parse_mode" not in form
    assert [(e.type, e.offset, e.length, e.url) for e in sent.entities] == [
        ("bold", 0, 4, None),
        ("text_link", 5, 4, "https://a.b/"),
    ]
    (row,) = sent.reply_markup.inline_keyboard
    assert [(b.text, b.callback_data, b.url) for b in row] == [
        ("Go", "v1:start", None),
        ("See", None, "https://a.b/"),
    ]
    assert sent.link_preview_options.is_disabled
    assert (
        sent.reply_parameters.message_id,
        sent.reply_parameters.allow_sending_without_reply,
    ) == (
        3,
        True,
    )


async def test_an_edit_carries_what_the_send_carried() -> None:
    script = Script()
    async with script.messenger() as messenger:
        await messenger.send(7, PART)
        assert await messenger.edit(7, 42, PART) is EditOutcome.EDITED
    (_, sent), (method, edited) = script.requests
    assert judged(method, edited).message_id == 42
    assert {k: v for k, v in edited.items() if k != "message_id"} == sent


async def test_the_other_methods_say_what_they_should() -> None:
    script = Script(body={"ok": True, "result": True})
    async with script.messenger() as messenger:
        assert await messenger.delete(7, 42)
        await messenger.show_typing(7)
        await messenger.answer_press("99", "é" * 300)
        script.body = {"ok": True, "result": {"message_id": 43}}
        assert await messenger.copy(7, 8, 9) == 43
    for method, form in script.requests:
        judged(method, form)
    assert [method for method, _ in script.requests] == [
        "deleteMessage",
        "sendChatAction",
        "answerCallbackQuery",
        "copyMessage",
    ]
    assert len(script.requests[2][1]["text"]) == 200


# --- what Telegram answers ---


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (refusal(429, "Too Many Requests: retry after 17", retry_after=17), FloodWait),
        (refusal(403, "Forbidden: bot was blocked by the user"), Blocked),
        (refusal(403, "Forbidden: user is deactivated"), Blocked),
        (refusal(400, "Bad Request: USER_IS_BLOCKED"), Blocked),
        (refusal(400, "Bad Request: upgraded", migrate_to_chat_id=-1007), Migrated),
        (refusal(400, "Bad Request: chat not found"), Refused),
        (refusal(400, f'Bad Request: strange "{SECRET}"'), Refused),
        (refusal(400, f"Bad Request: no such thing: {SECRET}"), Refused),
        (refusal(400, "Bad Request: can't parse entities: x"), EntitiesRefused),
        (refusal(400, "Bad Request: ENTITY_BOUNDS_INVALID"), EntitiesRefused),
        (refusal(400, "Bad Request: message thread not found"), TopicGone),
        (refusal(400, "Bad Request: TOPIC_DELETED"), TopicGone),
        (refusal(400, "Bad Request: TOPIC_ID_INVALID"), TopicGone),
        (refusal(400, "Bad Request: TOPIC_CLOSED"), TopicClosed),
        (refusal(401, "Unauthorized"), Refused),
        (refusal(404, "Not Found"), Refused),
        (refusal(406, "Not Acceptable"), Refused),
        (refusal(409, "Conflict: terminated by other getUpdates request"), RetryLater),
        (Script(413, "<html>"), Refused),
        (Script(429, "<html>"), FloodWait),
        (Script(403, "<html>Access denied by your company</html>"), RetryLater),
        (Script(400, "<html>"), RetryLater),
        (Script(407, ""), RetryLater),
    ],
)
async def test_each_refusal_has_its_error(
    script: Script, expected: type[DabirError], call: Call
) -> None:
    error = await error_of(script, call)
    assert type(error) is expected
    if isinstance(error, Migrated):
        assert error.new_chat_id == -1007
    if isinstance(error, FloodWait):
        assert error.delay_seconds in (17, 5)


BROKEN = [
    Script(500, {"ok": False, "error_code": 500, "description": "Internal Server Error"}),
    Script(502, "<html>Bad Gateway</html>"),
    Script(504, ""),
    Script(302, ""),
    Script(200, "<html>Welcome to the hotel</html>"),
    Script(200, f'{{"ok": true, "text": "{SECRET}'),
    Script(200, "[]"),
    Script(200, {"ok": True}),
    Script(200, {"hello": 1}),
]


@pytest.mark.parametrize("script", BROKEN)
@pytest.mark.parametrize("call", ONCE_ONLY)
async def test_an_answer_that_proves_nothing_leaves_a_send_unknown(
    script: Script, call: Call
) -> None:
    assert type(await error_of(script, call)) is Unknown


@pytest.mark.parametrize("script", BROKEN)
@pytest.mark.parametrize("call", REPEATABLE)
async def test_after_an_answer_that_proves_nothing_an_edit_is_repeated(
    script: Script, call: Call
) -> None:
    assert type(await error_of(script, call)) is RetryLater


@pytest.mark.parametrize("result", ["text", [1], {"message_id": "x", "chat": 1}, {}])
async def test_a_result_of_another_shape_leaves_a_send_unknown(result: Any) -> None:
    assert type(await error_of(Script(200, {"ok": True, "result": result}), send)) is Unknown


async def test_a_broken_answer_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await error_of(Script(200, f'{{"ok": true, "text": "{SECRET}'), send)
        await error_of(Script(502, SECRET), send)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("call", CALLS)
async def test_a_connection_that_ends_after_the_request_is_unknown(call: Call) -> None:
    script = Script(hang_up=True)
    assert type(await error_of(script, call)) is Unknown
    assert len(script.requests) == 1


async def test_a_refused_connection_is_retried_later() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    bot = build_bot(TOKEN, f"http://127.0.0.1:{port}")
    for call in CALLS:
        with pytest.raises(RetryLater):
            await call(TelegramMessenger(bot))


@pytest.mark.parametrize(
    ("description", "outcome"),
    [
        ("Bad Request: message is not modified: specified new message content and reply markup are "
         "exactly the same as a current content and reply markup of the message",
         EditOutcome.NOT_MODIFIED),
        ("Bad Request: MESSAGE_NOT_MODIFIED", EditOutcome.NOT_MODIFIED),
        ("Bad Request: message to edit not found", EditOutcome.NOT_FOUND),
        ("Bad Request: MESSAGE_ID_INVALID", EditOutcome.NOT_FOUND),
        ("Bad Request: message can't be edited", EditOutcome.NOT_OURS),
        ("Bad Request: MESSAGE_AUTHOR_REQUIRED", EditOutcome.NOT_OURS),
        ("Bad Request: there is no text in the message to edit", EditOutcome.NOT_OURS),
    ],
)  # fmt: skip
async def test_an_edit_tells_what_it_met(description: str, outcome: EditOutcome) -> None:
    async with refusal(400, description).messenger() as messenger:
        assert await messenger.edit(7, 42, PART) is outcome


@pytest.mark.parametrize(
    "description",
    ["Bad Request: message to delete not found", "Bad Request: message can't be deleted",
     "Bad Request: message can't be deleted for everyone", "Bad Request: MESSAGE_ID_INVALID"],
)  # fmt: skip
async def test_a_message_that_cannot_be_deleted_is_no_error(description: str) -> None:
    async with refusal(400, description).messenger() as messenger:
        assert not await messenger.delete(7, 42)


@pytest.mark.parametrize(
    "script",
    [refusal(400, "Bad Request: query is too old"), refusal(403, "Forbidden: x"),
     refusal(429, "x", retry_after=9), Script(502, "<html>"), Script(hang_up=True)],
)  # fmt: skip
async def test_courtesies_never_raise(script: Script) -> None:
    async with script.messenger() as messenger:
        await messenger.show_typing(7)
        await messenger.answer_press("9", "text")
    assert len(script.requests) == 2


# --- the library's errors, all of them ---


def caused(error: TelegramError, cause: Exception | None) -> TelegramError:
    error.__cause__ = cause
    return error


HTTPX: dict[type[httpx.HTTPError], type[DabirError]] = {
    httpx.ConnectTimeout: RetryLater,
    httpx.ConnectError: RetryLater,
    httpx.PoolTimeout: RetryLater,
    httpx.UnsupportedProtocol: RetryLater,
    httpx.ProxyError: RetryLater,
    httpx.ReadTimeout: Unknown,
    httpx.WriteTimeout: Unknown,
    httpx.ReadError: Unknown,
    httpx.WriteError: Unknown,
    httpx.CloseError: Unknown,
    httpx.RemoteProtocolError: Unknown,
    httpx.LocalProtocolError: Unknown,
    httpx.DecodingError: Unknown,
    httpx.TooManyRedirects: Unknown,
}


def leaves(base: type[Any]) -> set[type[Any]]:
    below = base.__subclasses__()
    return {base} if not below else set().union(*map(leaves, below))


def test_every_httpx_error_is_listed() -> None:
    ours = {each for each in leaves(httpx.TransportError) if each.__module__.startswith("httpx")}
    assert ours <= set(HTTPX)


@pytest.mark.parametrize("cause", HTTPX)
@pytest.mark.parametrize("repeatable", [True, False])
@pytest.mark.parametrize("library_error", [TimedOut, NetworkError])
def test_the_cause_decides_about_a_network_error(
    library_error: type[NetworkError], cause: type[httpx.HTTPError], repeatable: bool
) -> None:
    error = caused(library_error(f"httpx: {TOKEN}"), cause(TOKEN))
    ours = translate(error, repeatable=repeatable)
    assert type(ours) is HTTPX[cause]
    assert TOKEN not in str(ours)


def test_a_time_out_without_a_known_cause_is_unknown_for_a_send() -> None:
    assert type(translate(TimedOut(), repeatable=False)) is Unknown
    assert type(translate(NetworkError("x"), repeatable=False)) is Unknown
    assert type(translate(NetworkError("x"), repeatable=True)) is RetryLater


LIBRARY: dict[type[TelegramError], tuple[TelegramError, type[DabirError]]] = {
    TelegramError: (TelegramError("x"), Unknown),
    BadRequest: (BadRequest("x"), Refused),
    ChatMigrated: (ChatMigrated(-1), Migrated),
    Conflict: (Conflict("x"), RetryLater),
    EndPointNotFound: (EndPointNotFound("x"), Refused),
    Forbidden: (Forbidden("x"), Blocked),
    InvalidToken: (InvalidToken(), Refused),
    NetworkError: (NetworkError("x"), Unknown),
    PassportDecryptionError: (PassportDecryptionError("x"), Unknown),
    RetryAfter: (RetryAfter(9), FloodWait),
    TimedOut: (TimedOut(), Unknown),
}


def test_every_error_of_the_library_is_listed() -> None:
    known = {e for e in vars(telegram.error).values() if isinstance(e, type)}
    assert {e for e in known if issubclass(e, TelegramError)} == set(LIBRARY)


@pytest.mark.parametrize("name", LIBRARY, ids=lambda each: each.__name__)
def test_each_error_of_the_library_has_ours(name: type[TelegramError]) -> None:
    error, expected = LIBRARY[name]
    assert type(translate(error, repeatable=False)) is expected


# --- building ---


def test_a_bot_that_cannot_be_built_names_the_setting() -> None:
    with pytest.raises(Misconfigured) as caught:
        build_bot("", "https://api.telegram.org")
    assert caught.value.setting == "TELEGRAM_BOT_TOKEN"
    for proxy in ("socks9://x", "://", "socks5://127.0.0.1:1"):
        with pytest.raises(Misconfigured) as caught:
            build_bot(TOKEN, "https://api.telegram.org", proxy=proxy)
        assert caught.value.setting == "TELEGRAM_PROXY"


def test_the_address_is_taken_with_and_without_a_slash() -> None:
    for url in ("http://127.0.0.1:8081", "http://127.0.0.1:8081/"):
        bot = build_bot(TOKEN, url)
        assert bot.base_url == f"http://127.0.0.1:8081/bot{TOKEN}"
        assert bot.base_file_url == f"http://127.0.0.1:8081/file/bot{TOKEN}"
