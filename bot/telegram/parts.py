"""A Part as one line of JSON, so that an outbox row sends and probes exactly the same message."""

import json
from typing import Any

from bot.telegram.port import Button, Entity, Part


def part_to_json(part: Part) -> str:
    """Write a part: stable (equal parts, equal text) and compact (nothing that is empty)."""
    record: dict[str, Any] = {"text": part.text}
    if part.entities:
        record["entities"] = [_entity_to_record(entity) for entity in part.entities]
    if part.keyboard:
        record["keyboard"] = [[_button_to_record(each) for each in row] for row in part.keyboard]
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def part_from_json(text: str) -> Part:
    """Read what `part_to_json` wrote. Raises ValueError for anything else."""
    try:
        record = json.loads(text)
        return Part(
            record["text"],
            tuple(Entity(**entity) for entity in record.get("entities", ())),
            tuple(tuple(Button(**each) for each in row) for row in record.get("keyboard", ())),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("this is no stored message part") from error


def entities_to_json(entities: tuple[Entity, ...]) -> str:
    """Formatted runs alone; "" for none."""
    if not entities:
        return ""
    records = [_entity_to_record(each) for each in entities]
    return json.dumps(records, ensure_ascii=False, separators=(",", ":"))


def entities_from_json(text: str) -> tuple[Entity, ...]:
    """Read what `entities_to_json` wrote. Raises ValueError for anything else."""
    try:
        return tuple(Entity(**each) for each in json.loads(text)) if text else ()
    except (AttributeError, TypeError) as error:
        raise ValueError("these are no stored entities") from error


def _entity_to_record(entity: Entity) -> dict[str, str | int]:
    record: dict[str, str | int] = {
        "type": entity.type,
        "offset": entity.offset,
        "length": entity.length,
    }
    extras = {
        "url": entity.url,
        "language": entity.language,
        "custom_emoji_id": entity.custom_emoji_id,
    }
    return record | {name: value for name, value in extras.items() if value}


def _button_to_record(button: Button) -> dict[str, str]:
    extras = {"data": button.data, "url": button.url}
    return {"text": button.text} | {name: value for name, value in extras.items() if value}
