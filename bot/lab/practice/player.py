"""Puts a reply on the wire, token by token if asked, with the fault it was given."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from starlette.types import Receive, Scope, Send

from bot.lab.practice.scripts import Fault, Reply
from bot.lab.practice.wire import error, event
from bot.lab.serve import cut_connection

PAGE = b"<!doctype html><html><title>Welcome</title><body>This is no API.</body></html>"
BROKEN = b'data: {"id": "practice", "choices": [{"delta": {"content": "hal\n\n'


class Ending(StrEnum):
    """How a request ended, for the journal."""

    RUNNING = "running"
    FINISHED = "finished"
    FAULT = "fault"  # we ended it as the script said
    GONE = "gone"  # the client hung up first


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of the body, after how many seconds, and whether it counts as a token."""

    data: bytes
    wait_seconds: float = 0.0


class _Cut(Exception):
    """The script cuts the connection here."""


class Played:
    """An ASGI response. `before` is awaited first: the gate a test holds generation with."""

    def __init__(
        self,
        reply: Reply,
        parts: Iterable[Any],
        *,
        streamed: bool,
        before: Callable[[], Awaitable[None]],
        ended: Callable[[Ending], None],
    ) -> None:
        self._reply = reply
        self._parts = parts  # JSON values; one for a reply that is not streamed
        self._streamed = streamed and reply.status == 200 and reply.body is None
        self._before = before
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        playing = asyncio.ensure_future(self._play(send))
        hanging_up = asyncio.ensure_future(_hung_up(receive))
        ending = Ending.GONE
        try:
            await asyncio.wait({playing, hanging_up}, return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                ending = self._ending(playing, scope)
        finally:
            for task in (playing, hanging_up):
                task.cancel()
            await asyncio.gather(playing, hanging_up, return_exceptions=True)
            self._ended(ending)

    def _ending(self, playing: "asyncio.Future[None]", scope: Scope) -> Ending:
        try:
            playing.result()
        except _Cut:
            cut_connection(scope, flush=True)
            return Ending.FAULT
        except OSError:
            return Ending.GONE
        return Ending.FINISHED if self._reply.fault is Fault.NONE else Ending.FAULT

    async def _play(self, send: Send) -> None:
        await self._before()
        if not self._streamed:
            await self._play_whole(send)
            return
        if self._reply.fault is Fault.HTML:
            await _send_all(send, 200, "text/html; charset=utf-8", PAGE, {})
            return
        await _start(send, 200, "text/event-stream; charset=utf-8", self._reply.headers)
        async for data in self._stream():
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self) -> AsyncIterator[bytes]:
        reply = self._reply
        await asyncio.sleep(reply.first_token_seconds)
        for number, part in enumerate(self._parts):
            if number:  # the first chunk only names the role
                await asyncio.sleep(reply.token_seconds)
            if reply.fault is not Fault.NONE and number > reply.after_tokens:
                async for data in self._strike():
                    yield data
                return
            yield event(part)
        if reply.fault is not Fault.NONE:  # a short reply ends before its fault would come
            async for data in self._strike():
                yield data
            return
        yield b"data: [DONE]\n\n"

    async def _strike(self) -> AsyncIterator[bytes]:
        match self._reply.fault:
            case Fault.STALL:
                await asyncio.Event().wait()
            case Fault.DISCONNECT:
                raise _Cut
            case Fault.MALFORMED:
                yield BROKEN
            case Fault.ERROR:
                yield event(self._reply.body or error("The server had an error", "server_error"))
            case _:
                return

    async def _play_whole(self, send: Send) -> None:
        reply = self._reply
        await asyncio.sleep(reply.first_token_seconds)
        kind, data = "application/json", _encoded(next(iter(self._parts), {}))
        match reply.fault:
            case Fault.STALL:
                await asyncio.Event().wait()
            case Fault.DISCONNECT:
                await _start(send, reply.status, kind, reply.headers)
                await send({"type": "http.response.body", "body": data[:8], "more_body": True})
                raise _Cut
            case Fault.HTML:
                kind, data = "text/html; charset=utf-8", PAGE
            case Fault.MALFORMED | Fault.TRUNCATE:
                data = data[: len(data) // 2]
            case Fault.ERROR:
                data = _encoded(error("The server had an error", "server_error"))
            case _:
                kind = "text/plain; charset=utf-8" if isinstance(reply.body, str) else kind
        await _send_all(send, reply.status, kind, data, reply.headers)


def _encoded(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


async def _send_all(
    send: Send, status: int, kind: str, data: bytes, headers: Mapping[str, str]
) -> None:
    await _start(send, status, kind, headers)
    await send({"type": "http.response.body", "body": data, "more_body": False})


async def _start(send: Send, status: int, kind: str, headers: Mapping[str, str]) -> None:
    told = {"content-type": kind} | {name.lower(): value for name, value in headers.items()}
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _hung_up(receive: Receive) -> None:
    with contextlib.suppress(OSError):
        while (await receive())["type"] != "http.disconnect":
            pass
