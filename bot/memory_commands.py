"""Answers the commands that have to read memory: /memory /why /tasks /done /remember /export.

A stored command is claimed, memory is read, and the answer is queued in the transaction that
marks the command as done: it is answered once, also after a crash.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from bot import export
from bot.coordinator import Coordinator
from bot.core.notices import Notice
from bot.remembering import Known, Remembering, find_task
from bot.scribe import Aftermath, Scribe
from bot.store import conversations, sources, temporary, work
from bot.store.conversations import Contact
from bot.store.port import Database, Sql
from bot.store.work import StoredEffect
from bot.telegram.payload import Document
from memory.agenda import Task
from memory.line import Line

CLAIM_SECONDS = 60.0
MOST_FOUND = 10  # lines that /memory find shows
MOST_SHOWN = 200  # characters of one of them


@dataclass(frozen=True, slots=True)
class _Answer:
    notice: Notice
    values: dict[str, str]
    write: Callable[[Sql], None] = lambda sql: None
    files: tuple[Document, ...] = ()  # they follow the words


class MemoryCommands:
    def __init__(
        self,
        *,
        database: Database,
        coordinator: Coordinator,
        scribe: Scribe,
        remembering: Remembering,
        clock: Callable[[], float],
        zone: ZoneInfo,
    ) -> None:
        self._database = database
        self._coordinator = coordinator
        self._scribe = scribe
        self._remembering = remembering
        self._clock = clock
        self._zone = zone

    async def claim(self) -> StoredEffect | None:
        """Take a command that waits; it is this process's to answer for CLAIM_SECONDS."""
        now = self._clock()
        return await self._database.transact(
            lambda sql: work.claim_command(sql, now, now + CLAIM_SECONDS)
        )

    async def answer(self, effect: StoredEffect) -> None:
        """Answer a command that was claimed."""
        head = await self._database.read(
            lambda sql: conversations.peek(sql, effect.conversation_id)
        )
        assert head is not None, "a command comes from a conversation"
        contact = head[1]
        answer = await self._answer(effect, contact)

        def settle(sql: Sql, aftermath: Aftermath) -> None:
            if not work.done(sql, effect.id):  # somebody else answered it
                return
            answer.write(sql)
            aftermath.memory = True
            self._scribe.tell(
                sql,
                contact,
                answer.notice,
                answer.values,
                key=effect.payload["key"],
                at=self._clock(),
                aftermath=aftermath,
            )
            key = effect.payload["key"]
            export.queue(sql, contact, answer.files, key=key, at=self._clock())

        await self._coordinator.transact(settle)

    async def _answer(self, effect: StoredEffect, contact: Contact) -> _Answer:
        argument = effect.payload["argument"]
        if effect.payload["name"] == "remember":
            return self._remember(contact, argument)
        known = await self._remembering.known(contact.chat_id)
        match effect.payload["name"]:
            case "memory" if argument.strip().lower() == "status":
                return await self._status(contact, known)
            case "memory" if words := _searched(argument):
                return await self._find(contact, words)
            case "memory":
                return _memory(known)
            case "why":
                return await self._why(contact, known)
            case "export":
                return self._export(known)
            case "tasks":
                return _tasks(known)
            case _:
                return self._done(contact, known, argument)

    def _remember(self, contact: Contact, text: str) -> _Answer:
        at = self._clock()
        return _Answer(
            Notice.REMEMBERED,
            {"text": text},
            lambda sql: self._remembering.remember(sql, contact, text, at),
        )

    async def _status(self, contact: Contact, known: Known) -> _Answer:
        """How much there is, and what still waits for the store."""
        now = self._clock()
        waiting = await self._remembering.waiting(contact.chat_id, now)
        name = contact.conversation_id
        temporary_chat = await self._database.read(lambda sql: temporary.is_on(sql, name))
        since = datetime.fromtimestamp(now - waiting.oldest_seconds, self._zone)
        values = {
            "count": str(len(known.lines)),
            "waiting": str(waiting.pending),
            "since": since.strftime("%Y-%m-%d %H:%M"),
            "damaged": str(known.damaged),
            "unread": "" if known.readable or known.damaged else "1",
            "temporary": "1" if temporary_chat else "",
        }
        return _Answer(Notice.MEMORY_STATUS, values)

    async def _find(self, contact: Contact, words: str) -> _Answer:
        now = datetime.fromtimestamp(self._clock(), self._zone)
        mind = await self._remembering.recollection(contact.chat_id, self._clock())
        found = mind.recall(words, now, limit=MOST_FOUND, said_since=0.0)
        if found:
            lines = "\n".join(self._cited(line) for line in found)
            return _Answer(Notice.MEMORY_FOUND, {"words": words, "lines": lines})
        unsure = Notice.MEMORY_NOT_FOUND if mind.complete else Notice.MEMORY_UNREADABLE
        return _Answer(unsure, {"words": words})

    async def _why(self, contact: Contact, known: Known) -> _Answer:
        name = contact.conversation_id
        ids = await self._database.read(lambda sql: sources.of_last_answer(sql, name))
        if ids is None:
            return _Answer(Notice.WHY_NO_ANSWER, {})
        by_id = {line.id: line for line in known.lines}
        lines = [self._cited(by_id[each]) for each in ids if each in by_id]
        if lines:
            return _Answer(Notice.WHY_SHOWN, {"lines": "\n".join(lines)})
        unread = bool(ids) and not known.readable
        return _Answer(Notice.MEMORY_UNREADABLE if unread else Notice.WHY_NO_LINES, {})

    def _cited(self, line: Line) -> str:
        """A line with its day and its id, so that it can be named."""
        day = datetime.fromtimestamp(line.at_us / 1_000_000, self._zone).strftime("%Y-%m-%d")
        text = " ".join(line.text.split())
        text = text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1].rstrip() + "…"
        return f"• {text} ({day}, {line.id})"

    def _export(self, known: Known) -> _Answer:
        files = export.documents(known, self._clock())
        said = export.notice(known, files)
        return _Answer(said, {"count": str(len(known.lines))}, files=files)

    def _done(self, contact: Contact, known: Known, words: str) -> _Answer:
        task = find_task(known, words)
        if task is None:
            unsure = Notice.NO_SUCH_TASK if known.readable else Notice.MEMORY_UNREADABLE
            return _Answer(unsure, {"task": words})
        at = self._clock()
        return _Answer(
            Notice.TASK_DONE,
            {"task": task.text},
            lambda sql: self._remembering.complete(sql, contact, task, at),
        )


def _searched(argument: str) -> str:
    """The words after "find", in English or Persian; "" if it is no search."""
    first, _, words = argument.strip().partition(" ")
    return words.strip() if first.lower() in ("find", "پیدا", "بیاب") else ""


def _memory(known: Known) -> _Answer:
    standing: Sequence[Line] = (*known.folded.preferences, *known.folded.facts)
    lines = [f"• {line.text}" for line in standing]
    if lines:
        return _Answer(Notice.MEMORY_SHOWN, {"lines": "\n".join(lines)})
    return _Answer(Notice.MEMORY_EMPTY if known.readable else Notice.MEMORY_UNREADABLE, {})


def _tasks(known: Known) -> _Answer:
    lines = [_task_line(number, task) for number, task in enumerate(known.folded.tasks, 1)]
    if lines:
        return _Answer(Notice.TASKS_SHOWN, {"lines": "\n".join(lines)})
    return _Answer(Notice.TASKS_EMPTY if known.readable else Notice.MEMORY_UNREADABLE, {})


def _task_line(number: int, task: Task) -> str:
    due = f" ({task.due[:16].replace('T', ' ')})" if task.due else ""
    return f"{number}. {task.text}{due}"
