"""Drills about processes: killed in each state, and two of them on one token."""

import asyncio
import signal

from bot.lab.botapi import Fate, Fault, Harm
from bot.lab.drills.record import DrillStage
from bot.lab.practice import scripts
from bot.lab.practice.scripts import Reply
from bot.lab.stage import OWNER, USER

# One conversation for each state; of bot_sending and delivery_unknown both that can be told apart.
UNDECIDED, READY, GENERATING, MODERATING, SENDING, SENT, UNKNOWN, PENDING, ATTENDED, ENDED = range(
    21, 31
)
STATES = {
    UNDECIDED: "consent_required",
    READY: "ai_ready",
    GENERATING: "ai_generating",
    MODERATING: "moderating",
    SENDING: "bot_sending",
    SENT: "bot_sending",
    UNKNOWN: "delivery_unknown",
    PENDING: "handoff_pending",
    ATTENDED: "human_active",
    ENDED: "ended",
}
PATIENCE_SECONDS = 40  # two that fetch with one token end each other's requests and back off
SURVIVE = (UNDECIDED, READY, PENDING, ATTENDED, ENDED)  # where there is nothing to go on with
TURNS = (GENERATING, MODERATING, SENDING, SENT, UNKNOWN)
UNFINISHED = """
SELECT 1 FROM conversations WHERE turn_from > 0 OR (state = 'ai_ready' AND version > covered)
UNION ALL SELECT 1 FROM outbox WHERE status IN ('pending', 'sending', 'unknown')
UNION ALL SELECT 1 FROM effects UNION ALL SELECT 1 FROM debounces
UNION ALL SELECT 1 FROM memory_outbox
"""


async def killed_in_each_state(stage: DrillStage) -> None:
    given = {"moderation": "endpoint", "moderation_timeout": 60}
    process = await stage.own_process(given)
    await _bring_about(stage)
    for user in STATES:
        await stage.step(f"user {user}: {STATES[user]}", user)
    reached = {user: (await stage.conversation(user)).state.value for user in STATES}
    process.send(signal.SIGKILL)
    code = await process.ended()
    stage.model.moderate(stalled=False)
    stage.telegram.faults.clear()
    stage.model.script(Reply(text=_answer(GENERATING)))
    await stage.own_process(given)
    await _settled(stage)
    for user in STATES:
        await stage.step(f"user {user}: after kill -9 and a new start", user)
    after = {user: (await stage.conversation(user)).state.value for user in STATES}
    stage.check("each state was reached before the kill", reached == STATES, reached)
    stage.check("the process was killed", code == -signal.SIGKILL, code)
    for user in SURVIVE:
        stage.check(f"{STATES[user]} is still so", after[user] == STATES[user], after[user])
    for user in TURNS:
        what = f"{STATES[user]} ({user})"
        stage.check(f"{what}: ai_ready in the end", after[user] == "ai_ready", after[user])
        times = stage.sent(user, _answer(user))
        stage.check(f"{what}: answered exactly once", times == 1, times)
    for user in (MODERATING, SENDING, SENT, UNKNOWN):
        calls = sum(_question(user) in each.texts[-1] for each in stage.model.requests)
        stage.check(f"{STATES[user]} ({user}): the model was asked once", calls == 1, calls)
    uncovered = await stage.rows(
        "SELECT m.conversation_id FROM messages m JOIN conversations c ON c.id = m.conversation_id"
        " WHERE m.author = 'user' AND m.version BETWEEN 1 AND c.covered AND m.covered_by = ''"
    )
    stage.check("no settled message is without what settled it", not uncovered, uncovered)


def _question(user: int) -> str:
    return f"Question {user}?"


def _answer(user: int) -> str:
    return f"Answer {user}."


