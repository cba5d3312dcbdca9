"""What memory stands on: a backend that keeps lines, and a database for what waits to be kept.

Backends are told apart only by how late and how honestly they answer. Nobody here trusts them:
accepting a line is not keeping it, and an empty answer is not an empty namespace.
Contract: tests/contracts/test_memory_backends.py.

The error tree, named by the caller's next move:

MemoryFailure
├── MemoryUnavailable    it may or may not have happened; try again, after `retry_after_seconds`
│   ├── MemoryThrottled      asked too often; the lines are not at fault
│   └── MemoryMisconfigured  the host has to change something; lines wait, the text says for what
└── LinesRefused         it will never take the lines in `refused`; send the others again
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from memory.line import Line

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Mapping[str, Any]


class MemoryFailure(Exception):
    """Whatever a backend raises on purpose. Its text holds no line."""


class MemoryUnavailable(MemoryFailure):
    """The backend could not be asked, or gave no usable answer. What was sent may have arrived."""

    def __init__(self, sentence: str, *, retry_after_seconds: float = 0.0) -> None:
        super().__init__(sentence)
        self.retry_after_seconds = retry_after_seconds


class MemoryThrottled(MemoryUnavailable):
    """The backend wants a pause. Smaller calls would not help, they cost as much."""


class MemoryMisconfigured(MemoryUnavailable):
    """A revoked key, a full account, a client too old. Its text says what the host has to do."""


class Address(NamedTuple):
    """Names one line in one backend."""

    namespace: str
    line_id: str


class LinesRefused(MemoryFailure):
    """A definite refusal of some lines (too long, not allowed). The rest of the call may have
    been written or not."""

    def __init__(self, sentence: str, *, refused: frozenset[Address]) -> None:
        super().__init__(sentence)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Entry:
    """A line and the namespace it belongs to."""

    namespace: str
    line: Line

    @property
    def address(self) -> Address:
        return Address(self.namespace, self.line.id)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """One answer: in any order, perhaps with repetitions, perhaps not all."""

    lines: tuple[Line, ...]
    dropped: int = 0  # lines the backend admits to have found and could not give
    damaged: int = 0  # of these: what is there and is no line any more


class MemoryBackend(Protocol):
    async def write(self, entries: Sequence[Entry]) -> None:
        """Hand lines over, of any number of namespaces. Returning means accepted, not visible.

        Idempotent by line id: the first content of an id stays. Nothing is ever changed or
        removed. Raises MemoryUnavailable (any of them may have arrived) or LinesRefused.
        """
        ...

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        """Those that a read shows at this moment: the proof that lets the outbox let go.

        It must read what `read` reads, never a job's status. Raises MemoryUnavailable.
        """
        ...

    async def read(self, namespace: str) -> ReadResult:
        """The lines of a namespace, as far as the backend gives them.

        May be late, short, reordered or repeated; `memory.Memory.read` deals with that. A line
        that cannot be parsed is counted as dropped. Raises MemoryUnavailable.
        """
        ...

    async def count(self, namespace: str) -> int | None:
        """A cheap probe: how many lines it holds, 0 if it surely holds none, None if unsaid."""
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...


@runtime_checkable
class OwnStore(Protocol):
    """What a backend can do besides if its lines lie on this machine: upkeep, never daily work.

    A backend without it keeps what it was given for ever. Contract:
    tests/contracts/test_memory_upkeep.py. Every method raises MemoryUnavailable.
    """

    async def namespaces(self) -> Collection[str]:
        """All that have ever had a line and were not erased."""
        ...

    async def rewrite(self, namespace: str, change: Callable[[Line], Line]) -> int:
        """Write `change(line)`, which says the same, in place of each line; return how many
        differ. Stopped half-way, it may be done again. A line that cannot be parsed stays."""
        ...

    async def erase(self, namespace: str) -> int:
        """Destroy the lines of a namespace; return how many there were. Idempotent."""
        ...


class NamespaceLister(Protocol):
    """A backend that can say what it holds: for moving and archiving, never for answering."""

    async def namespaces(self) -> Collection[str]:
        """Every namespace that holds a line. Raises MemoryUnavailable."""
        ...


class ListedBackend(MemoryBackend, NamespaceLister, Protocol):
    """Both in one."""


class Sql(Protocol):
    """A handle that is valid only inside its unit of work. `:name` parameters."""

    def run(self, text: str, values: Values = ..., /) -> int:
        """Execute a statement; return the number of rows it changed."""
        ...

    def rows(self, text: str, values: Values = ..., /) -> Sequence[Row]:
        """Execute a query, or a statement with RETURNING; return all its rows."""
        ...


class Database(Protocol):
    """Runs units of work: plain functions of an `Sql`, each in one transaction, perhaps twice."""

    async def transact(self, work: Callable[[Sql], T]) -> T:
        """Run `work`; return its result once it is durably committed."""
        ...

    async def read(self, work: Callable[[Sql], T]) -> T:
        """Run a `work` that only reads."""
        ...
