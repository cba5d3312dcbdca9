"""Overhead per turn against a minimal bot: from the update being available to the send beginning,
less the time the model was busy and less the quiet period. `python -m tests.bench.overhead`
"""

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

from tests.bench.stand import Stand, dabir, opted_in, process, stand, until_polling

QUIET_SECONDS = 0.05


async def measure(on: Stand, chats: list[int], quiet_seconds: float) -> list[float]:
    """Seconds of overhead of one turn in each of these chats, one after the other."""
    overheads = []
    for chat in chats:
        before, busy = len(on.telegram.bot_texts(chat)), len(on.model.busy)

        def answered(chat: int = chat, before: int = before) -> bool:
            return len(on.telegram.bot_texts(chat)) > before

        started = on.telegram.clock()
        on.telegram.user_sends(chat, "A question of usual length, please?")
        await on.telegram.wait_for(answered)
        sent = next(
            call
            for call in reversed(list(on.telegram.journal))
            if call.method == "sendMessage" and str(call.params.get("chat_id")) == str(chat)
        )
        model_seconds = sum(seconds for _, seconds in on.model.busy[busy:])
        overheads.append(sent.at - started - model_seconds - quiet_seconds)
    return overheads


async def run(turns: int) -> None:
    warm, chats = list(range(100, 110)), list(range(1000, 1000 + turns))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with stand() as on:
            environment = on.environment(PYTHONPATH=str(Path(__file__).parents[2]))
            async with process(
                "-m", "tests.bench.minimal_bot", environment=environment, folder=folder
            ):
                await until_polling(on.telegram)
                await measure(on, warm, 0)
                minimal = await measure(on, chats, 0)
        async with stand() as on:
            environment = dabir(on, folder, DEBOUNCE_QUIET=str(QUIET_SECONDS))
            async with process("-m", "bot", environment=environment, folder=folder):
                await until_polling(on.telegram)
                await opted_in(on.telegram, warm + chats)
                await asyncio.sleep(3)  # the pace per chat forgets the greetings
                await measure(on, warm, QUIET_SECONDS)
                ours = await measure(on, chats, QUIET_SECONDS)
    report("minimal bot", minimal)
    report("dabir", ours)
    ratio = statistics.median(ours) / statistics.median(minimal)
    print(f"ratio of medians: {ratio:.2f} (aim: at most 1.5)")


def report(name: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p95 = ordered[int(len(ordered) * 0.95) - 1]
    print(f"{name}: p50 {statistics.median(ordered) * 1e3:.1f} ms, p95 {p95 * 1e3:.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    asyncio.run(run(parser.parse_args().turns))
