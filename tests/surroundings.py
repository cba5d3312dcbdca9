"""What the command's tests stand on: no settings from outside, and two tiny servers.

The servers know just what setup and doctor ask. The whole bot is tested against bot/lab.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from bot.settings import Settings

TOKEN = "123456789:AAtestTokenTestTokenTestTokenTest00"
KEY = "sk-test-key-0123456789abcdef"


def forget_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every setting out of the environment."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


@dataclass
class SmallServer:
    """Answers as told, and remembers the paths that it was asked for."""

    url: str = ""
    webhook: dict[str, Any] = field(default_factory=lambda: {"url": "", "pending_update_count": 0})
    date: str = ""  # an HTTP date to pretend, instead of now
    model_status: int = 200
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, str, bytes]:
        self.asked.append(path)
        if path.endswith("/chat/completions"):
            return self._completion()
        _, token, method = path.split("/", 2)
        if token != f"bot{TOKEN}":
            return 401, "application/json", b'{"ok":false,"error_code":401}'
        me = {"id": 123456789, "is_bot": True, "first_name": "Test", "username": "test_bot"}
        results = {"getMe": me, "getWebhookInfo": self.webhook}
        body = {"ok": True, "result": results[method]}
        return 200, "application/json", json.dumps(body).encode()

    def _completion(self) -> tuple[int, str, bytes]:
        if self.model_status != 200:
            return self.model_status, "application/json", b'{"error":{"message":"no"}}'
        choice = {"index": 0, "delta": {"role": "assistant", "content": "ok"}}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        first = json.dumps({**chunk, "choices": [{**choice, "finish_reason": None}]})
        last = json.dumps(
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        )
        return (
            200,
            "text/event-stream",
            f"data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n".encode(),
        )


@contextmanager
def small_server() -> Iterator[SmallServer]:
    state = SmallServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            self.rfile.read(length)
            status, kind, body = state.answer(self.path)
            self.send_response_only(status)
            self.send_header("Date", state.date or self.date_time_string())
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
