"""The background writer: one pass hands over what waits, across conversations, and proves it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from memory import outbox
from memory.backoff import Pace
from memory.outbox import State, Waiting
from memory.port import (
    Address,
    Database,
    LinesRefused,
    MemoryBackend,
    MemoryThrottled,
    MemoryUnavailable,
    Sql,
)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Outcome:
    """What became of the rows of one pass. Every row is in exactly one of them."""

    proven: list[Waiting] = field(default_factory=list)
    unproven: list[Waiting] = field(default_factory=list)  # accepted; no read has shown them
    back: list[Waiting] = field(default_factory=list)  # as if this pass had not been
    refused: list[Waiting] = field(default_factory=list)


class Writer:
    """Two writers may run on one database; each row is in one pass at a time."""

    def __init__(self, database: Database, backend: MemoryBackend, pace: Pace) -> None:
        self._database = database
        self._backend = backend
        self._pace = pace
        self._failures = 0
        self._blocked_until = 0.0
        # Halved by a failure, doubled by a success: one line that breaks every call it is part of
        # is soon alone, because rows that failed least recently are claimed first.
        self._batch_lines = pace.batch_lines

    async def flush(self, now: float) -> float | None:
        """One pass. Returns when the next is due (seconds since 1970), None when nothing waits.

        While the backend is out, it is asked once per `Pace.outage_delays`, whatever waits.
        Costs one small read when there is nothing to do. Raises only what the database raises.
        """
        if now < self._blocked_until:
            return self._blocked_until
        due = await self._database.read(outbox.next_due)
        if due is None or due > now:
            return due
        until = now + self._pace.lease_seconds
        most = self._batch_lines
        claimed = await self._database.transact(lambda sql: outbox.claim(sql, now, until, most))
        outcome = _Outcome()
        accepted = await self._hand_over(claimed, outcome, now)
        await self._look(claimed, accepted, outcome, now)
        due = await self._settle(outcome, until, now)
        log.debug("memory_pass", claimed=len(claimed), proven=len(outcome.proven))
        return due if due is None else max(due, self._blocked_until)

    async def _hand_over(
        self, claimed: Sequence[Waiting], outcome: _Outcome, now: float
    ) -> list[Waiting]:
        """Write what is new; return what was accepted."""
        new = [row for row in claimed if row.state is State.RUNNING]
        try:
            if new:
                await self._backend.write([row.entry for row in new])
        except MemoryUnavailable as error:
            self._wait_for(error, now)
            outcome.back += new
            return []
        except LinesRefused as error:
            self._sort_out(new, error, outcome, now)
            return []
        return [row.accepted(now) for row in new]

    def _sort_out(
        self, new: Sequence[Waiting], error: LinesRefused, outcome: _Outcome, now: float
    ) -> None:
        for row in new:
            refused = row.entry.address in error.refused
            (outcome.refused if refused else outcome.back).append(row)
        log.warning("memory_lines_refused", lines=len(outcome.refused))
        if not outcome.refused:  # names none of ours: sending the same again would never end
            self._back_off(now)

    async def _look(
        self,
        claimed: Sequence[Waiting],
        accepted: Sequence[Waiting],
        outcome: _Outcome,
        now: float,
    ) -> None:
        """Ask for proof of what was accepted now or by an earlier pass."""
        earlier = [row for row in claimed if row.state is State.UPLOADED]
        sent = [*earlier, *accepted]
        if not sent:
            return
        if now < self._blocked_until:
            outcome.back += sent
            return
        try:
            seen = await self._backend.visible([row.entry for row in sent])
        except MemoryUnavailable as error:
            self._wait_for(error, now)
            outcome.back += earlier
            outcome.unproven += accepted
            return
        self._failures = 0
        self._batch_lines = min(self._batch_lines * 2, self._pace.batch_lines)
        for row in sent:
            (outcome.proven if row.entry.address in seen else outcome.unproven).append(row)

    def _wait_for(self, error: MemoryUnavailable, now: float) -> None:
        if isinstance(error, MemoryThrottled):  # no failure, and a smaller call costs as much
            delay = max(self._pace.outage_delay(1), error.retry_after_seconds)
            self._blocked_until = now + delay
            log.info("memory_backend_wants_a_pause", delay_seconds=round(delay, 1))
        else:
            self._back_off(now, error.retry_after_seconds, cause=str(error))

    def _back_off(self, now: float, retry_after_seconds: float = 0.0, cause: str = "") -> None:
        self._failures += 1
        self._batch_lines = max(1, self._batch_lines // 2)
        delay = max(self._pace.outage_delay(self._failures), retry_after_seconds)
        self._blocked_until = now + delay
        log.warning("memory_backend_out", failures=self._failures, delay_seconds=delay, cause=cause)

    async def _settle(self, outcome: _Outcome, claim: float, now: float) -> float | None:
        """Write down what became of the pass, in one transaction."""
        back_at = max(now, self._blocked_until)

        def work(sql: Sql) -> float | None:
            outbox.prove(sql, [row.entry for row in outcome.proven])
            outbox.reschedule(sql, outcome.unproven, claim, now, self._pace)
            outbox.release(sql, _addresses(outcome.back), claim, back_at)
            refused_until = now + self._pace.refused_seconds
            outbox.release(sql, _addresses(outcome.refused), claim, refused_until)
            return outbox.next_due(sql)

        return await self._database.transact(work)


def _addresses(rows: Sequence[Waiting]) -> list[Address]:
    return [row.entry.address for row in rows]
