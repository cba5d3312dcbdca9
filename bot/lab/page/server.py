"""The page's files, its live feed, and what the page may ask for. JSON, on loopback only.

GET  /                  the page; /files/{name} what it is made of
GET  /events            server-sent events, all from the start on every connection:
                        hello {people, …} · demo {bot, switches} · phone {person, messages, …}
                        group {chat, topics} · room {thread, messages, pinned}
                        journal {entries} (appended) · heads {conversation: …} · memory {person, …}
POST /do/send           {"person": id, "text": "…", "reply_to": n}
POST /do/edit           {"person": id, "message_id": n, "text": "…"}
POST /do/press          {"person": id, "message_id": n, "data": "…"}
                        these three with "thread": n in a topic of the operators' group (0: General)
POST /do/switch         {"name": "…", "on": true, "person": id}
POST /do/bot            {"action": "kill" | "start"}

A refusal is {"error": "…"}: 400 for what makes no sense, 409 for what cannot be done now.

Rule 1: another site's page must not act here. Only JSON bodies are taken, which a browser sends
        across sites only where it is allowed to, and only requests to this very host name.
Rule 2: the page loads nothing from elsewhere; the browser is told to see to it.
"""

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.lab.botapi import Telegram
from bot.lab.model import PracticeModel
from bot.lab.page.child import BotProcess
from bot.lab.page.group import Group
from bot.lab.page.people import ADMITTED, GROUP_ID, OPERATORS, PEOPLE, USERS, RealModel
from bot.lab.page.phones import Impossible, Phones, Where
from bot.lab.page.records import Records, conversation_of
from bot.lab.page.switches import NoSuchSwitch, Switches

Json = dict[str, Any]

FILES = Path(__file__).parent / "files"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
LOOK_SECONDS = 0.15  # how often the database is looked at while a page is open
SETTLE_SECONDS = 0.03  # what changes together is sent together
KEEPALIVE_SECONDS = 15.0


@dataclass(slots=True)
class Demo:
    """All that the page shows and moves."""

    telegram: Telegram
    bot: BotProcess
    phones: Phones
    group: Group
    records: Records
    switches: Switches
    model: PracticeModel
    real_model: RealModel | None = None


@dataclass(slots=True)
class _Feed:
    """What one open page has been told so far."""

    demo: Demo
    told: dict[str, str] = field(default_factory=dict)  # event and whom it is about → last data
    journal: int = 0

    def news(self) -> Iterator[str]:
        """What is new since the last time, as server-sent events."""
        yield from self._once("hello", "", _hello(self.demo))
        yield from self._once("demo", "", _demo(self.demo))
        for person in PEOPLE:
            yield from self._once("phone", str(person), self.demo.phones.shown(person))
        yield from self._once("group", "", self.demo.group.shown())
        for thread in self.demo.group.threads():
            yield from self._once("room", str(thread), self.demo.group.room(thread))

    def written(self) -> Iterator[str]:
        """What the bot wrote into its database since the last time."""
        entries = self.demo.records.entries(self.journal)
        if entries:
            self.journal = entries[-1]["number"]
            yield _event("journal", {"entries": entries})
        yield from self._once("heads", "", self.demo.records.heads())
        for person in PEOPLE:
            lines = self.demo.records.memory(person)
            yield from self._once("memory", str(person), {"person": person, "lines": lines})

    def _once(self, name: str, about: str, data: Json) -> Iterator[str]:
        event = _event(name, data)
        if self.told.get(name + about) != event:
            self.told[name + about] = event
            yield event