async def _bring_about(stage: DrillStage) -> None:
    await stage.meet_operators()
    for user in STATES:
        await stage.opt_in(user) if user != UNDECIDED else stage.telegram.user_starts(user)
        await stage.shows(user, "assistant" if user == UNDECIDED else "is on")
    stage.telegram.user_sends(OWNER, f"/claim {ATTENDED}")
    stage.telegram.user_sends(PENDING, "/human")
    stage.telegram.user_sends(ENDED, "/end")
    for user in (ATTENDED, PENDING, ENDED, UNDECIDED):
        await stage.state(user, STATES[user])
    await stage.shows(ATTENDED, "is here now")
    await _generates(stage)
    await _asks(stage, SENDING, Harm.STALL_BEFORE)
    await _meets(stage, SENDING, Fate.NEVER_PROCESSED, 1)
    await _asks(stage, SENT, Harm.STALL_AFTER)
    await _meets(stage, SENT, Fate.LOST, 1)
    await _asks(stage, UNKNOWN, Harm.CUT_AFTER, Harm.STALL_AFTER)
    await _meets(stage, UNKNOWN, Fate.LOST, 2)
    stage.model.moderate(stalled=True)
    await _asks(stage, MODERATING)
    await stage.state(MODERATING, "moderating")


async def _generates(stage: DrillStage) -> None:
    stage.model.script(Reply(text="Half a word.", fault=scripts.Fault.STALL))
    stage.telegram.user_sends(GENERATING, _question(GENERATING))
    await stage.model.until_asked(1)


async def _asks(stage: DrillStage, user: int, *harms: Harm) -> None:
    """The user asks, and the model has a whole answer for them; the harms hit its sending."""
    stage.model.hold()
    asked = len(stage.model.requests)
    stage.model.script(Reply(text=_answer(user)))
    stage.telegram.user_sends(user, _question(user))
    await stage.model.until_asked(asked + 1)
    for harm in harms:
        stage.telegram.faults.add(Fault(harm, method="sendMessage", chat_id=user))
    stage.model.release()


async def _meets(stage: DrillStage, user: int, fate: Fate, times: int) -> None:
    """Wait until so many requests to send to this user have met their fate."""

    def met() -> bool | None:
        calls = stage.telegram.journal.calls("sendMessage", chat_id=user)
        return sum(call.fate is fate for call in calls) == times or None

    await stage.until(met)


async def _settled(stage: DrillStage) -> None:
    async with asyncio.timeout(40):
        while True:
            if not len(stage.telegram.updates) and not await stage.rows(UNFINISHED):
                return
            await asyncio.sleep(0.05)


async def two_bots_one_token(stage: DrillStage) -> None:
    """With the same database the second does not start; sharing it, they answer nothing twice."""
    async with stage.bot():
        await stage.meet_operators()
        await stage.opt_in()
        second = await stage.own_process(waits=False)
        code = await second.ended(30)
        refused = second.said.strip()
        await stage.step("a second bot with the same database")
        other = await stage.helper()
        await other.says("another program is fetching", within=20)
        await stage.step("a second bot that shares database and token")
        stage.model.script(Reply(text="Answered."))
        stage.telegram.user_sends(USER, "One message")
        await stage.shows(USER, "Answered.", timeout=PATIENCE_SECONDS)
        stage.telegram.updates.redeliver()
        stage.telegram.updates.repeat()
        await stage.everything_so_far(timeout=PATIENCE_SECONDS)
        await stage.covered(1)
        await stage.step("a message; its update is delivered to them again and again")
        conversation = await stage.conversation()
        parked = await stage.rows("SELECT update_id FROM inbox WHERE outcome = 'parked'")
        await other.kill()
        stage.model.script(Reply(text="Alone again."))
        stage.telegram.user_sends(USER, "Still there?")
        await stage.shows(USER, "Alone again.", timeout=PATIENCE_SECONDS)
        await stage.step("the second one is ended")
    stage.check("on the same file the second one ends with code 2", code == 2, code)
    stage.check("and says which setting to look at", "DATABASE_URL" in refused, refused[-200:])
    stage.check("the message was taken once", conversation.version == 1, conversation.version)
    stage.check("nothing had to be parked", not parked, parked)
    times = stage.sent(USER, "Answered.")
    stage.check("it was answered once", times == 1, times)
    calls = len(stage.model.requests)
    stage.check("the model was asked once for each message", calls == 2, calls)
