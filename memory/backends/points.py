"""What the relayer may be asked within a minute and an hour, counted on our side.

Asking too often costs a refusal, and refusals cost points as well; so what would be refused is
not sent. Windows slide, as the relayer's do.
"""

from collections import deque
from dataclasses import dataclass, field

from memory.port import MemoryThrottled

MINUTE, HOUR = 60.0, 3600.0
# Kept back from writing, so that proofs and reads go on while a backlog is worked off.
RESERVED_SHARE = 0.2


@dataclass(slots=True)
class Points:
    """Points spent. `now` is seconds of any one clock."""

    per_minute: int = 30  # of a delegate key, as documented; 60 were measured
    per_hour: int = 500  # of an account
    spent_total: int = 0
    _spent: deque[tuple[float, int]] = field(default_factory=deque)
    _blocked_until: float = 0.0

    def take(self, cost: int, now: float, *, writing: bool = False) -> None:
        """Spend `cost` points, or raise MemoryThrottled with the wait after which there are so
        many. A cost larger than a window may ever hold is let through an empty window."""
        share = 1 - RESERVED_SHARE if writing else 1.0
        waits = [self._blocked_until - now]
        for window, most in ((MINUTE, self.per_minute), (HOUR, self.per_hour)):
            waits.append(self._wait(cost, now, window, int(most * share)))
        if (wait := max(waits)) > 0:
            raise MemoryThrottled(
                "the relayer's points are used up for now", retry_after_seconds=wait
            )
        self._spent.append((now, cost))
        self.spent_total += cost

    def refused(self, now: float, retry_after_seconds: float) -> None:
        """The relayer said 429 all the same: others use the account too."""
        self._blocked_until = max(self._blocked_until, now + retry_after_seconds)

    def _wait(self, cost: int, now: float, window: float, most: int) -> float:
        while self._spent and self._spent[0][0] <= now - HOUR:
            self._spent.popleft()
        inside = [(at, points) for at, points in self._spent if at > now - window]
        excess = sum(points for _, points in inside) + cost - most
        wait = 0.0
        for at, points in inside:
            if excess <= 0:
                break
            excess -= points
            wait = at + window - now
        return wait
