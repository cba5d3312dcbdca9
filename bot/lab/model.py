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
import json
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.lab.practice import wire
from bot.lab.practice.aid import help_operator
from bot.lab.practice.answers import answer
from bot.lab.practice.controls import controls
from bot.lab.practice.journal import Asked, Gate
from bot.lab.practice.player import Ending, Played
from bot.lab.practice.prompt import read_prompt
from bot.lab.practice.scripts import Fault, Reply
from bot.lab.practice.settings import ModerationSettings, Settings, refusal
from bot.lab.serve import serve

MODEL = "practice"
KEPT_REQUESTS = 10_000


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
        self._gate.hold()

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

    def state(self) -> dict[str, Any]:
        return {
            "waiting": self.waiting,
            "running": self.running,
            "scripted": len(self._script),
            "held": self._gate.held,
            "requests": len(self.requests),
        }

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
        return [*chat, *models, *judged, *controls(self)]

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
        refused = refusal(self.settings, asked.body, authorization)
        if refused is not None:
            return refused
        return replace(
            help_operator(asked.body) or answer(read_prompt(asked.body)),
            first_token_seconds=self.settings.latency_seconds,
            token_seconds=self.settings.token_seconds,
        )

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


_PREFIXES = ("/v1", "")


class _AsgiResponse(Response):
    """Hands the connection to a `Played`."""

    def __init__(self, played: Played) -> None:
        super().__init__()
        self._played = played

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._played(scope, receive, send)


async def _hang(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _tuples(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in changes.items()}


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
