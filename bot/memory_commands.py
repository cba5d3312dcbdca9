"""Answers the commands that have to read memory: /memory /tasks /done /remember /export.

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
from bot.store import conversations, temporary, work
from bot.store.conversations import Contact
from bot.store.port import Database, Sql
from bot.store.work import StoredEffect
from bot.telegram.payload import Document
from memory.agenda import Task
from memory.line import Line

CLAIM_SECONDS = 60.0


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
            case "memory":
                return _memory(known)
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
