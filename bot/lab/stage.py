"""The real bot against the lab's Bot API server and practice model: for drills and tests.

People act through `telegram`, the model is held by `model`, and what the bot wrote down is read
from its database. Bots run in this process (`bot`) or in processes of their own (`process`).
What is waited for is an event of the lab; only where nobody but the database knows, it is looked
at again after a short pause, up to a deadline.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from bot import app
from bot.app import EARNEST, Parts, Running
from bot.core.states import Conversation
from bot.lab.botapi import LAB_TOKEN, Press, Seen, Telegram, serve_telegram
from bot.lab.model import PracticeModel
from bot.lab.process import BotProcess
from bot.lab.serve import serve
from bot.lab.unsealing import unsealed_lines
from bot.settings import Settings
from bot.store import conversations, journal, meta
from bot.store.journal import Entry
from bot.store.port import Database, Sql
from bot.store.url import open_database
from memory.line import Line

T = TypeVar("T")
OWNER = 1000
USER = 42
QUIET = 0.05  # seconds; nobody on a stage waits for a typist as patiently as the default does
LOOK_SECONDS = 0.005
NO_CHANGES: Mapping[str, object] = {}


class LabSettings(Settings):
    """Only what is given counts: nothing of the machine's environment or `.env` gets in."""

    @classmethod
    def settings_customise_sources(  # type: ignore[override]
        cls,
        settings_cls: type[Settings],
        init_settings: Any,
        **others: Any,
    ) -> tuple[Any, ...]:
        return (init_settings,)


