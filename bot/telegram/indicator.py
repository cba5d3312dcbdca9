"""Shows that an answer is being worked on: "typing…", and after a while a line with buttons.

The line is removed afterwards. Its id is stored while it is there, so that a line left behind by
a crash is removed at the next start.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from bot.core.notices import Notice
from bot.errors import DabirError
from bot.store import outbox
from bot.store.conversations import Contact
from bot.store.port import Database, Sql
from bot.telegram.port import Messenger
from bot.telegram.texts import phrase

log = structlog.get_logger(__name__)

TYPING_AFTER_SECONDS = 0.2  # an answer that is there at once needs no indicator
TYPING_SECONDS = 4.5  # Telegram shows it for about five
STATUS_AFTER_SECONDS = 4.0
ADD = """
INSERT INTO status_lines (chat_id, message_id, posted_at) VALUES (:chat_id, :message_id, :at)
ON CONFLICT (chat_id, message_id) DO NOTHING
"""
ALL = "SELECT chat_id, message_id FROM status_lines WHERE posted_at < :before"
REMOVE = "DELETE FROM status_lines WHERE chat_id = :chat_id AND message_id = :message_id"


class Indicator:
    def __init__(
        self,
        messenger: Messenger,
        database: Database,
        *,
        clock: Callable[[], float],
        status_after_seconds: float = STATUS_AFTER_SECONDS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._messenger = messenger
        self._database = database
        self._clock = clock
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
        """Wait until every line is gone."""
        await asyncio.gather(*self._leaving, return_exceptions=True)

    async def remove_leftovers(self, before: float) -> None:
        """Remove the lines that an earlier run left behind."""
        left = await self._database.read(lambda sql: sql.rows(ALL, {"before": before}))
        for chat_id, message_id in left:
            await self._remove(chat_id, message_id)

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
        """Post the line and note its id; 0 if it could not be posted. Never cancelled."""
        line = phrase(Notice.STATUS, contact.language, {"turn_id": turn_id})
        chat_id = contact.chat_id
        try:
            message_id = await self._messenger.send(chat_id, line)
        except DabirError as error:
            log.info("status_line_not_shown", chat_id=chat_id, cause=type(error).__name__)
            return 0
        values = {"chat_id": chat_id, "message_id": message_id, "at": self._clock()}

        def note(sql: Sql) -> None:
            sql.run(ADD, values)
            outbox.know_id(sql, chat_id, message_id)

        await self._database.transact(note)
        return message_id

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
            await self._messenger.delete(chat_id, message_id)
        except DabirError as error:
            log.info("status_line_not_removed", chat_id=chat_id, cause=type(error).__name__)
            return
        values = {"chat_id": chat_id, "message_id": message_id}
        await self._database.transact(lambda sql: sql.run(REMOVE, values))
