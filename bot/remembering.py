"""Between conversations and memory: which lines a turn leaves, and what the model is shown.

Lines are accepted in the transaction that accepts the draft for sending, so a draft that is
dropped leaves none. A namespace belongs to one chat (I10).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from itertools import chain, islice

from bot.core.context import MemoryLine, OpenTask
from bot.model.toolbox import Found, NotRead, Recalled
from bot.store import conversations, temporary
from bot.store.conversations import Contact
from bot.store.messages import StoredMessage
from bot.store.port import Sql
from bot.store.work import StoredDraft
from memory.agenda import Task
from memory.destroying import Destruction
from memory.fold import Folded, fold
from memory.line import Author, Kind, Line, task_key
from memory.namespace import namespace_of
from memory.outbox import Status
from memory.reader import Reach, Reading
from memory.recall import search
from memory.recollection import Recollection, Recollections
from memory.service import Memory

MOST_RECALLED = 12  # memory lines shown to the model with a question
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Known:
    """What memory says about one chat. `readable` False: the store gave no full answer."""

    folded: Folded
    lines: tuple[Line, ...]
    readable: bool
    damaged: int = 0  # lines that are there and cannot be read


@dataclass(frozen=True, slots=True)
class _Proposal:
    kind: Kind
    author: Author
    text: str
    key: str = ""
    due: str | None = None


class Remembering:
    def __init__(self, memory: Memory, secret: bytes) -> None:
        self._memory = memory
        self._secret = secret
        self._recollections = Recollections(memory)

    def accept_turn(
        self,
        sql: Sql,
        contact: Contact,
        asked: Sequence[StoredMessage],
        draft: StoredDraft,
        at: float,
    ) -> None:
        """Put down what was said in this turn and what the model proposed to remember."""
        said = [_Proposal(Kind.SAID, Author.USER, each.text) for each in asked if each.text]
        answered = [_Proposal(Kind.SAID, Author.AI, draft.text)] if draft.text else []
        proposed = [_proposed(line) for line in draft.lines]
        self._put(sql, contact, [*said, *answered, *proposed], at)

    def remember(self, sql: Sql, contact: Contact, text: str, at: float) -> None:
        """/remember: the user's own words, which win over what was learnt before."""
        self._put(sql, contact, [_Proposal(Kind.FACT, Author.USER, text)], at)

    def complete(self, sql: Sql, contact: Contact, task: Task, at: float) -> None:
        """/done: the line that closes a task."""
        done = _Proposal(Kind.DONE, Author.USER, task.text, task.key, task.due)
        self._put(sql, contact, [done], at)

    async def known(self, chat_id: int) -> Known:
        """Everything memory holds about this chat, read with patience."""
        reading = await self._memory.read(self._namespace(chat_id))
        # Words that were said decide nothing about what holds, and most lines are of that kind.
        folded = fold(line for line in reading.lines if line.kind is not Kind.SAID)
        return Known(folded, reading.lines, _readable(reading), reading.damaged)

    async def waiting(self, chat_id: int, now: float) -> Status:
        """What of this chat is still on its way to the store."""
        return await self._memory.status(now, self._namespace(chat_id))

    async def recollection(self, chat_id: int, now: float) -> Recollection:
        """What a turn needs of memory. Costs what was written since the last turn."""
        return await self._recollections.of(self._namespace(chat_id), now)

    def shown(self, mind: Recollection, question: str, now: datetime) -> tuple[MemoryLine, ...]:
        """The lines that a question may need: what stands, closest to the question first."""
        folded = mind.folded
        close = mind.recall(question, now, limit=2 * MOST_RECALLED)  # tasks among them
        kinds = (Kind.FACT, Kind.PREFERENCE, Kind.SUMMARY, Kind.CORRECTION)
        standing = chain(folded.preferences, folded.facts, folded.summaries)
        newest = nlargest(MOST_RECALLED, standing, key=lambda line: line.at_us)
        chosen = dict.fromkeys((*(line for line in close if line.kind in kinds), *newest))
        return tuple(_memory_line(line) for line in islice(chosen, MOST_RECALLED))

    async def recall(self, chat_id: int, query: str, said_since: float, now: datetime) -> Recalled:
        """The model's `recall`: what still holds, and what was said after `said_since`."""
        mind = await self.recollection(chat_id, now.timestamp())
        found = mind.recall(query, now, limit=MOST_RECALLED, said_since=said_since)
        if not found and not mind.complete:
            return NotRead()
        return Found(tuple(_memory_line(line) for line in found))

    # Forgetting

    def destroy(self, sql: Sql, chat_id: int) -> Destruction:
        """/forget_me: see Memory.destroy."""
        return self._memory.destroy(sql, self._namespace(chat_id))

    async def held(self, stored_as: str) -> int:
        """How many lines the store has under this name; 0 if it does not say."""
        return await self._memory.held(stored_as)

    async def sweep(self, chat_id: int, stored_as: str) -> int | None:
        """Destroy what lies elsewhere; how many lines a store keeps as unreadable bytes, None: it
        does not say. Raises MemoryUnavailable: try again."""
        return await self._memory.sweep(self._namespace(chat_id), stored_as)

    def _put(self, sql: Sql, contact: Contact, proposals: Sequence[_Proposal], at: float) -> None:
        """The one way in. A temporary chat leaves nothing."""
        if not proposals or temporary.is_on(sql, contact.conversation_id):
            return
        turn = conversations.next_memory_turn(sql, contact.conversation_id)
        at_us = round(at * MICROSECONDS)
        lines = [
            Line(
                # The time keeps ids apart if the database is lost and the memory store is not.
                id=f"{at_us}.{turn}.{ordinal}",
                at_us=at_us,
                turn=turn,
                ordinal=ordinal,
                kind=each.kind,
                author=each.author,
                text=each.text,
                key=each.key,
                event_time=each.due,
            )
            for ordinal, each in enumerate(proposals)
        ]
        self._memory.put(sql, self._namespace(contact.chat_id), lines, now=at)

    def _namespace(self, chat_id: int) -> str:
        return namespace_of(self._secret, str(chat_id))


def open_tasks(known: Known | Recollection) -> tuple[OpenTask, ...]:
    return tuple(
        OpenTask(task.line.id, task.text, task.due or "", task.key) for task in known.folded.tasks
    )


def find_task(known: Known, words: str) -> Task | None:
    """The open task that the user means: by its number in /tasks, its wording or its key."""
    tasks = known.folded.tasks
    if words.isdecimal() and 0 < int(words) <= len(tasks):
        return tasks[int(words) - 1]
    wanted = task_key(words)
    for task in tasks:
        if wanted in (task.key, task_key(task.text)):
            return task
    lines = search([task.line for task in tasks], words, 1)
    return next((task for task in tasks if task.line in lines), None)


def _proposed(line: Mapping[str, str]) -> _Proposal:
    kind = Kind(line["kind"])
    return _Proposal(kind, Author.AI, line["text"], line.get("key", ""), line.get("due") or None)


def _memory_line(line: Line) -> MemoryLine:
    said_by = line.author.value if line.kind is Kind.SAID else ""
    return MemoryLine(line.id, line.text, line.at_us / MICROSECONDS, said_by)


def _readable(reading: Reading) -> bool:
    return reading.reach is Reach.COMPLETE
