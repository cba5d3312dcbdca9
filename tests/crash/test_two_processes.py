"""Two bots where there should be one: one database, one token, or both."""

import asyncio
import signal
from pathlib import Path

import pytest

from bot.lab.botapi import Telegram
from tests.crash.process import BotProcess
from tests.crash.scene import Scene, scene

# What a killed process had claimed in PostgreSQL comes free only after a minute.
pytestmark = pytest.mark.timeout(300)

USERS = (31, 32, 33, 34)
OTHER_POLLER = "another program is fetching updates with this token"


def killed_between_turns(stage: Scene) -> bool | None:
    """Nothing is on the wire, so that nobody has to wait for a dead sender's claim to run out."""
    rows = stage.ledger.rows("SELECT 1 FROM outbox WHERE status IN ('sending', 'unknown') LIMIT 1")
    return None if rows else True


async def test_a_second_start_on_one_file_is_refused_and_the_first_goes_on(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as stage:
        first = await stage.start()
        second = await stage.launch()
        assert await second.ended(20) == 2
        [sentence] = second.said.splitlines()
        assert str(tmp_path / "dabir.db") in sentence
        assert f"process {first.pid}" in sentence
        await stage.opt_in(USERS[0])
        mark = stage.writes(USERS[0])
        await stage.shows(USERS[0], mark)
        await stage.settled()
        assert await first.stop() == 0
        stage.verify()


async def test_two_bots_with_one_token_say_so_and_neither_polls_in_a_hurry(
    tmp_path: Path,
) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    async with scene(tmp_path) as stage:
        bots: list[BotProcess] = []
        for folder in folders:
            folder.mkdir()
            bots.append(await stage.start(DATABASE_URL=f"sqlite:///{folder}/dabir.db"))
        began = asyncio.get_running_loop().time()
        polls = stage.calls("getUpdates")
        await asyncio.gather(*(bot.says(OTHER_POLLER, 30) for bot in bots))
        await stage.until(lambda: conflicts(stage.telegram) >= 6 or None, 60)
        seconds = asyncio.get_running_loop().time() - began
        assert (stage.calls("getUpdates") - polls) / seconds < 2.5
        for bot in bots:
            assert bot.alive
            assert "Traceback" not in bot.said
            assert await bot.stop() == 0


def conflicts(telegram: Telegram) -> int:
    return sum(call.status == 409 for call in telegram.journal)


async def test_two_processes_on_one_postgres_answer_once_and_either_may_die(
    tmp_path: Path, postgres_url: str
) -> None:
    async with scene(tmp_path, postgres_url, SESSION_LEASE_SECONDS="1") as stage:
        bots = [await stage.start() for _ in range(2)]
        await stage.opt_in(*USERS)
        for victim in (0, 1):
            for _ in range(3):
                for user in USERS:
                    stage.writes(user)
                await asyncio.sleep(0.2)  # people's own pace
            stage.model.hold()
            for user in USERS:
                stage.writes(user)
            await stage.looks(lambda: killed_between_turns(stage))
            await bots[victim].kill()
            stage.model.release()
            for user in USERS:
                stage.writes(user)
            bots[victim] = await stage.start()
        await stage.settled()
        assert [await bot.stop() for bot in bots] == [0, 0]
        stage.verify()


async def test_a_process_that_was_paused_past_its_lease_writes_and_sends_nothing(
    tmp_path: Path, postgres_url: str
) -> None:
    user = USERS[0]
    async with scene(tmp_path, postgres_url, SESSION_LEASE_SECONDS="1") as stage:
        paused = await stage.start()
        await stage.opt_in(user)
        stage.model.hold()
        mark = stage.writes(user)
        await stage.model.until_asked(1)
        other = await stage.start()
        paused.send(signal.SIGSTOP)
        await asyncio.wait_for(stage.model.until_asked(2), 30)
        stage.model.release()
        await stage.shows(user, mark)
        await stage.settled()
        paused.send(signal.SIGCONT)
        await stage.looks(
            lambda: (
                any(
                    word in paused.said
                    for word in ("session_lease_lost", "stale_worker_wrote_nothing")
                )
                or None
            )
        )
        second = stage.writes(user)
        await stage.shows(user, second)
        await stage.settled()
        assert [await bot.stop() for bot in (paused, other)] == [0, 0]
        assert len(stage.ledger.rows("SELECT 1 FROM messages WHERE author = 'ai'")) == 2
        stage.verify()
