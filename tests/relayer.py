"""A relayer in the same process, and the backend that talks to it."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx

from bot.lab.relayer import LAB_ACCOUNT, LAB_KEY, Relayer, build_app
from memory.backends.points import Points
from memory.backends.walrus import WalrusBackend
from memory.backends.walrus_keys import Signer

UNLIMITED = 10**9


@dataclass(slots=True)
class HandClock:
    """Seconds since 1970 that pass when told to."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def walrus_backend(
    world: Relayer,
    *,
    clock: Callable[[], float] | None = None,
    points: int | None = None,
    key: str = LAB_KEY,
) -> WalrusBackend:
    """`points`: as many a minute and an hour; as documented where it is left out."""
    return WalrusBackend(
        "http://relayer",
        Signer.of(key, LAB_ACCOUNT),
        clock=clock or world.clock,
        points=Points(points, points) if points else Points(),
        transport=httpx.ASGITransport(build_app(world)),
    )
