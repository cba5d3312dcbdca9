"""One run: everything wired, trouble for a while, then silence, then the end is judged."""

import asyncio
import gc
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import structlog

from bot.errors import StoreUnavailable
from bot.telegram.incoming import Incoming
from tests.simulation.ending import check_the_end, unsettled
from tests.simulation.loop import MACHINE, OUTSIDE, SimulatedLoop, Standstill
from tests.simulation.minds import SimulatedModel, SimulatedModerator
from tests.simulation.people import Operator, Person, User
from tests.simulation.plan import Plan, Trouble
from tests.simulation.process import Outside, Process
from tests.simulation.promises import Broken, Judge
from tests.simulation.remote_memory import RemoteMemory
from tests.simulation.store import Store
from tests.simulation.telegram import Chat, SimulatedTelegram
from tests.simulation.trace import Trace

EPOCH = 1_800_000_000.0
SETTLE_SECONDS = 1200.0
MOST_STEPS = 2_000_000


@dataclass(frozen=True, slots=True)
class Result:
    plan: Plan
    broken: Broken | None
    trace: Trace
    steps: int
    commits: int
    seconds: float  # of simulated time


class World:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.loop = SimulatedLoop(plan.stream("loop"))
        self.trace = Trace(self.loop.time)
        self.broken: Broken | None = None
        rate = plan.intensity
        self.store = Store(
            self.loop, plan.stream("store"), faulty=plan.has(Trouble.STORE), rate=rate
        )
        self.telegram = SimulatedTelegram(
            self.loop,
            plan.stream("network"),
            self.trace,
            sends_fail=plan.has(Trouble.SENDS),
            floods=plan.has(Trouble.FLOODS),
            rate=rate,
        )
        self.model = SimulatedModel(
            plan.stream("model"), self.trace, faulty=plan.has(Trouble.MODEL), rate=rate
        )
        self.moderator = SimulatedModerator(
            plan.stream("moderator"),
            self.trace,
            faulty=plan.has(Trouble.MODERATION),
            rate=rate,
            separate=plan.separate_moderation,
        )
        self.memory = (
            RemoteMemory(
                self.loop, plan.stream("memory"), faulty=plan.has(Trouble.MEMORY), rate=rate
            )
            if plan.remote_memory
            else None
        )
        self.slots = ["A", "B"][: plan.workers]
        self.outside = Outside(
            plan=plan,
            loop=self.loop,
            store=self.store,
            telegram=self.telegram,
            model=self.model,
            moderator=self.moderator,
            remote_memory=self.memory,
            skew_seconds=dict.fromkeys(self.slots, 0.0),
            epoch=EPOCH,
            on_step=lambda *seen: self._on_step(*seen),
        )
        self.judge = Judge(
            self.store,
            self.telegram,
            self.model,
            self.moderator,
            self.trace,
            [*plan.users, *plan.operators],
        )
        self.judge.max_messages = plan.max_messages
        self.store.after_commit = self._guarded(self.judge.after_commit)
        self.telegram.on_shown = self._guarded(self.judge.on_shown)
        self.model.on_asked = self._guarded(self.judge.on_asked)
        self._on_log = self._guarded(self.judge.on_log)
        self._on_step = self._guarded(self.judge.on_step)
        self.processes: dict[str, Process] = {}
        self.people: list[Person] = []
        self.own: list[asyncio.Task[None]] = []  # what moves the world, besides the bot
        self.calm = asyncio.Event()
        self.over = False

    def _guarded(self, check: Callable[..., None]) -> Callable[..., None]:
        def checked(*seen: Any) -> None:
            try:
                check(*seen)
            except Broken as broken:
                self.fail(broken)

        return checked

    def fail(self, broken: Broken) -> None:
        if self.broken is None:
            self.broken = broken
            self.trace.note("judge", str(broken), broken.chat_id)
        self.loop.stop()

    # --- the run ----------------------------------------------------------------------------------

    def run(self) -> Result:
        structlog.configure(processors=[self._log], cache_logger_on_first_use=False)
        try:
            self.loop.run_until_complete(self.loop.outside(self._live()))
        except Standstill as standstill:
            self.fail(Broken("liveness", str(standstill)))
        except RuntimeError:
            if self.broken is None:  # else: stopped because a promise was broken
                raise
        finally:
            seconds = self.loop.time()
            failed = self.loop.unretrieved() if self.broken is None else []
            complaints = list(self.loop.complaints)
            failed += [repr(each.exception()) for each in self.own if each.done()]
            failed = [each for each in failed if each != "None"]
            self.over = True
            self.loop.bury()
            structlog.reset_defaults()
        if self.broken is None and (failed or complaints):
            self.broken = Broken("no task fails unseen", "; ".join([*complaints, *failed][:3]))
        self.store.connection.close()
        return Result(
            self.plan, self.broken, self.trace, self.loop.steps, self.store.commits, seconds
        )

    def _log(self, logger: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        if self.over:  # the last words of the dead
            raise structlog.DropEvent
        machine = MACHINE.get()
        said = " ".join(f"{name}={value}" for name, value in event.items() if name != "event")
        who = machine.name if machine else "?"
        self.trace.note(who, f"log {event['event']} {said}")
        self._on_log(event)
        if event["event"] in ("work_failed", "update_parked"):
            self.fail(Broken("no code of ours fails", f"{event['event']} {said}"))
        raise structlog.DropEvent

    async def _live(self) -> None:
        plan, loop = self.plan, self.loop
        until = loop.time() + plan.seconds
        for slot in self.slots:
            self.own.append(loop.outside(self._keep_running(slot)))
        for chat_id in (*plan.users, *plan.operators):
            self.own.append(loop.outside(self._deliver(self.telegram.chat(chat_id))))
        living = []
        for user in plan.users:
            person = User(user, self.telegram, loop, plan.stream(f"user {user}"))
            self.people.append(person)
            living.append(
                loop.outside(
                    person.live(
                        until, blocks=plan.has(Trouble.BLOCKS), write_weight=plan.write_weight
                    )
                )
            )
        for each in plan.operators if plan.has(Trouble.PEOPLE) else ():
            operator = Operator(each, self.telegram, loop, plan.stream(f"operator {each}"))
            self.people.append(operator)
            living.append(loop.outside(operator.live(until, plan.users)))
        self.own.append(loop.outside(self._trouble(until)))
        await asyncio.sleep(plan.seconds)
        await asyncio.gather(*living)
        self._calm_down()
        await self._settle()
        if self.broken is None:
            try:
                check_the_end(self.store, self.telegram, self.judge, self.people, self.memory)
            except Broken as broken:
                self.fail(broken)

    def _calm_down(self) -> None:
        self.trace.note("world", "the trouble is over")
        self.calm.set()
        self.store.faulty = self.telegram.sends_fail = self.telegram.floods = False
        self.model.faulty = self.moderator.faulty = False
        self.store.down_until = self.telegram.down_until = 0.0
        if self.memory is not None:
            self.memory.faulty = False

    async def _settle(self) -> None:
        deadline = self.loop.time() + SETTLE_SECONDS
        await asyncio.sleep(5.0)
        quiet = 0
        while quiet < 2 and self.loop.time() < deadline:
            await asyncio.sleep(5.0)
            quiet = 0 if any(unsettled(self.store, self.telegram)) else quiet + 1

    # --- the machines -----------------------------------------------------------------------------

    async def _keep_running(self, slot: str) -> None:
        random = self.plan.stream(f"machine {slot}")
        number = 0
        while True:
            number += 1
            process = self.processes[slot] = Process(self.outside, slot, number)
            self.trace.note(process.machine.name, "starts")
            process.start()
            assert process.running is not None
            await asyncio.wait(
                {process.running, process.machine.death}, return_when=asyncio.FIRST_COMPLETED
            )
            if process.running.done() and not process.running.cancelled():
                cause = process.running.exception()
                self.fail(Broken("no worker ends by itself", f"{type(cause).__name__}: {cause}"))
            self.trace.note(process.machine.name, "is gone")
            process.machine.die()
            await asyncio.sleep(0.1 if self.calm.is_set() else random.uniform(0.1, 15.0))

    async def _trouble(self, until: float) -> None:
        """Crashes, stops, pauses, outages, jumps of the clock."""
        random, plan = self.plan.stream("trouble"), self.plan
        while self.loop.time() < until:
            await asyncio.sleep(random.expovariate(plan.intensity / 15.0))
            if self.calm.is_set():
                return
            chosen = random.choice(list(Trouble))
            if plan.has(chosen):
                self._strike(chosen, random)

    def _strike(self, trouble: Trouble, random: Random) -> None:
        slot = random.choice(self.slots)
        process = self.processes.get(slot)
        now = self.loop.time()
        match trouble:
            case Trouble.STORE if random.random() < 0.3:
                self.store.down_until = now + random.uniform(0.5, 10.0)
                self.trace.note("trouble", "the database is down for a while")
            case Trouble.FLOODS if random.random() < 0.3:
                self.telegram.down_until = now + random.uniform(0.5, 30.0)
                self.trace.note("trouble", "Telegram is not reached for a while")
            case Trouble.CLOCKS:
                self._move_clock(slot, random)
            case Trouble.CRASHES if process is not None and process.machine.alive:
                process.machine.fuse = random.choice(
                    (0, random.randrange(40), random.randrange(400))
                )
                self.trace.note("trouble", f"{process.machine.name} will crash")
            case Trouble.STOPS if process is not None and process.running is not None:
                self.trace.note("trouble", f"{process.machine.name} is told to stop")
                process.running.cancel()
            case Trouble.PAUSES if process is not None and process.machine.alive:
                seconds = random.choice((random.uniform(1, 15), random.uniform(50, 150)))
                self.trace.note("trouble", f"{process.machine.name} sleeps {seconds:.1f} s")
                process.machine.pause(seconds)
            case _:
                pass

    def _move_clock(self, slot: str, random: Random) -> None:
        """Two processes share a machine: their clocks jump together, and forwards only, since
        one that is started after a jump back would be behind the other for good."""
        alone = self.plan.workers == 1
        jumps = (-7200.0, -30.0, 30.0, 86400.0) if alone else (0.5, 3.0, 30.0, 600.0)
        seconds = random.choice(jumps)
        self.trace.note("trouble", f"the clock jumps by {seconds} s")
        for each in self.slots:
            self.outside.skew_seconds[each] += seconds

    # --- updates ----------------------------------------------------------------------------------

    async def _deliver(self, chat: Chat) -> None:
        """Hand a chat's updates to some machine, in order, until each is stored."""
        random = self.plan.stream(f"updates {chat.chat_id}")
        old: list[Incoming] = []
        while True:
            if not chat.updates:
                chat.waiting.clear()
                await chat.waiting.wait()
            await asyncio.sleep(random.uniform(0.01, 0.2))
            batch = [chat.updates[i] for i in range(min(len(chat.updates), random.randint(1, 3)))]
            doubling = self.plan.has(Trouble.UPDATES) and not self.calm.is_set()
            if doubling and random.random() < 0.1:
                batch += self._once_more(batch, old, random)
            handed = [await self._hand_over(batch, random)]
            if doubling and random.random() < 0.05:
                handed.append(await self._hand_over(batch, random))
            if True in handed:
                taken = sum(each in batch for each in list(chat.updates)[: len(batch)])
                old += [chat.updates.popleft() for _ in range(taken)]
            else:
                await asyncio.sleep(random.uniform(0.2, 2.0))

    def _once_more(
        self, batch: Sequence[Incoming], old: Sequence[Incoming], random: Random
    ) -> list[Incoming]:
        source = random.choice([*batch, *old[-20:]])
        return [random.choice((source, self.telegram.again(source)))]

    async def _hand_over(self, batch: Sequence[Incoming], random: Random) -> bool:
        ready = [p for p in self.processes.values() if p.machine.alive and p.ready]
        if not ready:
            return False
        process = random.choice(ready)
        task = process.take(batch)
        task.add_done_callback(self._handed_over, context=OUTSIDE)
        await asyncio.wait(
            {task, process.machine.death}, timeout=60.0, return_when=asyncio.FIRST_COMPLETED
        )
        if not task.done():
            return False
        return not task.cancelled() and task.exception() is None

    def _handed_over(self, task: "asyncio.Task[None]") -> None:
        """What fails because of the database is repeated; nothing else may fail."""
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, StoreUnavailable):
            self.fail(Broken("no code of ours fails", f"taking updates: {error!r}"))


@cache
def _freeze() -> None:
    """What was imported needs no look by the garbage collector after every run."""
    gc.collect()
    gc.freeze()


def run(plan: Plan) -> Result:
    """Run one plan to its end, or to the first promise that is broken."""
    _freeze()
    return World(plan).run()
