"""One step of one conversation: load, reduce, save the state with its effects and journal.

Everything of a step is in one transaction. The head is loaded under a row lock, so two steps of a
conversation never interleave, in however many processes.
"""

import asyncio
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Protocol, TypeAlias, TypeVar

from bot.core.events import Event, HumanClaimed, HumanMessaged, HumanReleased, HumanTransferred
from bot.core.reducer import Outcome, Step, reduce
from bot.core.states import Conversation, client_message_id
from bot.core.transitions.moves import RESULTS, Limits
from bot.scribe import Aftermath, Occasion, Scribe
from bot.signals import Signals
from bot.store import conversations, journal
from bot.store.conversations import Contact
from bot.store.leases import Lease, holds
from bot.store.outbox import Claimed
from bot.store.port import Database, Sql

T = TypeVar("T")
ClaimNow: TypeAlias = Callable[[Sql, int], Claimed | None]


class Clock(Protocol):
    def __call__(self) -> float:
        """Seconds since the epoch, UTC."""
        ...


class Coordinator:
    def __init__(
        self,
        database: Database,
        scribe: Scribe,
        signals: Signals,
        *,
        clock: Clock,
        limits: Limits,
    ) -> None:
        self._database = database
        self._scribe = scribe
        self._signals = signals
        self._clock = clock
        self._limits = limits
        self._claim_now: ClaimNow = lambda sql, chat_id: None

    def send_at_once(self, claim_now: ClaimNow) -> None:
        """Let messages be claimed for sending in the transaction that queues them."""
        self._claim_now = claim_now

    async def transact(self, work: Callable[[Sql, Aftermath], T]) -> T:
        """Run `work` in one transaction; once it is committed, wake whoever it concerns.

        Both happen, or neither, also if the caller is cancelled meanwhile.
        """
        committing = asyncio.ensure_future(self._transact(work))
        committing.add_done_callback(_looked_at)
        return await asyncio.shield(committing)

    async def _transact(self, work: Callable[[Sql, Aftermath], T]) -> T:
        def unit(sql: Sql) -> tuple[T, Aftermath]:
            aftermath = Aftermath()
            result = work(sql, aftermath)
            for chat_id in aftermath.chats:
                claimed = self._claim_now(sql, chat_id)
                if claimed is not None:
                    aftermath.claims.append(claimed)
            return result, aftermath

        result, aftermath = await self._database.transact(unit)
        self._signals.publish(aftermath)
        return result

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
        """Apply one event and what follows from it at once, inside a transaction.

        None: there is no such conversation, or the lease was lost; nothing is written then.
        """
        if lease is not None and not holds(sql, lease):
            return None
        loaded = conversations.load(sql, conversation_id)
        if loaded is None:
            return None
        before, contact = loaded
        return self._apply(sql, before, contact, event, aftermath, note)

    def _apply(
        self,
        sql: Sql,
        before: Conversation,
        contact: Contact,
        event: Event,
        aftermath: Aftermath,
        note: str,
    ) -> Step:
        step = reduce(before, event, self._limits)
        entry = journal.write(sql, before.id, _entry(before, step, event, note))
        if step.outcome is not Outcome.APPLIED:
            return step
        after = step.conversation
        if after != before:
            conversations.save(sql, after)
        occasion = Occasion(after, before, contact, event.at, entry)
        for following in self._scribe.carry_out(sql, occasion, step.effects, aftermath):
            after = self._apply(sql, after, contact, following, aftermath, "").conversation
        return Step(after, step.effects, step.outcome)


def _entry(before: Conversation, step: Step, event: Event, note: str) -> journal.Entry:
    after = step.conversation
    turn_id = getattr(event, "turn_id", "") or (after.turn or before.turn or _NoTurn).id
    replying = isinstance(event, RESULTS) and turn_id
    return journal.Entry(
        at=event.at,
        actor=_actor(event),
        event=type(event).__name__,
        outcome=step.outcome.value,
        state_before=before.state.value,
        state_after=after.state.value,
        epoch=after.epoch,
        version=after.version,
        turn_id=turn_id,
        client_message_id=client_message_id(before.id, turn_id) if replying else "",
        note=note or _note(event),
    )


def _looked_at(committing: "asyncio.Future[Any]") -> None:
    """A failure whose caller was cancelled meanwhile is nobody's: asyncio must not report it."""
    if not committing.cancelled():
        committing.exception()


class _NoTurn:
    id = ""


def _actor(event: Event) -> str:
    if isinstance(event, RESULTS):
        return "ai"
    if isinstance(event, HumanClaimed | HumanMessaged | HumanReleased | HumanTransferred):
        return f"human:{event.operator_id}"
    name = type(event).__name__
    return "user" if name.startswith("User") or name == "Ended" else "system"


def _note(event: Event) -> str:
    """What else tells one event from another, as long as it is no text."""
    telling = {"failure", "cause", "rule", "kind", "more", "anyone"}
    known = [field.name for field in fields(event) if field.name in telling]
    return " ".join(f"{name}={getattr(event, name)}" for name in known)
