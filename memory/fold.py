"""What holds now, from lines in any order. Pure: the same lines give the same answer.

Lines are taken oldest first (memory/order.py), each id once. Then:

Rule 1: the newest line of a key stands: fact, preference, summary, or the correction of one.
Rule 2: a correction also keeps the older wordings of its key from coming back by themselves: a
        later line of the AI or the system that repeats one of them is void. Another correction,
        or the user's or an operator's own line, makes it hold again.
Rule 3: a retraction takes back what its key says, and its own text. Repeating that later is void,
        even in a correction, unless the user or an operator says it again.
Rule 4: "repeating" means the same canonical text under the same key; among facts, preferences and
        summaries a sentence of three words or more counts under every key. A value of one or two
        words says nothing without its key: taking back "home: Berlin" leaves "birthplace: Berlin".
Rule 5: a closed task with a deadline is not opened again by a line of the AI or the system (the
        same deadline worded twice is one task). Without a deadline a newer line opens it again.
Rule 6: a reminder is pending for one event time. Fired is final for that time; cancelled can be
        undone by the user or an operator; the same key with another time is snoozed or recurs.
Rule 7: what was replaced never comes back because what replaced it goes. So a line newer than all
        others can end, replace or add, and never revives an older one.

A closing line whose opening line is missing (a partial read) is remembered, not an error.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never

from memory.agenda import Reminder, Reminders, Task, Tasks
from memory.line import Kind, Line
from memory.normalise import canonical
from memory.order import arranged, order_of

SENTENCE_WORDS = 3
CLAIMS = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.SUMMARY})


@dataclass(frozen=True, slots=True)
class Folded:
    """Facts, preferences and summaries are lines; a correction stands in its key's place."""

    facts: tuple[Line, ...] = ()
    preferences: tuple[Line, ...] = ()
    summaries: tuple[Line, ...] = ()
    tasks: tuple[Task, ...] = ()  # open, by deadline, then by age
    done: tuple[Task, ...] = ()  # in the order they were done
    reminders: tuple[Reminder, ...] = ()  # pending, by time
    void: frozenset[str] = frozenset()  # ids of lines that no longer hold: keep them out of recall

    def due(self, now: datetime) -> tuple[Reminder, ...]:
        """The reminders whose time has come at `now` (aware)."""
        return tuple(reminder for reminder in self.reminders if reminder.instant <= now)


def fold(lines: Iterable[Line]) -> Folded:
    state = _State()
    for line in arranged(lines):
        state.take(line)
    return state.folded()


def _is_sentence(words: str) -> bool:
    return words.count(" ") >= SENTENCE_WORDS - 1


class _TakenBack:
    """Wordings that no longer hold, each with the kind of line that ended them (rules 2 to 4).

    `family` is the kind of what a key holds: a sentence counts under every key among claims only.
    """

    def __init__(self) -> None:
        self._by: dict[tuple[str, str], Kind] = {}

    def add(self, key: str, words: str, family: Kind, by: Kind) -> None:
        for mark in self._marks(key, words, family):
            if self._by.get(mark) is not Kind.RETRACTION:  # the stronger of the two stays
                self._by[mark] = by

    def lift(self, key: str, words: str, family: Kind) -> None:
        for mark in self._marks(key, words, family):
            self._by.pop(mark, None)

    def voids(self, line: Line, family: Kind) -> bool:
        if line.by_person:
            return False
        marks = self._marks(line.subject, canonical(line.text), family)
        ended = {self._by[mark] for mark in marks if mark in self._by}
        return Kind.RETRACTION in ended or (bool(ended) and line.kind is not Kind.CORRECTION)

    @staticmethod
    def _marks(key: str, words: str, family: Kind) -> list[tuple[str, str]]:
        everywhere = family in CLAIMS and _is_sentence(words)
        return [(key, words), ("", words)] if everywhere else [(key, words)]


