"""Updates waiting for the bot: offsets, long polling, kinds allowed, and their misbehaviour.

Rule 1: an update stays until an offset above it confirms it; asking again gives it again.
Rule 2: one open getUpdates at a time. A second one ends the older with 409.
Rule 3: kinds the bot does not want are not stored at all; the last list is remembered.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from bot.lab.botapi.refusals import (
    OTHER_POLLER,
    POLLER_REPLACED_BY_WEBHOOK,
    Refusal,
    conflict,
)

Json = dict[str, Any]

ON_REQUEST_ONLY: Final = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
KEPT_SECONDS: Final = 24 * 3600
MAX_LIMIT: Final = 100
HISTORY: Final = 10_000  # updates that can be delivered again
MAX_TIMEOUT: Final = 50


class UpdateQueue:
    def __init__(
        self,
        clock: Callable[[], float],
        heard: Callable[[Json], None],
        changed: Callable[[], None] = lambda: None,
        *,
        first_id: int = 700_000_001,
    ) -> None:
        self._clock = clock
        self._heard = heard
        self._changed = changed
        self._next_id = first_id
        self._waiting: dict[int, tuple[float, Json]] = {}  # by update_id, in order
        self._again: list[Json] = []  # delivered next, whatever the offset says
        self._history: deque[Json] = deque(maxlen=HISTORY)
        self._poll: asyncio.Future[None] | None = None
        self._arrived = asyncio.Event()
        self.allowed: frozenset[str] | None = None
        self.reverse_next = False  # the next answer lists its updates newest first

    @property
    def polling(self) -> bool:
        return self._poll is not None

    def __len__(self) -> int:
        return len(self._waiting) + len(self._again)

    def wants(self, kind: str) -> bool:
        return kind in self.allowed if self.allowed else kind not in ON_REQUEST_ONLY

    def allow(self, kinds: Iterable[str]) -> None:
        self.allowed = frozenset(kinds) or None

    def put(self, kind: str, payload: Json) -> int | None:
        """Queue an update and return its id; None if the bot did not ask for this kind."""
        if not self.wants(kind):
            return None
        number = self._next_id
        self._next_id += 1
        update: Json = {"update_id": number, kind: payload}
        self._waiting[number] = (self._clock(), update)
        self._history.append(update)
        self._wake(update)
        return number

    def redeliver(self, update_id: int | None = None) -> int:
        """Deliver an update (the newest one if None) again under the same update_id."""
        update = next(
            u for u in reversed(self._history) if update_id is None or u["update_id"] == update_id
        )
        self._again.append(update)
        self._wake(update)
        return int(update["update_id"])

    def repeat(self, update_id: int | None = None) -> int | None:
        """Deliver the same content again under a new update_id."""
        update = next(
            u for u in reversed(self._history) if update_id is None or u["update_id"] == update_id
        )
        kind = next(key for key in update if key != "update_id")
        return self.put(kind, update[kind])

    def _wake(self, update: Json) -> None:
        self._heard(update)
        self._arrived.set()

    def forget(self) -> None:
        """drop_pending_updates."""
        self._waiting.clear()
        self._again.clear()

    def confirm(self, offset: int) -> None:
        """Forget everything below `offset`; a negative one keeps only the newest -offset."""
        if offset > 0:
            done = [number for number in self._waiting if number < offset]
        elif offset < 0:
            done = list(self._waiting)[:offset]
        else:
            done = []
        for number in done:
            del self._waiting[number]

    def take(self, limit: int = MAX_LIMIT) -> list[Json]:
        """The next updates, oldest first, without confirming them."""
        horizon = self._clock() - KEPT_SECONDS
        for number in [n for n, (at, _) in self._waiting.items() if at < horizon]:
            del self._waiting[number]
        batch, self._again = self._again, []
        batch += [update for _, update in self._waiting.values()][: max(0, limit - len(batch))]
        if self.reverse_next and len(batch) > 1:
            self.reverse_next = False
            batch.reverse()
        return batch

    async def poll(self, offset: int, limit: int, timeout: float) -> list[Json]:
        """Long poll. Raises Refusal(409) in the older of two that are open at once."""
        self.end_poll(conflict(OTHER_POLLER))
        self.confirm(offset)
        if len(self) or timeout <= 0:
            return self.take(limit)
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._poll = mine
        self._changed()
        try:
            return await self._wait(mine, limit, timeout)
        finally:
            if self._poll is mine:
                self._poll = None
            if mine.done():
                mine.exception()  # taken note of, also if the client left at the same moment

    async def _wait(self, ended: asyncio.Future[None], limit: int, timeout: float) -> list[Json]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while not len(self):
            self._arrived.clear()
            arrived = asyncio.ensure_future(self._arrived.wait())
            either: set[asyncio.Future[Any]] = {ended, arrived}
            try:
                await asyncio.wait(
                    either,
                    timeout=max(0.0, deadline - loop.time()),
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                arrived.cancel()
            if ended.done():
                ended.result()  # raises the conflict
            if loop.time() >= deadline:
                break
        return self.take(limit)

    def end_poll(self, reason: Refusal) -> None:
        """End the open getUpdates, if there is one, with a refusal."""
        if self._poll is not None and not self._poll.done():
            self._poll.set_exception(reason)
        self._poll = None

    def end_poll_for_webhook(self) -> None:
        self.end_poll(conflict(POLLER_REPLACED_BY_WEBHOOK))

    async def next(self) -> Json:
        """The oldest update, waited for. For the webhook, which confirms it by `done`."""
        while not len(self):
            self._arrived.clear()
            await self._arrived.wait()
        if self._again:
            return self._again[0]
        return next(iter(self._waiting.values()))[1]

    def done(self, update: Json) -> None:
        if self._again and self._again[0] is update:
            del self._again[0]
        else:
            self._waiting.pop(int(update["update_id"]), None)
