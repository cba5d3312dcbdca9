"""The loops of a running bot: turns, timers, outbox, commands, memory, forgetting, cards, lines.

Each loop looks for what is due in the database, does it, and sleeps until the next time, a ring,
or a short while for what another process wrote. Trouble with the database is waited out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from logging import DEBUG
from typing import Generic, TypeVar

import structlog

from bot.coordinator import Coordinator
from bot.core.effects import Timer
from bot.core.events import HandoffReminderDue, HumanLeaseExpired
from bot.desk import assignments
from bot.desk.aiding import Aiding
from bot.desk.cards import Cards
from bot.errors import DabirError
from bot.executor import Executor
from bot.forgetting import Forgetter
from bot.memory_commands import MemoryCommands
from bot.scribe import Aftermath
from bot.signals import Bell, Signals
from bot.store import work
from bot.store.outbox import Claimed
from bot.store.port import Database, Sql
from bot.store.work import StoredEffect
from bot.telegram.delivery import Delivery
from bot.telegram.fleeting import Fleeting
from memory.service import Memory

log = structlog.get_logger(__name__)
K = TypeVar("K", bound=Hashable)

MOST_AT_ONCE = 500  # conversations that one look may start
PAUSE_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)  # after trouble, longer each time
MEMORY_BATCH_SECONDS = 0.25  # lines of several turns are handed over together
SHUTDOWN_SECONDS = 4.0  # for messages that are on the wire when the bot is told to stop


class Crew(Generic[K]):
    """Tasks by key: one at a time for each, and a pause after one that failed."""

    def __init__(self, work: Callable[[K], Awaitable[None]]) -> None:
        self._work = work
        self._closed = False
        self._tasks: dict[K, asyncio.Task[None]] = {}
        self._wanted_again: set[K] = set()
        self._failures: dict[K, int] = {}

    def start(self, key: K) -> None:
        """Begin; if it is being done, do it again once that is over."""
        if self._closed:
            return
        if key in self._tasks:
            self._wanted_again.add(key)
            return
        task = asyncio.create_task(self._run(key))
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._finished(key))

    def cancel(self, key: K) -> None:
        if key in self._tasks:
            self._tasks[key].cancel()

    async def finish(self, within_seconds: float) -> None:
        """Let the tasks end by themselves for a while, then cancel them."""
        self._closed = True
        if self._tasks and within_seconds:
            await asyncio.wait(list(self._tasks.values()), timeout=within_seconds)
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _run(self, key: K) -> None:
        try:
            await self._work(key)
        except DabirError as error:
            log.warning("work_put_off", key=str(key), cause=str(error))
            await self._pause(key)
        except Exception as error:  # the coordinator's edge: one conversation must not stop all
            log.error(
                "work_failed",
                key=str(key),
                cause=type(error).__name__,
                exc_info=log.is_enabled_for(DEBUG),
            )
            await self._pause(key)
        else:
            self._failures.pop(key, None)

    async def _pause(self, key: K) -> None:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        await asyncio.sleep(PAUSE_SECONDS[min(failures, len(PAUSE_SECONDS) - 1)])

    def _finished(self, key: K) -> None:
        self._tasks.pop(key, None)
        if key in self._wanted_again or key in self._failures:
            self._wanted_again.discard(key)
            self.start(key)


class Workers:
    def __init__(
        self,
        *,
        database: Database,
        coordinator: Coordinator,
        executor: Executor,
        delivery: Delivery,
        commands: MemoryCommands,
        aiding: Aiding,
        memory: Memory,
        forgetter: Forgetter,
        lines: Fleeting,
        cards: Cards,
        signals: Signals,
        clock: Callable[[], float],
        idle_seconds: float,
    ) -> None:
        self._database = database
        self._coordinator = coordinator
        self._delivery = delivery
        self._commands = commands
        self._aiding = aiding
        self._memory = memory
        self._forgetter = forgetter
        self._lines = lines
        self._cards = cards
        self._signals = signals
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._turns: Crew[str] = Crew(executor.drive)
        self._chats: Crew[int] = Crew(delivery.drain)
        self._answers: Crew[str] = Crew(self._answer)
        self._claimed: dict[str, StoredEffect] = {}
        self._alarms: dict[str, asyncio.TimerHandle] = {}
        coordinator.send_at_once(delivery.claim_now)
        signals.cancel_generation = self._turns.cancel
        signals.send_now = self._send_now
        signals.turn_due = self._set_alarm

    async def run(self) -> None:
        """Run all loops until cancelled; then let what is on the wire finish."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._loop(self._signals.turns, self._look_for_turns))
                group.create_task(self._loop(self._signals.outbox, self._look_for_chats))
                group.create_task(self._loop(self._signals.commands, self._answer_commands))
                group.create_task(self._loop(self._signals.memory, self._write_memory))
                group.create_task(self._loop(self._signals.cards, self._keep_cards))
                group.create_task(self._loop(self._signals.forgetting, self._forgetter.go_on))
                group.create_task(self._loop(Bell(), self._tidy))
        finally:
            for alarm in self._alarms.values():
                alarm.cancel()
            self._coordinator.send_at_once(_nothing)
            await self._chats.finish(SHUTDOWN_SECONDS)
            await self._turns.finish(0)
            await self._answers.finish(0)
            await self._delivery.give_back()

    def _send_now(self, claimed: Claimed) -> None:
        self._delivery.hand(claimed)
        self._chats.start(claimed.outgoing.chat_id)

    def _set_alarm(self, conversation_id: str, at: float) -> None:
        """Start a turn in time. The look does so too, for turns of which nobody told us."""
        earlier = self._alarms.pop(conversation_id, None)
        if earlier is not None:
            earlier.cancel()
        self._alarms[conversation_id] = asyncio.get_running_loop().call_later(
            max(0.0, at - self._clock()), self._alarm, conversation_id
        )

    def _alarm(self, conversation_id: str) -> None:
        self._alarms.pop(conversation_id, None)
        self._turns.start(conversation_id)

    async def _loop(self, bell: Bell, look: Callable[[], Awaitable[float | None]]) -> None:
        troubles = 0
        while True:
            try:
                due = await look()
            except DabirError as error:
                due = self._clock() + PAUSE_SECONDS[min(troubles, len(PAUSE_SECONDS) - 1)]
                troubles += 1
                log.error("store_trouble", cause=str(error))
                await asyncio.sleep(due - self._clock())
                continue
            troubles = 0
            wait = self._idle_seconds
            if due is not None:
                wait = min(wait, due - self._clock())
            await bell.wait(wait)

    async def _look_for_turns(self) -> float | None:
        now = self._clock()

        def look(sql: Sql) -> tuple[list[str], float | None, bool]:
            due = work.due_conversations(sql, now, MOST_AT_ONCE)
            return list(due), work.next_due(sql, now), work.timers_due(sql, now)

        due, next_due, timers = await self._database.read(look)
        for conversation_id in due:
            self._turns.start(conversation_id)
        if timers:
            await self._coordinator.transact(self._fire_timers)
        return next_due

    def _fire_timers(self, sql: Sql, aftermath: Aftermath) -> None:
        now = self._clock()
        for due in work.take_timers(sql, now):
            event: HumanLeaseExpired | HandoffReminderDue
            if due.timer == Timer.HUMAN_LEASE:
                event = HumanLeaseExpired(now, due.epoch)
            else:
                event = HandoffReminderDue(now, due.epoch)
            self._coordinator.step(sql, due.conversation_id, event, aftermath)

    async def _look_for_chats(self) -> float | None:
        due, next_due = await self._delivery.due_chats()
        for chat_id in due:
            self._chats.start(chat_id)
        return next_due

    async def _answer_commands(self) -> float | None:
        """Each by itself: one that waits for a slow memory holds up no other."""
        for answering in (self._commands, self._aiding):
            while (effect := await answering.claim()) is not None:
                self._claimed[effect.id] = effect
                self._answers.start(effect.id)
        return None

    async def _answer(self, effect_id: str) -> None:
        effect = self._claimed.pop(effect_id, None)
        if effect is not None:
            answering = self._aiding if effect.kind == assignments.KIND else self._commands
            await answering.answer(effect)

    async def _write_memory(self) -> float | None:
        await asyncio.sleep(MEMORY_BATCH_SECONDS)
        return await self._memory.flush(self._clock())

    async def _keep_cards(self) -> float | None:
        next_due, sends = await self._cards.look()
        for chat_id in sends:
            self._chats.start(chat_id)
        return next_due

    async def _tidy(self) -> float | None:
        await self._lines.tidy()
        return None


def _nothing(sql: Sql, chat_id: int) -> None:
    """Claims nothing: what is queued while the bot stops leaves after the next start."""
