"""Wakes the parts of this process that have something to do after a commit.

Only a hint: what is due stands in the database, and each part looks there on its own as well.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from bot.scribe import Aftermath
from bot.store.outbox import Claimed


class Bell:
    """Rung by many, waited for by one. A ring while nobody waits is not lost."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()

    async def wait(self, at_most_seconds: float) -> None:
        """Return when rung, or after `at_most_seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, at_most_seconds)):
                await self._event.wait()
        self._event.clear()


class Signals:
    def __init__(self) -> None:
        self.turns = Bell()
        self.outbox = Bell()
        self.commands = Bell()
        self.cards = Bell()
        self.memory = Bell()
        self.forgetting = Bell()
        self.cancel_generation: Callable[[str], None] = lambda conversation_id: None
        self.send_now: Callable[[Claimed], None] = lambda claimed: None
        self.turn_due: Callable[[str, float], None] = lambda conversation_id, at: None

    def publish(self, aftermath: Aftermath) -> None:
        if aftermath.turns:
            self.turns.ring()
        for claimed in aftermath.claims:
            self.send_now(claimed)
        for conversation_id, at in aftermath.due.items():
            self.turn_due(conversation_id, at)
        if aftermath.chats - {claimed.outgoing.chat_id for claimed in aftermath.claims}:
            self.outbox.ring()
        if aftermath.commands:
            self.commands.ring()
        if aftermath.cards:
            self.cards.ring()
        if aftermath.memory:
            self.memory.ring()
        if aftermath.forgetting:
            self.forgetting.ring()
        for conversation_id in sorted(aftermath.cancelled):
            self.cancel_generation(conversation_id)
