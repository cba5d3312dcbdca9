"""Work that is called off while it begins: its commit stands, so its lease has to be let go."""

import asyncio
from collections.abc import Callable
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from bot.core.context import Budget
from bot.core.states import Conversation
from bot.executor import Executor, TurnSettings, _Job
from bot.store.conversations import Contact
from bot.store.leases import Lease
from bot.store.work import StoredEffect


class Committing:
    """A coordinator whose first commit takes its time and stands whatever becomes of the caller."""

    def __init__(self, job: _Job) -> None:
        self.job = job
        self.committed = asyncio.Event()
        self.begun = asyncio.Event()
        self.units: list[str] = []

    async def transact(self, work: Callable[..., Any]) -> Any:
        self.units.append(work.__name__)
        self.begun.set()
        if len(self.units) == 1:
            await asyncio.shield(asyncio.ensure_future(self.committed.wait()))
            return self.job
        return None


async def test_work_that_is_called_off_while_it_begins_leaves_no_lease() -> None:
    effect = StoredEffect("generate:tg:1", "tg:1", "generate", 1, "turn:msg-1", {})
    job = _Job(effect, Lease("tg:1", "me", 1), Conversation("tg:1"), Contact("tg:1", 1, "", "en"))
    coordinator = Committing(job)
    nothing = cast(Any, None)
    executor = Executor(
        database=nothing,
        coordinator=cast(Any, coordinator),
        answerer=nothing,
        moderator=nothing,
        remembering=nothing,
        indicator=nothing,
        clock=lambda: 0.0,
        settings=TurnSettings("me", 60.0, ZoneInfo("UTC"), Budget(), judges_at_once=True),
    )
    driving = asyncio.create_task(executor.drive("tg:1"))
    await coordinator.begun.wait()
    driving.cancel()
    await asyncio.sleep(0)
    coordinator.committed.set()
    with pytest.raises(asyncio.CancelledError):
        await driving
    assert coordinator.units == ["begin", "release"]
