"""The time of day, without jumps backwards.

What is due is stored as a time of day. A clock set back by an hour would put everything off by
that hour, so this clock follows the system's only forwards (a board without a battery starts in
the past and is corrected later).
"""

import time
from collections.abc import Callable

FORWARD_JUMP_SECONDS = 2.0


class SteadyClock:
    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._offset = wall() - monotonic()

    def __call__(self) -> float:
        """Seconds since the epoch, UTC; never less than what was returned before."""
        ahead = self._wall() - (self._monotonic() + self._offset)
        if ahead > FORWARD_JUMP_SECONDS:
            self._offset += ahead
        return self._monotonic() + self._offset
