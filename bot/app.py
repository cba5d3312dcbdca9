"""Opens everything in order, has it put together (bot/assembly.py), closes it in reverse.

The only module that names concrete adapters.
"""

import asyncio
import importlib
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import structlog
import telegram
from telegram.error import InvalidToken, TelegramError

from bot.assembly import Ports, Tuning, assemble
from bot.cli import owner_code
from bot.clock import SteadyClock
from bot.core.context import Budget
from bot.core.transitions.moves import Limits
from bot.errors import Misconfigured, StoreUnavailable
from bot.inbound import UPDATE_KINDS, Inbound
from bot.model.aiding import AID_PROMPTS
from bot.model.client import OpenAICompatibleModel
from bot.model.moderation import Chain, EndpointModerator, JudgeModerator, RulesModerator
from bot.model.port import ChatModel, Moderator
from bot.model.prompts import SECRETS_OF_PROMPT
from bot.remembering import Remembering
from bot.scribe import Timing
from bot.settings import Settings
from bot.store import leases, meta, outbox, work
from bot.store.filelock import FileLock
from bot.store.migrations import BOT_SCHEMA, migrate
from bot.store.port import Database, Sql
from bot.store.url import open_database
from bot.telegram.forum import TelegramForum
from bot.telegram.indicator import STATUS_AFTER_SECONDS
from bot.telegram.menu import set_menu
from bot.telegram.pacing import Pace
from bot.telegram.polling import Poller
from bot.telegram.sender import TelegramMessenger, build_bot
from bot.vault import open_vault
from bot.walrus_place import is_walrus, open_walrus
from bot.workers import Workers
from memory import backoff as memory_backoff
from memory import outbox as memory_outbox
from memory import schema as memory_schema
from memory.backends.file import FileBackend
from memory.backends.sql import SqlBackend
from memory.keys import Vault
from memory.port import MemoryBackend, MemoryUnavailable
from memory.sealing_up import seal_up
from memory.service import Memory

log = structlog.get_logger(__name__)

GREETING_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
STOP_SECONDS = 9.0  # a stop that takes longer is cut short: any moment is safe to end at
IDLE_SECONDS = 5.0  # between looks for what nobody rang for
SHARED_IDLE_SECONDS = 1.0  # where other processes may have written
MEMORY_SCHEMA = ("memory", memory_schema.FOLDER)


WITHOUT_EFFECT = ("telegram_webhook_url", "operator_chat_id", "metrics_listen")  # as yet


def _unchanged(backend: MemoryBackend) -> MemoryBackend:
    return backend


# A pass over our own stores takes milliseconds; one that died is repeated after half a minute.
MEMORY_PACE = memory_backoff.Pace(lease_seconds=30.0)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the lab may put in place of a part. A bot in earnest runs with these defaults."""

    memory_backend: Callable[[MemoryBackend], MemoryBackend] = _unchanged
    memory_pace: memory_backoff.Pace = MEMORY_PACE
    idle_seconds: float = 0.0  # 0: as fits the database
    status_after_seconds: float = STATUS_AFTER_SECONDS  # a longer answer is announced by a line
    hurries: bool = False  # no chat has to wait between its messages, but for 429s


EARNEST = Parts()


@dataclass(slots=True)
class Running:
    """A bot that is ready to run; `run` ends when it is cancelled."""

    username: str
    database: Database
    workers: Workers
    poller: Poller
    inbound: Inbound
    background: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.workers.run())
            group.create_task(self.poller.run())


def run(settings: Settings) -> int:
    """Run the bot until SIGTERM or Ctrl-C; return the exit code."""
    asyncio.run(_until_stopped(settings))
    return 0


async def _until_stopped(settings: Settings) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        last_resort = threading.Timer(STOP_SECONDS, os._exit, (0,))
        last_resort.daemon = True
        last_resort.start()
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await serve(settings, stopped)


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Run the bot until `stop` is set. Raises Misconfigured or StoreUnavailable at the start."""
    stopped = asyncio.create_task(stop.wait())
    serving = asyncio.create_task(_serve(settings))
    await asyncio.wait({stopped, serving}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not serving.done():
        log.info("stopping")
        serving.cancel()
    try:
        await serving
    except asyncio.CancelledError:
        log.info("stopped")


async def _serve(settings: Settings) -> None:
    async with opened(settings) as running:
        log.info("running", bot=running.username)
        await running.run()


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    share: bool = False,
    parts: Parts = EARNEST,
) -> AsyncIterator[Running]:
    """Open everything for these settings, and close it afterwards.

    `share`: other processes may use the same SQLite file. By default a file belongs to one bot.
    `parts`: what the lab replaces.
    """
    async with AsyncExitStack() as stack:
        alone = _lock(settings, stack, share=share)
        database = await _open_store(settings, stack)
        clock = SteadyClock()
        holder = secrets.token_hex(8)
        await _prepare(settings, database, clock(), holder, alone=alone)
        configured = settings.memory_secret.get_secret_value()
        vault = await database.transact(lambda sql: open_vault(sql, configured))
        store, databases = await memory_store(settings, database, stack)
        await _seal_up(databases, vault, store, clock())
        bot, username = await _greet(settings, stack)
        backend = parts.memory_backend(store)
        memory = Memory(database, backend, vault=vault, pace=parts.memory_pace)
        stack.push_async_callback(memory.close)
        model = _model(settings)
        stack.push_async_callback(model.close)
        moderator = _moderator(settings, model)
        stack.push_async_callback(moderator.close)
        ports = Ports(
            databases=databases,
            telegram=TelegramMessenger(bot),
            forum=TelegramForum(bot),
            model=model,
            moderator=moderator,
            memory=memory,
            remembering=Remembering(memory, vault.naming),
            clock=clock,
            monotonic=time.monotonic,
            redeem=partial(owner_code.check_and_consume, settings.data_directory),
            welcome_owner=partial(set_menu, bot),
        )
        tuning = _tuning(settings, parts, holder, username, clock() if alone else 0.0)
        assembled = assemble(ports, tuning)
        stack.push_async_callback(assembled.close)
        inbound = assembled.inbound
        poller = Poller(bot, inbound.accept, UPDATE_KINDS)
        stack.push_async_callback(poller.confirm)
        running = Running(username, database, assembled.workers, poller, inbound)
        await _announce(settings, running, stack, bot)
        yield running


