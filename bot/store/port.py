"""What everything durable stands on: a database that runs units of work.

A unit of work is a plain function of an `Sql` handle. It runs inside one transaction, off the
event loop, and may run again if the database asks for it, so it must touch nothing but `sql`.
Both adapters speak the same SQL text (named parameters `:name`); see schema/*.sql.
Contract: tests/contracts/test_database.py.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Mapping[str, Any]


class Sql(Protocol):
    """A handle that is valid only inside its unit of work."""

    def run(self, text: str, values: Values = ..., /) -> int:
        """Execute a statement; return the number of rows it changed."""
        ...

    def rows(self, text: str, values: Values = ..., /) -> Sequence[Row]:
        """Execute a query, or a statement with RETURNING; return all its rows."""
        ...

    def row(self, text: str, values: Values = ..., /) -> Row | None:
        """The first row, or None."""
        ...

    def lock_row(self, text: str, values: Values = ..., /) -> Row | None:
        """Like `row`, and keeps others from changing that row until the transaction ends."""
        ...

    def attempt(self, work: "Callable[[Sql], T]") -> T:
        """Run `work` in a savepoint: if it raises, its writes are undone, and the error passes."""
        ...


class Database(Protocol):
    async def transact(self, work: Callable[[Sql], T]) -> T:
        """Run `work` in a transaction; return its result once it is durably committed.

        If `work` raises, everything it wrote is undone and the error is passed on.
        Raises StoreUnavailable when the database cannot be read or written.
        """
        ...

    async def read(self, work: Callable[[Sql], T]) -> T:
        """Run a `work` that only reads, beside the writer."""
        ...

    async def scrub(self) -> bool:
        """Leave no trace of what was deleted, as far as the database can. False: somebody who
        reads was in the way; again later. See docs/memory.md for what PostgreSQL keeps."""
        ...

    async def close(self) -> None:
        """Finish what was started, then close. Idempotent."""
        ...
