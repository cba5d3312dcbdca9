"""What was asked of the practice model, and the gate that holds its answers back."""

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from bot.lab.practice.player import Ending
from bot.lab.practice.prompt import text_of


@dataclass(slots=True)
class Asked:
    """One request in the journal."""

    number: int
    path: str
    body: dict[str, Any]
    at: float  # by the clock the model was given
    ending: Ending = Ending.RUNNING

    @property
    def gone(self) -> bool:
        """Whether the client hung up before the reply was complete."""
        return self.ending is Ending.GONE

    @property
    def texts(self) -> list[str]:
        """The texts of the user's messages, for asserting what a request covered."""
        messages = self.body.get("messages") or []
        return [text_of(one.get("content")) for one in messages if one.get("role") == "user"]

    def as_json(self) -> dict[str, Any]:
        told = {"number": self.number, "path": self.path, "at": self.at, "ending": self.ending}
        return told | {"body": self.body}


@dataclass(slots=True)
class Gate:
    """Holds requests until they are let go: a test decides when, without sleeping."""

    held: bool = False
    waiting: "deque[asyncio.Future[None]]" = field(default_factory=deque)

    async def passed(self) -> None:
        if not self.held:
            return
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(ticket)
        try:
            await ticket
        finally:
            with contextlib.suppress(ValueError):
                self.waiting.remove(ticket)

    def hold(self) -> None:
        self.held = True

    def release(self, count: int | None = None) -> None:
        if count is None:
            self.held = False
        for _ in range(len(self.waiting) if count is None else min(count, len(self.waiting))):
            ticket = self.waiting.popleft()
            if not ticket.done():
                ticket.set_result(None)
