"""The practice model: an OpenAI-compatible endpoint with fixed rules, on loopback.

It is no language model and says so. It answers the same request with the same words, in English
and Persian, remembers through the tools it is offered, and fails in any way it is told to.

    POST /v1/chat/completions (and /chat/completions), GET /v1/models, POST /v1/moderations
    python -m bot.lab.model --port 0          prints {"url": …, "base_url": …} as one line

In a test, hold the object; from another process, the same over HTTP with JSON bodies:

    POST /lab/script      {"replies": [{"text": "…", "fault": "stall", …}]}   see scripts.Reply
    POST /lab/hold        generation waits from now on
    POST /lab/release     {"count": 1}: let so many waiting requests go; without it all, for good
    POST /lab/settings    any field of Settings: {"require_reasoning_content": true, …}
    POST /lab/moderation  any field of ModerationSettings: {"flagged": ["…"], "down": true}
    POST /lab/reset       forget scripts, settings, journal; release everything
    GET  /lab/requests    the journal: [{"number", "path", "at", "ending", "body"}]
    GET  /lab/state       {"waiting", "running", "scripted", "held", "requests"}
"""

import argparse
import asyncio
import contextlib
import json
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.lab.practice import wire
from bot.lab.practice.answers import answer
from bot.lab.practice.player import Ending, Played
from bot.lab.practice.prompt import read_prompt, text_of
from bot.lab.practice.scripts import Fault, Reply, reply_from_json
from bot.lab.serve import serve

MODEL = "practice"
KEPT_REQUESTS = 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What kind of endpoint it plays. Defaults: an agreeable one."""

    latency_seconds: float = 0.0  # before the first token of every reply that is not scripted
    token_seconds: float = 0.0
    api_key: str = ""  # if set, any other key gets 401
    models: tuple[str, ...] = ()  # if set, any other model gets 404
    max_messages: int = 0  # more get the context-length error; 0: no limit
    max_characters: int = 0
    require_reasoning_content: bool = False  # DeepSeek's thinking mode: 400 where it is missing
    refuse_reasoning_content: bool = False  # DeepSeek's older reasoner
    refuse_tools: bool = False  # Ollama, for models without them
    refuse_stream_options: bool = False
    refuse_stream: bool = False
    ignore_stream: bool = False  # answers whole even if asked to stream


@dataclass(frozen=True, slots=True)
class ModerationSettings:
    flagged: tuple[str, ...] = ()  # words; a text that contains one is flagged
    delay_seconds: float = 0.0
    down: bool = False  # 503
    stalled: bool = False  # no answer at all


@dataclass(slots=True)
class Asked:
    """One request in the journal."""

    number: int
    path: str
    body: dict[str, Any]
    at: float  # by the clock the model was given
    ending: Ending = Ending.RUNNING

    @property
    def gone(self) -> bool:
        """Whether the client hung up before the reply was complete."""
        return self.ending is Ending.GONE

    @property
    def texts(self) -> list[str]:
        """The texts of the user's messages, for asserting what a request covered."""
        messages = self.body.get("messages") or []
        return [text_of(one.get("content")) for one in messages if one.get("role") == "user"]


@dataclass(slots=True)
class Gate:
    """Holds requests until they are let go: a test decides when, without sleeping."""

    held: bool = False
    waiting: "deque[asyncio.Future[None]]" = field(default_factory=deque)

    async def passed(self) -> None:
        if not self.held:
            return
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(ticket)
        try:
            await ticket
        finally:
            with contextlib.suppress(ValueError):
                self.waiting.remove(ticket)

    def release(self, count: int | None = None) -> None:
        if count is None:
            self.held = False
        for _ in range(len(self.waiting) if count is None else min(count, len(self.waiting))):
            ticket = self.waiting.popleft()
            if not ticket.done():
                ticket.set_result(None)


