"""The `Sql` handle that both adapters give to a unit of work, so that both keep the same rules.

Rule 1: the handle is dead once its unit of work has ended.
Rule 2: after a failed statement nothing more runs, as in PostgreSQL; only `attempt` can undo the
        failure and go on. A failure that the unit swallowed still fails the unit.
Rule 3: a unit never begins or ends a transaction itself; others may share the one it runs in.
Rule 4: no foreign exception leaves `execute`; adapters translate there.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from bot.errors import StatementRefused, StoreUnavailable
from bot.store.port import Row, Sql, Values

T = TypeVar("T")
Result: TypeAlias = tuple[Sequence[Row], int]  # the rows, and how many rows were changed
Execute: TypeAlias = Callable[[str, Values], Result]

_TRANSACTION_WORDS = ("BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE")
NO_VALUES: Mapping[str, Any] = MappingProxyType({})


class Handle:
    """Runs statements through `execute`. `row_lock` None means: a unit that only reads."""

    def __init__(self, execute: Execute, *, row_lock: str | None) -> None:
        self._execute = execute
        self._row_lock = row_lock
        self._failure: BaseException | None = None
        self._depth = 0
        self._ended = False

    def run(self, text: str, values: Values = NO_VALUES, /) -> int:
        return self._asked(text, values)[1]

    def rows(self, text: str, values: Values = NO_VALUES, /) -> Sequence[Row]:
        return self._asked(text, values)[0]

    def row(self, text: str, values: Values = NO_VALUES, /) -> Row | None:
        rows = self._asked(text, values)[0]
        return rows[0] if rows else None

    def lock_row(self, text: str, values: Values = NO_VALUES, /) -> Row | None:
        if self._row_lock is None:
            raise StatementRefused("A unit of work that only reads cannot lock a row.")
        return self.row(text.rstrip().rstrip(";") + self._row_lock, values)

    def attempt(self, work: Callable[[Sql], T]) -> T:
        self._depth += 1
        name = f"attempt_{self._depth}"
        self._statement(f"SAVEPOINT {name}", NO_VALUES)
        try:
            result = work(self)
            self.raise_swallowed()
        except BaseException:
            self._undo(name)
            raise
        finally:
            self._depth -= 1
        self._statement(f"RELEASE SAVEPOINT {name}", NO_VALUES)
        return result

    def raise_swallowed(self) -> None:
        """Raise the failure that the unit of work caught and did not pass on."""
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        self._ended = True

    def _asked(self, text: str, values: Values) -> Result:
        if text.lstrip()[:9].upper().startswith(_TRANSACTION_WORDS):
            raise StatementRefused("A unit of work tried to begin or end a transaction itself.")
        return self._statement(text, values)

    def _statement(self, text: str, values: Values) -> Result:
        if self._ended:
            raise RuntimeError("this Sql handle outlived its unit of work")
        if self._failure is not None:
            raise RuntimeError(
                "an earlier statement failed; use attempt() to go on after a failure"
            )
        try:
            return self._execute(text, values)
        except BaseException as error:
            self._failure = error
            raise

    def _undo(self, name: str) -> None:
        if isinstance(self._failure, StoreUnavailable):
            return  # the transaction is gone or doomed; there is nothing to go back to
        self._failure = None
        self._statement(f"ROLLBACK TO SAVEPOINT {name}", NO_VALUES)
        self._statement(f"RELEASE SAVEPOINT {name}", NO_VALUES)


def carry_out(work: Callable[[Sql], T], handle: Handle) -> T:
    """Run `work` with `handle`, to the end of both."""
    try:
        result = work(handle)
        handle.raise_swallowed()
    except StopIteration as error:  # no future can carry it: the caller would wait for ever
        raise RuntimeError("a unit of work raised StopIteration") from error
    finally:
        handle.end()
    return result
