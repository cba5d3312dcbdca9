"""The database of the simulation: SQLite in memory, shared by all machines, reached over a network.

A unit of work runs at once and alone, as in a serializable database. What is simulated is the way
to it and back: delays, refusals, answers that get lost after the commit, units that run twice.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, TypeVar

from bot.errors import StoreUnavailable
from bot.store.handle import NO_VALUES, Handle, Result, carry_out
from bot.store.migrations import BOT_SCHEMA, read_steps
from bot.store.port import Sql, Values
from bot.store.sqlite_faults import translate
from memory import schema as memory_schema
from tests.simulation.loop import Machine, SimulatedLoop

T = TypeVar("T")

APPEND_ONLY = """
CREATE TRIGGER memory_lines_stay BEFORE DELETE ON memory_lines
BEGIN SELECT RAISE(ABORT, 'a memory line was deleted'); END;
CREATE TRIGGER memory_lines_keep BEFORE UPDATE ON memory_lines
BEGIN SELECT RAISE(ABORT, 'a memory line was changed'); END;
CREATE TRIGGER journal_stays BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'a journal entry was deleted'); END;
"""
# In the order in which a judge wants to see what was written.
WATCHED = ("conversations", "messages", "journal", "outbox", "memory_outbox", "inbox")


@cache
def _template() -> bytes:
    connection = sqlite3.connect(":memory:")
    for source in (BOT_SCHEMA, ("memory", memory_schema.FOLDER)):
        for step in read_steps(*source):
            for statement in step.statements:
                connection.execute(statement)
    connection.executescript(APPEND_ONLY)
    connection.execute(
        "CREATE TABLE touched (kind INTEGER, number INTEGER, PRIMARY KEY (kind, number))"
    )
    for kind, table in enumerate(WATCHED):
        for act in ("INSERT", "UPDATE"):
            connection.execute(
                f"CREATE TRIGGER touched_{act}_{table} AFTER {act} ON {table} BEGIN"
                f" INSERT OR IGNORE INTO touched VALUES ({kind}, new.rowid); END"
            )
    connection.commit()
    return connection.serialize()


class Store:
    """The server. `after_commit` is called with the machine whose unit was committed."""

    def __init__(self, loop: SimulatedLoop, random: Random, *, faulty: bool, rate: float) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
        self.connection.deserialize(_template())
        self.after_commit: Callable[[Machine], None] = lambda machine: None
        self.faulty = faulty
        self.down_until = 0.0
        self.commits = 0
        self._rate = rate
        self._loop = loop
        self._random = random

    def request(
        self, machine: Machine, work: Callable[[Sql], T], future: "asyncio.Future[T]", reads: bool
    ) -> None:
        delay = self._delay()
        chance = self._random.random() / self._rate if self.faulty else 1.0
        if self._loop.time() < self.down_until or chance < 0.005:
            refusal = StoreUnavailable("the simulated database is out of reach")
            self._loop.later(delay, lambda: _fail(future, refusal))
        elif reads:
            self._loop.later(delay, lambda: self._answer_read(work, future))
        else:
            lost, twice = 0.005 <= chance < 0.012, 0.012 <= chance < 0.022
            self._loop.later(delay, lambda: self._answer(machine, work, future, lost, twice))

    def _delay(self) -> float:
        if self.faulty and self._random.random() < 0.02:
            return self._random.uniform(0.1, 8.0)
        return self._random.uniform(0.0005, 0.02)

    def _answer_read(self, work: Callable[[Sql], T], future: "asyncio.Future[T]") -> None:
        if future.done():
            return
        try:
            result = self.look(work)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is its caller's
            _fail(future, error)
            return
        self._loop.later(self._delay() / 2, lambda: _settle(future, result))

    def _answer(
        self,
        machine: Machine,
        work: Callable[[Sql], T],
        future: "asyncio.Future[T]",
        lost: bool,
        twice: bool,
    ) -> None:
        unwanted = future.done() or not machine.alive  # it was on its way already, or it was not
        if unwanted and self._random.random() < 0.5:
            return
        try:
            if twice:
                self._unit(work, commit=False)
            result = self._unit(work, commit=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is its caller's
            _fail(future, error)
            return
        self.commits += 1
        self.after_commit(machine)
        if lost:
            gone = StoreUnavailable("the answer to a commit was lost", outcome_unknown=True)
            self._loop.later(self._delay(), lambda: _fail(future, gone))
        else:
            self._loop.later(self._delay() / 2, lambda: _settle(future, result))

    def _unit(self, work: Callable[[Sql], T], *, commit: bool) -> T:
        self._execute("BEGIN")
        try:
            result = carry_out(work, Handle(self._execute, row_lock=""))
        except BaseException:
            self._execute("ROLLBACK")
            raise
        self._execute("COMMIT" if commit else "ROLLBACK")
        return result

    def look(self, work: Callable[[Sql], T]) -> T:
        self._execute("BEGIN")
        try:
            return carry_out(work, Handle(self._execute, row_lock=None))
        finally:
            self._execute("ROLLBACK")

    def rows(self, text: str, values: Values = NO_VALUES) -> list[Any]:
        """For those who judge: no delay, no failure."""
        return self.connection.execute(text, values or {}).fetchall()

    def _execute(self, text: str, values: Values = NO_VALUES) -> Result:
        try:
            cursor = self.connection.execute(text, values or {})
            rows = cursor.fetchall() if cursor.description else ()
            return rows, max(cursor.rowcount, 0)
        except sqlite3.Error as error:
            raise translate(error, "simulated") from error  # type: ignore[arg-type]


class SimulatedDatabase:
    """The `Database` port as one machine sees it."""

    def __init__(self, store: Store, machine: Machine, loop: SimulatedLoop) -> None:
        self._store = store
        self._machine = machine
        self._loop = loop

    async def transact(self, work: Callable[[Sql], T]) -> T:
        future: asyncio.Future[T] = self._loop.create_future()
        self._store.request(self._machine, work, future, reads=False)
        return await future

    async def read(self, work: Callable[[Sql], T]) -> T:
        future: asyncio.Future[T] = self._loop.create_future()
        self._store.request(self._machine, work, future, reads=True)
        return await future

    async def scrub(self) -> bool:
        return True

    async def close(self) -> None:
        pass


def _settle(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[Any]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
