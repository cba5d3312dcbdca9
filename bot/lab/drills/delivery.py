"""Drills about delivery: doubt, a user who blocks the bot, a flood wait."""

from bot.lab.botapi import Call, Fault, Harm
from bot.lab.drills.record import DrillStage
from bot.lab.practice.scripts import Reply
from bot.lab.stage import OWNER, USER

OTHER = 77
WAIT_SECONDS = 2


async def send_times_out(stage: DrillStage) -> None:
    """No answer comes to a send: the server had received it in one chat, not in the other."""
    arrived, lost = USER, OTHER
    async with stage.bot():
        for user in (arrived, lost):
            await stage.opt_in(user)
            await stage.shows(user, "is on")
        await stage.step("two users start the assistant")
        for asked, user, harm in ((1, arrived, Harm.CUT_AFTER), (2, lost, Harm.CUT_BEFORE)):
            stage.model.hold()
            stage.model.script(Reply(text=f"Exactly once, {user}."))
            stage.telegram.user_sends(user, "Say it")
            await stage.model.until_asked(asked)
            stage.telegram.faults.add(Fault(harm, method="sendMessage", chat_id=user))
            stage.model.release()
            await stage.state(user, "delivery_unknown")
            what = "received" if user == arrived else "not received"
            await stage.step(f"the connection breaks; the message was {what}", user)
        for user in (arrived, lost):
            await stage.covered(1, user, timeout=30)
            await stage.step("it has been found out", user)
        ids = [row[0] for row in await stage.rows("SELECT id FROM outbox WHERE author = 'ai'")]
        happened = {user: await stage.events(user) for user in (arrived, lost)}
    for user in (arrived, lost):
        times = stage.sent(user, "Exactly once")
        stage.check(f"chat {user} got the answer once", times == 1, times)
        notices = stage.count(user, "checking")
        stage.check(f"chat {user}: the notice is gone", notices == 0, notices)
        named = f"ai:tg:{user}:turn:msg-1" in ids
        stage.check(f"chat {user}: the client message id follows from the turn", named, ids)
    confirmed = "DeliveryConfirmed" in happened[arrived]
    stage.check("arrival was proven where it had arrived", confirmed, happened[arrived])
    disproved = "DeliveryDisproved" in happened[lost]
    stage.check("absence was proven where it had not", disproved, happened[lost])
    calls = len(stage.model.requests)
    stage.check("the model was asked once for each", calls == 2, calls)


async def user_blocks(stage: DrillStage) -> None:
    async with stage.bot():
        await stage.meet_operators()
        await stage.opt_in()
        stage.model.hold()
        stage.telegram.user_sends(USER, "Hello")
        await stage.model.until_asked(1)
        await stage.step("the user writes; the model is at work")
        stage.telegram.user_blocks(USER)
        blocked = await stage.state(USER, "ended")
        before = stage.telegram.journal.count
        await stage.shows(OWNER, "blocked the bot")
        await stage.step("the user blocks the bot")
        stage.model.release()
        await stage.everything_so_far(OWNER)
        await stage.step("the model answers")
        uncovered = await stage.rows(
            "SELECT version FROM messages WHERE author = 'user' AND version > 0 AND covered_by = ''"
        )
    tried = stage.telegram.journal.calls("sendMessage", chat_id=USER, after=before)
    stage.check("it is on record", blocked.blocked)
    stage.check("nothing more was sent to them", not tried, len(tried))
    told = stage.sent(OWNER, "blocked the bot")
    stage.check("the operators were told once", told == 1, told)
    stage.check("no message of theirs is left open", not uncovered, uncovered)


async def flood_wait(stage: DrillStage) -> None:
    async with stage.bot():
        for user in (USER, OTHER):
            await stage.opt_in(user)
            await stage.shows(user, "is on")
        stage.model.hold()
        stage.model.script(Reply(text="After the wait."), Reply(text="At once."))
        stage.telegram.user_sends(USER, "first")
        await stage.model.until_asked(1)
        flood = Fault(Harm.REFUSE, method="sendMessage", chat_id=USER, retry_after=WAIT_SECONDS)
        stage.telegram.faults.add(flood)
        stage.model.release()
        refused = await stage.until(
            lambda: [c for c in _sends(stage, USER) if c.status == 429] or None
        )
        await stage.step("Telegram asks to wait in this chat")
        stage.telegram.user_sends(OTHER, "second")
        await stage.shows(OTHER, "At once.")
        overtook = stage.sent(USER, "After the wait.") == 0
        await stage.step("another chat is answered meanwhile", OTHER)
        await stage.shows(USER, "After the wait.")
        await stage.covered(1)
        await stage.step("the wait is over")
    next_one = next(call for call in _sends(stage, USER) if call.number > refused[0].number)
    waited = next_one.at - refused[0].at
    stage.check("the other chat did not wait", overtook)
    stage.check("this chat was left alone for as long as told", waited >= WAIT_SECONDS, waited)
    times = stage.sent(USER, "After the wait.")
    stage.check("its answer came once", times == 1, times)


def _sends(stage: DrillStage, chat_id: int) -> list[Call]:
    return stage.telegram.journal.calls("sendMessage", chat_id=chat_id)
