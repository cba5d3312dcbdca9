"""One process of the bot on one simulated machine: the real parts on simulated ports.

It is put together as in bot/app.py, with the same parts in the same order.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot.access import Access
from bot.clock import SteadyClock
from bot.commands import Commands
from bot.coordinator import Coordinator
from bot.core.context import Budget
from bot.core.events import Event
from bot.core.reducer import Step
from bot.core.states import Conversation
from bot.core.transitions.moves import Limits
from bot.desk.acting import Acting
from bot.desk.aid import Aid
from bot.desk.aiding import Aiding
from bot.desk.cards import Cards
from bot.desk.staffing import Desk
from bot.desk.translating import Translating
from bot.errors import StoreUnavailable
from bot.executor import Executor, TurnSettings
from bot.forgetting import Forgetter
from bot.inbound import Arrival, Inbound
from bot.memory_commands import MemoryCommands
from bot.model.aiding import Aide
from bot.model.answering import Answerer
from bot.model.port import ChatModel, Moderator
from bot.remembering import Remembering
from bot.scribe import Aftermath, Scribe, Timing
from bot.signals import Signals
from bot.store import conversations, leases, meta, outbox, work
from bot.store.leases import Lease
from bot.store.port import Sql
from bot.telegram.delivery import Delivery
from bot.telegram.fleeting import Fleeting
from bot.telegram.incoming import Incoming
from bot.telegram.indicator import Indicator
from bot.telegram.pacing import Pace
from bot.telegram.rendering import render
from bot.telegram.texts import phrases
from bot.workers import Workers
from memory import outbox as memory_outbox
from memory.backends.sql import SqlBackend
from memory.port import MemoryBackend
from memory.service import Memory
from tests.simulation.loop import Machine, SimulatedLoop
from tests.simulation.plan import Plan
from tests.simulation.store import SimulatedDatabase, Store
from tests.simulation.telegram import NoForum, SimulatedMessenger, SimulatedTelegram

MEMORY_SECRET = b"simulated"
HOST_PROMPT = "You are kind."
SESSION_LEASE_SECONDS = 60.0
HUMAN_LEASE_SECONDS = 60.0
DEBOUNCE_CAP_SECONDS = 8.0
MAX_RESTARTS = 3
MAX_TURN_SECONDS = 90.0
IDLE_SECONDS = 8.0
UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Outside:
    """What all processes share."""

    plan: Plan
    loop: SimulatedLoop
    store: Store
    telegram: SimulatedTelegram
    model: ChatModel
    moderator: Moderator
    remote_memory: MemoryBackend | None
    skew_seconds: dict[str, float]  # how far the clock of a slot is off
    epoch: float  # the time of day at loop time 0
    on_step: Callable[[Conversation, Event, Step], None]


async def _welcome(user_id: int) -> None:
    pass


class WatchedCoordinator(Coordinator):
    """Shows each step to the judge."""

    on_step: Callable[[Conversation, Event, Step], None]

    def step(
        self,
        sql: Sql,
        conversation_id: str,
        event: Event,
        aftermath: Aftermath,
        *,
        lease: Lease | None = None,
        note: str = "",
    ) -> Step | None:
        known = conversations.peek(sql, conversation_id)
        step = super().step(sql, conversation_id, event, aftermath, lease=lease, note=note)
        if known is not None and step is not None:
            self.on_step(known[0], event, step)
        return step


class Process:
    def __init__(self, outside: Outside, slot: str, number: int) -> None:
        self.slot = slot
        self.machine = Machine(f"{slot}{number}", outside.loop)
        self._outside = outside
        loop, plan = outside.loop, outside.plan
        self._clock = SteadyClock(
            wall=lambda: outside.epoch + loop.time() + outside.skew_seconds[slot],
            monotonic=loop.time,
        )
        self._database = SimulatedDatabase(outside.store, self.machine, loop)
        messenger = SimulatedMessenger(outside.telegram, self.machine)
        backend = outside.remote_memory or SqlBackend(
            self._database, unavailable=(StoreUnavailable,)
        )
        memory = Memory(self._database, backend)
        remembering = Remembering(memory, MEMORY_SECRET)
        signals = Signals()
        desk = Desk(sorted(plan.operators), "en")
        scribe = Scribe(
            timing=Timing(1.5, DEBOUNCE_CAP_SECONDS),
            desk=desk,
            phrase=phrases,
            render=render,
            remembering=remembering,
        )
        limits = Limits(
            max_restarts=MAX_RESTARTS, max_turn_seconds=MAX_TURN_SECONDS, reminder_seconds=45.0
        )
        coordinator = WatchedCoordinator(
            self._database, scribe, signals, clock=self._clock, limits=limits
        )
        coordinator.on_step = outside.on_step
        lines = Fleeting(
            messenger,
            self._database,
            clock=self._clock,
            alone_since=self._clock() if plan.workers == 1 else 0.0,
        )
        self._indicator = Indicator(messenger, lines)
        executor = Executor(
            database=self._database,
            coordinator=coordinator,
            answerer=Answerer(outside.model, HOST_PROMPT),
            moderator=outside.moderator,
            remembering=remembering,
            indicator=self._indicator,
            clock=self._clock,
            settings=TurnSettings(
                holder=self.machine.name,
                lease_seconds=SESSION_LEASE_SECONDS,
                zone=UTC,
                budget=Budget(plan.max_messages),
                judges_at_once=not plan.separate_moderation,
            ),
        )
        pace = Pace()
        delivery = Delivery(
            database=self._database,
            coordinator=coordinator,
            scribe=scribe,
            desk=desk,
            messenger=messenger,
            relay=messenger,
            forum=NoForum(),
            lines=lines,
            pace=pace,
            clock=self._clock,
            monotonic=loop.time,
        )
        access = Access("public", desk, scribe, redeem=lambda code: False)
        acting = Acting(coordinator, scribe, desk, human_lease_seconds=HUMAN_LEASE_SECONDS)
        aid, translating = Aid(acting), Translating(acting)
        forgetter = Forgetter(
            databases=[self._database],
            coordinator=coordinator,
            scribe=scribe,
            remembering=remembering,
            clock=self._clock,
        )
        commands = Commands(
            coordinator,
            scribe,
            access,
            aid,
            translating,
            forgetter,
            human_lease_seconds=HUMAN_LEASE_SECONDS,
            zone=UTC,
        )
        self._inbound = Inbound(
            coordinator=coordinator,
            commands=commands,
            aid=aid,
            translating=translating,
            access=access,
            forgetter=forgetter,
            messenger=messenger,
            clock=self._clock,
            bot_username="dabir",
            language="en",
            human_lease_seconds=HUMAN_LEASE_SECONDS,
            welcome_owner=_welcome,
        )
        self._workers = Workers(
            database=self._database,
            coordinator=coordinator,
            executor=executor,
            delivery=delivery,
            commands=MemoryCommands(
                database=self._database,
                coordinator=coordinator,
                scribe=scribe,
                remembering=remembering,
                clock=self._clock,
                zone=UTC,
            ),
            aiding=Aiding(
                database=self._database,
                coordinator=coordinator,
                scribe=scribe,
                desk=desk,
                aide=Aide(
                    outside.model,
                    outside.moderator,
                    HOST_PROMPT,
                    engine="simulated",
                    budget=Budget(plan.max_messages),
                ),
                remembering=remembering,
                messenger=messenger,
                clock=self._clock,
                zone=UTC,
                budget=Budget(plan.max_messages),
            ),
            memory=memory,
            forgetter=forgetter,
            lines=lines,
            cards=Cards(
                database=self._database,
                messenger=messenger,
                forum=NoForum(),
                pace=pace,
                clock=self._clock,
                monotonic=loop.time,
                zone=UTC,
                language="en",
            ),
            signals=signals,
            clock=self._clock,
            idle_seconds=IDLE_SECONDS,
        )
        self.ready = False
        self.running: asyncio.Task[None] | None = None

    def start(self) -> None:
        self.running = self.machine.run(self._run())

    def take(self, updates: Sequence[Incoming]) -> asyncio.Task[None]:
        """Hand over updates; once the task has ended well they are stored."""
        arrivals = [Arrival(each, lambda each=each: repr(each)) for each in updates]  # type: ignore[misc]
        return self.machine.run(self._inbound.take(arrivals))

    async def _run(self) -> None:
        while True:
            try:
                await self._database.transact(self._prepare)
            except StoreUnavailable:
                await asyncio.sleep(1.0)
            else:
                break
        self.ready = True
        try:
            await self._workers.run()
        finally:
            self.ready = False
            await self._inbound.close()
            await self._indicator.close()

    def _prepare(self, sql: Sql) -> None:
        plan, now = self._outside.plan, self._clock()
        if plan.operators:
            meta.set_owner(sql, plan.operators[0])
        if plan.workers == 1:  # whoever held something is dead
            leases.expire_others(sql, self.machine.name)
            outbox.free_claims(sql, now)
            work.free_claims(sql, now, DEBOUNCE_CAP_SECONDS)
            memory_outbox.free_claims(sql, now)
