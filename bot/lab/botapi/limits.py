"""Telegram's flood limits: about 1 message/s per chat with short bursts, 30/s over all, 20/min per
group. Off unless a world is made with `limits=True`.
"""

import math
from collections import defaultdict, deque
from collections.abc import Callable

CHAT_BURST = 4  # messages in CHAT_SECONDS: one a second, and a little more for a short while
CHAT_SECONDS = 4.0
ALL_PER_SECOND = 30
GROUP_PER_MINUTE = 20


class FloodLimits:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._all: deque[float] = deque()
        self._chats: dict[int, deque[float]] = defaultdict(deque)

    def wait(self, chat_id: int) -> int:
        """Seconds this chat has to wait; 0 admits the message and counts it."""
        now = self._clock()
        group = chat_id < 0
        size, seconds = (GROUP_PER_MINUTE, 60.0) if group else (CHAT_BURST, CHAT_SECONDS)
        here = self._chats[chat_id]
        waits = (_full(here, size, seconds, now), _full(self._all, ALL_PER_SECOND, 1.0, now))
        if longest := max(waits):
            return max(1, math.ceil(longest))
        here.append(now)
        self._all.append(now)
        return 0


def _full(sent: deque[float], size: int, seconds: float, now: float) -> float:
    while sent and sent[0] <= now - seconds:
        sent.popleft()
    return sent[0] + seconds - now if len(sent) >= size else 0.0
