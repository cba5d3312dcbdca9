"""Delivers updates by POST: one at a time, in order, again and again until a 2xx comes back.

Plain http on loopback is accepted, which Telegram itself does not do.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from bot.lab.botapi.updates import UpdateQueue

Json = dict[str, Any]

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 (a header's name)
RETRY_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
ANSWER_SECONDS = 30.0


@dataclass(slots=True)
class Attempt:
    update_id: int
    status: int  # 0: no answer came
    at: float


@dataclass(slots=True)
class Webhook:
    url: str = ""
    secret_token: str = ""
    max_connections: int = 40
    last_error_at: int = 0
    last_error: str = ""
    attempts: list[Attempt] = field(default_factory=list)

    def as_json(self, queue: UpdateQueue) -> Json:
        info: Json = {
            "url": self.url,
            "has_custom_certificate": False,
            "pending_update_count": len(queue),
        }
        if self.url:
            info["max_connections"] = self.max_connections
        if queue.allowed:
            info["allowed_updates"] = sorted(queue.allowed)
        if self.last_error:
            info |= {
                "last_error_date": self.last_error_at,
                "last_error_message": self.last_error,
            }
        return info


class WebhookCourier:
    def __init__(
        self, queue: UpdateQueue, clock: Callable[[], float], changed: Callable[[], None]
    ) -> None:
        self._queue = queue
        self._clock = clock
        self._changed = changed
        self._task: asyncio.Task[None] | None = None

    def start(self, webhook: Webhook) -> None:
        self.stop()
        if webhook.url:
            self._task = asyncio.get_running_loop().create_task(self._deliver_all(webhook))

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def aclose(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _deliver_all(self, webhook: Webhook) -> None:
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
            failures = 0
            while True:
                update = await self._queue.next()
                if await self._deliver(client, webhook, update):
                    self._queue.done(update)
                    failures = 0
                else:
                    await asyncio.sleep(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
                    failures += 1
                self._changed()

    async def _deliver(self, client: httpx.AsyncClient, webhook: Webhook, update: Json) -> bool:
        headers = {SECRET_HEADER: webhook.secret_token} if webhook.secret_token else {}
        try:
            status = (await client.post(webhook.url, json=update, headers=headers)).status_code
            problem = "" if 200 <= status < 300 else f"Wrong response from the webhook: {status}"
        except httpx.TransportError as gone:
            status, problem = 0, type(gone).__name__
        if problem:
            webhook.last_error, webhook.last_error_at = problem, int(self._clock())
        webhook.attempts.append(Attempt(int(update["update_id"]), status, self._clock()))
        return not problem