@dataclass(slots=True)
class Stage:
    """Everything a flow needs. No bot runs until `bot` or `process` starts one."""

    telegram: Telegram
    model: PracticeModel
    settings: Settings
    folder: Path
    given: dict[str, object]  # the settings as they were given, for processes
    running: Running | None = None
    processes: list[BotProcess] = field(default_factory=list)
    observers: dict[str, Database] = field(default_factory=dict)

    # Waiting

    async def until(self, wanted: Callable[[], T | None], timeout: float = 10) -> T:
        found = await self.telegram.wait_for(wanted, timeout)
        assert found is not None
        return found

    async def shows(self, chat_id: int, text: str, *, times: int = 1, timeout: float = 10) -> Seen:
        """Wait until the chat shows a message of the bot that contains `text`; return the last."""

        def found() -> list[Seen] | None:
            hits = [seen for seen in self.from_bot(chat_id) if text in seen.text]
            return hits if len(hits) >= times else None

        return (await self.until(found, timeout))[-1]

    async def state(self, chat_id: int, state: str, timeout: float = 10) -> Conversation:
        """Wait until the conversation is in this state."""
        async with asyncio.timeout(timeout):
            while True:
                with contextlib.suppress(AssertionError):
                    conversation = await self.conversation(chat_id)
                    if conversation.state == state:
                        return conversation
                await asyncio.sleep(LOOK_SECONDS)

    async def covered(self, version: int, chat_id: int = USER, timeout: float = 10) -> None:
        """Wait until every message up to `version` is settled and nothing is under way."""
        async with asyncio.timeout(timeout):
            while True:
                conversation = await self.conversation(chat_id)
                if conversation.covered >= version and conversation.turn is None:
                    return
                await asyncio.sleep(LOOK_SECONDS)

    async def until_rows(
        self, query: str, timeout: float = 10, **values: str | int | float
    ) -> list[tuple[Any, ...]]:
        """Wait until the query finds something."""
        async with asyncio.timeout(timeout):
            while True:
                if found := await self.rows(query, **values):
                    return found
                await asyncio.sleep(LOOK_SECONDS)

    async def everything_so_far(self, chat_id: int = USER, timeout: float = 10) -> None:
        """Wait until the bot has dealt with all that was written, by asking one thing more."""
        said = "is not shown to the assistant"  # by no other notice
        asked = self.count(chat_id, said)
        self.telegram.user_sends(chat_id, "/privacy")
        await self.shows(chat_id, said, times=asked + 1, timeout=timeout)

    # People

    def press(self, chat_id: int, label: str) -> Press:
        """Press the newest button with this label."""
        for seen in reversed(self.from_bot(chat_id)):
            if any(button["text"] == label for row in seen.keyboard for button in row):
                return self.telegram.user_presses(chat_id, seen.message_id, label)
        raise AssertionError(f"no button {label!r} in chat {chat_id}")

    async def opt_in(self, chat_id: int = USER) -> None:
        """Take the way of a new user: write /start, press the button."""
        self.telegram.user_starts(chat_id)
        await self.shows(chat_id, "assistant")
        self.press(chat_id, "Start the AI assistant")
        await self.state(chat_id, "ai_ready")

    async def start_ai(self, chat_id: int = USER, *, language_code: str = "") -> None:
        """The same with one message fewer from the bot: a button of long ago is pressed."""
        self.telegram.add_user(chat_id, language_code=language_code, started=True)
        self.telegram.user_forges_press(chat_id, 1, "v1:start")
        await self.state(chat_id, "ai_ready")

    # Looking

    def from_bot(self, chat_id: int) -> list[Seen]:
        return [seen for seen in self.telegram.messages(chat_id) if seen.author == "bot"]

    def count(self, chat_id: int, text: str) -> int:
        """How many messages of the bot in this chat contain `text` now."""
        return sum(text in seen.text for seen in self.from_bot(chat_id))

    def asked(self) -> str:
        """Everything that the model was ever sent, as one text to search in."""
        return "\n".join(json.dumps(each.body, ensure_ascii=False) for each in self.model.requests)

    async def rows(self, query: str, **values: str | int | float) -> list[tuple[Any, ...]]:
        """Look into the database."""
        return [tuple(row) for row in await self._read(lambda sql: sql.rows(query, values))]

    async def lines(self) -> list[Line]:
        """Every line of memory of every chat, in the database or on its way there, unsealed."""
        given = self.settings.memory_secret.get_secret_value()

        def unsealed(sql: Sql) -> list[Line]:
            return unsealed_lines(sql, given or meta.kept_memory_secret(sql))

        return await self._read(unsealed)

    async def conversation(self, chat_id: int = USER) -> Conversation:
        known = await self._read(
            lambda sql: conversations.peek(sql, conversations.conversation_id(chat_id))
        )
        assert known is not None, f"chat {chat_id} has no conversation"
        return known[0]

    async def journal(self, chat_id: int = USER) -> list[Entry]:
        name = conversations.conversation_id(chat_id)
        return list(await self._read(lambda sql: journal.read(sql, name)))

    async def _read(self, work: Callable[[Sql], T]) -> T:
        database = self.running.database if self.running else await self._observer()
        return await database.read(work)

    async def _observer(self) -> Database:
        """A connection of the stage's own, for when the bots are processes of their own."""
        url = self.settings.database_url.get_secret_value()
        if url not in self.observers:
            self.observers[url] = await open_database(url)
        return self.observers[url]

    # Bots

    @contextlib.asynccontextmanager
    async def bot(
        self,
        *,
        share: bool = False,
        parts: Parts = EARNEST,
        polls: bool = True,
        status_after_seconds: float | None = None,
        **changes: object,
    ) -> AsyncIterator[Running]:
        """Run the bot in this process; several times in turn are restarts on the same database.

        `polls` False: it takes updates only by `running.inbound.accept`, as from a webhook.
        """
        settings = self.settings.model_copy(update=changes) if changes else self.settings
        if status_after_seconds is not None:
            parts = replace(parts, status_after_seconds=status_after_seconds)
        async with app.opened(settings, share=share, parts=parts) as running:
            before, self.running = self.running, running
            task = asyncio.create_task(running.run() if polls else running.workers.run())
            try:
                yield running
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                self.running = before

    async def process(
        self,
        *,
        program: str = "bot",
        words: Sequence[str] = (),
        hears: bool = False,
        waits: bool = True,
        changes: Mapping[str, object] = NO_CHANGES,
    ) -> BotProcess:
        """Start the bot as a process of its own; `waits`: until it says that it runs."""
        given = {**self.given, **changes}
        environment = {name.upper(): _written(value) for name, value in given.items()}
        made = await BotProcess.start(
            self.folder, environment, program=program, words=words, hears=hears
        )
        self.processes.append(made)
        if waits:
            await made.says("running", within=30)
        return made

    async def close(self) -> None:
        for process in self.processes:
            await process.kill()
        for database in self.observers.values():
            await database.close()


def _written(value: object) -> str:
    """A setting as an environment variable says it."""
    if isinstance(value, frozenset | set | tuple | list):
        return ",".join(str(each) for each in sorted(value))
    return str(value)


S = TypeVar("S", bound=Stage)


@contextlib.asynccontextmanager
async def serve_stage(kind: type[S], folder: Path, **changes: object) -> AsyncIterator[S]:
    """Lab servers and settings for a bot whose data lives in `folder`; no bot runs yet."""
    world, model = Telegram(), PracticeModel()
    async with serve_telegram(world) as telegram_url, serve(model) as model_url:
        given: dict[str, object] = {
            "telegram_bot_token": LAB_TOKEN,
            "telegram_api_url": telegram_url,
            "model_base_url": f"{model_url}/v1",
            "model_name": "practice",
            "owner_id": OWNER,
            "access": "public",
            "database_url": f"sqlite:///{folder}/dabir.db",
            "debounce_quiet": QUIET,
            "telegram_late_seconds": 0,
            "debounce_cap": 0.4,
            **changes,
        }
        ready = kind(world, model, LabSettings.model_validate(given), folder, given)
        try:
            yield ready
        finally:
            await ready.close()
