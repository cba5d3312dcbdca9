"""A bot that is ended while conversations stand in every state goes on where it was, once."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from bot.lab.botapi import Fate, Fault, Harm
from bot.lab.practice import scripts
from bot.lab.practice.scripts import Reply
from tests.crash.scene import Scene, scene

GENERATING = 21  # the model has begun to answer; the status line shows
MODERATING = 22  # the draft is at the moderation endpoint
SENDING = 23  # the request left and was never processed
SENT = 24  # the request was processed, and no answer came
UNKNOWN = 25  # the same, found out by a notice of which no answer came either
PENDING = 26  # waits for a person
ATTENDED = 27  # talks to one
ALL = (GENERATING, MODERATING, SENDING, SENT, UNKNOWN, PENDING, ATTENDED)
ENDS = {
    "kill -9": (signal.SIGKILL, -9),
    "SIGTERM": (signal.SIGTERM, 0),
    "Ctrl-C": (signal.SIGINT, 0),
}


async def bring_about_every_state(stage: Scene) -> dict[int, str]:
    """Lead one conversation into each state and hold it there; return what each user wrote."""
    await stage.opt_in(*ALL)
    await stage.attend(ATTENDED)
    stage.telegram.user_sends(PENDING, "/human")
    await stage.state(PENDING, "handoff_pending")
    await stage.shows(SENT, stage.writes(SENT))  # the first turn is slow, and no state to hold
    for user, *harms in (
        (SENDING, Harm.STALL_BEFORE),
        (SENT, Harm.STALL_AFTER),
        (UNKNOWN, Harm.CUT_AFTER, Harm.STALL_AFTER),
    ):
        for harm in harms:
            stage.telegram.faults.add(Fault(harm, method="sendMessage", chat_id=user))
    stage.model.script(Reply(text="Half a word.", fault=scripts.Fault.STALL))
    wrote = {GENERATING: stage.writes(GENERATING)}
    await stage.model.until_asked(2)
    for user in (SENDING, SENT, UNKNOWN, PENDING, ATTENDED):
        wrote[user] = stage.writes(user)
    await asyncio.gather(
        stalled(stage, SENDING, Fate.NEVER_PROCESSED, 1),
        stalled(stage, SENT, Fate.LOST, 1),
        stalled(stage, UNKNOWN, Fate.LOST, 2),
        stage.shows(GENERATING, "I am working on it"),
    )
    stage.model.moderate(stalled=True)
    wrote[MODERATING] = stage.writes(MODERATING)
    await stage.state(MODERATING, "moderating")
    return wrote


async def stalled(stage: Scene, user: int, fate: Fate, times: int) -> None:
    """Wait until so many requests to send to this user have met their fate."""

    def met() -> bool | None:
        hit = [
            call
            for call in stage.telegram.journal
            if call.method == "sendMessage"
            and str(call.params["chat_id"]) == str(user)
            and call.fate is fate
        ]
        return len(hit) == times or None

    await stage.until(met)


def states(stage: Scene) -> dict[int, str]:
    return dict(stage.ledger.rows("SELECT chat_id, state FROM conversations"))


@pytest.mark.parametrize("end", ENDS)
async def test_an_end_in_every_state_at_once_loses_and_doubles_nothing(
    tmp_path: Path, end: str
) -> None:
    number, code = ENDS[end]
    async with scene(tmp_path, MODERATION="endpoint", MODERATION_TIMEOUT="60") as stage:
        bot = await stage.start()
        wrote = await bring_about_every_state(stage)
        assert states(stage) | {1000: ""} == {
            1000: "",
            GENERATING: "ai_generating",
            MODERATING: "moderating",
            SENDING: "bot_sending",
            SENT: "bot_sending",
            UNKNOWN: "delivery_unknown",
            PENDING: "handoff_pending",
            ATTENDED: "human_active",
        }
        begun = time.monotonic()
        assert await bot.stop(number) == code
        assert time.monotonic() - begun < 10
        stage.model.moderate(stalled=False)
        stage.telegram.faults.clear()
        again = await stage.start()
        await stage.settled()
        after = states(stage)
        assert (after[PENDING], after[ATTENDED]) == ("handoff_pending", "human_active")
        assert {after[user] for user in ALL[:5]} == {"ai_ready"}
        for user in (MODERATING, SENDING, SENT, UNKNOWN):
            asked = [one for one in stage.model.requests if wrote[user] in one.texts[-1]]
            assert len(asked) == 1, "what was drafted is never asked for again"
            assert stage.copies(user, wrote[user]) == 1
        assert stage.copies(GENERATING, wrote[GENERATING]) == 1
        assert await again.stop() == 0
        stage.verify()
