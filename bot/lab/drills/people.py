"""Drills about people: one is asked for, several come at once, one leaves."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import telegram

from bot.app import Parts, Running
from bot.lab.drills.databases import shared_database
from bot.lab.drills.record import OPERATORS, SECOND_OPERATOR, DrillStage
from bot.lab.practice.scripts import Reply
from bot.lab.process import BotProcess
from bot.lab.stage import OWNER, USER

ROUNDS = 3  # claims that are raced for
ALONE = Parts(idle_seconds=60)  # does what it hears of, and looks for nothing else


@dataclass(slots=True)
class Ears:
    """Which bot hears the next updates, as behind a balancer; in order, one at a time."""

    listener: Running
    hearing: asyncio.Lock = field(default_factory=asyncio.Lock)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def hear(self, update: dict[str, Any]) -> None:
        task = asyncio.create_task(self._accept(self.listener, update))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _accept(self, listener: Running, update: dict[str, Any]) -> None:
        async with self.hearing:
            await listener.inbound.accept([telegram.Update.de_json(update, None)])


async def human_in_mid_generation(stage: DrillStage) -> None:
    """One bot generates and another one hears the request: nobody cancels the call to the model,
    so the late draft really comes, and it must change nothing."""
    stage.model.script(Reply(text="Too late."))
    shared = partial(stage.bot, share=True, polls=False, parts=ALONE, moderation="endpoint")
    async with shared() as generates, shared() as hears_of_it:
        ears = Ears(generates)
        stage.telegram.hooks.on_update.append(ears.hear)
        await stage.meet_operators()
        await stage.opt_in()
        await stage.step("the user starts the assistant")
        stage.model.hold()
        stage.telegram.user_sends(USER, "Help me")
        await stage.model.until_asked(1)
        asked = await stage.state(USER, "ai_generating")
        await stage.step("the user writes; the model is at work")
        ears.listener = hears_of_it
        stage.telegram.user_sends(USER, "/human")
        waiting = await stage.state(USER, "handoff_pending")
        await stage.shows(USER, "on record")
        await stage.shows(OWNER, "asks for a person")
        await stage.step("the user asks for a person")
        stage.model.release()
        await stage.until_rows(
            "SELECT 1 FROM journal WHERE conversation_id = 'tg:42' AND event = 'AiDrafted'"
        )
        await stage.everything_so_far()
        await stage.step("the draft arrives late")
        after = await stage.conversation()
        late = [each for each in await stage.journal() if each.event == "AiDrafted"]
    outcomes = [each.outcome for each in late]
    stage.check("the request raised the epoch", waiting.epoch == asked.epoch + 1, waiting.epoch)
    stage.check("the late draft is recorded as stale", outcomes == ["stale"], outcomes)
    carried = all(each.turn_id == "turn:msg-1" for each in late)
    stage.check("it carried its turn", carried, [each.turn_id for each in late])
    stage.check("it was not moderated", not stage.model.moderated, len(stage.model.moderated))
    stage.check("the user never saw it", stage.sent(USER, "Too late.") == 0)
    stage.check("the request still stands", after.state == "handoff_pending", after.state)
    stage.check("the operators were told once", stage.sent(OWNER, "asks for a person") == 1)


async def two_operators(stage: DrillStage) -> None:
    """Each operator's messages reach a process of their own, as behind a balancer; one database."""
    async with shared_database(stage) as url:
        given = {"operators": frozenset({SECOND_OPERATOR}), "database_url": url}
        stage.settings = stage.settings.model_copy(update={"database_url": _secret(url)})
        first = await stage.helper("hears", given)
        second = await stage.helper("hears", given)
        _route(stage, first, second)
        await stage.meet_operators(OWNER, SECOND_OPERATOR)
        users = [USER + number for number in range(ROUNDS)]
        for user in users:
            await _race_for(stage, user)
        for process in (first, second):
            await process.kill()
        for database in stage.observers.values():
            await database.close()
        stage.observers.clear()


def _secret(url: str) -> Any:
    from pydantic import SecretStr

    return SecretStr(url)


