"""What the model is asked to do for an operator: rows that a restart repeats.

An assignment is put down in the transaction of whatever caused it and carried out by
bot/desk/aiding.py; its result is queued in the transaction that crosses it off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from bot.desk.places import Place
from bot.store import work
from bot.store.port import Sql
from bot.store.work import StoredEffect

KIND = "aid"
ID_DIGITS = 16


class Task(StrEnum):
    DRAFT = "draft"
    SUMMARY = "summary"
    VIEW = "view"  # a message, shown to operators in their language
    PREVIEW = "preview"  # the operator's words in the user's language, not sent yet


@dataclass(frozen=True, slots=True)
class Source:
    """A message on record."""

    chat_id: int
    message_id: int


@dataclass(frozen=True, slots=True)
class Assignment:
    id: str
    task: Task
    conversation_id: str
    epoch: int
    operator_id: int
    place: Place
    key: str  # of the update that asked for it: what it leads to is told once
    source: Source = Source(0, 0)
    source_language: str = ""
    target_language: str = ""

    @property
    def suggestion_id(self) -> str:
        """The same on every repetition, so a suggestion is made once."""
        if self.task is Task.PREVIEW:
            return preview_id(self.source)
        return _digest(self.id)


def preview_id(source: Source) -> str:
    """The suggestion of an operator's message in translation: at most one a message."""
    return _digest(f"preview:{source.chat_id}:{source.message_id}")


def put(sql: Sql, assignment: Assignment, at: float) -> None:
    """Put it down; the same id again changes nothing."""
    place = assignment.place
    payload = {
        "task": assignment.task.value,
        "operator": str(assignment.operator_id),
        "chat": str(place.chat_id),
        "topic": place.topic,
        "language": place.language,
        "key": assignment.key,
        "source_chat": str(assignment.source.chat_id),
        "source_message": str(assignment.source.message_id),
        "from": assignment.source_language,
        "to": assignment.target_language,
    }
    stored = StoredEffect(
        f"aid:{assignment.id}", assignment.conversation_id, KIND, assignment.epoch, "", payload
    )
    work.add(sql, stored, at)


def read(effect: StoredEffect) -> Assignment:
    payload: Mapping[str, str] = effect.payload
    return Assignment(
        id=effect.id.removeprefix("aid:"),
        task=Task(payload["task"]),
        conversation_id=effect.conversation_id,
        epoch=effect.epoch,
        operator_id=int(payload["operator"]),
        place=Place(int(payload["chat"]), payload["topic"], payload["language"]),
        key=payload["key"],
        source=Source(int(payload["source_chat"]), int(payload["source_message"])),
        source_language=payload["from"],
        target_language=payload["to"],
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:ID_DIGITS]
