"""What an outbox row holds: a message or a file to send, or a message to copy from another chat."""

import json
from dataclasses import dataclass
from typing import TypeAlias

from bot.telegram.parts import part_from_json, part_to_json
from bot.telegram.port import Part


@dataclass(frozen=True, slots=True)
class SendPart:
    part: Part


@dataclass(frozen=True, slots=True)
class CopyOf:
    """A message of any kind, copied without a link to its author."""

    chat_id: int
    message_id: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text file. Once it has arrived, its content is taken out of the row; see `emptied`."""

    name: str
    content: str


Payload: TypeAlias = SendPart | CopyOf | Document


def write(payload: Payload) -> str:
    match payload:
        case SendPart(part):
            return part_to_json(part)
        case CopyOf(chat_id, message_id):
            return json.dumps({"copy": [chat_id, message_id]})
        case Document(name, content):
            return json.dumps({"document": [name, content]})


def emptied(text: str) -> str:
    """What is left of a payload that arrived: a file is not kept a second time."""
    what = read(text)
    return write(Document(what.name, "")) if isinstance(what, Document) else text


def read(text: str) -> Payload:
    """Read what `write` wrote. Raises ValueError for anything else."""
    if text.startswith('{"copy"'):
        chat_id, message_id = json.loads(text)["copy"]
        return CopyOf(chat_id, message_id)
    if text.startswith('{"document"'):
        name, content = json.loads(text)["document"]
        return Document(name, content)
    return SendPart(part_from_json(text))