@dataclass(slots=True)
class _Claims:
    """Facts, preferences and summaries: the newest line of each key."""

    standing: dict[str, Line] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # ids

    def put(self, line: Line, kind: Kind) -> None:
        self.standing[line.subject] = line
        self.kinds[line.subject] = kind

    def drop(self, key: str, words: set[str]) -> None:
        """End `key`, and every other key that stands on one of these very sentences."""
        self.standing.pop(key, None)
        sentences = {text for text in words if _is_sentence(text)}
        if sentences:
            same = [k for k, line in self.standing.items() if canonical(line.text) in sentences]
            for other in same:
                del self.standing[other]

    def of(self, kind: Kind) -> tuple[Line, ...]:
        return tuple(
            sorted((v for k, v in self.standing.items() if self.kinds[k] is kind), key=order_of)
        )


class _State:
    def __init__(self) -> None:
        self.claims = _Claims()
        self.tasks = Tasks()
        self.reminders = Reminders()
        self.taken_back = _TakenBack()
        self.wordings: dict[str, set[str]] = {}  # key -> canonical texts it ever had

    def take(self, line: Line) -> None:
        match line.kind:
            case Kind.SAID:
                pass
            case Kind.FACT | Kind.PREFERENCE | Kind.SUMMARY:
                self._learn(line)
            case Kind.CORRECTION:
                self._correct(line)
            case Kind.RETRACTION:
                self._retract(line)
            case Kind.TASK:
                if self._holds(line, Kind.TASK):
                    self.tasks.open(line)
            case Kind.REMINDER:
                if self._holds(line, Kind.REMINDER):
                    self.reminders.open(line)
            case Kind.FIRED:
                self.reminders.fire(line)
            case Kind.DONE | Kind.CANCELLED:
                self.tasks.close(line)
                self.reminders.close(line)
            case _:
                assert_never(line.kind)

    def _holds(self, line: Line, family: Kind) -> bool:
        """False if the line only repeats what was taken back; otherwise its wording counts."""
        if self.taken_back.voids(line, family):
            return False
        words = canonical(line.text)
        if line.by_person or line.kind is Kind.CORRECTION:
            self.taken_back.lift(line.subject, words, family)
        self.wordings.setdefault(line.subject, set()).add(words)
        return True

    def _learn(self, line: Line) -> None:
        self.claims.seen.add(line.id)
        if self._holds(line, line.kind):
            self.claims.put(line, line.kind)

    def _correct(self, line: Line) -> None:
        self.claims.seen.add(line.id)
        key, family = line.subject, self._family(line.subject)
        if self.taken_back.voids(line, family):
            return
        older = self.wordings.get(key, set()) - {canonical(line.text)}
        for words in older:
            self.taken_back.add(key, words, family, Kind.CORRECTION)
        self._holds(line, family)
        match family:
            case Kind.TASK:
                self.tasks.amend(line)
            case Kind.REMINDER:
                self.reminders.amend(line)
            case _:
                self.claims.drop(key, older)
                self.claims.put(line, family)

    def _retract(self, line: Line) -> None:
        key, family = line.subject, self._family(line.subject)
        words = self.wordings.get(key, set()) | ({canonical(line.text)} - {""})
        for wording in words:
            self.taken_back.add(key, wording, family, Kind.RETRACTION)
        self.claims.drop(key, words if family in CLAIMS else set())
        self.tasks.close(line)
        self.reminders.close(line)

    def _family(self, key: str) -> Kind:
        """What a correction or retraction of `key` is about: what is there, else what it says."""
        if key in self.claims.standing:
            return self.claims.kinds[key]
        if key in self.tasks.known:
            return Kind.TASK
        if key in self.reminders.pending:
            return Kind.REMINDER
        named = key.partition(":")[0]
        return Kind(named) if named in CLAIMS | {Kind.TASK, Kind.REMINDER} else Kind.FACT

    def folded(self) -> Folded:
        standing = {line.id for line in self.claims.standing.values()}
        return Folded(
            facts=self.claims.of(Kind.FACT),
            preferences=self.claims.of(Kind.PREFERENCE),
            summaries=self.claims.of(Kind.SUMMARY),
            tasks=self.tasks.open_ones(),
            done=self.tasks.done_ones(),
            reminders=self.reminders.waiting(),
            void=frozenset(self.claims.seen - standing),
        )
