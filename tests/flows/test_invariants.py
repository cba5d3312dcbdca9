"""The promise, one test for each invariant of the design page, over HTTP with the real bot."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot import app
from bot.core.reducer import Outcome
from bot.core.states import AI_STATES
from bot.lab.botapi import Fault, Harm
from bot.lab.practice.scripts import Call, Reply
from bot.store.journal import Entry
from tests.stage import OWNER, USER, Stage

OTHER = 77
SECOND = 1001  # an operator besides the owner
LONG = " ".join(f"one{number}" for number in range(500)) + "\n\n" + "two " * 1000


def holder_of(state: str) -> str:
    if state == "human_active":
        return "human"
    return "ai" if state in AI_STATES else "nobody"


def began(stage: Stage, text: str, chat_id: int = USER) -> int:
    """How many sends of a message with this text ever began, whatever became of them."""
    calls = stage.telegram.journal.calls("sendMessage", chat_id=chat_id)
    return sum(text in str(call.params.get("text")) for call in calls)


async def test_i01_of_two_operators_who_claim_at_once_one_speaks_and_the_ai_is_silent(
    on_stage: Stage,
) -> None:
    async with on_stage.bot(operators=frozenset({SECOND})):
        await on_stage.start_ai()
        on_stage.model.hold()
        on_stage.telegram.user_sends(USER, "Help me")
        await on_stage.model.until_asked(1)
        for operator in (OWNER, SECOND):
            on_stage.telegram.user_sends(operator, f"/claim {USER}")
            on_stage.telegram.user_sends(operator, f"Words of {operator}")
        held = await on_stage.state(USER, "human_active")
        on_stage.model.release()
        assert held.holder is not None
        await on_stage.shows(USER, f"Words of {held.holder.operator_id}")
        await on_stage.everything_so_far()
        loser = SECOND if held.holder.operator_id == OWNER else OWNER
        assert began(on_stage, f"Words of {loser}") == 0
        assert began(on_stage, "Help me") == 0, "the practice model would have quoted it"


async def test_i02_every_change_of_authority_raises_the_epoch(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_sends(USER, "/human")
    await live.state(USER, "handoff_pending")
    live.telegram.user_sends(OWNER, "/claim")
    await live.state(USER, "human_active")
    live.telegram.user_sends(OWNER, "/release")
    await live.state(USER, "consent_required")
    live.telegram.user_forges_press(USER, 1, "v1:start")
    await live.state(USER, "ai_ready")
    live.telegram.user_sends(USER, "/stop_ai")
    await live.state(USER, "consent_required")
    applied = [entry for entry in await live.journal() if entry.outcome == Outcome.APPLIED]
    assert applied[-1].epoch == 6
    for before, after in pairwise(applied):
        moved = holder_of(before.state_after) != holder_of(after.state_after)
        assert after.epoch - before.epoch == int(moved), after


async def test_i02_a_draft_that_another_process_overtook_is_recorded_and_has_no_effect(
    on_stage: Stage,
) -> None:
    """One process works and another one hears: stopping the call to the model cannot help."""
    async with AsyncExitStack() as stack:
        works = await stack.enter_async_context(app.opened(on_stage.settings, share=True))
        hears = await stack.enter_async_context(app.opened(on_stage.settings, share=True))
        on_stage.running = works
        working = await stack.enter_async_context(running(works.workers.run()))
        async with running(works.poller.run()):
            await on_stage.start_ai()
            on_stage.model.hold()
            on_stage.telegram.user_sends(USER, "Too late")
            await on_stage.model.until_asked(1)
        async with running(hears.poller.run()):
            on_stage.telegram.user_sends(USER, "/human")
            before = await on_stage.state(USER, "handoff_pending")
            on_stage.model.release()
            stale = await entries_of(on_stage, "AiDrafted")
        assert not working.done()
        assert [entry.outcome for entry in stale] == ["stale"]
        assert await on_stage.conversation() == before
        assert began(on_stage, "Too late") == 0
        assert all("Too late" not in line.text for line in await on_stage.lines())


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def entries_of(stage: Stage, event: str) -> list[Entry]:
    name = "SELECT seq FROM journal WHERE event = :event"
    await stage.until_rows(name, event=event)
    return [entry for entry in await stage.journal() if entry.event == event]


async def test_i03_after_a_claim_no_part_of_the_reply_begins_and_one_on_the_wire_goes_first(
    live: Stage,
) -> None:
    await live.start_ai()
    await live.shows(USER, "is on")
    live.model.script(Reply(text=LONG))
    live.telegram.faults.add(Fault(method="sendMessage", chat_id=USER, delay=0.8))
    live.telegram.user_sends(USER, "Tell me all")
    await live.until(lambda: began(live, "one0 one1") or None)
    live.telegram.user_sends(OWNER, f"/claim {USER}")
    await live.state(USER, "human_active")
    live.telegram.user_sends(OWNER, "I am here.")
    await live.shows(USER, "I am here.")
    texts = [seen.text for seen in live.from_bot(USER)]
    first, joined, said = (
        next(number for number, text in enumerate(texts) if words in text)
        for words in ("one0 one1", "is here now", "I am here.")
    )
    assert first < joined < said
    assert began(live, "two two") == 0


async def test_i04_every_message_is_settled_once_also_across_a_restart(on_stage: Stage) -> None:
    async with on_stage.bot():
        await on_stage.start_ai()
        on_stage.telegram.user_sends(USER, "Answered")
        await on_stage.covered(1)
        on_stage.telegram.user_sends_media(USER, "sticker")
        await on_stage.covered(2)
        on_stage.model.hold()
        on_stage.telegram.user_sends(USER, "Cut by the restart")
        await on_stage.model.until_asked(2)
    on_stage.telegram.user_sends(USER, "Written while nobody listened")
    on_stage.model.release()
    async with on_stage.bot():
        await on_stage.covered(4)
        on_stage.telegram.user_sends(USER, "/human")
        on_stage.telegram.user_sends(USER, "For a person")
        on_stage.telegram.user_sends(OWNER, f"/claim {USER}")
        await on_stage.state(USER, "human_active")
        query = "SELECT covered_by FROM messages WHERE chat_id = :chat AND version > 0"
        covered = await on_stage.rows(f"{query} AND author = 'user' ORDER BY version", chat=USER)
        assert covered == [("ai",), ("notice",), ("ai",), ("ai",), ("human",)]
        replies = "SELECT turn_id FROM outbox WHERE author = 'ai' AND status = 'sent' ORDER BY seq"
        assert await on_stage.rows(replies) == [("turn:msg-1",), ("turn:msg-4",)]


async def test_i05_a_draft_that_was_overtaken_while_it_was_judged_is_dropped(
    on_stage: Stage,
) -> None:
    on_stage.model.moderate(delay_seconds=0.3)
    async with on_stage.bot(moderation="endpoint"):
        await on_stage.start_ai()
        on_stage.model.script(Reply(text="Only the first."), Reply(text="Both of them."))
        on_stage.telegram.user_sends(USER, "first")
        await on_stage.model.until(lambda model: bool(model.moderated))
        on_stage.telegram.user_sends(USER, "second")
        await on_stage.shows(USER, "Both of them.")
        await on_stage.covered(2)
        assert began(on_stage, "Only the first.") == 0


async def test_i06_no_draft_is_visible_before_it_was_judged(on_stage: Stage) -> None:
    on_stage.model.moderate(delay_seconds=0.5)
    async with on_stage.bot(moderation="endpoint"):
        await on_stage.start_ai()
        on_stage.model.script(Reply(text="Judged first."))
        on_stage.telegram.user_sends(USER, "Well?")
        await on_stage.model.until(lambda model: bool(model.moderated))
        await on_stage.state(USER, "moderating")
        assert began(on_stage, "Judged first.") == 0
        await on_stage.shows(USER, "Judged first.")


async def test_i07_a_doubtful_part_is_found_out_and_the_rest_follows_once(live: Stage) -> None:
    await live.start_ai()
    await live.shows(USER, "is on")
    live.model.script(Reply(text=LONG))
    live.telegram.faults.add(Fault(Harm.CUT_AFTER, method="sendMessage", chat_id=USER))
    live.telegram.user_sends(USER, "Tell me all")
    await live.state(USER, "delivery_unknown")
    await live.covered(1, timeout=20)
    assert live.count(USER, "one0 one1") == 1
    assert began(live, "one0 one1") == 1
    assert live.count(USER, "two two") == 1
    assert len(live.model.requests) == 1


async def test_i08_the_model_sees_what_was_consented_to_and_no_more_than_allowed(
    on_stage: Stage,
) -> None:
    async with on_stage.bot(model_max_messages=3):
        on_stage.telegram.user_sends(USER, "/human")
        on_stage.telegram.user_sends(USER, "KEPT-FOR-A-PERSON")
        on_stage.telegram.user_sends(OWNER, f"/claim {USER}")
        on_stage.telegram.user_sends(OWNER, "WORDS-OF-A-PERSON")
        on_stage.telegram.user_sends(USER, "SAID-TO-A-PERSON")
        on_stage.telegram.user_sends(OWNER, "/release")
        await entries_of(on_stage, "HumanReleased")
        on_stage.telegram.user_forges_press(USER, 1, "v1:start")
        await on_stage.state(USER, "ai_ready")
        for number in range(1, 4):
            on_stage.telegram.user_sends(USER, f"Question {number}")
            await on_stage.covered(number + 2)
        assert all(
            words not in on_stage.asked()
            for words in ("KEPT-FOR-A-PERSON", "WORDS-OF-A-PERSON", "SAID-TO-A-PERSON")
        )
        assert "a person helped from" in on_stage.asked()
        sizes = [len(each.body["messages"]) for each in on_stage.model.requests]
        assert max(sizes) <= 1 + 3, "the system prompt and three messages"


async def test_i09_memory_only_grows_and_each_line_is_readable_once(on_stage: Stage) -> None:
    remember = json.dumps({"text": "Lives in Rome", "kind": "fact", "about": "home city"})
    moved = json.dumps({"text": "Lives in Oslo", "kind": "fact", "about": "home city"})
    async with on_stage.bot() as running:
        for change in ("UPDATE", "DELETE"):
            guard = f"CREATE TRIGGER no_{change} BEFORE {change} ON memory_lines BEGIN"
            statement = f"{guard} SELECT RAISE(ABORT, 'memory only grows'); END"
            await running.database.transact(lambda sql, s=statement: sql.run(s))  # type: ignore[misc]
        await on_stage.start_ai()
        on_stage.model.script(
            Reply("Rome it is.", (Call("remember", remember),)),
            Reply("Oslo it is.", (Call("remember", moved),)),
        )
        on_stage.telegram.user_sends(USER, "I live in Rome")
        await on_stage.shows(USER, "Rome it is.")
        await on_stage.covered(1)
        on_stage.telegram.user_sends(USER, "I moved to Oslo")
        await on_stage.covered(2)
        on_stage.telegram.user_sends(USER, "/memory")
        shown = await on_stage.shows(USER, "Lives in Oslo")
        assert "Rome" not in shown.text
        waiting = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM memory_outbox)"
        await on_stage.until_rows(waiting)
        assert sum("Lives in" in line.text for line in await on_stage.lines()) == 2
        on_stage.telegram.user_sends(USER, "/memory")
        again = await on_stage.shows(USER, "Lives in Oslo", times=2)
        assert again.text == shown.text, "the same once every line is out of the outbox"


async def test_i10_nothing_of_one_conversation_reaches_another_one(live: Stage) -> None:
    for chat_id in (USER, OTHER):
        await live.start_ai(chat_id)
    live.telegram.user_sends(USER, "Remember that my secret garden is in Shiraz")
    await live.covered(1)
    live.telegram.user_sends(USER, "Remind me to water the secret roses tomorrow")
    await live.covered(2)
    before = len(live.model.requests)
    live.telegram.user_sends(OTHER, "Where is my secret garden?")
    await live.covered(1, OTHER)
    for command in ("/memory", "/tasks"):
        live.telegram.user_sends(OTHER, command)
    await live.shows(OTHER, "no open tasks")
    asked = json.dumps([each.body for each in live.model.requests[before:]])
    seen = " ".join(each.text for each in live.from_bot(OTHER))
    for words in ("Shiraz", "roses"):
        assert words not in asked
        assert words not in seen


async def test_i11_logs_and_journal_carry_no_text_token_or_key(
    on_stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where something goes wrong: a refused send, a failed model, an unreadable update."""
    caplog.set_level(logging.DEBUG)
    private = ("PRIVATE-WORDS", "PRIVATE-ANSWER", "PRIVATE-PERSON", on_stage.telegram.token)
    refused = Fault(
        Harm.REFUSE, method="sendMessage", chat_id=USER, description="Bad Request: odd", skip=1
    )
    on_stage.telegram.faults.add(refused)
    on_stage.model.script(
        Reply(text="PRIVATE-ANSWER"),
        Reply(
            status=500, body={"error": {"message": "PRIVATE-WORDS"}}, headers={"retry-after": "0"}
        ),
        Reply(status=401, body={"error": {"message": "PRIVATE-WORDS"}}),
    )
    with capture_logs() as logged:
        async with on_stage.bot():
            await on_stage.start_ai()
            await on_stage.shows(USER, "is on")
            on_stage.telegram.user_sends(USER, "PRIVATE-WORDS 1")
            await on_stage.covered(1)
            on_stage.telegram.user_sends(USER, "PRIVATE-WORDS 2")
            await on_stage.covered(2)
            on_stage.telegram.user_sends(USER, "/remember PRIVATE-WORDS 3")
            on_stage.telegram.user_sends(OWNER, f"/claim {USER}")
            on_stage.telegram.user_sends(OWNER, "PRIVATE-PERSON")
            await on_stage.shows(USER, "PRIVATE-PERSON")
            journal = repr(await on_stage.rows("SELECT * FROM journal"))
    events = {entry["event"] for entry in logged}
    assert events >= {"send_refused", "generation_failed", "model_attempt_repeated"}
    library = [
        r.getMessage() for r in caplog.records if r.name.partition(".")[0] in ("bot", "memory")
    ]
    for words in private:
        assert words not in repr(logged)
        assert words not in repr(library)
        assert words not in journal
