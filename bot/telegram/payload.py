"""What an outbox row holds: a message to send, one to copy, or something to do to one.

Messages are named by where they were written; delivery looks up what stands for them in the chat
that the row goes to, since that is known only once everything before it has been sent.
"""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

from bot.store.copies import MessageRef
from bot.telegram.parts import part_from_json, part_to_json
from bot.telegram.port import Part


@dataclass(frozen=True, slots=True)
class SendPart:
    part: Part
    answers: MessageRef | None = None  # sent as a reply to what stands for this
    silent: bool = False
    stands_for: MessageRef | None = None  # the message that it passes on
    card: int = 0  # it is the card of its topic, the so-manieth; 0: no card


@dataclass(frozen=True, slots=True)
class CopyOf:
    """A message of any kind, copied without a link to its author."""

    chat_id: int
    message_id: int
    answers: MessageRef | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Album:
    """Messages that belong together, copied as one album."""

    chat_id: int
    message_ids: tuple[int, ...]
    silent: bool = False


@dataclass(frozen=True, slots=True)
class EditOf:
    """What stands for `of` should say this. `caption`: it is media with a caption."""

    of: MessageRef
    part: Part
    caption: bool = False


@dataclass(frozen=True, slots=True)
class React:
    """Put a reaction on what stands for `to`; "" takes it away."""

    to: MessageRef
    emoji: str


@dataclass(frozen=True, slots=True)
class Again:
    """Do once more what was last done to `to`: an older request may have come after it."""

    to: MessageRef
    reaction: bool  # False: its text or caption was changed

    @property
    def beginning(self) -> str:
        """How the payloads begin that did it."""
        verb = "react" if self.reaction else "edit"
        return f'{{"{verb}":[{self.to.chat_id},{self.to.message_id}],'


@dataclass(frozen=True, slots=True)
class Pin:
    """Pin a message of the chat that the row goes to."""

    message_id: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text file. Once it has arrived, its content is taken out of the row; see `emptied`."""

    name: str
    content: str


Payload: TypeAlias = SendPart | CopyOf | Album | EditOf | React | Again | Pin | Document
REPEATABLE = (EditOf, React, Again, Pin)  # doing it twice is the same as once


def write(payload: Payload) -> str:
    # A file may hold lone surrogates, which no database takes; escaped they are plain ASCII.
    ascii_only = isinstance(payload, Document)
    return json.dumps(_record(payload), ensure_ascii=ascii_only, separators=(",", ":"))


def once_more(what: Payload) -> str | None:
    """The payload that does again what was last done to the same message. None: no need."""
    match what:
        case EditOf(of):
            return write(Again(of, reaction=False))
        case React(to):
            return write(Again(to, reaction=True))
        case Again():
            return write(what)
        case _:
            return None


def emptied(text: str) -> str:
    """What is left of a payload that arrived: a file is not kept a second time."""
    what = read(text)
    return write(Document(what.name, "")) if isinstance(what, Document) else text


def read(text: str) -> Payload:
    """Read what `write` wrote. Raises ValueError for anything else."""
    record = json.loads(text)
    try:
        return _read(record, text)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("this is no stored payload") from error


def _record(payload: Payload) -> dict[str, Any]:
    match payload:
        case SendPart(part, answers, silent, stands_for, card):
            stands = {"stands_for": stands_for} if stands_for else {}
            pins = {"card": card} if card else {}
            return {**_part(part), **_manner(answers, silent=silent), **stands, **pins}
        case CopyOf(chat_id, message_id, answers, silent):
            return {"copy": [chat_id, message_id], **_manner(answers, silent=silent)}
        case Album(chat_id, message_ids, silent):
            return {"album": [chat_id, *message_ids], **_manner(None, silent=silent)}
        case EditOf(of, part, caption):
            return {"edit": of, "part": _part(part), **({"caption": True} if caption else {})}
        case React(to, emoji):
            return {"react": to, "emoji": emoji}
        case Again(to, reaction):
            return {"again": to, "reaction": reaction}
        case Pin(message_id):
            return {"pin": message_id}
        case Document(name, content):
            return {"document": [name, content]}


def _part(part: Part) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(part_to_json(part))
    return record


def _manner(answers: MessageRef | None, *, silent: bool) -> dict[str, Any]:
    return {**({"answers": answers} if answers else {}), **({"silent": True} if silent else {})}


def _read(record: dict[str, Any], text: str) -> Payload:
    answers, silent = _ref(record.get("answers")), bool(record.get("silent", False))
    if "copy" in record:
        chat_id, message_id = record["copy"]
        return CopyOf(chat_id, message_id, answers, silent)
    if "album" in record:
        chat_id, *message_ids = record["album"]
        return Album(chat_id, tuple(message_ids), silent)
    if "edit" in record:
        part = part_from_json(json.dumps(record["part"]))
        return EditOf(MessageRef(*record["edit"]), part, bool(record.get("caption", False)))
    if "react" in record:
        return React(MessageRef(*record["react"]), record["emoji"])
    if "again" in record:
        return Again(MessageRef(*record["again"]), bool(record["reaction"]))
    if "pin" in record:
        return Pin(record["pin"])
    if "document" in record:
        name, content = record["document"]
        return Document(name, content)
    stands_for, card = _ref(record.get("stands_for")), int(record.get("card", 0))
    return SendPart(part_from_json(text), answers, silent, stands_for, card)


def _ref(given: list[int] | None) -> MessageRef | None:
    return MessageRef(*given) if given else None
