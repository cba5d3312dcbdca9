"""A small honest world around the pure reducer: it carries out effects as the real one does.

What it keeps: debounce, stored work, drafts, a worker with the session lease, outbox rows with the
parts of replies, timers, and for each user message its coverage and consent. Everything that can
happen next is in `choices()`; whoever calls it (a property test, a random walk) picks.

Rule 1: a stored fact is settled once: the fencing token and the row's claim see to that in the
        real world, so a worker that lost its lease writes nothing and a send ends exactly once.
Rule 2: what arrives twice or late is an old result with an older epoch or another turn: `replay`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias, assert_never

from bot.core.effects import (
    CancelGeneration,
    ContinueReply,
    Cover,
    Effect,
    Generate,
    GrantConsent,
    Moderate,
    NotifyOperators,
    RecallReply,
    RelayToOperators,
    RelayToUser,
    RevokeConsent,
    SendBot,
    ShowNotice,
    StartDebounce,
    StartTimer,
    StopDebounce,
    StopTimers,
    Timer,
)
from bot.core.events import (
    AiDrafted,
    Delivered,
    DeliveryConfirmed,
    DeliveryDisproved,
    DeliveryFailed,
    DeliveryTimedOut,
    DeliveryUnresolved,
    DraftApproved,
    DraftBlocked,
    Ended,
    Event,
    GenerationFailed,
    HandoffRecommended,
    HandoffReminderDue,
    HealthDegraded,
    HumanClaimed,
    HumanLeaseExpired,
    HumanMessaged,
    HumanReleased,
    HumanTransferred,
    ModerationUnavailable,
    PolicyEscalated,
    ReplyRecalled,
    Result,
    TurnDue,
    UserBlockedBot,
    UserCancelled,
    UserClearedContext,
    UserEdited,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
    UserStarted,
    UserWithdrewConsent,
)
from bot.core.notices import Notice
from bot.core.reducer import Outcome, Step, reduce
from bot.core.states import AI_STATES, Conversation, State, Turn
from bot.core.transitions.moves import RESULTS, Limits

QUIET_SECONDS = 1.5
CAP_SECONDS = 8.0
LEASE_SECONDS = 600.0
OPERATORS = (1, 2, 3)

Act: TypeAlias = Callable[[], None]
Choice: TypeAlias = tuple[str, Act]
Reduce: TypeAlias = Callable[[Conversation, Event, Limits], Step]


class Part(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    UNKNOWN = "unknown"
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"
    UNRESOLVED = "unresolved"


OPEN = (Part.PENDING, Part.SENDING, Part.UNKNOWN)
ON_WIRE = (Part.SENDING, Part.UNKNOWN)


@dataclass(slots=True)
class Row:
    author: str  # ai | human
    turn_id: str
    epoch: int
    number: int
    status: Part = Part.PENDING
    arrived: int = 0  # how often the user really got it


@dataclass(frozen=True, slots=True)
class Work:
    kind: str  # generate | moderate
    epoch: int
    turn: Turn


@dataclass(slots=True)
class Message:
    consented: bool
    covered_by: list[str] = field(default_factory=list)  # in the end one entry
    edits: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """One step as the checks see it."""

    before: Conversation
    event: Event
    step: Step
    at: float


@dataclass
class World:
    reduce: Reduce = reduce
    limits: Limits = field(default_factory=Limits)
    now: float = 1000.0
    c: Conversation = field(default_factory=lambda: Conversation("c"))
    debounce: tuple[float, float] | None = None  # first_at, fire_at
    work: list[Work] = field(default_factory=list)
    running: Work | None = None  # under the session lease
    drafts: dict[str, int] = field(default_factory=dict)  # turn id: edits of its messages it read
    read: int = 0  # edits of the messages that the running generation read
    rows: list[Row] = field(default_factory=list)
    timers: dict[Timer, tuple[float, int]] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    notices: list[tuple[float, Notice]] = field(default_factory=list)
    relayed: dict[int, set[int]] = field(default_factory=dict)  # operator: versions
    begun: list[Row] = field(default_factory=list)  # in the order in which they began to leave
    past: list[Result] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    checks: tuple[Callable[["World", Taken], None], ...] = ()

    # --- steps ----------------------------------------------------------------------------------

    def apply(self, event: Event) -> Step:
        before = self.c
        step = self.reduce(before, event, self.limits)
        self.c = step.conversation
        if isinstance(event, UserMessaged):
            self.messages[self.c.version] = Message(before.state in AI_STATES)
        if isinstance(event, RESULTS):
            self.past.append(event)
        following = [self._carry_out(effect) for effect in step.effects]
        taken = Taken(before, event, step, self.now)
        self.taken.append(taken)
        for next_event in following:
            if next_event is not None:
                self.apply(next_event)
        for check in self.checks:
            check(self, taken)
        return step

    def _carry_out(self, effect: Effect) -> Event | None:
        match effect:
            case Generate(turn) | Moderate(turn):
                kind = "generate" if isinstance(effect, Generate) else "moderate"
                stored = Work(kind, self.c.epoch, turn)
                if stored not in self.work:
                    self.work.append(stored)
            case CancelGeneration(turn):
                self.work = [each for each in self.work if each.turn.id != turn.id]
                self.drafts.pop(turn.id, None)
            case StartDebounce():
                self._start_debounce(effect)
            case StopDebounce():
                self.debounce = None
            case SendBot(turn):
                self._put_reply(turn)
            case ContinueReply(turn):
                for row in self.parts(turn.id):
                    if row.status in (Part.UNRESOLVED, Part.DROPPED):
                        row.status = Part.PENDING
            case RecallReply(turn):
                return self._recall(turn)
            case Cover(first, last, by):
                for version in range(first, last + 1):
                    self.messages[version].covered_by.append(by.value)
            case GrantConsent(first, last):
                for version in range(first, last + 1):
                    self.messages[version].consented = True
            case RevokeConsent(last):
                for version in range(1, last + 1):
                    self.messages[version].consented = False
            case ShowNotice(notice):
                if not self.c.blocked:
                    self.notices.append((self.now, notice))
            case RelayToOperators(first, last, operator_id):
                self.relayed.setdefault(operator_id, set()).update(range(first, last + 1))
            case RelayToUser():
                self.rows.append(Row("human", "", self.c.epoch, 1))
            case StartTimer(timer, due_at):
                self.timers[timer] = (due_at, self.c.epoch)
            case StopTimers():
                self.timers.clear()
            case NotifyOperators():
                pass
            case _:
                assert_never(effect)
        return None

    def _start_debounce(self, effect: StartDebounce) -> None:
        cap = CAP_SECONDS / 2**effect.restarts
        quiet = 0.0 if effect.now else min(QUIET_SECONDS, cap)
        first = self.debounce[0] if self.debounce else effect.at
        self.debounce = (first, max(effect.at, min(effect.at + quiet, first + cap)))

    def _put_reply(self, turn: Turn) -> None:
        assert turn.id in self.drafts, "I6: there is no draft to send"
        assert not self.parts(turn.id), "I7: this turn had a reply already"
        self.drafts.pop(turn.id)
        self.work = [each for each in self.work if each.turn.id != turn.id]
        parts = 1 + turn.covers_to % 3
        self.rows += [Row("ai", turn.id, self.c.epoch, number) for number in range(1, parts + 1)]

    def _recall(self, turn: Turn) -> Event | None:
        self._drop(turn.id)
        if any(row.status in ON_WIRE for row in self.parts(turn.id)):
            return None
        return ReplyRecalled(self.now, self.c.epoch, turn.id)

    def parts(self, turn_id: str) -> list[Row]:
        return [row for row in self.rows if row.author == "ai" and row.turn_id == turn_id]

    def _drop(self, turn_id: str) -> None:
        for row in self.parts(turn_id):
            if row.status is Part.PENDING:
                row.status = Part.DROPPED

    def edits_of(self, turn: Turn) -> int:
        return sum(self.messages[v].edits for v in range(turn.covers_from, turn.covers_to + 1))

    # --- what can happen ------------------------------------------------------------------------

    def choices(self) -> list[Choice]:
        groups = (self.user(), self.worker(), self.delivery(), self.people(), self.system())
        return [choice for group in groups for choice in group]

    def user(self) -> Iterator[Choice]:
        at = self.now
        yield "writes", lambda: self._step(UserMessaged(at))
        yield "sends a sticker", lambda: self._step(UserMessaged(at, False, "sticker"))
        yield "starts", lambda: self._step(UserStarted(at))
        yield "opts in", lambda: self._step(UserOptedIn(at))
        yield "asks for a person", lambda: self._step(UserRequestedHuman(at))
        yield "withdraws consent", lambda: self._step(UserWithdrewConsent(at))
        yield "clears the context", lambda: self._step(UserClearedContext(at))
        yield "ends", lambda: self._step(Ended(at))
        yield "blocks the bot", lambda: self._step(UserBlockedBot(at))
        yield "cancels", lambda: self._step(UserCancelled(at))
        for turn_id in {f"turn:msg-{v}" for v in (1, self.c.covered, self.c.version)}:
            yield f"cancels {turn_id}", lambda t=turn_id: self._step(UserCancelled(at, t))  # type: ignore[misc]
        for version in {1, self.c.covered, self.c.version} & set(self.messages):
            yield f"edits {version}", lambda v=version: self._edit(v)  # type: ignore[misc]
        if self._asked():
            yield "says whether it arrived", self._testify

    def _step(self, event: Event) -> None:
        self.apply(event)

    def _edit(self, version: int) -> None:
        self.messages[version].edits += 1
        self.apply(UserEdited(self.now, version))

    def _asked(self) -> bool:
        if self.c.state is not State.DELIVERY_UNKNOWN or self.c.turn is None:
            return False
        parts = self.parts(self.c.turn.id)
        doubtful = any(row.status is Part.UNRESOLVED for row in parts)
        return doubtful and not any(row.status in ON_WIRE for row in parts)

    def _testify(self) -> None:
        """The user tells the truth."""
        turn = self.c.turn
        assert turn is not None
        doubtful = next(row for row in self.parts(turn.id) if row.status is Part.UNRESOLVED)
        if not doubtful.arrived:
            self.apply(DeliveryDisproved(self.now, self.c.epoch, turn.id))
            return
        doubtful.status = Part.SENT
        more = any(row.status is not Part.SENT for row in self.parts(turn.id))
        self.apply(DeliveryConfirmed(self.now, self.c.epoch, turn.id, more))

    # --- the worker -----------------------------------------------------------------------------

    def worker(self) -> Iterator[Choice]:
        if self.running is None:
            if self.debounce is not None and self.debounce[1] <= self.now:
                yield "the turn is due", self._fire_debounce
            if self.work:
                yield "work begins", self._begin_work
            return
        yield "the lease is lost", self._lose_lease
        if self.running.kind == "generate":
            yield "a draft is written", lambda: self._drafted(DraftApproved)
            yield "a draft waits for its check", lambda: self._drafted(None)
            yield "a draft recommends a person", lambda: self._drafted(None, recommends=True)
            yield "the model fails", self._model_failed
            yield "the model calls for a person", self._recommend
        else:
            for verdict in (DraftApproved, DraftBlocked, ModerationUnavailable):
                yield verdict.__name__, lambda v=verdict: self._finish(v)  # type: ignore[misc]

    def _fire_debounce(self) -> None:
        self.debounce = None
        self.apply(TurnDue(self.now))
        self._begin_work()

    def _begin_work(self) -> None:
        self.running = self.work[0] if self.work else None
        if self.running is not None:
            self.read = self.edits_of(self.running.turn)

    def _lose_lease(self) -> None:
        """The process was paused: it writes nothing any more, and another one continues."""
        self.running = None

    def _drafted(
        self,
        verdict: type[DraftApproved] | None,
        *,
        recommends: bool = False,
    ) -> None:
        work = self.running
        assert work is not None
        if work in self.work:
            self.work.remove(work)
            self.drafts[work.turn.id] = self.read
        ids = (self.now, work.epoch, work.turn.id)
        events: list[Event] = [AiDrafted(*ids)]
        events += [HandoffRecommended(*ids)] if recommends else []
        events += [verdict(*ids)] if verdict else []
        self._commit(events)

    def _model_failed(self) -> None:
        work = self.running
        assert work is not None
        self.work = [each for each in self.work if each != work]
        self._commit([GenerationFailed(self.now, work.epoch, work.turn.id, "timeout")])

    def _recommend(self) -> None:
        work = self.running
        assert work is not None
        self.apply(HandoffRecommended(self.now, work.epoch, work.turn.id))

    def _finish(self, verdict: type[DraftApproved | DraftBlocked | ModerationUnavailable]) -> None:
        work = self.running
        assert work is not None
        self.work = [each for each in self.work if each != work]
        self._commit([verdict(self.now, work.epoch, work.turn.id)])

    def _commit(self, events: list[Event]) -> None:
        for event in events:
            if self.apply(event).outcome is Outcome.STALE:
                break
        self._begin_work()

    # --- delivery -------------------------------------------------------------------------------

    def delivery(self) -> Iterator[Choice]:
        head = next((row for row in self.rows if row.status in OPEN), None)
        if head is None:
            return
        if head.status is Part.PENDING:
            if self._may_begin(head):
                yield "a part begins to leave", lambda: self._begin_part(head)
        elif head.status is Part.SENDING:
            yield "a part arrives", lambda: self._arrive(head, doubted=False)
            yield "a part is put off", lambda: self._put_off(head)
            yield "a part is refused", lambda: self._refuse(head)
            yield "a part bounces: blocked", lambda: self._bounce(head)
            yield "a part is lost from sight", lambda: self._doubt(head, arrived=False)
            yield "a part arrives unseen", lambda: self._doubt(head, arrived=True)
        else:
            yield "the doubt is resolved", lambda: self._prove(head)
            for anyone in (True, False):
                yield "no proof", lambda a=anyone: self._give_up(head, a)  # type: ignore[misc]

    def _may_begin(self, row: Row) -> bool:
        sending = self.c.state is State.BOT_SENDING and self.c.epoch == row.epoch
        return row.author != "ai" or sending

    def _begin_part(self, row: Row) -> None:
        row.status = Part.SENDING
        self.begun.append(row)

    def _arrive(self, row: Row, *, doubted: bool) -> None:
        row.arrived += 0 if doubted else 1
        row.status = Part.SENT
        if row.author != "ai":
            return
        parts = self.parts(row.turn_id)
        still_open = any(each.status in OPEN for each in parts)
        lost = any(each.status in (Part.FAILED, Part.DROPPED, Part.UNRESOLVED) for each in parts)
        ids = (self.now, row.epoch, row.turn_id)
        if still_open and doubted:
            self.apply(DeliveryConfirmed(*ids, more=True))
        elif not still_open and lost:
            self.apply(ReplyRecalled(*ids))
        elif not still_open:
            self.apply(DeliveryConfirmed(*ids) if doubted else Delivered(*ids))

    def _put_off(self, row: Row) -> None:
        row.status = Part.PENDING
        if row.author == "ai" and self.c.epoch != row.epoch:
            self._drop(row.turn_id)
            self.apply(ReplyRecalled(self.now, row.epoch, row.turn_id))

    def _refuse(self, row: Row) -> None:
        row.status = Part.FAILED
        if row.author == "ai":
            self._drop(row.turn_id)
            self.apply(DeliveryFailed(self.now, row.epoch, row.turn_id))

    def _bounce(self, row: Row) -> None:
        row.status = Part.FAILED
        self.apply(UserBlockedBot(self.now))
        if row.author == "ai":
            self.apply(DeliveryFailed(self.now, row.epoch, row.turn_id))

    def _doubt(self, row: Row, *, arrived: bool) -> None:
        row.arrived += int(arrived)
        row.status = Part.UNKNOWN
        if row.author == "ai":
            self.apply(DeliveryTimedOut(self.now, row.epoch, row.turn_id))

    def _prove(self, row: Row) -> None:
        if row.arrived:
            self._arrive(row, doubted=True)
            return
        row.status = Part.PENDING
        if row.author == "ai":
            self.apply(DeliveryDisproved(self.now, row.epoch, row.turn_id))

    def _give_up(self, row: Row, anyone: bool) -> None:
        row.status = Part.UNRESOLVED
        if row.author == "ai":
            self._drop(row.turn_id)
            self.apply(DeliveryUnresolved(self.now, row.epoch, row.turn_id, anyone))

    # --- people ---------------------------------------------------------------------------------

    def people(self) -> Iterator[Choice]:
        at, until = self.now, self.now + LEASE_SECONDS
        for one in OPERATORS:
            name = f"Operator {one}"
            other = one % len(OPERATORS) + 1
            events: tuple[Event, ...] = (
                HumanClaimed(at, one, name, until),
                HumanMessaged(at, one, 7, until),
                HumanReleased(at, one),
                HumanTransferred(at, one, other, f"Operator {other}", until),
            )
            for event in events:
                yield f"{type(event).__name__} by {one}", lambda e=event: self._step(e)  # type: ignore[misc]

    # --- the rest -------------------------------------------------------------------------------

    def system(self) -> Iterator[Choice]:
        yield "a rule escalates", lambda: self._step(PolicyEscalated(self.now, "rule"))
        yield "health degrades", lambda: self._step(HealthDegraded(self.now, "timeout"))
        for seconds in (0.4, 2.0, 25.0, 100.0, 700.0):
            yield f"{seconds} s pass", lambda s=seconds: self._pass(s)  # type: ignore[misc]
        for timer, (due_at, epoch) in tuple(self.timers.items()):
            if due_at <= self.now:
                yield f"{timer} fires", lambda t=timer, e=epoch: self._fire(t, e)  # type: ignore[misc]
        yield "an old timer fires", lambda: self._step(HandoffReminderDue(self.now, -1))
        yield "an old lease timer fires", lambda: self._step(HumanLeaseExpired(self.now, -1))
        for event in self.past[-12:]:
            if self.is_over(event):
                yield "an old result comes again", lambda e=event: self._replay(e)  # type: ignore[misc]

    def _pass(self, seconds: float) -> None:
        self.now += seconds

    def _fire(self, timer: Timer, epoch: int) -> None:
        del self.timers[timer]
        due = HumanLeaseExpired if timer is Timer.HUMAN_LEASE else HandoffReminderDue
        self.apply(due(self.now, epoch))

    def is_over(self, result: Result) -> bool:
        """Whether the turn or the epoch of a result is not under work any more."""
        if self.c.in_flight is not None and result.turn_id == self.c.in_flight.id:
            return False
        if self.c.turn is None or result.turn_id != self.c.turn.id:
            return True
        return result.epoch != self.c.epoch

    def _replay(self, result: Result) -> None:
        kept = len(self.past)
        self.apply(replace(result, at=self.now))
        del self.past[kept:]

    # --- letting it all settle ------------------------------------------------------------------

    def settle(self) -> None:
        """No more input: what is under way runs to its end; nobody presses a button."""
        for _ in range(1000):
            moves = [*self._progress()]
            if moves:
                moves[0]()
            elif self.debounce is not None:
                self.now = max(self.now, self.debounce[1])
            else:
                return
        raise AssertionError("it never settles")

    def _progress(self) -> Iterator[Act]:
        wanted = (
            "a draft is written",
            "DraftApproved",
            "work begins",
            "the turn is due",
            "a part begins to leave",
            "a part arrives",
            "the doubt is resolved",
            "says whether it arrived",
        )
        available = {name: act for name, act in self.choices() if name in wanted}
        yield from (available[name] for name in wanted if name in available)
