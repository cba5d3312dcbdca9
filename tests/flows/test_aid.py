"""The AI helps the operator and never speaks for itself: drafts, summaries, translations."""

from bot.lab.practice.scripts import Reply
from tests.stage import OWNER, USER, Stage

SEND, DISCARD, AS_WRITTEN = "Send", "Discard", "Send as written"


async def talk_then_take(stage: Stage, said: str = "Where is my order?") -> None:
    """The user writes to the AI and is answered; then the owner takes the conversation."""
    stage.telegram.user_starts(OWNER)
    await stage.shows(OWNER, "assistant")
    await stage.opt_in()
    stage.model.script(Reply(text="I cannot see orders."))
    stage.telegram.user_sends(USER, said)
    await stage.shows(USER, "I cannot see orders.")
    await stage.covered(1)
    await take(stage)


async def take(stage: Stage) -> None:
    stage.telegram.user_sends(OWNER, f"/claim {USER}")
    await stage.state(USER, "human_active")
    await stage.shows(USER, "is here now")
    await stage.shows(OWNER, "You are talking to")


async def drafted(stage: Stage, text: str = "It ships today.") -> None:
    stage.model.script(Reply(text=text))
    stage.telegram.user_sends(OWNER, "/draft")
    await stage.shows(OWNER, text)


def pressed_twice(stage: Stage, label: str) -> None:
    for seen in reversed(stage.from_bot(OWNER)):
        if any(button["text"] == label for row in seen.keyboard for button in row):
            stage.telegram.user_presses(OWNER, seen.message_id, label)
            stage.telegram.user_presses(OWNER, seen.message_id, label)
            return
    raise AssertionError(f"no button {label!r}")


async def test_a_draft_is_seen_by_the_operator_only_until_they_send_it(live: Stage) -> None:
    await talk_then_take(live)
    await drafted(live)
    await live.everything_so_far()
    assert live.count(USER, "It ships today.") == 0
    pressed_twice(live, SEND)
    await live.shows(USER, "It ships today.")
    await live.shows(OWNER, "Sent by")
    await live.everything_so_far(OWNER)
    assert live.count(USER, "It ships today.") == 1
    rows = await live.rows(
        "SELECT author, detail FROM messages WHERE text = :text", text="It ships today."
    )
    assert rows == [("human", "drafted")]
    sent = await live.rows("SELECT id FROM outbox WHERE author = 'human'")
    assert [row[0].startswith(f"human:tg:{USER}:{OWNER}:") for row in sent] == [True]
    actions = await live.rows("SELECT action, outcome FROM operator_actions ORDER BY at, id")
    assert ("draft", "done") in actions
    assert ("draft_sent", "done") in actions


async def test_a_draft_is_made_from_what_the_user_let_the_ai_read(live: Stage) -> None:
    await talk_then_take(live)
    live.telegram.user_sends(USER, "For the person only.")
    await live.shows(OWNER, "For the person only.")
    live.telegram.user_sends(OWNER, "Operator's words.")
    await live.shows(USER, "Operator's words.")
    await drafted(live)
    asked = str(live.model.requests[-1].body)
    assert "Where is my order?" in asked
    assert "I cannot see orders." in asked
    assert "For the person only." not in asked
    assert "Operator's words." not in asked


async def test_without_consent_there_is_no_draft_and_no_summary(live: Stage) -> None:
    live.telegram.user_starts(OWNER)
    live.telegram.user_sends(USER, "/human")
    await live.state(USER, "handoff_pending")
    live.telegram.user_sends(USER, "My secret.")
    await take(live)
    live.telegram.user_sends(OWNER, "/draft")
    await live.shows(OWNER, "There is no draft: the user has let the assistant read nothing")
    live.telegram.user_sends(OWNER, "/summary")
    await live.shows(OWNER, "There is no summary: the user has let the assistant read nothing")
    assert live.model.requests == []


async def test_a_draft_is_checked_before_anybody_sees_it(on_stage: Stage) -> None:
    async with on_stage.bot(moderation="endpoint"):
        await talk_then_take(on_stage)
        on_stage.model.moderate(flagged=["ships"])
        on_stage.model.script(Reply(text="It ships today."))
        on_stage.telegram.user_sends(OWNER, "/draft")
        await on_stage.shows(OWNER, "There is no draft: what the model wrote did not pass")
        on_stage.model.moderate(flagged=[], down=True)
        on_stage.model.script(Reply(text="It ships today."))
        on_stage.telegram.user_sends(OWNER, "/draft")
        await on_stage.shows(OWNER, "could not be checked")
        assert on_stage.count(OWNER, "It ships today.") == 0
        assert (await on_stage.conversation()).state == "human_active"


