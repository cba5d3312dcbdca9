"""Puts the parts of a bot together over ports that somebody else has opened.

The same for the bot in earnest (bot/app.py) and for the one in the simulation: what is tried there
is wired as what runs. Nothing is opened here, so nothing has to be closed but what is returned.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from zoneinfo import ZoneInfo

from bot.access import Access
from bot.commands import Commands
from bot.coordinator import Clock, Coordinator
from bot.core.context import Budget
from bot.core.transitions.moves import Limits
from bot.desk.acting import Acting
from bot.desk.aid import Aid
from bot.desk.aiding import Aiding
from bot.desk.cards import Cards
from bot.desk.staffing import Desk
from bot.desk.translating import Translating
from bot.executor import Executor, TurnSettings
from bot.forgetting import Forgetter
from bot.inbound import Inbound
from bot.memory_commands import MemoryCommands
from bot.model.aiding import Aide
from bot.model.answering import Answerer
from bot.model.port import ChatModel, Moderator
from bot.remembering import Remembering
from bot.scribe import Scribe, Timing
from bot.signals import Signals
from bot.store.port import Database
from bot.telegram.delivery import LATE_SECONDS, Delivery
from bot.telegram.fleeting import Fleeting
from bot.telegram.indicator import STATUS_AFTER_SECONDS, Indicator
from bot.telegram.pacing import Pace
from bot.telegram.port import Forum, Messenger, Relay
from bot.telegram.rendering import render
from bot.telegram.texts import language_for, phrases
from bot.workers import Workers
from memory.service import Memory


class Telegram(Messenger, Relay, Protocol):
    """Both in one."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What the bot stands on, opened by whoever assembles it."""

    databases: Sequence[Database]  # the bot's first; then others that must leave no trace
    telegram: Telegram
    forum: Forum
    model: ChatModel
    moderator: Moderator
    memory: Memory
    remembering: Remembering
    clock: Clock
    monotonic: Callable[[], float]
    redeem: Callable[[str], bool]  # uses up the owner's one-time code
    welcome_owner: Callable[[int], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the host has chosen, and what the place that it runs in asks for."""

    holder: str  # names this process in leases
    bot_username: str
    language: str  # "": each user's own
    operators: Sequence[int]
    access: Literal["owner", "public"] | frozenset[int]
    timing: Timing
    limits: Limits
    zone: ZoneInfo
    host_prompt: str
    engine: str  # what translations name as their source
    budget: Budget
    judges_at_once: bool  # moderation costs no request
    session_lease_seconds: float
    human_lease_seconds: float
    idle_seconds: float
    pace: Pace
    late_seconds: float = LATE_SECONDS
    status_after_seconds: float = STATUS_AFTER_SECONDS
    alone_since: float = 0.0  # whoever ran before is dead since then; 0.0: not known


@dataclass(frozen=True, slots=True)
class Assembled:
    inbound: Inbound
    indicator: Indicator
    workers: Workers

    async def close(self) -> None:
        await self.inbound.close()
        await self.indicator.close()


def assemble(
    ports: Ports, tuning: Tuning, coordinators: Callable[..., Coordinator] = Coordinator
) -> Assembled:
    """`coordinators`: makes the coordinator, for whoever wants to watch its steps."""
    database, clock, zone = ports.databases[0], ports.clock, tuning.zone
    desk = Desk(sorted(tuning.operators), language_for(None, tuning.language))
    scribe = Scribe(
        timing=tuning.timing,
        desk=desk,
        phrase=phrases,
        render=render,
        remembering=ports.remembering,
    )
    signals = Signals()
    coordinator = coordinators(database, scribe, signals, clock=clock, limits=tuning.limits)
    lines = Fleeting(ports.telegram, database, clock=clock, alone_since=tuning.alone_since)
    indicator = Indicator(ports.telegram, lines, status_after_seconds=tuning.status_after_seconds)
    access = Access(tuning.access, desk, scribe, redeem=ports.redeem)
    acting = Acting(coordinator, scribe, desk, human_lease_seconds=tuning.human_lease_seconds)
    aid, translating = Aid(acting), Translating(acting)
    forgetter = Forgetter(
        databases=ports.databases,
        coordinator=coordinator,
        scribe=scribe,
        remembering=ports.remembering,
        clock=clock,
    )
    inbound = Inbound(
        coordinator=coordinator,
        commands=Commands(
            coordinator,
            scribe,
            access,
            aid,
            translating,
            forgetter,
            human_lease_seconds=tuning.human_lease_seconds,
            zone=zone,
        ),
        aid=aid,
        translating=translating,
        access=access,
        forgetter=forgetter,
        messenger=ports.telegram,
        clock=clock,
        bot_username=tuning.bot_username,
        language=tuning.language,
        human_lease_seconds=tuning.human_lease_seconds,
        welcome_owner=ports.welcome_owner,
    )
    workers = Workers(
        database=database,
        coordinator=coordinator,
        executor=_executor(ports, tuning, coordinator, indicator),
        delivery=_delivery(ports, tuning, coordinator, scribe, desk, lines),
        commands=MemoryCommands(
            database=database,
            coordinator=coordinator,
            scribe=scribe,
            remembering=ports.remembering,
            clock=clock,
            zone=zone,
        ),
        aiding=_aiding(ports, tuning, coordinator, scribe, desk),
        memory=ports.memory,
        forgetter=forgetter,
        lines=lines,
        cards=Cards(
            database=database,
            messenger=ports.telegram,
            forum=ports.forum,
            pace=tuning.pace,
            clock=clock,
            monotonic=ports.monotonic,
            zone=zone,
            language=desk.language,
        ),
        signals=signals,
        clock=clock,
        idle_seconds=tuning.idle_seconds,
    )
    return Assembled(inbound, indicator, workers)


def _executor(
    ports: Ports, tuning: Tuning, coordinator: Coordinator, indicator: Indicator
) -> Executor:
    return Executor(
        database=ports.databases[0],
        coordinator=coordinator,
        answerer=Answerer(ports.model, tuning.host_prompt),
        moderator=ports.moderator,
        remembering=ports.remembering,
        indicator=indicator,
        clock=ports.clock,
        settings=TurnSettings(
            holder=tuning.holder,
            lease_seconds=tuning.session_lease_seconds,
            zone=tuning.zone,
            budget=tuning.budget,
            judges_at_once=tuning.judges_at_once,
        ),
    )


def _delivery(
    ports: Ports,
    tuning: Tuning,
    coordinator: Coordinator,
    scribe: Scribe,
    desk: Desk,
    lines: Fleeting,
) -> Delivery:
    return Delivery(
        database=ports.databases[0],
        coordinator=coordinator,
        scribe=scribe,
        desk=desk,
        messenger=ports.telegram,
        relay=ports.telegram,
        forum=ports.forum,
        lines=lines,
        pace=tuning.pace,
        clock=ports.clock,
        monotonic=ports.monotonic,
        late_seconds=tuning.late_seconds,
    )


def _aiding(
    ports: Ports, tuning: Tuning, coordinator: Coordinator, scribe: Scribe, desk: Desk
) -> Aiding:
    return Aiding(
        database=ports.databases[0],
        coordinator=coordinator,
        scribe=scribe,
        desk=desk,
        aide=Aide(
            ports.model,
            ports.moderator,
            tuning.host_prompt,
            engine=tuning.engine,
            budget=tuning.budget,
        ),
        remembering=ports.remembering,
        messenger=ports.telegram,
        clock=ports.clock,
        zone=tuning.zone,
        budget=tuning.budget,
    )
