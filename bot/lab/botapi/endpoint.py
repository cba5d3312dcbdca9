"""One request of the bot: read, harmed if a fault says so, processed, journalled, answered.

A plain ASGI app, because a lost answer has to be lost for real: the connection is cut under the
client, or stays silent until the client hangs up.
"""

import asyncio
import contextlib
import json
import re
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from bot.lab.botapi.faults import Fault, Harm, Network
from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.journal import Call, Fate
from bot.lab.botapi.methods import METHODS
from bot.lab.botapi.methods.profile import remember_allowed
from bot.lab.botapi.params import Args, read_args
from bot.lab.botapi.records import Json
from bot.lab.botapi.refusals import (
    NOT_FOUND,
    UNAUTHORIZED,
    WEBHOOK_ACTIVE,
    Refusal,
    conflict,
    too_many_requests,
)
from bot.lab.botapi.updates import MAX_LIMIT, MAX_TIMEOUT
from bot.lab.serve import connection_is_open, cut_connection

_TOKEN = re.compile(r"\d+:[\w-]+")
_JSON: Final = b"application/json"
_HTML: Final = b"text/html"
_BEFORE: Final = {Harm.CUT_BEFORE: Network.CUT, Harm.STALL_BEFORE: Network.SILENT}


class BotEndpoint:
    """ASGI app for /bot<token>/<method>."""

    def __init__(self, world: Telegram) -> None:
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        line = _Line(self._world, scope, receive, send)
        with contextlib.suppress(ClientDisconnect):
            await self._handle(line, scope["path_params"]["token"], scope["path_params"]["method"])

    async def _handle(self, line: "_Line", token: str, method: str) -> None:
        refusal = _turned_away(token, self._world.token)
        args = Args({})
        try:
            args = await read_args(Request(line.scope, line.receive))
        except Refusal as broken:
            refusal = refusal or broken
        call = self._open(method, args)
        fault = self._world.faults.take(method, args.values) or Fault()
        if not await self._reaches_us(line, call, fault):
            return
        if fault.harm is Harm.REFUSE:
            refusal = _ordered_refusal(fault)
        await self._process(line, call, args, refusal)
        if call.fate is Fate.PENDING:
            await self._answer(line, call, fault)
        self._world.changed()

    def _open(self, method: str, args: Args) -> Call:
        params = {**_upload_names(args), **args.values} if args.files else args.values
        call = self._world.journal.open(method, params)
        for listener in self._world.hooks.on_request:
            listener(method, params)
        self._world.changed()
        return call

    async def _reaches_us(self, line: "_Line", call: Call, fault: Fault) -> bool:
        """Wait out the delay, or break off before anything is processed."""
        if fault.delay:
            await line.pause(fault.delay)
        network = _BEFORE.get(fault.harm, self._world.faults.network)
        if network is Network.UP:
            return True
        call.fate = Fate.NEVER_PROCESSED
        self._world.changed()
        if network is Network.SILENT:
            await line.wait_until_gone()
        cut_connection(line.scope)
        return False

    async def _process(
        self, line: "_Line", call: Call, args: Args, refusal: Refusal | None
    ) -> None:
        try:
            if refusal is not None:
                raise refusal
            result = await self._result(line, call, args)
        except Refusal as refused:
            call.status, call.answer = refused.code, refused.as_json()
        else:
            call.status, call.answer = 200, {"ok": True, "result": result}
        for listener in self._world.hooks.on_answer:
            listener(call)

    async def _result(self, line: "_Line", call: Call, args: Args) -> Any:
        name = call.method.lower()
        if name == "getupdates":
            return await self._get_updates(line, call, args)
        handler = METHODS.get(name)
        if handler is None:
            raise NOT_FOUND
        return handler(self._world, args)

    async def _get_updates(self, line: "_Line", call: Call, args: Args) -> list[Json]:
        world = self._world
        if world.webhook.url:
            raise conflict(WEBHOOK_ACTIVE)
        remember_allowed(world, args)
        limit = args.integer("limit", MAX_LIMIT)
        timeout = min(max(args.integer("timeout"), 0), MAX_TIMEOUT)
        poll = world.updates.poll(
            args.integer("offset"), limit if 1 <= limit <= MAX_LIMIT else MAX_LIMIT, timeout
        )
        if not timeout:
            return await poll
        task = asyncio.create_task(poll)
        if await line.gone_before(task):
            call.fate = Fate.CLIENT_LEFT
            return []
        return await task

    async def _answer(self, line: "_Line", call: Call, fault: Fault) -> None:
        if fault.delay_answer:
            await line.pause(fault.delay_answer)
        body = fault.body.encode() if fault.harm is Harm.REFUSE and fault.body else b""
        content = _HTML if body else _JSON
        body = body or json.dumps(call.answer, separators=(",", ":")).encode()
        match fault.harm:
            case Harm.CUT_AFTER:
                call.fate = Fate.LOST
            case Harm.STALL_AFTER:
                call.fate = Fate.LOST
                self._world.changed()
                await line.wait_until_gone()
            case Harm.CUT_DURING:
                call.fate = Fate.LOST
                await line.write_half(call.status, body, content)
                return
            case _:
                call.fate = await line.write(call.status, body, content)
                return
        cut_connection(line.scope)


class _Line:
    """The connection of one request, and whether somebody is still at the other end."""

    def __init__(self, world: Telegram, scope: Scope, receive: Receive, send: Send) -> None:
        self._world = world
        self.scope = scope
        self.receive = receive
        self._send = send

    async def _hung_up(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def gone_before(self, work: asyncio.Task[Any]) -> bool:
        """Wait for `work`; True (and `work` is cancelled) if the client or the world left first."""
        leaving = {
            asyncio.create_task(self._hung_up()),
            asyncio.create_task(self._world.closing.wait()),
        }
        try:
            await asyncio.wait({work, *leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in leaving:
                task.cancel()
            if not work.done():
                work.cancel()
        return not work.done()

    async def wait_until_gone(self) -> None:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def forever() -> None:
            await never

        await self.gone_before(asyncio.create_task(forever()))

    async def pause(self, seconds: float) -> None:
        """Sleep, also after the client left: a slow server still does what it was told."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._world.closing.wait()

    async def write(self, status: int, body: bytes, content: bytes) -> Fate:
        if not connection_is_open(self.scope):
            return Fate.CLIENT_LEFT
        await self._start(status, len(body), content)
        await self._send({"type": "http.response.body", "body": body})
        return Fate.ANSWERED

    async def write_half(self, status: int, body: bytes, content: bytes) -> None:
        await self._start(status, len(body), content)
        half = body[: len(body) // 2]
        await self._send({"type": "http.response.body", "body": half, "more_body": True})
        cut_connection(self.scope, flush=True)
        await self.wait_until_gone()

    async def _start(self, status: int, length: int, content: bytes) -> None:
        headers = [(b"content-type", content), (b"content-length", str(length).encode())]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})


def _turned_away(token: str, own: str) -> Refusal | None:
    if token == own:
        return None
    return UNAUTHORIZED if _TOKEN.fullmatch(token) else NOT_FOUND


def _ordered_refusal(fault: Fault) -> Refusal:
    if fault.retry_after and fault.status in (0, 429):
        return too_many_requests(fault.retry_after)
    status = fault.status or 400
    return Refusal(status, fault.description or f"Fault ordered with status {status}")


def _upload_names(args: Args) -> Json:
    """Uploads sent under the parameter's own name appear in the journal as a reference."""
    mentioned = json.dumps(args.values)
    return {name: f"attach://{name}" for name in args.files if f"attach://{name}" not in mentioned}