class PracticeModel:
    """The endpoint and its controls. An ASGI app itself: `async with serve(model) as url`."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = Settings()
        self.moderation = ModerationSettings()
        self.requests: list[Asked] = []  # chat completions, in the order they came
        self.moderated: list[str] = []  # texts sent to /moderations
        self._clock = clock
        self._script: deque[Reply] = deque()
        self._gate = Gate()
        self._changed = asyncio.Event()
        self._count = 0
        self.app: ASGIApp = Starlette(routes=self._routes())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)

    def script(self, *replies: Reply) -> None:
        """Answer the next requests with these, one each; afterwards the rules answer again."""
        self._script.extend(replies)

    def configure(self, **changes: Any) -> None:
        """Change fields of `settings`. Raises TypeError for a field that does not exist."""
        self.settings = replace(self.settings, **_tuples(changes))

    def moderate(self, **changes: Any) -> None:
        """Change fields of `moderation`."""
        self.moderation = replace(self.moderation, **_tuples(changes))

    def hold(self) -> None:
        """Let requests wait before their first token, until `release`."""
        self._gate.held = True

    def release(self, count: int | None = None) -> None:
        """Let `count` waiting requests go on, the oldest first; None: all, and those to come."""
        self._gate.release(count)

    @property
    def waiting(self) -> int:
        return len(self._gate.waiting)

    @property
    def running(self) -> int:
        return sum(one.ending is Ending.RUNNING for one in self.requests)

    async def until(self, condition: Callable[["PracticeModel"], bool]) -> None:
        """Wait for something to be true of the journal, without polling."""
        while not condition(self):
            self._changed.clear()
            await self._changed.wait()

    async def until_asked(self, count: int = 1) -> Asked:
        """Wait for the `count`-th request since the last reset; returns it."""
        await self.until(lambda model: len(model.requests) >= count)
        return self.requests[count - 1]

    def reset(self) -> None:
        self.settings = Settings()
        self.moderation = ModerationSettings()
        self.requests.clear()
        self.moderated.clear()
        self._script.clear()
        self._gate.release()

    # What follows answers HTTP.

    def _routes(self) -> list[Route]:
        chat = [Route(f"{at}/chat/completions", self._chat, methods=["POST"]) for at in _PREFIXES]
        models = [Route(f"{at}/models", self._models) for at in _PREFIXES]
        judged = [Route(f"{at}/moderations", self._moderate, methods=["POST"]) for at in _PREFIXES]
        lab = [
            Route("/lab/script", self._lab_script, methods=["POST"]),
            Route("/lab/hold", self._lab_hold, methods=["POST"]),
            Route("/lab/release", self._lab_release, methods=["POST"]),
            Route("/lab/settings", self._lab_settings, methods=["POST"]),
            Route("/lab/moderation", self._lab_moderation, methods=["POST"]),
            Route("/lab/reset", self._lab_reset, methods=["POST"]),
            Route("/lab/requests", self._lab_requests),
            Route("/lab/state", self._lab_state),
        ]
        return [*chat, *models, *judged, *lab]

    async def _chat(self, request: Request) -> Response:
        try:
            body = await request.json()
        except ValueError:
            return _refused(400, "We could not parse the JSON body of your request.")
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return _refused(400, "Missing required parameter: 'messages'.")
        self._count += 1
        asked = Asked(self._count, request.url.path, body, self._clock())
        if len(self.requests) < KEPT_REQUESTS:
            self.requests.append(asked)
        played = self._played(asked, request.headers.get("authorization", ""))
        self._changed.set()
        return _AsgiResponse(played)

    def _played(self, asked: Asked, authorization: str) -> Played:
        reply = self._script.popleft() if self._script else self._answer(asked, authorization)
        streamed = bool(asked.body.get("stream")) and not self.settings.ignore_stream
        plain = reply.status != 200 or (reply.body is not None and reply.fault is Fault.NONE)
        parts: Any
        if plain:
            streamed, parts = False, [reply.body if reply.body is not None else _server_error()]
        else:
            parts = self._parts(asked, reply, streamed)
        return Played(
            reply, parts, streamed=streamed, before=self._passed, ended=self._noted(asked)
        )

    def _parts(self, asked: Asked, reply: Reply, streamed: bool) -> Any:
        before = [one.body for one in self.requests[-20:] if one.number < asked.number]
        used = wire.usage(asked.body, reply, wire.cached_tokens(asked.body, before))
        model = str(asked.body.get("model", MODEL))
        if not streamed:
            return [wire.whole(asked.number, model, reply, used)]
        options = asked.body.get("stream_options")
        counted = isinstance(options, Mapping) and options.get("include_usage")
        return wire.chunks(asked.number, model, reply, used if counted else None)

    def _answer(self, asked: Asked, authorization: str) -> Reply:
        refused = self._refusal(asked.body, authorization)
        if refused is not None:
            return refused
        return replace(
            answer(read_prompt(asked.body)),
            first_token_seconds=self.settings.latency_seconds,
            token_seconds=self.settings.token_seconds,
        )

    def _refusal(self, body: Mapping[str, Any], authorization: str) -> Reply | None:
        """What the endpoint it plays refuses, in the words of the endpoints that do."""
        say = self.settings
        model, messages = str(body.get("model", "")), body["messages"]
        size = sum(len(text_of(one.get("content"))) for one in messages)
        if say.api_key and authorization != f"Bearer {say.api_key}":
            return _error(401, "Incorrect API key provided.", code="invalid_api_key")
        if say.models and model not in say.models:
            told = f"The model `{model}` does not exist or you do not have access to it."
            return _error(404, told, code="model_not_found")
        if say.refuse_tools and body.get("tools"):
            return _error(400, f"{model} does not support tools", "api_error")
        if say.refuse_stream_options and "stream_options" in body:
            return _error(400, "Unrecognized request argument supplied: stream_options")
        if say.refuse_stream and body.get("stream"):
            return _error(400, "Streaming is not supported for this model.")
        if (say.max_messages and len(messages) > say.max_messages) or (
            say.max_characters and size > say.max_characters
        ):
            told = f"This model's maximum context length is {say.max_characters // 4} tokens."
            return _error(400, told, code="context_length_exceeded")
        return self._reasoning_refusal(messages)

    def _reasoning_refusal(self, messages: list[Mapping[str, Any]]) -> Reply | None:
        spoken = [one for one in messages if one.get("role") == "assistant"]
        if self.settings.refuse_reasoning_content and any("reasoning_content" in m for m in spoken):
            return _error(400, "The reasoning_content field is not supported in input messages.")
        called = [one for one in spoken if one.get("tool_calls")]
        if self.settings.require_reasoning_content and not all(
            one.get("reasoning_content") for one in called
        ):
            return _error(
                400,
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
                code="invalid_request_error",
            )
        return None

    async def _passed(self) -> None:
        if self._gate.held:
            waiting = asyncio.ensure_future(self._gate.passed())
            await asyncio.sleep(0)  # so that whoever is told finds it waiting
            self._changed.set()
            try:
                await waiting
            finally:
                waiting.cancel()

    def _noted(self, asked: Asked) -> Callable[[Ending], None]:
        def ended(ending: Ending) -> None:
            asked.ending = ending
            self._changed.set()

        return ended

    async def _models(self, _request: Request) -> Response:
        names = self.settings.models or (MODEL,)
        listed = [{"id": name, "object": "model", "owned_by": "lab"} for name in names]
        return JSONResponse({"object": "list", "data": listed})

    async def _moderate(self, request: Request) -> Response:
        try:
            said = (await request.json())["input"]
        except (ValueError, KeyError, TypeError):
            return _refused(400, "Missing required parameter: 'input'.")
        texts = [said] if isinstance(said, str) else [str(text) for text in said]
        self.moderated.extend(texts)
        self._changed.set()
        await asyncio.sleep(self.moderation.delay_seconds)
        if self.moderation.stalled:
            await _hang(request)
        if self.moderation.down:
            return _refused(503, "The server is overloaded.")
        results = [self._judged(text) for text in texts]
        return JSONResponse({"id": "modr-practice", "model": MODEL, "results": results})

    def _judged(self, text: str) -> dict[str, Any]:
        flagged = any(word.casefold() in text.casefold() for word in self.moderation.flagged)
        return {
            "flagged": flagged,
            "categories": {"harassment": flagged, "violence": False},
            "category_scores": {"harassment": float(flagged), "violence": 0.0},
        }

    async def _lab_script(self, request: Request) -> Response:
        try:
            replies = [reply_from_json(one) for one in (await request.json())["replies"]]
        except (ValueError, TypeError, KeyError) as error:
            return _refused(400, f"That is no script: {error}")
        self.script(*replies)
        return JSONResponse({"scripted": len(self._script)})

    async def _lab_hold(self, _request: Request) -> Response:
        self.hold()
        return JSONResponse(self._state())

    async def _lab_release(self, request: Request) -> Response:
        body = await _body_or_nothing(request)
        self.release(body.get("count"))
        return JSONResponse(self._state())

    async def _lab_settings(self, request: Request) -> Response:
        return await self._change(request, self.configure)

    async def _lab_moderation(self, request: Request) -> Response:
        return await self._change(request, self.moderate)

    async def _change(self, request: Request, change: Callable[..., None]) -> Response:
        try:
            change(**await _body_or_nothing(request))
        except TypeError as error:
            return _refused(400, str(error))
        return JSONResponse(self._state())

    async def _lab_reset(self, _request: Request) -> Response:
        self.reset()
        return JSONResponse(self._state())

    async def _lab_requests(self, _request: Request) -> Response:
        return JSONResponse(
            [
                {"number": one.number, "path": one.path, "at": one.at, "ending": one.ending}
                | {"body": one.body}
                for one in self.requests
            ]
        )

    async def _lab_state(self, _request: Request) -> Response:
        return JSONResponse(self._state())

    def _state(self) -> dict[str, Any]:
        return {
            "waiting": self.waiting,
            "running": self.running,
            "scripted": len(self._script),
            "held": self._gate.held,
            "requests": len(self.requests),
        }


_PREFIXES = ("/v1", "")


class _AsgiResponse(Response):
    """Hands the connection to a `Played`."""

    def __init__(self, played: Played) -> None:
        super().__init__()
        self._played = played

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._played(scope, receive, send)


async def _body_or_nothing(request: Request) -> dict[str, Any]:
    try:
        body = await request.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


async def _hang(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _tuples(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in changes.items()}


def _error(
    status: int, message: str, kind: str = "invalid_request_error", code: str | None = None
) -> Reply:
    return Reply(status=status, body=wire.error(message, kind, code))


def _server_error() -> Any:
    return wire.error("The practice model was told to fail.", "server_error")


def _refused(status: int, message: str) -> Response:
    return JSONResponse(wire.error(message), status_code=status)


async def _serve_until_stopped(port: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    async with serve(PracticeModel(), port=port) as url:
        sys.stdout.write(json.dumps({"url": url, "base_url": f"{url}/v1"}) + "\n")
        sys.stdout.flush()
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="bot.lab.model", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    asyncio.run(_serve_until_stopped(parser.parse_args().port))


if __name__ == "__main__":
    main()
