"""SIGTERM and Ctrl-C end the bot with 0 within ten seconds, whatever the network does."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.lab.botapi import Fate, Fault, Harm
from bot.lab.practice import scripts
from bot.lab.practice.scripts import Reply
from tests.crash.process import BotProcess
from tests.crash.scene import Scene, scene

USER, OTHER = 41, 42
STOPS = [signal.SIGTERM, signal.SIGINT]


@pytest.mark.parametrize("number", STOPS)
async def test_a_stop_while_telegram_is_not_reached_ends_the_start(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with scene(tmp_path) as stage:
        stage.telegram.faults.add(Fault(Harm.CUT_BEFORE, method="getMe", times=None))
        bot = await stage.launch()
        await bot.says("telegram_not_reached")
        assert await bot.stop(number) == 0
        assert "Traceback" not in bot.said


async def test_a_stop_waits_for_no_request_that_gets_no_answer(tmp_path: Path) -> None:
    """The status line, the answer to a press and a removal are on the wire at that moment."""
    async with scene(tmp_path) as stage:
        bot = await stage.start()
        await stage.opt_in(USER)
        for method in ("sendMessage", "answerCallbackQuery", "deleteMessage"):
            stage.telegram.faults.add(Fault(Harm.STALL_AFTER, method=method, times=None))
        stage.model.script(Reply(text="Half a word.", fault=scripts.Fault.STALL))
        mark = stage.writes(USER)
        await stage.until(lambda: lost(stage, "sendMessage"))
        stage.telegram.user_presses(USER, stage.from_bot(USER)[-1].message_id, "Cancel")
        await stage.until(lambda: lost(stage, "answerCallbackQuery"))
        assert await bot.stop() == 0
        assert "stopped" in bot.said, "it came to its end by itself"
        stage.telegram.faults.clear()
        again = await stage.start()
        await stage.settled()
        assert await again.stop() == 0
        assert stage.copies(USER, mark) == 0, "it was cancelled"
        assert stage.copies(USER, "I am working on it") == 0


def lost(stage: Scene, method: str) -> bool | None:
    calls = [call for call in stage.telegram.journal if call.method == method]
    return bool(calls and calls[-1].fate is Fate.LOST) or None


async def test_a_reply_that_is_ready_during_a_stop_leaves_after_it_without_doubt(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as stage:
        bot = await stage.start()
        await stage.opt_in(USER, OTHER)
        stalled = Fault(Harm.STALL_BEFORE, method="sendMessage", chat_id=OTHER, times=None)
        stage.telegram.faults.add(stalled)
        stage.writes(OTHER)
        await stage.state(OTHER, "bot_sending")
        stage.model.hold()
        mark = stage.writes(USER)
        await stage.model.until_asked(2)
        bot.send(signal.SIGTERM)
        await bot.says("stopping")
        stage.model.release()
        assert await bot.ended() == 0
        stage.telegram.faults.clear()
        again = await stage.start()
        await stage.shows(USER, mark)
        await stage.settled()
        assert await again.stop() == 0
        doubts = [
            call
            for call in stage.telegram.journal
            if call.method == "sendMessage" and call.params["text"].startswith("I am checking")
        ]
        assert {str(call.params["chat_id"]) for call in doubts} == {str(OTHER)}
        stage.verify()


async def test_a_status_line_whose_id_was_never_learnt_is_removed_after_a_kill_with_the_next(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as stage:
        bot = await stage.start()
        await stage.opt_in(USER)
        stage.telegram.faults.add(Fault(Harm.STALL_AFTER, method="sendMessage"))
        stage.model.script(Reply(text="Half a word.", fault=scripts.Fault.STALL))
        mark = stage.writes(USER)
        await stage.until(lambda: lost(stage, "sendMessage"))
        await bot.kill()
        assert stage.copies(USER, "I am working on it") == 1
        stage.model.hold()
        again = await stage.start()
        await stage.until(lambda: stage.copies(USER, "I am working on it") == 2 or None)
        stage.model.release()
        await stage.shows(USER, mark)
        await stage.settled()
        assert await again.stop() == 0
        assert stage.copies(USER, "…") == 0
        stage.verify()


async def test_a_full_disk_is_waited_out_and_nothing_is_lost(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        bot = await stage.start()
        await stage.opt_in(USER)
        await stage.settled()
        with full_disk(bot, tmp_path):
            marks = [stage.writes(USER, "word " * 700) for _ in range(8)]
            await bot.says("polling_failed")
            assert bot.alive
        for mark in marks:
            await stage.shows(USER, mark)
        await stage.settled()
        assert await bot.stop() == 0
        assert "Traceback" not in bot.said
        stage.verify()


@contextmanager
def full_disk(bot: BotProcess, folder: Path) -> Iterator[None]:
    """No file of this process may outgrow the largest there is: to it the disk is full."""
    largest = max(path.stat().st_size for path in folder.glob("dabir.db*"))
    resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    yield
    free = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, free)
