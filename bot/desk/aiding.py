"""Carries out what the model is asked to do for operators: drafts, summaries, translations.

Rule 1: the result is queued in the transaction that crosses the assignment off, under the row lock
        of the conversation: it is told once, also after a crash, and a suggestion of an epoch that
        is over by then is not made.
Rule 2: whatever goes wrong ends in one sentence to the operator. Nobody's authority, no message
        and no other assignment depends on it.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.coordinator import Coordinator
from bot.core.context import Budget, History, Stretch
from bot.core.languages import LANGUAGES, Language, language_of
from bot.core.notices import Notice
from bot.core.states import Conversation
from bot.desk import assignments, interpreting
from bot.desk.acting import holds
from bot.desk.assignments import Assignment, Task
from bot.desk.staffing import Desk
from bot.history import as_said
from bot.model.aiding import Aide, Lack, Made, NotMade
from bot.remembering import Remembering
from bot.scribe import Aftermath, Scribe
from bot.store import (
    conversations,
    journal,
    messages,
    suggestions,
    translations,
    usage,
    work,
)
from bot.store.conversations import Contact
from bot.store.copies import MessageRef
from bot.store.messages import StoredMessage
from bot.store.port import Database, Sql
from bot.store.suggestions import Kind, Status, Suggestion
from bot.store.translations import Translation
from bot.store.work import StoredEffect
from bot.telegram.characters import MESSAGE_UNITS, sendable, units
from bot.telegram.port import Messenger

CLAIM_SECONDS = 120.0  # longer than any assignment takes, waiting for its turn included
AT_ONCE = 8
MOST_EXTRA_MESSAGES = 40  # loaded beyond the budget, since some are not for the model's eyes
SUGGESTION_UNITS = 3000  # of 4096: a label and the operator's words stand beside it
ENGLISH = LANGUAGES["en"]

NO_RESULT: Mapping[Task, Notice] = {
    Task.DRAFT: Notice.OP_NO_DRAFT,
    Task.SUMMARY: Notice.OP_NO_SUMMARY,
    Task.VIEW: Notice.OP_NO_VIEW,
    Task.PREVIEW: Notice.OP_NO_PREVIEW,
}


class Aiding:
    def __init__(
        self,
        *,
        database: Database,
        coordinator: Coordinator,
        scribe: Scribe,
        desk: Desk,
        aide: Aide,
        remembering: Remembering,
        messenger: Messenger,
        clock: Callable[[], float],
        zone: ZoneInfo,
        budget: Budget,
    ) -> None:
        self._database = database
        self._coordinator = coordinator
        self._scribe = scribe
        self._desk = desk
        self._aide = aide
        self._remembering = remembering
        self._messenger = messenger
        self._clock = clock
        self._zone = zone
        self._budget = budget
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def claim(self) -> StoredEffect | None:
        """Take an assignment that waits; it is this process's for CLAIM_SECONDS."""
        now = self._clock()
        return await self._database.transact(
            lambda sql: work.claim_command(sql, now, now + CLAIM_SECONDS, assignments.KIND)
        )

    async def answer(self, effect: StoredEffect) -> None:
        """Carry out an assignment that was claimed."""
        assignment = assignments.read(effect)
        async with self._turns:
            await self._carry_out(effect.id, assignment)

    async def _carry_out(self, effect_id: str, assignment: Assignment) -> None:
        known, history, source = await self._database.read(lambda sql: self._load(sql, assignment))
        if not self._is_wanted(known, assignment):
            await self._finish(effect_id, assignment, None, source)
            return
        if not assignment.place.topic:
            await self._messenger.show_typing(assignment.place.chat_id)
        match assignment.task:
            case Task.DRAFT:
                result = await self._draft(known, history)
            case Task.SUMMARY:
                language = language_of(assignment.place.language) or ENGLISH
                result = await self._aide.summary(history, known.context_from, language)
            case Task.VIEW | Task.PREVIEW:
                result = await self._translation(assignment, source)
        await self._finish(effect_id, assignment, result, source)

    def _load(
        self, sql: Sql, assignment: Assignment
    ) -> tuple[Conversation, History, StoredMessage | None]:
        loaded = conversations.peek(sql, assignment.conversation_id)
        assert loaded is not None, "an assignment is about a conversation"
        c = loaded[0]
        of = assignment.source
        source = messages.by_id(sql, of.chat_id, of.message_id) if of.message_id else None
        if assignment.task in (Task.VIEW, Task.PREVIEW):
            return c, History(c.id, ()), source
        said = messages.latest(sql, c.id, self._budget.max_messages + MOST_EXTRA_MESSAGES)
        stretches = journal.human_stretches(sql, c.id)
        history = History(
            c.id,
            tuple(as_said(c.id, each) for each in said),
            tuple(Stretch(since, until) for since, until in stretches),
        )
        return c, history, source

    def _is_wanted(self, c: Conversation, assignment: Assignment) -> bool:
        """Whether anybody can still do something with it."""
        if assignment.task is Task.SUMMARY or assignment.place.topic:
            return True
        return c.epoch == assignment.epoch and holds(c, assignment.operator_id)

    async def _draft(self, c: Conversation, history: History) -> Made | NotMade:
        contact = await self._database.read(lambda sql: conversations.peek(sql, c.id))
        assert contact is not None
        now = self._clock()
        mind = await self._remembering.recollection(contact[1].chat_id, now)
        asked = " ".join(said.text for said in history.said[-3:] if said.consented)
        memory = self._remembering.shown(mind, asked, datetime.fromtimestamp(now, self._zone))
        return await self._aide.draft(history, c.context_from, memory, self._zone)

    async def _translation(
        self, assignment: Assignment, source: StoredMessage | None
    ) -> Made | NotMade:
        assert source is not None, "an assignment names a message on record"
        name = assignment.conversation_id
        if not await self._database.read(lambda sql: interpreting.may_read(sql, name, source)):
            return NotMade(Lack.NOT_ALLOWED)
        languages = _languages(assignment)
        return await self._aide.translation(source.text, *languages)

    # --- what comes of it ---------------------------------------------------------------------

    async def _finish(
        self,
        effect_id: str,
        assignment: Assignment,
        result: Made | NotMade | None,
        source: StoredMessage | None,
    ) -> None:
        """Queue the result and cross the assignment off. None: nobody needs it any more."""
        at = self._clock()

        def finish(sql: Sql, aftermath: Aftermath) -> None:
            loaded = conversations.load(sql, assignment.conversation_id)
            if loaded is None or not work.done(sql, effect_id):  # somebody else did it
                return
            if isinstance(result, Made) and result.calls:
                spent = usage.Usage(result.calls, **asdict(result.usage))
                usage.record(sql, assignment.conversation_id, f"aid:{assignment.task}", spent, at)
            if result is None or not self._is_wanted(loaded[0], assignment):
                if assignment.task is not Task.VIEW:
                    self._tell(sql, assignment, Notice.OP_SUGGESTION_STALE, {}, at, aftermath)
                return
            match assignment.task:
                case Task.DRAFT:
                    self._suggest(sql, assignment, result, None, at, aftermath)
                case Task.SUMMARY:
                    self._sum_up(sql, assignment, result, loaded[1].user_name, at, aftermath)
                case Task.VIEW:
                    self._show(sql, assignment, result, source, at, aftermath)
                case Task.PREVIEW:
                    self._suggest(sql, assignment, result, source, at, aftermath)

        await self._coordinator.transact(finish)

    def _suggest(
        self,
        sql: Sql,
        assignment: Assignment,
        result: Made | NotMade,
        source: StoredMessage | None,
        at: float,
        aftermath: Aftermath,
    ) -> None:
        """A draft, or the operator's own words in translation; both wait for a button."""
        text = _fitting(result.text) if isinstance(result, Made) else ""
        values = {"lines": text, **_named(assignment), "suggestion": assignment.suggestion_id}
        if source is None:
            if isinstance(result, NotMade):
                self._fail(sql, assignment, result, values, at, aftermath)
                return
            notice = Notice.OP_DRAFT
        else:
            values["source"] = source.text
            if isinstance(result, Made) and not _fits(text, source.text):
                result, text = NotMade(Lack.TOO_LONG), ""
            if isinstance(result, Made):
                self._keep(sql, assignment, source, result, at)
                values["engine"] = result.engine
            notice = Notice.OP_PREVIEW
        suggestion = Suggestion(
            id=assignment.suggestion_id,
            conversation_id=assignment.conversation_id,
            kind=Kind.DRAFT if source is None else Kind.TRANSLATION,
            epoch=assignment.epoch,
            operator_id=assignment.operator_id,
            source=source.text if source else "",
            text=text,
            chat_id=assignment.place.chat_id,
            status=Status.OPEN,
            at=at,
            source_id=source.message_id if source else 0,
        )
        suggestions.add(sql, suggestion)
        key = suggestions.key(suggestion.id)
        if isinstance(result, NotMade):
            self._fail(sql, assignment, result, values, at, aftermath, key)
        else:
            self._tell(sql, assignment, notice, values, at, aftermath, key)

    def _sum_up(
        self,
        sql: Sql,
        assignment: Assignment,
        result: Made | NotMade,
        name: str,
        at: float,
        aftermath: Aftermath,
    ) -> None:
        values = {"name": name, "conversation": assignment.conversation_id}
        if isinstance(result, NotMade):
            self._fail(sql, assignment, result, values, at, aftermath)
        else:
            values["lines"] = sendable(result.text)
            self._tell(sql, assignment, Notice.OP_SUMMARY, values, at, aftermath)

    def _show(
        self,
        sql: Sql,
        assignment: Assignment,
        result: Made | NotMade,
        source: StoredMessage | None,
        at: float,
        aftermath: Aftermath,
    ) -> None:
        """A labelled view, or why there is none; the source was shown before."""
        assert source is not None
        values = {**_named(assignment), "text": source.text}
        if isinstance(result, NotMade):
            self._fail(sql, assignment, result, values, at, aftermath)
            return
        asked_for = assignment.key.startswith("update:")
        if result.unchanged and not asked_for:
            return  # it is in the operator's language already, or says nothing in any
        self._keep(sql, assignment, source, result, at)
        values |= {"lines": sendable(result.text), "engine": result.engine}
        self._tell(sql, assignment, Notice.OP_VIEW, values, at, aftermath)

    def _keep(
        self, sql: Sql, assignment: Assignment, source: StoredMessage, made: Made, at: float
    ) -> None:
        view = Translation(
            source.chat_id,
            source.message_id,
            assignment.target_language,
            assignment.conversation_id,
            assignment.source_language,
            made.engine,
            made.text,
            at,
        )
        translations.keep(sql, view)

    def _fail(
        self,
        sql: Sql,
        assignment: Assignment,
        result: NotMade,
        values: Mapping[str, str],
        at: float,
        aftermath: Aftermath,
        key: str = "",
    ) -> None:
        why = {**values, "lack": result.lack.value}
        self._tell(sql, assignment, NO_RESULT[assignment.task], why, at, aftermath, key)

    def _tell(
        self,
        sql: Sql,
        assignment: Assignment,
        notice: Notice,
        values: Mapping[str, str],
        at: float,
        aftermath: Aftermath,
        key: str = "",
    ) -> None:
        place, source = assignment.place, assignment.source
        if place.topic:
            where = Contact(assignment.conversation_id, place.chat_id, "", place.language)
        else:
            where = self._desk.contact(sql, place.chat_id)
        self._scribe.tell(
            sql,
            where,
            notice,
            values,
            # Named in the id, so that it is found when the user wants everything forgotten.
            key=f"{assignment.conversation_id}:{key or assignment.key}",
            at=at,
            aftermath=aftermath,
            topic=place.topic,
            answers=MessageRef(source.chat_id, source.message_id) if source.message_id else None,
        )


def _languages(assignment: Assignment) -> tuple[Language, Language]:
    return LANGUAGES[assignment.source_language], LANGUAGES[assignment.target_language]


def _named(assignment: Assignment) -> dict[str, str]:
    if not assignment.target_language:
        return {}
    source, target = _languages(assignment)
    return {"from": source.label, "to": target.label}


def _fitting(text: str) -> str:
    """What would be sent, exactly: one message, as Telegram would store it."""
    text = sendable(text).strip()
    while units(text) > SUGGESTION_UNITS:
        text = text[: len(text) - max(1, (units(text) - SUGGESTION_UNITS) // 2) - 1].rstrip() + "…"
    return text


def _fits(translation: str, source: str) -> bool:
    """Whether both fit one message, with room for the label between them."""
    return units(translation) + units(source) < MESSAGE_UNITS - 200
