"""Memory: an unalterable record of lines, what holds now, and a store that may lie.

    Memory.put ──► outbox ──► writer ──► backend          (accepted, handed over, proven)
    Memory.read ◄── outbox ∪ backend, with backoff ──► fold, recall.search

line.py says what a line is, fold.py what lines mean together, port.py what a backend must do.
Knows nothing of the bot around it.
"""

from memory.agenda import Reminder, Task
from memory.backoff import Pace
from memory.fold import Folded, fold
from memory.line import (
    Author,
    Kind,
    Line,
    LineError,
    Place,
    fact_key,
    format_line,
    parse_line,
    preference_key,
    reminder_key,
    task_key,
)
from memory.namespace import namespace_of
from memory.outbox import Status
from memory.port import (
    Database,
    Entry,
    LinesRefused,
    ListedBackend,
    MemoryBackend,
    MemoryFailure,
    MemoryMisconfigured,
    MemoryThrottled,
    MemoryUnavailable,
    ReadResult,
    Sql,
)
from memory.reader import Reach, Reading
from memory.recall import search
from memory.service import Memory

__all__ = [
    "Author",
    "Database",
    "Entry",
    "Folded",
    "Kind",
    "Line",
    "LineError",
    "LinesRefused",
    "ListedBackend",
    "Memory",
    "MemoryBackend",
    "MemoryFailure",
    "MemoryMisconfigured",
    "MemoryThrottled",
    "MemoryUnavailable",
    "Pace",
    "Place",
    "Reach",
    "ReadResult",
    "Reading",
    "Reminder",
    "Sql",
    "Status",
    "Task",
    "fact_key",
    "fold",
    "format_line",
    "namespace_of",
    "parse_line",
    "preference_key",
    "reminder_key",
    "search",
    "task_key",
]
