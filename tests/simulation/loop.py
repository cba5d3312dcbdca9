"""An event loop without a clock, a thread or a socket: one seed is one order of everything.

Rule 1: time stands still while anything can run; then it jumps to the next timer.
Rule 2: of all callbacks that are ready, one drawn from the seed's stream runs next.
Rule 3: a callback belongs to the machine in whose context it was registered. Those of a dead one
        are dropped, those of a paused one wait until it wakes.
"""

import asyncio
import gc
import heapq
import sys
import warnings
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from random import Random
from typing import Any

MOST_STEPS_AT_ONCE = 200_000
START = 1000.0


class Standstill(AssertionError):
    """Nothing will ever happen again, or something happens for ever at one moment."""


class Machine:
    """One process: lives, sleeps, dies."""

    def __init__(self, name: str, loop: "SimulatedLoop") -> None:
        self.name = name
        self.alive = True
        self.paused_until = 0.0
        self.woke_at = 0.0
        self.fuse: int | None = None  # dies after so many more callbacks
        self.tasks: list[asyncio.Task[Any]] = []
        self.death: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._held: list[asyncio.Handle] = []
        self.context = copy_context()
        self.context.run(MACHINE.set, self)

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task on this machine."""
        return self._loop.create_task(work, context=self.context.copy())

    def die(self) -> None:
        if self.alive:
            self.alive = False
            self._held.clear()
            self.death.set_result(None)

    def pause(self, seconds: float) -> None:
        self.paused_until = self._loop.time() + seconds
        self._loop.call_at(self.paused_until, self.wake, context=OUTSIDE)

    def wake(self) -> None:
        if self._loop.time() < self.paused_until:  # paused again meanwhile
            return
        self.woke_at = self._loop.time()
        self._loop.take_back(self._held)
        self._held = []

    def hold(self, handle: asyncio.Handle) -> bool:
        """Whether this callback must not run now."""
        if not self.alive:
            return True
        if self._loop.time() < self.paused_until:
            self._held.append(handle)
            return True
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                self.die()
                return True
        return False


MACHINE: ContextVar[Machine | None] = ContextVar("machine", default=None)
OUTSIDE: Context = copy_context()  # of servers and people: no machine


class SimulatedTask(asyncio.Task[Any]):
    """Has a number for a hash, so that sets of tasks are walked in the same order every time."""

    serial: int = 0
    machine: Machine | None = None

    def __hash__(self) -> int:
        return self.serial


class SimulatedLoop(asyncio.BaseEventLoop):
    _ready: list[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._ready = []
        self._random = random
        self._now = START
        self._at_this_moment = 0
        self.steps = 0
        self.tasks: list[SimulatedTask] = []
        self.complaints: list[str] = []
        self.set_task_factory(self._make_task)
        self.set_exception_handler(self._complain)

    def time(self) -> float:
        return self._now

    def take_back(self, handles: list[asyncio.Handle]) -> None:
        self._ready += handles

    def outside(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task that belongs to no machine."""
        return self.create_task(work, context=OUTSIDE.copy())

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        self.call_later(seconds, act, context=OUTSIDE)

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, work: Any, context: Context | None = None
    ) -> asyncio.Task[Any]:
        task = SimulatedTask(work, loop=self, context=context)
        task.serial = len(self.tasks)
        task.machine = (context or copy_context()).get(MACHINE)
        self.tasks.append(task)
        return task

    def _complain(self, loop: asyncio.AbstractEventLoop, trouble: dict[str, Any]) -> None:
        cause = trouble.get("exception")
        self.complaints.append(f"{trouble.get('message')}: {type(cause).__name__}: {cause}")

    def _run_once(self) -> None:
        self._collect_due()
        if not self._ready:
            self._jump()
            return
        self._at_this_moment += 1
        if self._at_this_moment > MOST_STEPS_AT_ONCE:
            raise Standstill("something is busy for ever without time passing")
        handle = self._draw()
        if handle.cancelled():
            return
        machine = handle._context.get(MACHINE)  # type: ignore[attr-defined]
        if machine is not None and machine.hold(handle):
            return
        self.steps += 1
        handle._run()

    def _draw(self) -> asyncio.Handle:
        ready = self._ready
        if len(ready) > 1:
            index = self._random.randrange(len(ready))
            ready[index], ready[-1] = ready[-1], ready[index]
        return ready.pop()

    def _jump(self) -> None:
        if not self._scheduled:
            raise Standstill("nothing will ever happen again")
        self._now = max(self._now, self._scheduled[0].when())
        self._at_this_moment = 0

    def _collect_due(self) -> None:
        scheduled = self._scheduled
        while scheduled and (scheduled[0].cancelled() or scheduled[0].when() <= self._now):
            handle = heapq.heappop(scheduled)
            handle._scheduled = False  # type: ignore[attr-defined]
            if not handle.cancelled():
                self._ready.append(handle)

    def _write_to_self(self) -> None:
        raise RuntimeError("a thread called into the simulation")

    def _process_events(self, event_list: Any) -> None:
        raise RuntimeError("the simulation has no selector")

    def unretrieved(self) -> list[str]:
        """Background tasks that failed and that nobody asked."""
        failed = (
            task
            for task in self.tasks
            if task.done() and task._log_traceback and (task.machine is None or task.machine.alive)
        )
        return [f"{task.get_coro().__qualname__}: {task.exception()!r}" for task in failed]  # type: ignore[union-attr]

    def bury(self) -> None:
        """Take apart what the dead left behind, without letting it act."""
        hook, sys.unraisablehook = sys.unraisablehook, lambda unraisable: None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                asyncio._set_running_loop(self)  # what they still start must not start elsewhere
                self._bury_tasks()
                gc.collect()
                self._bury_tasks()
        finally:
            asyncio._set_running_loop(None)
            self._ready.clear()
            self._scheduled.clear()
            self.close()
            sys.unraisablehook = hook

    def _bury_tasks(self) -> None:
        for task in self.tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                self._close(task.get_coro())
        self.tasks.clear()

    def _close(self, work: Any) -> None:
        """Its `finally` blocks may want to wait for something: they are closed as well."""
        for _ in range(20):
            try:
                work.close()
            except BaseException:  # noqa: BLE001 - what the dead say counts no more
                continue
            return
