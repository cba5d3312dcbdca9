"""Shows that an answer is being worked on: "typing…", and after a while a line with buttons.

The line is removed afterwards, also after a crash: see fleeting.py.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from bot.core.notices import Notice
from bot.errors import DabirError
from bot.store.conversations import Contact
from bot.telegram.fleeting import Fleeting
from bot.telegram.port import Messenger
from bot.telegram.texts import phrase

log = structlog.get_logger(__name__)

TYPING_AFTER_SECONDS = 0.2  # an answer that is there at once needs no indicator
TYPING_SECONDS = 4.5  # Telegram shows it for about five
STATUS_AFTER_SECONDS = 4.0
CLOSE_SECONDS = 1.0  # what is not removed by then is on record


class Indicator:
    def __init__(
        self,
        messenger: Messenger,
        lines: Fleeting,
        *,
        status_after_seconds: float = STATUS_AFTER_SECONDS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._messenger = messenger
        self._lines = lines
        self._status_after_seconds = status_after_seconds
        self._sleep = sleep
        self._leaving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def showing(self, contact: Contact, turn_id: str) -> AsyncIterator[None]:
        """Show it for as long as the block runs; what goes wrong here never reaches the block."""
        posting: list[asyncio.Task[int]] = []
        shown = asyncio.create_task(self._show(contact, turn_id, posting))
        try:
            yield
        finally:
            leaving = asyncio.create_task(self._hide(contact.chat_id, shown, posting))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        """Let the lines go, but wait for no dead network."""
        leaving = set(self._leaving)
        if leaving:
            await asyncio.wait(leaving, timeout=CLOSE_SECONDS)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)

    async def _show(self, contact: Contact, turn_id: str, posting: list[asyncio.Task[int]]) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_typing(contact.chat_id))
            await self._sleep(self._status_after_seconds)
            posting.append(asyncio.create_task(self._post(contact, turn_id)))

    async def _keep_typing(self, chat_id: int) -> None:
        await self._sleep(TYPING_AFTER_SECONDS)
        while True:
            await self._messenger.show_typing(chat_id)
            await self._sleep(TYPING_SECONDS)

    async def _post(self, contact: Contact, turn_id: str) -> int:
        """Post the line; 0 if it could not be posted."""
        line = phrase(Notice.STATUS, contact.language, {"turn_id": turn_id})
        try:
            return await self._lines.post(contact.chat_id, line)
        except DabirError as error:
            cause = type(error).__name__
            log.info("status_line_not_shown", chat_id=contact.chat_id, cause=cause)
            return 0

    async def _hide(
        self, chat_id: int, shown: asyncio.Task[None], posting: list[asyncio.Task[int]]
    ) -> None:
        shown.cancel()
        with suppress(asyncio.CancelledError):
            await shown
        for task in posting:
            message_id = await task
            if message_id:
                await self._remove(chat_id, message_id)

    async def _remove(self, chat_id: int, message_id: int) -> None:
        try:
            await self._lines.remove(chat_id, message_id)
        except DabirError as error:  # it is on record: it is removed later
            cause = type(error).__name__
            log.info("status_line_stays_for_now", chat_id=chat_id, cause=cause)
