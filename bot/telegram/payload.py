"""What an outbox row holds: a message to send, or one to copy from another chat."""

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


Payload: TypeAlias = SendPart | CopyOf


def write(payload: Payload) -> str:
    match payload:
        case SendPart(part):
            return part_to_json(part)
        case CopyOf(chat_id, message_id):
            return json.dumps({"copy": [chat_id, message_id]})


def read(text: str) -> Payload:
    """Read what `write` wrote. Raises ValueError for anything else."""
    if text.startswith('{"copy"'):
        chat_id, message_id = json.loads(text)["copy"]
        return CopyOf(chat_id, message_id)
    return SendPart(part_from_json(text))
