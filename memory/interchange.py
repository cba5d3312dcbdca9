"""Lines as a file for people and other programs: JSON, and plain lines as memory/line.py writes
them, so that either can be read back."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.line import Author, Kind, Line, LineError, format_line

FORMAT = "dabir-memory"
VERSION = 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_json(lines: Iterable[Line]) -> str:
    """One object; lone surrogates, which no file can hold, are escaped as JSON does."""
    content = {"format": FORMAT, "version": VERSION, "lines": [record_of(each) for each in lines]}
    written = json.dumps(content, ensure_ascii=False, indent=1)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.dumps(content, indent=1)
    return written


def as_plain(lines: Iterable[Line]) -> str:
    return "".join(format_line(line) + "\n" for line in lines)


def record_of(line: Line) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": line.id,
        "at": (_EPOCH + timedelta(microseconds=line.at_us)).isoformat(timespec="microseconds"),
        "turn": line.turn,
        "ordinal": line.ordinal,
        "kind": line.kind.value,
        "author": line.author.value,
        "text": line.text,
    }
    if line.key:
        record["key"] = line.key
    if line.event_time is not None:
        record["when"] = line.event_time
    return record


def line_of(record: Mapping[str, Any]) -> Line:
    """Read what `record_of` made. Raises LineError for anything else."""
    try:
        moment = datetime.fromisoformat(record["at"])
        return Line(
            id=record["id"],
            at_us=(moment - _EPOCH) // timedelta(microseconds=1),
            turn=record["turn"],
            ordinal=record["ordinal"],
            kind=Kind(record["kind"]),
            author=Author(record["author"]),
            text=str(record["text"]),
            key=str(record.get("key", "")),
            event_time=record.get("when"),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        part = error.part if isinstance(error, LineError) else "record"
        raise LineError(part, "is not what an export holds") from error
