"""How long to wait: for a read that may be lying, for a line to appear, for a backend to return.

Measured on a distributed store: a line is readable 5 to 24 s after it was accepted, sometimes
after tens of minutes, and an empty list right after a write is usual (MemWal #386, #409, #656).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from tenacity import AsyncRetrying, retry_if_result, stop_after_attempt, wait_chain, wait_fixed

T = TypeVar("T")
Sleep: TypeAlias = Callable[[float], Awaitable[None]]

READ_DELAYS = (0.6, 2.0, 3.0)  # seconds before the second, third and fourth look


async def look_until(
    look: Callable[[], Awaitable[T]],
    enough: Callable[[T], bool],
    *,
    sleep: Sleep = asyncio.sleep,
    delays: Sequence[float] = READ_DELAYS,
) -> T:
    """Look at once, then after each delay, until it is enough; return what was last seen."""
    retrying = AsyncRetrying(
        sleep=sleep,
        wait=wait_chain(*(wait_fixed(delay) for delay in delays)),
        stop=stop_after_attempt(len(delays) + 1),
        retry=retry_if_result(lambda seen: not enough(seen)),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
    )

    async def looked() -> T:  # tenacity awaits only what is declared async, not a lambda
        return await look()

    return await retrying(looked)


@dataclass(frozen=True, slots=True)
class Pace:
    """The rhythm of the background writer. Seconds throughout."""

    batch_lines: int = 200  # lines in one pass; 20 for a backend with small bulk calls
    lease_seconds: float = 120.0  # a pass that died is repeated by another after this
    check_delays: tuple[float, ...] = (0.6, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0)
    patience_seconds: float = 300.0  # an accepted line that nobody can read is sent again after it
    longest_patience_seconds: float = 3600.0
    outage_delays: tuple[float, ...] = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0, 300.0)
    refused_seconds: float = 3600.0  # a line the backend will not take is offered again after it

    def check_delay(self, checks: int) -> float:
        """The wait after the `checks`-th look (from 1) that did not show the line."""
        return _at(self.check_delays, checks)

    def outage_delay(self, failures: int) -> float:
        """The wait after the `failures`-th failure in a row (from 1)."""
        return _at(self.outage_delays, failures)

    def patience(self, uploads: int) -> float:
        """How long the `uploads`-th upload (from 1) may stay invisible; doubles each time."""
        longer = self.patience_seconds * 2.0 ** min(uploads - 1, 30)
        return float(min(longer, max(self.longest_patience_seconds, self.patience_seconds)))


def _at(delays: Sequence[float], count: int) -> float:
    return delays[min(count, len(delays)) - 1]
