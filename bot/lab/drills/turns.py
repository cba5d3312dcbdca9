"""Drills about turns: overtaken, and worked on by two."""

import asyncio
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from bot.app import Parts
from bot.lab.drills.record import DrillStage
from bot.lab.practice.scripts import Reply
from bot.lab.process import BotProcess
from bot.lab.stage import LOOK_SECONDS, USER

LEASE_SECONDS = 1.5
NOTICED = ("stale_worker_wrote_nothing", "session_lease_lost")


async def third_message(stage: DrillStage) -> None:
    async with stage.bot():
        await stage.opt_in()
        await stage.step("the user starts the assistant")
        stage.model.hold()
        stage.model.script(Reply(text="Answer to two."), Reply(text="Answer to three."))
        stage.telegram.user_sends(USER, "first")
        stage.telegram.user_sends(USER, "second")
        await stage.model.until_asked(1)
        await stage.step("two messages; the model is at work")
        stage.telegram.user_sends(USER, "third")
        await stage.until_rows("SELECT 1 FROM conversations WHERE chat_id = 42 AND version = 3")
        await stage.step("a third one comes")
        stage.model.release()
        await stage.covered(3)
        await stage.step("the answer")
        replies = await stage.rows("SELECT id FROM outbox WHERE author = 'ai'")
        kept = [line for line in await stage.lines() if "Answer to two." in line.text]
        covered = await stage.rows(
            "SELECT covered_by, turn_id FROM messages WHERE author = 'user' AND version > 0"
        )
    stage.check("the overtaken draft was never sent", stage.sent(USER, "Answer to two.") == 0)
    stage.check("one answer came", stage.sent(USER, "Answer to three.") == 1)
    one = covered == [("ai", "turn:msg-3")] * 3
    stage.check("it covers all three messages, each once", one, covered)
    named = [("ai:tg:42:turn:msg-3",)]
    stage.check("its client message id follows from the turn", replies == named, replies)
    stage.check("the dropped draft left nothing in memory", not kept)


async def paused_holder(stage: DrillStage) -> None:
    """SIGSTOP in mid-generation; its lease runs out, another continues; SIGCONT."""
    stage.model.script(Reply(text="From the paused one."), Reply(text="From the one that went on."))
    stage.model.hold()
    lease = {"session_lease_seconds": LEASE_SECONDS}
    paused = await stage.helper("polls", lease)
    await stage.start_ai()
    stage.telegram.user_sends(USER, "Who answers?")
    await stage.model.until_asked(1)
    await stage.step("one process holds the lease and asks the model")
    await _pause(stage, paused)
    await stage.step("it is paused (SIGSTOP)")
    quick = Parts(idle_seconds=0.1)
    async with stage.bot(share=True, parts=quick, session_lease_seconds=LEASE_SECONDS):
        await stage.model.until_asked(2)
        await stage.step("its lease ran out; another one took over")
        stage.model.release()
        await stage.shows(USER, "From the one that went on.")
        await stage.covered(1)
        await stage.step("the other one answers")
        before = len(await stage.journal())
        paused.send(signal.SIGCONT)
        await _woken(stage, before, lambda: any(word in paused.said for word in NOTICED))
        await stage.step("the paused one wakes (SIGCONT) and wants to write")
        written = (await stage.journal())[before:]
    stage.check("the one that woke late wrote nothing", not written, [e.event for e in written])
    stage.check("its draft was never sent", stage.sent(USER, "From the paused one.") == 0)
    answered = stage.sent(USER, "From the one that went on.")
    stage.check("the user got one answer", answered == 1, answered)
    stage.check("it noticed that it had lost the lease", any(w in paused.said for w in NOTICED))


async def _pause(stage: DrillStage, process: BotProcess) -> None:
    """Stop it between two transactions: one that stops inside keeps the file locked for all."""
    path = stage.settings.sqlite_path
    assert path is not None
    while True:
        process.send(signal.SIGSTOP)
        if await asyncio.to_thread(_may_be_written, path):
            return
        process.send(signal.SIGCONT)
        await asyncio.sleep(LOOK_SECONDS)


def _may_be_written(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0.2, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.execute("ROLLBACK")
    return True


async def _woken(stage: DrillStage, before: int, noticed: Callable[[], bool]) -> None:
    """Wait until the process has said, or the journal shows, what it did after its pause."""
    async with asyncio.timeout(10):
        while True:
            if noticed() or len(await stage.journal()) > before:
                return
            await asyncio.sleep(LOOK_SECONDS)
