"""Fetches updates by long polling and confirms them only once they are stored.

Asking for the updates after N is what confirms those up to N. So a batch is committed before the
next request is made, and nothing else has to be remembered.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import structlog
import telegram
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from bot.errors import DabirError
from bot.telegram.incoming import UNREADABLE

log = structlog.get_logger(__name__)

POLL_SECONDS = 30  # how long Telegram may keep a request open when there is nothing new
GRACE_SECONDS = 30  # on top of it; then the connection is taken for dead
BACKOFF_SECONDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
MOST_UPDATES = 100  # of one answer; https://core.telegram.org/bots/api#getupdates


class Poller:
    def __init__(
        self,
        bot: telegram.Bot,
        accept: Callable[[Sequence[telegram.Update]], Awaitable[None]],
        kinds: Sequence[str],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._bot = bot
        self._accept = accept
        self._kinds = list(kinds)
        self._sleep = sleep
        self._offset = 0
        self._failures = 0

    async def run(self) -> None:
        """Poll until cancelled. Trouble is waited out, however long it takes."""
        while True:
            try:
                updates = await self._fetch()
                if updates:
                    await self._accept(updates)
                    self._offset = updates[-1].update_id + 1
                self._recovered()
            except (TelegramError, DabirError, TimeoutError) as error:
                await self._sleep(self._pause_after(error))

    async def confirm(self) -> None:
        """Tell Telegram what is stored, so that a restart does not fetch it again. Best effort."""
        if not self._offset:
            return
        with suppress(TelegramError, TimeoutError):
            async with asyncio.timeout(2):
                await self._bot.get_updates(offset=self._offset, limit=1, timeout=0)

    async def _fetch(self) -> Sequence[telegram.Update]:
        wanted = {
            "limit": MOST_UPDATES,
            "timeout": POLL_SECONDS,
            "allowed_updates": self._kinds,
        }
        if self._offset:
            wanted["offset"] = self._offset
        async with asyncio.timeout(POLL_SECONDS + GRACE_SECONDS):
            # `bot.get_updates` takes a batch whole or not at all, and writes all of its text to
            # the log when it cannot read one of them. (The library warns of the usual spelling.)
            found = await self._bot.do_api_request(
                "get_Updates", api_kwargs=wanted, read_timeout=POLL_SECONDS + GRACE_SECONDS
            )
        return [self._read(each) for each in found]

    def _read(self, found: dict[str, Any]) -> telegram.Update:
        """One update; what the library cannot read travels on in `api_kwargs`."""
        try:
            update = telegram.Update.de_json(found, self._bot)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            number = int(found["update_id"])
            log.error("update_not_readable", update_id=number, cause=type(error).__name__)
            return telegram.Update(number, api_kwargs={UNREADABLE: found})
        assert update is not None, "the library returns an update for one"
        return update

    def _recovered(self) -> None:
        if self._failures:
            log.info("polling_recovered", after_failures=self._failures)
        self._failures = 0

    def _pause_after(self, error: Exception) -> float:
        self._failures += 1
        log.warning("polling_failed", failures=self._failures, cause=_sentence(error))
        if isinstance(error, RetryAfter):
            wait = error.retry_after
            return float(wait if isinstance(wait, int) else wait.total_seconds())
        return BACKOFF_SECONDS[min(self._failures, len(BACKOFF_SECONDS)) - 1]


def _sentence(error: Exception) -> str:
    """What went wrong and what to do, without the address that holds the token."""
    if isinstance(error, Conflict):
        return (
            "another program is fetching updates with this token, or a webhook is set; "
            "stop it: a token serves one bot"
        )
    if isinstance(error, InvalidToken):
        return "Telegram no longer accepts TELEGRAM_BOT_TOKEN; get a new one from @BotFather"
    if isinstance(error, DabirError):
        return str(error)
    return f"the Bot API cannot be reached ({type(error).__name__})"
