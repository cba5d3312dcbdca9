"""Tasks and reminders, one line after the other. Fed in order by memory/fold.py."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memory.event_time import instant_of
from memory.line import Kind, Line
from memory.order import order_of

NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Task:
    key: str
    text: str
    due: str | None  # as in memory/event_time.py
    line: Line  # the line that it stands on, to cite
    closed_by: Line | None = None


@dataclass(frozen=True, slots=True)
class Reminder:
    key: str
    text: str
    when: str | None  # None: the line named no time, so it never comes due
    line: Line

    @property
    def instant(self) -> datetime:
        return NEVER if self.when is None else instant_of(self.when)


@dataclass(slots=True)
class Tasks:
    """Open and closed by key; see rule 5 of memory/fold.py."""

    known: dict[str, Task] = field(default_factory=dict)
    closed: dict[str, Line] = field(default_factory=dict)

    def open(self, line: Line) -> None:
        key = line.subject
        if key in self.closed:
            if line.event_time is not None and not line.by_person:
                return
            del self.closed[key]
        self.known[key] = Task(key, line.text, line.event_time, line)

    def amend(self, line: Line) -> None:
        """New words or time; what is closed stays closed."""
        key = line.subject
        old = self.known.get(key)
        due = line.event_time or (old.due if old else None)
        self.known[key] = Task(key, line.text, due, line)

    def close(self, line: Line) -> None:
        self.closed[line.subject] = line

    def open_ones(self) -> tuple[Task, ...]:
        tasks = [task for key, task in self.known.items() if key not in self.closed]
        return tuple(sorted(tasks, key=lambda task: (_deadline(task.due), order_of(task.line))))

    def done_ones(self) -> tuple[Task, ...]:
        done = [
            replace(task, closed_by=self.closed[key])
            for key, task in self.known.items()
            if key in self.closed and self.closed[key].kind is Kind.DONE
        ]
        return tuple(sorted(done, key=lambda task: order_of(task.closed_by or task.line)))


def _deadline(due: str | None) -> datetime:
    return NEVER if due is None else instant_of(due)


@dataclass(slots=True)
class Reminders:
    """Pending by key, settled by occasion (key and moment); see rule 6 of memory/fold.py."""

    pending: dict[str, Reminder] = field(default_factory=dict)
    settled: dict[tuple[str, datetime], Kind] = field(default_factory=dict)

    def open(self, line: Line) -> None:
        reminder = Reminder(line.subject, line.text, line.event_time, line)
        occasion = (reminder.key, reminder.instant)
        ended = self.settled.get(occasion)
        if ended is Kind.FIRED or (ended is not None and not line.by_person):
            return
        self.settled.pop(occasion, None)
        self.pending[reminder.key] = reminder

    def amend(self, line: Line) -> None:
        old = self.pending.get(line.subject)
        if old is not None:
            self.open(replace(line, event_time=line.event_time or old.when))
        elif line.event_time is not None:
            self.open(line)

    def fire(self, line: Line) -> None:
        """With an event time only that occasion; without one, whatever is pending."""
        waiting = self.pending.get(line.subject)
        if line.event_time is not None:
            occasion = (line.subject, instant_of(line.event_time))
        elif waiting is not None:
            occasion = (waiting.key, waiting.instant)
        else:
            return
        self.settled[occasion] = Kind.FIRED
        if waiting is not None and (waiting.key, waiting.instant) == occasion:
            del self.pending[line.subject]

    def close(self, line: Line) -> None:
        key = line.subject
        waiting = self.pending.pop(key, None)
        if waiting is not None:
            self.settled.setdefault((key, waiting.instant), Kind.CANCELLED)
        if line.event_time is not None:
            self.settled.setdefault((key, instant_of(line.event_time)), Kind.CANCELLED)

    def waiting(self) -> tuple[Reminder, ...]:
        ordered = sorted(self.pending.values(), key=lambda r: (r.instant, order_of(r.line)))
        return tuple(ordered)