def _route(stage: DrillStage, first: BotProcess, second: BotProcess) -> None:
    def tell(update: dict[str, Any]) -> None:
        content = next(value for key, value in update.items() if key != "update_id")
        process = second if content["from"]["id"] == SECOND_OPERATOR else first
        process.tell(json.dumps(update))

    stage.telegram.hooks.on_update.append(tell)


async def _race_for(stage: DrillStage, user: int) -> None:
    stage.telegram.user_sends(user, "/human")
    before = await stage.state(user, "handoff_pending")
    await stage.step(f"user {user} asks for a person", user)
    updates = await _taken(stage)
    stage.telegram.user_sends(OWNER, f"/claim {user}")
    stage.telegram.user_sends(SECOND_OPERATOR, f"/claim {user}")
    held = await stage.state(user, "human_active")
    async with asyncio.timeout(10):
        while await _taken(stage) < updates + 2:  # noqa: ASYNC110 (another process writes it)
            await asyncio.sleep(0.01)
    holder = (await stage.conversation(user)).holder
    assert holder is not None
    loser = SECOND_OPERATOR if holder.operator_id == OWNER else OWNER
    await stage.shows(user, "is here now")
    with suppress(TimeoutError):
        await stage.shows(loser, f"has held the conversation tg:{user}", timeout=5)
    await stage.step("both operators claim at once", user)
    won = (await stage.events(user)).count("HumanClaimed")
    stage.check(f"user {user}: one claim was applied", won == 1, won)
    stage.check(f"user {user}: the epoch rose once", held.epoch == before.epoch + 1, held.epoch)
    told = sum(stage.sent(each, f"has held the conversation tg:{user}") for each in OPERATORS)
    stage.check(f"user {user}: the loser was told who holds it", told == 1, told)
    joined = stage.sent(user, "is here now")
    stage.check(f"user {user}: one person was announced", joined == 1, joined)
    stage.telegram.user_sends(loser, "Words of somebody who does not hold it.")
    stage.telegram.user_sends(holder.operator_id, "/release")
    await stage.state(user, "consent_required")
    spoke = stage.sent(user, "does not hold it")
    stage.check(f"user {user}: the loser's words did not reach them", spoke == 0, spoke)


async def _taken(stage: DrillStage) -> int:
    return int((await stage.rows("SELECT count(*) FROM inbox"))[0][0])


async def person_leaves(stage: DrillStage) -> None:
    async with stage.bot():
        await stage.meet_operators()
        await stage.opt_in()
        stage.telegram.user_sends(OWNER, f"/claim {USER}")
        held = await stage.state(USER, "human_active")
        await stage.shows(USER, "is here now")
        await stage.step("the owner takes the conversation")
        stage.telegram.user_sends(OWNER, "Operator's words.")
        await stage.shows(USER, "Operator's words.")
        stage.telegram.user_sends(USER, "For the person only.")
        await stage.shows(OWNER, "For the person only.")
        await stage.step("they talk")
        stage.telegram.user_sends(OWNER, "/release")
        left = await stage.state(USER, "consent_required")
        await stage.shows(USER, "has left")
        await stage.step("the person leaves")
        stage.telegram.user_sends(USER, "And now?")
        await stage.everything_so_far()
        await stage.step("the user writes on")
        silent = not stage.model.requests
        stage.check("the AI did not come back silently", silent, len(stage.model.requests))
        stage.model.script(Reply(text="Here again."))
        stage.press(USER, "Start the AI assistant")
        await stage.shows(USER, "Here again.")
        await stage.covered(2)
        await stage.step("the user starts the assistant again")
        said = await stage.rows("SELECT author FROM messages WHERE conversation_id = 'tg:42'")
    asked = stage.asked()
    stage.check("the epoch rose when the person left", left.epoch == held.epoch + 1, left.epoch)
    stage.check("the choice was offered", stage.sent(USER, "has left") == 1)
    stage.check("the model got what was written after it", "And now?" in asked)
    stage.check("the model never got the operator's words", "Operator's words." not in asked)
    stage.check("nor what was said to the operator only", "For the person only." not in asked)
    authors = {author for (author,) in said}
    stage.check("each author is on record as such", {"user", "ai", "human"} <= authors, authors)
