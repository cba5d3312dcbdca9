"""The practice model's controls over HTTP, for another process. Listed in bot/lab/model.py."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.lab.practice import wire
from bot.lab.practice.journal import Asked
from bot.lab.practice.scripts import Reply, reply_from_json

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class Controlled(Protocol):
    """What of the practice model is controlled."""

    @property
    def requests(self) -> Sequence[Asked]: ...

    def script(self, *replies: Reply) -> None: ...
    def configure(self, **changes: Any) -> None: ...
    def moderate(self, **changes: Any) -> None: ...
    def hold(self) -> None: ...
    def release(self, count: int | None = None) -> None: ...
    def reset(self) -> None: ...
    def state(self) -> dict[str, Any]: ...


def controls(model: Controlled) -> list[Route]:
    """The routes below /lab. Every change answers with the state after it."""

    def script(body: dict[str, Any]) -> None:
        model.script(*[reply_from_json(one) for one in body["replies"]])

    changes: dict[str, Callable[[dict[str, Any]], None]] = {
        "script": script,
        "hold": lambda _: model.hold(),
        "release": lambda body: model.release(body.get("count")),
        "settings": lambda body: model.configure(**body),
        "moderation": lambda body: model.moderate(**body),
        "reset": lambda _: model.reset(),
    }

    async def state(_request: Request) -> Response:
        return JSONResponse(model.state())

    async def requests(_request: Request) -> Response:
        return JSONResponse([one.as_json() for one in model.requests])

    return [
        Route("/lab/state", state),
        Route("/lab/requests", requests),
        *[
            Route(f"/lab/{name}", _changing(model, change), methods=["POST"])
            for name, change in changes.items()
        ],
    ]


def _changing(model: Controlled, change: Callable[[dict[str, Any]], None]) -> Handler:
    async def handle(request: Request) -> Response:
        try:
            body = await request.json() if await request.body() else {}
            change(body)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            told = wire.error(f"That is not understood: {error}")
            return JSONResponse(told, status_code=400)
        return JSONResponse(model.state())

    return handle
