r"""One immutable line of memory, and its one written form.

    2026-11-30T22:19:05.123456Z 42.3 #task user id=7.42.3 key=task:call-sam@20261204T053000Z
        when=2026-12-04T09:00:00+03:30[Asia/Tehran] | Call Sam.          (all in one line)

Rule 1: `parse_line(format_line(x)) == x` for every line, whatever its text holds.
Rule 2: a written line holds no line break of any kind and no other control character; those, lone
        surrogates and the backslash are escaped (\n, \u2028, \\). Everything else stays as written.
Rule 3: `parse_line` accepts only what `format_line` writes and names what is wrong otherwise.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from memory.event_time import deadline_name, instant_of
from memory.normalise import key_of

LARGEST = 2**63 - 1  # what a BIGINT holds
LAST_MICROSECOND = 253_402_300_799_999_999  # the end of the year 9999
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ID = re.compile(r"[A-Za-z0-9._:\-]{1,200}")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")
_RAW = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.?)", re.DOTALL)
_SHORT = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONG = {written: character for character, written in _SHORT.items()}


class LineError(ValueError):
    """Not a line. `part` says which part is wrong; the text of the line is not repeated."""

    def __init__(self, part: str, problem: str) -> None:
        super().__init__(f"{part}: {problem}")
        self.part = part


class Kind(StrEnum):
    """What a line says. Their order here settles lines that are equal in time and place."""

    SAID = "said"  # words of a conversation
    FACT = "fact"  # something that holds until it is corrected or retracted
    PREFERENCE = "preference"  # how the user wants things
    TASK = "task"  # opens a task; event_time is its deadline
    DONE = "done"  # closes the task of the same key
    REMINDER = "reminder"  # event_time is when to remind
    FIRED = "fired"  # the reminder of the same key and event_time was sent
    CANCELLED = "cancelled"  # closes a task or a reminder without its being done
    CORRECTION = "correction"  # takes the place of what its key said before
    RETRACTION = "retraction"  # takes back what its key said before
    SUMMARY = "summary"  # a digest of other lines


class Author(StrEnum):
    USER = "user"
    AI = "ai"
    HUMAN = "human"  # an operator
    SYSTEM = "system"


class Place(NamedTuple):
    """Where a line stands in its namespace. Give every line of a namespace its own."""

    turn: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Line:
    """Raises LineError when a part is out of range."""

    id: str  # unique in its namespace and the same whenever the same thing is recorded again
    at_us: int  # when it was written, microseconds since 1970 in UTC
    turn: int
    ordinal: int
    kind: Kind
    author: Author
    text: str
    key: str = ""  # what the line is about; "" means: derive it from the text
    event_time: str | None = None  # when it happens, as in memory/event_time.py

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise LineError("id", "1 to 200 of A-Z a-z 0-9 . _ : - are allowed")
        if not 0 <= self.at_us <= LAST_MICROSECOND:
            raise LineError("time", "must lie between 1970 and 9999")
        if not 0 <= self.turn <= LARGEST or not 0 <= self.ordinal <= LARGEST:
            raise LineError("place", "turn and ordinal must be from 0 to 2**63 - 1")
        if self.event_time is not None:
            _check_event_time(self.event_time)

    @property
    def place(self) -> Place:
        return Place(self.turn, self.ordinal)

    @property
    def by_person(self) -> bool:
        """Said by the user or an operator, not concluded by the AI or the system."""
        return self.author in (Author.USER, Author.HUMAN)

    @property
    def subject(self) -> str:
        """The key, or the one that follows from the text where none was given."""
        return self.key or _derived_key(self)


def task_key(text: str, due: str | None = None) -> str:
    """One key for one deadline, however it is worded; `due` as in memory/event_time.py."""
    return _dated_key(Kind.TASK, text, due)


def reminder_key(text: str, when: str | None = None) -> str:
    return _dated_key(Kind.REMINDER, text, when)


def fact_key(subject: str) -> str:
    """A key from what the fact is about ("home city"), or from its whole sentence."""
    return f"fact:{key_of(subject)}"


def preference_key(subject: str) -> str:
    return f"preference:{key_of(subject)}"


def _dated_key(kind: Kind, text: str, when: str | None) -> str:
    name = f"{kind}:{key_of(text)}"
    return name if when is None else f"{name}@{deadline_name(when)}"


def _derived_key(line: Line) -> str:
    if line.kind in (Kind.TASK, Kind.DONE):
        return task_key(line.text, line.event_time)
    if line.kind in (Kind.REMINDER, Kind.FIRED):
        return reminder_key(line.text, line.event_time)
    if line.kind in (Kind.PREFERENCE, Kind.SUMMARY):
        return f"{line.kind}:{key_of(line.text)}"
    return fact_key(line.text)


def _check_event_time(event_time: str) -> None:
    try:
        instant_of(event_time)
    except ValueError as error:
        raise LineError("when", str(error)) from error


def format_line(line: Line) -> str:
    """The written form, without a newline at its end."""
    time = (_EPOCH + timedelta(microseconds=line.at_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    parts = [time, f"{line.turn}.{line.ordinal}", f"#{line.kind}", line.author, f"id={line.id}"]
    if line.key:
        parts.append("key=" + _escaped(line.key).replace(" ", "\\s"))
    if line.event_time is not None:
        parts.append(f"when={line.event_time}")
    return f"{' '.join(parts)} | {_escaped(line.text)}"


def parse_line(written: str) -> Line:
    """Raises LineError, which names the part that is wrong."""
    head, bar, text = written.partition(" | ")
    if not bar:
        raise LineError("line", "there is no ' | ' before the text")
    parts = head.split(" ")
    if len(parts) < 5:
        raise LineError("line", "time, place, kind, author and id must come before the text")
    turn, ordinal = _place(parts[1])
    optional = parts[5:]
    line = Line(
        id=_labelled("id", parts[4]),
        at_us=_microseconds(parts[0]),
        turn=turn,
        ordinal=ordinal,
        kind=_kind(parts[2]),
        author=_author(parts[3]),
        key=_key(_taken("key", optional) or ""),
        event_time=_taken("when", optional),
        text=_unescaped("text", text),
    )
    if optional:
        raise LineError("line", "there is a part that does not belong there")
    return line


def _microseconds(part: str) -> int:
    if not _TIME.fullmatch(part):
        raise LineError("time", "must look like 2026-11-30T22:19:05.123456Z")
    try:
        moment = datetime.fromisoformat(part)
    except ValueError as error:
        raise LineError("time", str(error)) from error
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _place(part: str) -> tuple[int, int]:
    turn, _, ordinal = part.partition(".")
    if not (_NUMBER.fullmatch(turn) and _NUMBER.fullmatch(ordinal)):
        raise LineError("place", "must be turn.ordinal, two whole numbers")
    return int(turn), int(ordinal)


def _kind(part: str) -> Kind:
    try:
        return Kind(part[1:] if part.startswith("#") else "")
    except ValueError as error:
        raise LineError("kind", "must be # and one of " + ", ".join(Kind)) from error


def _author(part: str) -> Author:
    try:
        return Author(part)
    except ValueError as error:
        raise LineError("author", "must be one of " + ", ".join(Author)) from error


def _labelled(label: str, part: str) -> str:
    if not part.startswith(f"{label}="):
        raise LineError(label, f"must be {label}=…")
    return part[len(label) + 1 :]


def _taken(label: str, parts: list[str]) -> str | None:
    """Take `label=…` off the front of `parts` if it is there."""
    if parts and parts[0].startswith(f"{label}="):
        return _labelled(label, parts.pop(0))
    return None


def _key(written: str) -> str:
    return _unescaped("key", written, spaces=True)


def _escaped(text: str) -> str:
    return _UNWRITABLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


def _unescaped(part: str, written: str, *, spaces: bool = False) -> str:
    if _RAW.search(written):
        raise LineError(part, "holds a control character or a line break")
    if "\\" not in written:
        return written

    def character_of(found: re.Match[str]) -> str:
        if spaces and found[0] == "\\s":
            return " "
        character = _LONG.get(found[0]) or (
            chr(int(found[1][1:], 16)) if len(found[1]) == 5 else ""
        )
        if not character or _escaped(character) != found[0]:
            raise LineError(part, "holds an escape that is never written")
        return character

    return _ESCAPE.sub(character_of, written)
