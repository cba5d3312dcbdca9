"""Carries out the work of a turn under the conversation's session lease: generate, moderate.

Rule 1: whoever does the work holds the lease and renews it; every write under it proves that the
        lease is still the latest (fencing), so a process that was paused writes nothing.
Rule 2: stopping a call to the model is a courtesy. What makes it right is that the reducer refuses
        results of turns that are over.
Rule 3: nothing that fails here is lost: the stored work stays until its result is committed.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import structlog

from bot.coordinator import Coordinator
from bot.core.context import Budget, History, NothingToAnswer, Question, Stretch
from bot.core.events import (
    AiDrafted,
    DraftApproved,
    DraftBlocked,
    Event,
    GenerationFailed,
    HandoffRecommended,
    ModerationUnavailable,
    TurnDue,
)
from bot.core.reducer import Outcome
from bot.core.states import Conversation, Turn
from bot.errors import ModelFailed, ModelFailure, StoreUnavailable
from bot.history import as_said
from bot.model.answering import Answerer, Draft
from bot.model.port import BlockedDraft, Moderator, Passed, Unavailable, Verdict
from bot.model.toolbox import ProposedLine, Recalled
from bot.remembering import Remembering, open_tasks
from bot.scribe import Aftermath
from bot.store import conversations, journal, leases, messages, sources, temporary, usage, work
from bot.store.conversations import Contact
from bot.store.leases import Lease
from bot.store.port import Database, Sql
from bot.store.work import StoredDraft, StoredEffect
from bot.telegram.characters import has_visible
from bot.telegram.indicator import Indicator
from memory.recollection import Recollection

log = structlog.get_logger(__name__)

MOST_EXTRA_MESSAGES = 40  # loaded beyond the budget, since some are not for the model's eyes


@dataclass(frozen=True, slots=True)
class TurnSettings:
    holder: str  # names this process in leases
    lease_seconds: float
    zone: ZoneInfo
    budget: Budget
    judges_at_once: bool  # moderation costs no request: one transaction for draft and verdict


@dataclass(frozen=True, slots=True)
class _Job:
    """One stored effect and what is needed to carry it out."""

    effect: StoredEffect
    lease: Lease
    conversation: Conversation
    contact: Contact


class Executor:
    def __init__(
        self,
        *,
        database: Database,
        coordinator: Coordinator,
        answerer: Answerer,
        moderator: Moderator,
        remembering: Remembering,
        indicator: Indicator,
        clock: Callable[[], float],
        settings: TurnSettings,
    ) -> None:
        self._database = database
        self._coordinator = coordinator
        self._answerer = answerer
        self._moderator = moderator
        self._remembering = remembering
        self._indicator = indicator
        self._clock = clock
        self._settings = settings

    async def drive(self, conversation_id: str) -> None:
        """Do what is due in one conversation, if nobody else is doing it."""
        job = await self._begun(conversation_id)
        if job is None:
            return
        lease = job.lease
        renewing = asyncio.create_task(self._keep_lease(job.lease, asyncio.current_task()))
        try:
            async with self._indicator.showing(job.contact, job.effect.turn_id):
                while job is not None:
                    job = await self._carry_out(job)
        except BaseException:
            with suppress(StoreUnavailable):  # then it runs out; what led here must not get lost
                await self._let_go(lease)
            raise
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing

    # --- the lease --------------------------------------------------------------------------------

    async def _begun(self, conversation_id: str) -> _Job | None:
        """`_begin`, which leaves no lease behind if the work is called off meanwhile."""
        beginning = asyncio.ensure_future(self._begin(conversation_id))
        try:
            return await asyncio.shield(beginning)
        except asyncio.CancelledError:
            # It is committed all the same: whoever drives the conversation next must find it free.
            with suppress(StoreUnavailable):
                job = await beginning
                if job is not None:
                    await self._let_go(job.lease)
            raise

    async def _begin(self, conversation_id: str) -> _Job | None:
        """Take the lease, start the turn if it is due, and find its work: one transaction."""
        now = self._clock()
        until = now + self._settings.lease_seconds

        def begin(sql: Sql, aftermath: Aftermath) -> _Job | None:
            lease = leases.claim(sql, conversation_id, self._settings.holder, now, until)
            if lease is None:
                return None
            if work.take_debounce(sql, conversation_id, now):
                self._coordinator.step(sql, conversation_id, TurnDue(now), aftermath)
            job = self._next_job(sql, lease)
            if job is None:
                leases.release(sql, lease)
            return job

        return await self._coordinator.transact(begin)

    def _next_job(self, sql: Sql, lease: Lease) -> _Job | None:
        effect = work.pending_work(sql, lease.name)
        known = conversations.peek(sql, lease.name)
        if effect is None or known is None:
            return None
        return _Job(effect, lease, *known)

    async def _keep_lease(self, lease: Lease, worker: "asyncio.Task[None] | None") -> None:
        """Renew in time; if the lease is lost, stop the work that it protects."""
        seconds = self._settings.lease_seconds
        while True:
            await asyncio.sleep(seconds / 3)
            now = self._clock()
            kept = await self._database.transact(
                lambda sql, now=now: leases.renew(sql, lease, now, now + seconds)  # type: ignore[misc]
            )
            if not kept:
                log.warning("session_lease_lost", conversation_id=lease.name)
                if worker is not None:
                    worker.cancel()
                return

    async def _let_go(self, lease: Lease) -> None:
        def release(sql: Sql, aftermath: Aftermath) -> None:
            leases.release(sql, lease)
            aftermath.turns = True

        await self._coordinator.transact(release)

    # --- the work ---------------------------------------------------------------------------------

    async def _carry_out(self, job: _Job) -> _Job | None:
        if job.effect.kind == "generate":
            return await self._generate(job)
        return await self._moderate(job)

    async def _generate(self, job: _Job) -> _Job | None:
        try:
            draft = await self._draft(job)
        except ModelFailed as error:
            log.warning(
                "generation_failed",
                conversation_id=job.effect.conversation_id,
                turn_id=job.effect.turn_id,
                failure=error.failure.value,
                detail=error.detail,
            )
            return await self._fail(job, error.failure)
        except NothingToAnswer:
            return await self._fail(job, ModelFailure.EMPTY_ANSWER)
        stored = StoredDraft(
            draft.text or confirmation(draft), tuple(_plain(line) for line in draft.lines)
        )
        if not has_visible(stored.text):
            return await self._fail(job, ModelFailure.EMPTY_ANSWER)
        verdict = await self._verdict_at_once(stored.text)
        return await self._drafted(job, draft, stored, verdict)

    async def _fail(self, job: _Job, failure: ModelFailure) -> _Job | None:
        effect = job.effect
        event = GenerationFailed(self._clock(), effect.epoch, effect.turn_id, failure.value)
        return await self._commit(job, (event,))

    async def _draft(self, job: _Job) -> Draft:
        mind, (history, asked, remembers) = await asyncio.gather(
            self._remembering.recollection(job.contact.chat_id, self._clock()), self._history(job)
        )
        question = self._question(job, mind, history, asked, remembers=remembers)

        async def recall(query: str) -> Recalled:
            name = job.conversation.id
            since = await self._database.read(lambda sql: journal.cut_off(sql, name))
            return await self._remembering.recall(job.contact.chat_id, query, since, self._today())

        return await self._answerer.answer(question, recall)

    async def _history(self, job: _Job) -> tuple[History, str, bool]:
        """What was said lately, the words of this turn, and whether anything of it is kept."""
        c, turn = job.conversation, job.conversation.turn or Turn(0, 0)
        waiting = turn.covers_to - turn.covers_from + 1
        most = self._settings.budget.max_messages + waiting + MOST_EXTRA_MESSAGES

        def load(sql: Sql) -> tuple[History, str, bool]:
            said = messages.latest(sql, c.id, most)
            stretches = journal.human_stretches(sql, c.id)
            asked = messages.of_user(sql, c.id, turn.covers_from, turn.covers_to)
            history = History(
                c.id,
                tuple(as_said(c.id, message) for message in said),
                tuple(Stretch(since, until) for since, until in stretches),
            )
            words = "\n".join(message.text for message in asked)
            return history, words, not temporary.is_on(sql, c.id)

        return await self._database.read(load)

    def _question(
        self, job: _Job, mind: Recollection, history: History, asked: str, *, remembers: bool
    ) -> Question:
        c, turn = job.conversation, job.conversation.turn or Turn(0, 0)
        return Question(
            history=history,
            covers_from=turn.covers_from,
            covers_to=turn.covers_to,
            now=self._clock(),
            zone=self._settings.zone,
            language=job.contact.language,
            context_from=c.context_from,
            memory=self._remembering.shown(mind, asked, self._today()),
            tasks=open_tasks(mind),
            remembers=remembers,
            budget=self._settings.budget,
        )

    def _today(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), self._settings.zone)

    async def _verdict_at_once(self, text: str) -> Verdict | None:
        """The verdict, if it costs no request: then draft and verdict are one transaction."""
        return await self._moderator.review(text) if self._settings.judges_at_once else None

    async def _drafted(
        self, job: _Job, draft: Draft, stored: StoredDraft, verdict: Verdict | None
    ) -> _Job | None:
        effect, at = job.effect, self._clock()
        judged = verdict is not None
        events: list[Event] = [AiDrafted(at, effect.epoch, effect.turn_id, judged)]
        if draft.recommends_person:
            events.append(HandoffRecommended(at, effect.epoch, effect.turn_id))
        if verdict is not None:
            events.append(self._judged(effect, verdict))

        def save(sql: Sql) -> None:
            work.save_draft(sql, effect.conversation_id, effect.turn_id, stored, at)
            spent = usage.Usage(draft.model_calls, **asdict(draft.usage))
            usage.record(sql, effect.conversation_id, effect.turn_id, spent, at)
            shown = tuple(dict.fromkeys(draft.memory_ids))
            sources.record(sql, effect.conversation_id, effect.turn_id, shown, at)

        return await self._commit(job, tuple(events), save)

    async def _moderate(self, job: _Job) -> _Job | None:
        effect = job.effect
        draft = await self._database.read(
            lambda sql: work.load_draft(sql, effect.conversation_id, effect.turn_id)
        )
        if draft is None:
            verdict: Verdict = Unavailable("the draft is not stored")
        else:
            verdict = await self._moderator.review(draft.text)
        return await self._commit(job, (self._judged(effect, verdict),))

    def _judged(self, effect: StoredEffect, verdict: Verdict) -> Event:
        at, ids = self._clock(), {"turn_id": effect.turn_id}
        match verdict:
            case Passed():
                return DraftApproved(at, effect.epoch, effect.turn_id)
            case BlockedDraft(rules):
                log.warning("draft_blocked", **ids, rules=",".join(rules))
                return DraftBlocked(at, effect.epoch, effect.turn_id)
            case Unavailable(cause):
                log.warning("moderation_unavailable", **ids, cause=cause)
                return ModerationUnavailable(at, effect.epoch, effect.turn_id)

    async def _commit(
        self,
        job: _Job,
        events: tuple[Event, ...],
        save: Callable[[Sql], None] = lambda sql: None,
    ) -> _Job | None:
        """Apply results under the lease; return the work that follows, or let the lease go."""
        effect, lease = job.effect, job.lease

        def commit(sql: Sql, aftermath: Aftermath) -> _Job | None:
            if not leases.holds(sql, lease):
                log.warning("stale_worker_wrote_nothing", conversation_id=lease.name)
                return None
            current = work.done(sql, effect.id)
            if current:
                save(sql)
            for event in events:
                step = self._coordinator.step(sql, lease.name, event, aftermath)
                if step is None or step.outcome is Outcome.STALE:
                    break
            following = self._next_job(sql, lease)
            if following is None:
                leases.release(sql, lease)
                aftermath.turns = aftermath.turns or work.waits(sql, lease.name)
            return following

        return await self._coordinator.transact(commit)


def confirmation(draft: Draft) -> str:
    """Words for a turn in which the model only used its tools."""
    return "✓ " + "; ".join(line.text for line in draft.lines) if draft.lines else "✓"


def _plain(line: ProposedLine) -> dict[str, str]:
    return {name: str(value) for name, value in asdict(line).items()}
