"""The Bot API server as an ASGI app around one `Telegram`."""

import contextlib
import mimetypes
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.lab.botapi.control import Control
from bot.lab.botapi.endpoint import BotEndpoint
from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.refusals import NOT_FOUND
from bot.lab.serve import serve


def build_app(world: Telegram) -> Starlette:
    """Routes: /bot<token>/<method>, /file/bot<token>/<path>, and the lab's own below /lab."""

    async def file(request: Request) -> Response:
        path = request.path_params["path"]
        stored = next((f for f in world.files.values() if f.path == path), None)
        if stored is None or request.path_params["token"] != world.token:
            return JSONResponse(NOT_FOUND.as_json(), status_code=404)
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        return Response(stored.data, media_type=kind)

    async def not_found(request: Request, reason: Exception) -> Response:
        return JSONResponse(NOT_FOUND.as_json(), status_code=404)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await world.aclose()

    return Starlette(
        routes=[
            Route("/bot{token}/{method}", BotEndpoint(world)),
            Route("/file/bot{token}/{path:path}", file),
            *Control(world).routes(),
        ],
        exception_handlers={404: not_found},
        lifespan=lifespan,
    )


@contextlib.asynccontextmanager
async def serve_telegram(world: Telegram, *, port: int = 0) -> AsyncIterator[str]:
    """Serve a world on loopback for the block; yields the value for TELEGRAM_API_URL."""
    async with serve(build_app(world), port=port) as url:
        yield url