def build_app(demo: Demo) -> Starlette:
    routes = [
        Route("/", _file("index.html")),
        Route("/files/{name}", _named_file),
        Route("/events", _events(demo)),
        *[
            Route(f"/do/{name}", _action(act), methods=["POST"])
            for name, act in _actions(demo).items()
        ],
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    return Starlette(routes=routes, middleware=[hosts])


# --- files ----------------------------------------------------------------------------------------


def _file(name: str) -> Callable[[Request], Response]:
    def serve(_request: Request) -> Response:
        path = FILES / name
        return FileResponse(path, headers=HEADERS, media_type=KINDS[path.suffix])

    return serve


async def _named_file(request: Request) -> Response:
    name = request.path_params["name"]
    known = {path.name for path in FILES.iterdir() if path.suffix in KINDS}
    return _file(name)(request) if name in known else Response(status_code=404)


# --- what happens ---------------------------------------------------------------------------------


def _events(demo: Demo) -> Callable[[Request], Response]:
    def stream(_request: Request) -> Response:
        headers = HEADERS | {"X-Accel-Buffering": "no"}
        return StreamingResponse(_told(demo), media_type="text/event-stream", headers=headers)

    return stream


async def _told(demo: Demo) -> AsyncIterator[str]:
    feed = _Feed(demo)
    written, silent = -1, 0.0
    while not demo.telegram.closing.is_set():
        seen, looked = demo.telegram.version, demo.records.look()
        told = list(feed.news())
        if looked != written:
            told += feed.written()
            written = looked
        if told or silent >= KEEPALIVE_SECONDS:
            yield "".join(told) or ": still here\n\n"
            silent = 0.0
        silent += LOOK_SECONDS
        await _changed(demo.telegram, seen)


async def _changed(telegram: Telegram, seen: int) -> None:
    """Return soon after something happened, at the latest when it is time to look again."""
    with contextlib.suppress(TimeoutError):
        await telegram.wait_for(lambda: telegram.version != seen or None, LOOK_SECONDS)
        await asyncio.sleep(SETTLE_SECONDS)


def _event(name: str, data: Json) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def _hello(demo: Demo) -> Json:
    def described(person: Any) -> Json:
        return {
            "id": person.id,
            "name": person.name,
            "language": person.language,
            "about": person.about,
            "suggestions": person.suggestions,
            "admitted": person.id in ADMITTED or person in OPERATORS,
            "conversation": conversation_of(person.id),
        }

    return {
        "users": [described(person) for person in USERS],
        "operators": [described(person) for person in OPERATORS],
        "model": demo.real_model.name if demo.real_model else "practice",
        "practice": demo.real_model is None,
    }


def _demo(demo: Demo) -> Json:
    pid = demo.bot.pid
    return {
        "bot": {
            "pid": pid,
            "listening": pid is not None and demo.telegram.updates.polling,
            "moments": [dataclasses.asdict(moment) for moment in demo.bot.moments[-50:]],
        },
        "switches": demo.switches.shown(tuple(PEOPLE)),
    }


# --- what is done ---------------------------------------------------------------------------------


def _actions(demo: Demo) -> dict[str, Callable[[Json], Any]]:
    async def send(body: Json) -> None:
        reply_to = int(body.get("reply_to", 0))
        demo.phones.send(_person(body), _text(body["text"]), _where(body), reply_to)

    async def edit(body: Json) -> None:
        message_id, text = int(body["message_id"]), _text(body["text"])
        demo.phones.edit(_person(body), message_id, text, _where(body))

    async def press(body: Json) -> None:
        message_id, data = int(body["message_id"]), _text(body["data"])
        demo.phones.press(_person(body), message_id, data, _where(body))

    async def switch(body: Json) -> None:
        await demo.switches.throw(_text(body["name"]), bool(body["on"]), _person(body))

    async def bot(body: Json) -> None:
        match body["action"]:
            case "kill":
                await demo.bot.kill()
            case "start":
                await demo.bot.start()
            case other:
                raise ValueError(f"no such action: {other!r}")

    return {"send": send, "edit": edit, "press": press, "switch": switch, "bot": bot}


def _action(act: Callable[[Json], Any]) -> Callable[[Request], Any]:
    async def handle(request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":
            return _refused(415, "send application/json")
        try:
            await act(dict(await request.json()))
        except Impossible as reason:
            return _refused(409, reason)
        except NoSuchSwitch as reason:
            return _refused(400, reason)
        except (KeyError, TypeError, ValueError) as wrong:
            return _refused(400, f"not understood: {wrong}")
        return JSONResponse({}, headers=HEADERS)

    return handle


def _refused(status: int, reason: object) -> Response:
    return JSONResponse({"error": str(reason)}, status_code=status, headers=HEADERS)


def _person(body: Json) -> int:
    person = body["person"]
    if person not in PEOPLE:
        raise ValueError(f"nobody here has the id {person!r}")
    return int(person)


def _where(body: Json) -> Where:
    """The person's chat with the bot, or a topic of the operators' group."""
    if "thread" not in body:
        return Where(_person(body))
    return Where(GROUP_ID, int(body["thread"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is wanted")
    return value
