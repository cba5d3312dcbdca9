"""One process of the bot on one simulated machine: the real parts on simulated ports.

It is put together by bot/assembly.py, as the bot in earnest.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from bot.assembly import Ports, Tuning, assemble
from bot.clock import SteadyClock
from bot.coordinator import Coordinator
from bot.core.context import Budget
from bot.core.events import Event
from bot.core.reducer import Step
from bot.core.states import Conversation
from bot.core.transitions.moves import Limits
from bot.errors import StoreUnavailable
from bot.inbound import Arrival
from bot.model.port import ChatModel, Moderator
from bot.remembering import Remembering
from bot.scribe import Aftermath, Timing
from bot.store import conversations, leases, meta, outbox, work
from bot.store.leases import Lease
from bot.store.port import Sql
from bot.telegram.incoming import Incoming
from bot.telegram.pacing import Pace
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
        backend = outside.remote_memory or SqlBackend(
            self._database, unavailable=(StoreUnavailable,)
        )
        memory = Memory(self._database, backend)
        ports = Ports(
            databases=[self._database],
            telegram=SimulatedMessenger(outside.telegram, self.machine),
            forum=NoForum(),
            model=outside.model,
            moderator=outside.moderator,
            memory=memory,
            remembering=Remembering(memory, MEMORY_SECRET),
            clock=self._clock,
            monotonic=loop.time,
            redeem=lambda code: False,
            welcome_owner=_welcome,
        )
        tuning = Tuning(
            holder=self.machine.name,
            bot_username="dabir",
            language="en",
            operators=sorted(plan.operators),
            access="public",
            timing=Timing(1.5, DEBOUNCE_CAP_SECONDS),
            limits=Limits(
                max_restarts=MAX_RESTARTS, max_turn_seconds=MAX_TURN_SECONDS, reminder_seconds=45.0
            ),
            zone=UTC,
            host_prompt=HOST_PROMPT,
            engine="simulated",
            budget=Budget(plan.max_messages),
            judges_at_once=not plan.separate_moderation,
            session_lease_seconds=SESSION_LEASE_SECONDS,
            human_lease_seconds=HUMAN_LEASE_SECONDS,
            idle_seconds=IDLE_SECONDS,
            pace=Pace(),
            alone_since=self._clock() if plan.workers == 1 else 0.0,
        )
        self._bot = assemble(ports, tuning, self._watched)
        self.ready = False
        self.running: asyncio.Task[None] | None = None

    def _watched(self, *parts: Any, **named: Any) -> Coordinator:
        coordinator = WatchedCoordinator(*parts, **named)
        coordinator.on_step = self._outside.on_step
        return coordinator

    def start(self) -> None:
        self.running = self.machine.run(self._run())

    def take(self, updates: Sequence[Incoming]) -> asyncio.Task[None]:
        """Hand over updates; once the task has ended well they are stored."""
        arrivals = [Arrival(each, lambda each=each: repr(each)) for each in updates]  # type: ignore[misc]
        return self.machine.run(self._bot.inbound.take(arrivals))

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
            await self._bot.workers.run()
        finally:
            self.ready = False
            await self._bot.close()

    def _prepare(self, sql: Sql) -> None:
        plan, now = self._outside.plan, self._clock()
        if plan.operators:
            meta.set_owner(sql, plan.operators[0])
        if plan.workers == 1:  # whoever held something is dead
            leases.expire_others(sql, self.machine.name)
            outbox.free_claims(sql, now)
            work.free_claims(sql, now, DEBOUNCE_CAP_SECONDS)
            memory_outbox.free_claims(sql, now)
