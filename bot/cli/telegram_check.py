"""Two harmless questions to the Bot API, for setup and doctor: who am I, is a webhook set.

Never getUpdates: it would end the request with which a running bot waits for messages.
"""

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from bot.errors import Refused, RetryLater


@dataclass(frozen=True, slots=True)
class Answer:
    result: dict[str, Any]
    server_time: datetime | None  # from the HTTP Date header


@dataclass(frozen=True, slots=True)
class BotApi:
    api_url: str
    token: str
    proxy: str = ""
    timeout_seconds: float = 8.0

    async def get_me(self) -> Answer:
        """The bot's own account: `id`, `username`, `first_name`."""
        return await self._call("getMe")

    async def get_webhook_info(self) -> Answer:
        return await self._call("getWebhookInfo")

    async def _call(self, method: str) -> Answer:
        """Raises Refused (wrong token, or not a Bot API) or RetryLater (not reached).

        What httpx says is not passed on: it may hold the address, and so the token.
        """
        try:
            async with httpx.AsyncClient(
                timeout=self.timeout_seconds, proxy=self.proxy or None
            ) as client:
                reply = await client.get(f"{self.api_url}/bot{self.token}/{method}")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RetryLater(
                f"{self.api_url} cannot be reached ({type(error).__name__})"
            ) from error
        return Answer(self._result(reply), _server_time(reply))

    def _result(self, reply: httpx.Response) -> dict[str, Any]:
        if reply.status_code in (401, 404):
            raise Refused("Telegram does not know this token")
        if reply.status_code >= 500 or reply.status_code == 429:
            raise RetryLater(f"{self.api_url} answered {reply.status_code}")
        try:
            body = reply.json()
        except ValueError:
            body = None
        if not isinstance(body, dict) or not isinstance(body.get("result"), dict):
            raise Refused(f"{self.api_url} does not answer like a Bot API ({reply.status_code})")
        result: dict[str, Any] = body["result"]
        return result


def _server_time(reply: httpx.Response) -> datetime | None:
    try:
        return parsedate_to_datetime(reply.headers.get("date", ""))
    except ValueError:
        return None