async def test_a_draft_of_an_earlier_stretch_is_refused_with_a_sentence(live: Stage) -> None:
    await talk_then_take(live)
    await drafted(live)
    live.telegram.user_sends(OWNER, "/release")
    await live.state(USER, "consent_required")
    await take(live)
    press = live.press(OWNER, SEND)
    await live.shows(OWNER, "Out of date, not sent:")
    await live.until(lambda: press.text or None)
    assert "changed hands" in str(press.text)
    await live.everything_so_far(OWNER)
    assert live.count(USER, "It ships today.") == 0


async def test_a_draft_that_comes_after_the_release_is_not_made(live: Stage) -> None:
    await talk_then_take(live)
    asked = len(live.model.requests)
    live.model.hold()
    live.model.script(Reply(text="It ships today."))
    live.telegram.user_sends(OWNER, "/draft")
    await live.model.until_asked(asked + 1)
    live.telegram.user_sends(OWNER, "/release")
    await live.state(USER, "consent_required")
    live.model.release()
    await live.shows(OWNER, "changed hands")
    assert live.count(OWNER, "It ships today.") == 0
    assert await live.rows("SELECT 1 FROM suggestions") == []


async def test_a_discarded_draft_cannot_be_sent(live: Stage) -> None:
    await talk_then_take(live)
    await drafted(live)
    shown = next(seen for seen in live.from_bot(OWNER) if "It ships today." in seen.text)
    live.press(OWNER, DISCARD)
    await live.shows(OWNER, "Discarded, not sent:")
    (suggestion,) = await live.rows("SELECT id FROM suggestions")
    live.telegram.user_forges_press(OWNER, shown.message_id, f"v1:suggest:send:{suggestion[0]}")
    await live.everything_so_far(OWNER)
    assert live.count(USER, "It ships today.") == 0


async def test_a_reply_to_a_draft_goes_out_in_its_place(live: Stage) -> None:
    await talk_then_take(live)
    await drafted(live)
    shown = next(seen for seen in live.from_bot(OWNER) if "It ships today." in seen.text)
    live.telegram.user_sends(OWNER, "It ships on Friday.", reply_to=shown.message_id)
    await live.shows(USER, "It ships on Friday.")
    live.press(OWNER, SEND)
    await live.everything_so_far(OWNER)
    assert live.count(USER, "It ships today.") == 0
    assert await live.rows("SELECT status FROM suggestions") == [("replaced",)]


async def test_only_the_holder_may_send_a_draft(on_stage: Stage) -> None:
    other = 1001
    async with on_stage.bot(operators=frozenset({other})):
        on_stage.telegram.user_starts(other)
        await talk_then_take(on_stage)
        await drafted(on_stage)
        (suggestion,) = await on_stage.rows("SELECT id FROM suggestions")
        for presser in (other, USER):
            on_stage.telegram.user_forges_press(presser, 1, f"v1:suggest:send:{suggestion[0]}")
            await on_stage.everything_so_far(presser)
        on_stage.telegram.user_sends(other, "/draft")
        await on_stage.shows(other, "You hold no conversation")
        assert on_stage.count(USER, "It ships today.") == 0
        assert await on_stage.rows("SELECT status FROM suggestions") == [("open",)]


async def test_a_model_that_is_down_costs_one_sentence_and_no_authority(live: Stage) -> None:
    await talk_then_take(live)
    live.model.script(*[Reply(status=503)] * 12)
    live.telegram.user_sends(OWNER, "/draft")
    await live.shows(OWNER, "There is no draft: the model gives no usable answer")
    held = await live.conversation()
    assert (held.state, held.holder and held.holder.operator_id) == ("human_active", OWNER)
    live.telegram.user_sends(OWNER, "I am still here.")
    await live.shows(USER, "I am still here.")
    assert live.count(USER, "usable answer") == 0


async def test_a_summary_is_for_the_operator_only(live: Stage) -> None:
    await talk_then_take(live)
    live.telegram.user_sends(OWNER, "/summary")
    shown = await live.shows(OWNER, "in short:")
    assert "Where is my order?" in shown.text
    assert live.count(USER, "in short:") == 0
    live.telegram.user_sends(OWNER, "/release")
    await live.state(USER, "consent_required")
    live.telegram.user_sends(OWNER, f"/summary {USER}")
    await live.shows(OWNER, "in short:", times=2)
    live.telegram.user_sends(OWNER, "/summary 99")
    await live.shows(OWNER, "no open conversation tg:99")


async def test_an_assignment_survives_a_restart_and_is_told_once(on_stage: Stage) -> None:
    async with on_stage.bot():
        await talk_then_take(on_stage)
        asked = len(on_stage.model.requests)
        on_stage.model.hold()
        on_stage.telegram.user_sends(OWNER, "/draft")
        await on_stage.model.until_asked(asked + 1)
    on_stage.model.release()
    on_stage.model.script(Reply(text="It ships today."))
    async with on_stage.bot():
        await on_stage.shows(OWNER, "It ships today.")
        await on_stage.everything_so_far(OWNER)
        assert on_stage.count(OWNER, "It ships today.") == 1
        on_stage.press(OWNER, SEND)
        await on_stage.shows(USER, "It ships today.")