def _lock(settings: Settings, stack: AsyncExitStack, *, share: bool) -> bool:
    """Make sure that no other bot uses this SQLite file. False: others may use the database."""
    path = settings.sqlite_path
    if path is None or share:
        return False
    lock = FileLock(path)
    if not lock.acquire():
        raise Misconfigured(
            f"Another dabir (process {lock.holder_pid or 'unknown'}) is running with the database "
            f"{path}; stop it first, or give this one its own DATABASE_URL.",
            setting="DATABASE_URL",
        )
    stack.callback(lock.release)
    return True


async def _open_store(settings: Settings, stack: AsyncExitStack) -> Database:
    database = await open_database(settings.database_url.get_secret_value())
    stack.push_async_callback(database.close)
    return database


async def _prepare(
    settings: Settings, database: Database, now: float, holder: str, *, alone: bool
) -> None:
    await migrate(database, [BOT_SCHEMA, MEMORY_SCHEMA], now=now)

    def prepare(sql: Sql) -> None:
        if settings.owner_id:
            meta.set_owner(sql, settings.owner_id)
        if alone:  # whoever held something is dead
            leases.expire_others(sql, holder)
            outbox.free_claims(sql, now)
            work.free_claims(sql, now, settings.debounce_cap)
            memory_outbox.free_claims(sql, now)

    await database.transact(prepare)


async def _greet(settings: Settings, stack: AsyncExitStack) -> tuple[telegram.Bot, str]:
    """Learn the bot's name. A wrong token ends the start; a dead network is waited out."""
    bot = build_bot(
        settings.telegram_bot_token.get_secret_value(),
        settings.telegram_api_url,
        proxy=settings.telegram_proxy.get_secret_value() or None,
    )
    failures = 0
    while True:
        try:
            await bot.initialize()
        except InvalidToken as error:
            raise Misconfigured(
                "TELEGRAM_BOT_TOKEN is not accepted by Telegram; get the token from @BotFather.",
                setting="TELEGRAM_BOT_TOKEN",
            ) from error
        except TelegramError as error:
            log.warning(
                "telegram_not_reached",
                cause=type(error).__name__,
                what_to_do="check the network, TELEGRAM_API_URL and TELEGRAM_PROXY",
            )
            await asyncio.sleep(GREETING_PAUSES[min(failures, len(GREETING_PAUSES) - 1)])
            failures += 1
        else:
            stack.push_async_callback(bot.shutdown)
            return bot, bot.username


