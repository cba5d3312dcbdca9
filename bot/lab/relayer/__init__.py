"""A Walrus Memory relayer on loopback that behaves like the real one, lateness and lies included.

    world = Relayer(clock=...)            accounts, jobs, texts, faults; no I/O
    build_app(world)                      its routes, as an ASGI app
    async with serve_relayer(world)       the same on a loopback port

The official client (memwal 0.2.1) passes against it: tests/contracts/test_relayer.py. Never
compared with the live relayer.
"""

from bot.lab.relayer.app import build_app, serve_relayer
from bot.lab.relayer.world import LAB_ACCOUNT, LAB_KEY, Faults, Limits, Relayer, Timing

__all__ = [
    "LAB_ACCOUNT",
    "LAB_KEY",
    "Faults",
    "Limits",
    "Relayer",
    "Timing",
    "build_app",
    "serve_relayer",
]
