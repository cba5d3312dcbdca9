"""Serves an ASGI app on loopback inside the running loop. Used by every server of the lab.

Rule 1: loopback only, an ephemeral port unless told otherwise, no signal handlers, no log lines.
Rule 2: stopping never waits for a client. Open long polls and streams are cut, not drained,
        so a test that ends while a bot is polling ends at once.

An app that has to cut a connection (a lab's faults) calls `cut_connection(scope)`.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Scope
from uvicorn.protocols.http.auto import AutoHTTPProtocol

OPEN_TRANSPORTS = "open_transports"  # in scope["state"]: peer address → transport
GRACE_SECONDS = 0.5  # for handlers that clean up after their connection is gone


class _RemembersTransport(asyncio.Protocol):
    """Lets a handler reach its own connection: ASGI has no message for "cut the line"."""

    def __init__(self, *, app_state: dict[str, Any], **rest: Any) -> None:
        # What follows in the class made below is uvicorn's own protocol, not a bare one.
        super().__init__(app_state=app_state, **rest)  # type: ignore[call-arg]
        self._open: dict[Any, asyncio.Transport] = app_state[OPEN_TRANSPORTS]
        self._peer: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._peer = transport.get_extra_info("peername")
        self._open[self._peer] = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.pop(self._peer, None)
        super().connection_lost(exc)


_PROTOCOL = type("CuttableProtocol", (_RemembersTransport, AutoHTTPProtocol), {})


def transport_of(scope: Scope) -> asyncio.Transport | None:
    """The connection a request came in on; None if it is gone, or under another server."""
    transports: dict[Any, asyncio.Transport] = scope.get("state", {}).get(OPEN_TRANSPORTS, {})
    client = scope.get("client")
    return transports.get(tuple(client)) if client else None


def connection_is_open(scope: Scope) -> bool:
    """False once the client has hung up. Always True under a server other than this one."""
    if OPEN_TRANSPORTS not in scope.get("state", {}):
        return True
    transport = transport_of(scope)
    return transport is not None and not transport.is_closing()


def cut_connection(scope: Scope, *, flush: bool = False) -> None:
    """Close the request's connection: at once, or (flush) after what was already written."""
    transport = transport_of(scope)
    if transport is None:
        return
    if flush:
        transport.close()
    else:
        transport.abort()


class LoopbackServer(uvicorn.Server):
    """One app on one loopback port. `refuse()` and `accept()` play a network that is down."""

    def __init__(self, app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=_PROTOCOL,
                ws="none",
                lifespan="auto",
                log_config=None,
                log_level="critical",
                access_log=False,
                date_header=False,
                server_header=False,
            )
        )
        self._host = host
        self._port = port
        self._ready = asyncio.Event()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._port}"

    async def start(self) -> None:
        """Listen and serve in a task of the running loop; returns when connections are accepted."""
        listener = self._listen()
        self._task = asyncio.create_task(self._serve([listener]))
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.is_set():
            ready.cancel()
            await self._task  # raises what stopped it

    async def stop(self) -> None:
        """Cut every connection, end every handler, free the port."""
        self._stopping.set()
        if self._task is not None:
            await self._task

    async def refuse(self) -> None:
        """Cut every connection and refuse new ones until `accept()`: connect fails at once."""
        for listening in self.servers:
            listening.close()
        self._cut_all()
        while self.lifespan.state[OPEN_TRANSPORTS]:  # noqa: ASYNC110 (a turn or two of the loop)
            await asyncio.sleep(0)

    async def accept(self) -> None:
        """Listen again on the same port."""
        state = self.server_state
        listening = await asyncio.get_running_loop().create_server(
            lambda: _PROTOCOL(
                config=self.config, server_state=state, app_state=self.lifespan.state
            ),
            sock=self._listen(),
        )
        self.servers = [listening]

    def _listen(self) -> socket.socket:
        # Without the protocol asyncio leaves Nagle on, and every answer takes 40 ms.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self._host, self._port))
        self._port = listener.getsockname()[1]
        return listener

    def _cut_all(self) -> None:
        for transport in list(self.lifespan.state[OPEN_TRANSPORTS].values()):
            transport.abort()

    # What follows replaces parts of uvicorn's life cycle.

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals belong to whoever runs the loop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.lifespan.state[OPEN_TRANSPORTS] = {}
        await super().startup(sockets=sockets)
        self._ready.set()

    async def main_loop(self) -> None:
        await self._stopping.wait()  # uvicorn's own wakes ten times a second

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in self.servers:
            listening.close()
        self._cut_all()
        if tasks := set(self.server_state.tasks):
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self.lifespan.shutdown()


@contextlib.asynccontextmanager
async def serve(app: ASGIApp, *, port: int = 0) -> AsyncIterator[str]:
    """Serve `app` on 127.0.0.1 for the block; yields its address without a trailing slash."""
    server = LoopbackServer(app, port=port)
    await server.start()
    try:
        yield server.url
    finally:
        await server.stop()
