"""What all benchmarks stand on: the lab in this process, and one bot at a time in another.

The lab's clock measures, so the bots are not asked how fast they are.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from bot.lab.botapi import LAB_TOKEN, Telegram, serve_telegram
from bot.lab.serve import serve

ANSWER = "This is an answer of about the length that people get."


@dataclass(slots=True)
class BenchModel:
    """Answers at once and notes for each question how long it was busy with it."""

    delay_seconds: float = 0.0
    busy: list[tuple[str, float]] = field(default_factory=list)  # (question, seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        request = Request(scope, receive)
        body = await request.json()
        await asyncio.sleep(self.delay_seconds)
        await self._answer(body)(scope, receive, send)
        self.busy.append((str(body["messages"][-1]["content"]), time.monotonic() - started))

    def _answer(self, body: dict[str, object]) -> Response:
        head = {"id": "1", "created": 1, "model": "bench"}
        usage = {"prompt_tokens": 50, "completion_tokens": 12, "total_tokens": 62}
        if not body.get("stream"):
            message = {"role": "assistant", "content": ANSWER}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return JSONResponse(
                {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            )
        delta = {"role": "assistant", "content": ANSWER}
        chunks: list[dict[str, object]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        lines = [
            f"data: {json.dumps({**head, 'object': 'chat.completion.chunk', **chunk})}\n\n"
            for chunk in chunks
        ]
        body_text = "".join([*lines, "data: [DONE]\n\n"])
        return Response(body_text, media_type="text/event-stream")


@dataclass(slots=True)
class Stand:
    telegram: Telegram
    model: BenchModel
    telegram_url: str
    model_url: str

    def environment(self, **more: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
        }
        return {
            **kept,
            "TELEGRAM_BOT_TOKEN": LAB_TOKEN,
            "TELEGRAM_API_URL": self.telegram_url,
            "MODEL_BASE_URL": f"{self.model_url}/v1",
            "MODEL_NAME": "bench",
            "LOG_LEVEL": "ERROR",
            **more,
        }


@contextlib.asynccontextmanager
async def stand() -> AsyncIterator[Stand]:
    telegram, model = Telegram(clock=time.monotonic), BenchModel()
    async with serve_telegram(telegram) as telegram_url, serve(model) as model_url:
        yield Stand(telegram, model, telegram_url, model_url)


@contextlib.asynccontextmanager
async def process(
    *arguments: str, environment: dict[str, str], folder: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `python ARGUMENTS`; ended by SIGTERM, and by SIGKILL if that takes too long."""
    running = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, cwd=folder
    )
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(15):
                await running.wait()
        except TimeoutError:
            running.kill()
            await running.wait()


def dabir(stand: Stand, folder: Path, **more: str) -> dict[str, str]:
    """The environment of a Dabir with everything on and nothing that waits on purpose."""
    return stand.environment(
        DATABASE_URL=f"sqlite:///{folder}/dabir.db",
        OWNER_ID="1",
        ACCESS="public",
        TELEGRAM_MESSAGES_PER_SECOND="1000",
        PYTHONPATH=str(Path(__file__).parents[2]),
        **more,
    )


async def until_polling(telegram: Telegram) -> None:
    await telegram.wait_for(lambda: telegram.updates.polling or None, timeout=30)


async def opted_in(telegram: Telegram, chats: list[int]) -> None:
    """Bring every chat to where the assistant is on."""
    for chat in chats:
        telegram.user_starts(chat)
    await telegram.wait_for(
        lambda: all(telegram.bot_texts(chat) for chat in chats) or None, timeout=60
    )
    for chat in chats:
        telegram.user_presses(chat, telegram.messages(chat)[-1].message_id, "v1:start")
    await telegram.wait_for(
        lambda: all(len(telegram.bot_texts(chat)) >= 2 for chat in chats) or None, timeout=60
    )