async def memory_store(
    settings: Settings, database: Database, stack: AsyncExitStack
) -> tuple[MemoryBackend, tuple[Database, ...]]:
    """Where lines are kept, and the databases that hold something of them: the bot's comes first.
    What is opened is closed by `stack`."""
    url = settings.memory_url.get_secret_value()
    if not url:
        return SqlBackend(database, unavailable=(StoreUnavailable,)), (database,)
    if is_walrus(url):
        return open_walrus(settings), (database,)
    if urlsplit(url).scheme == "file":
        return FileBackend(Path(url.removeprefix("file://"))), (database,)
    own = await open_database(url)
    stack.push_async_callback(own.close)
    await migrate(own, [MEMORY_SCHEMA], now=SteadyClock()())
    return SqlBackend(own, unavailable=(StoreUnavailable,)), (database, own)


async def _seal_up(
    databases: tuple[Database, ...], vault: Vault, store: MemoryBackend, now: float
) -> None:
    """Seal what an older version left in the clear. A store that is out is sealed up next time."""
    try:
        sealed = await seal_up(databases[0], vault, store, now)
    except MemoryUnavailable as error:
        log.warning("memory_not_sealed_up", cause=str(error))
        return
    if sealed:
        for database in databases:
            await database.scrub()


def _tuning(
    settings: Settings, parts: Parts, holder: str, username: str, alone_since: float
) -> Tuning:
    idle_seconds = IDLE_SECONDS if alone_since else SHARED_IDLE_SECONDS
    return Tuning(
        holder=holder,
        bot_username=username,
        language=settings.language,
        operators=sorted(settings.operators),
        access=settings.access,
        timing=Timing(settings.debounce_quiet, settings.debounce_cap),
        limits=_limits(settings),
        zone=settings.timezone,
        host_prompt=settings.model_system_prompt,
        engine=settings.model_name,
        budget=Budget(settings.model_max_messages, settings.model_context_tokens),
        judges_at_once=settings.moderation == "rules",
        session_lease_seconds=settings.session_lease_seconds,
        human_lease_seconds=settings.human_lease_seconds,
        idle_seconds=parts.idle_seconds or idle_seconds,
        pace=_pace(settings, parts),
        late_seconds=settings.telegram_late_seconds,
        status_after_seconds=parts.status_after_seconds,
        alone_since=alone_since,
    )


def _pace(settings: Settings, parts: Parts) -> Pace:
    overall = max(1, round(settings.telegram_messages_per_second))
    if parts.hurries:
        return Pace(overall, per_chat_seconds=0.0, per_group_minute=6000)
    return Pace(overall)


def _limits(settings: Settings) -> Limits:
    return Limits(
        max_restarts=settings.max_restarts,
        max_turn_seconds=settings.max_turn_seconds,
        reminder_seconds=settings.handoff_reminder_seconds,
    )


def _model(settings: Settings) -> ChatModel:
    return OpenAICompatibleModel(
        settings.model_base_url,
        settings.model_api_key.get_secret_value(),
        settings.model_name,
        timeout_seconds=settings.model_timeout,
    )


def _moderator(settings: Settings, model: ChatModel) -> Moderator:
    rules = RulesModerator(
        settings.model_system_prompt,
        SECRETS_OF_PROMPT,
        *AID_PROMPTS,
        secrets=settings.secrets,
        words=settings.moderation_words,
        patterns=[pattern.pattern for pattern in settings.moderation_patterns],
    )
    match settings.moderation:
        case "rules":
            return rules
        case "endpoint":
            endpoint = EndpointModerator(
                settings.moderation_base_url or settings.model_base_url,
                settings.model_api_key.get_secret_value(),
                timeout_seconds=settings.moderation_timeout,
            )
            return Chain([rules, endpoint])
        case "model":
            judge = JudgeModerator(model, timeout_seconds=settings.moderation_timeout)
            return Chain([rules, judge])


async def _announce(
    settings: Settings, running: Running, stack: AsyncExitStack, bot: telegram.Bot
) -> None:
    """What a start does besides: the owner's link, the command menu."""
    for name in WITHOUT_EFFECT:
        if getattr(settings, name):
            log.warning("setting_without_effect", setting=name.upper(), since="this version")
    owner = await running.database.read(meta.owner_id)
    if not owner:
        code = owner_code.issue(settings.data_directory)
        link = owner_code.link(running.username, code)
        print(f"Open this link to become the owner of this bot: {link}", file=sys.stderr)  # noqa: T201
    chores = (
        set_menu(bot, owner),
        asyncio.to_thread(importlib.import_module, "openai"),  # slow; the first turn needs it
    )
    tasks = [asyncio.ensure_future(chore) for chore in chores]
    for task in tasks:
        stack.callback(task.cancel)
