"""Whatever is wrong with the model: one clear sentence, once, and the conversation goes on."""

from dataclasses import dataclass
from typing import Any

import pytest

from bot.lab.practice.scripts import Call, Fault, Reply
from tests.stage import OWNER, USER, Stage

AT_ONCE = {"retry-after": "0"}


def refused(status: int, message: str, code: str = "", **more: Any) -> Reply:
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code or None}}
    return Reply(status=status, body=body, **more)


@dataclass(frozen=True, slots=True)
class Trouble:
    replies: tuple[Reply, ...]
    user_reads: str
    host_reads: str
    calls: int = 1
    model_timeout: float = 60


TROUBLES = {
    "wrong_key": Trouble(
        (refused(401, "Incorrect API key provided.", "invalid_api_key"),),
        "not set up correctly",
        "Check MODEL_API_KEY",
    ),
    "unknown_model": Trouble(
        (refused(404, "The model `x` does not exist.", "model_not_found"),),
        "does not exist",
        "Check MODEL_NAME",
    ),
    "no_balance": Trouble(
        (refused(402, "Insufficient Balance"),), "out of credit", "Top up its balance"
    ),
    "rate_limited": Trouble(
        (refused(429, "Rate limit reached", "rate_limit_exceeded", headers=AT_ONCE),) * 4,
        "too many requests at once",
        "limits the number of requests",
        calls=4,
    ),
    "content_filter": Trouble(
        (refused(400, "The response was filtered", "content_filter"),),
        "may not answer that",
        "filter refuses",
    ),
    "empty_answer": Trouble((Reply(text=""),), "had nothing to say", "returns empty answers"),
    "only_blanks": Trouble(
        (Reply(text="\u200b \n"),), "had nothing to say", "returns empty answers"
    ),
    "cut_stream": Trouble(
        (Reply(text="The beginning of a long answer", fault=Fault.DISCONNECT, after_tokens=3),),
        "broke off in the middle",
        "break off in the middle",
    ),
    "truncated_stream": Trouble(
        (Reply(text="The beginning of a long answer", fault=Fault.TRUNCATE, after_tokens=3),),
        "broke off in the middle",
        "break off in the middle",
    ),
    "web_page": Trouble(
        (Reply(text="x", fault=Fault.HTML),), "cannot read", "like an OpenAI-compatible endpoint"
    ),
    "broken_json": Trouble(
        (Reply(text="some words", fault=Fault.MALFORMED, after_tokens=0),),
        "cannot read",
        "like an OpenAI-compatible endpoint",
    ),
    "overloaded": Trouble(
        (refused(503, "The server is overloaded", headers=AT_ONCE),) * 4,
        "cannot reach the assistant",
        "cannot be reached",
        calls=4,
    ),
    "slow_first_token": Trouble(
        (Reply(text="late", fault=Fault.STALL, after_tokens=0),),
        "took too long",
        "Raise MODEL_TIMEOUT",
        model_timeout=0.4,
    ),
    "slow_answer": Trouble(
        (Reply(text="one two three four", fault=Fault.STALL, after_tokens=2),),
        "took too long",
        "Raise MODEL_TIMEOUT",
        model_timeout=0.4,
    ),
}


@pytest.mark.parametrize("name", TROUBLES)
async def test_a_failure_is_one_clear_sentence_and_the_next_question_is_answered(
    on_stage: Stage, name: str
) -> None:
    trouble = TROUBLES[name]
    on_stage.telegram.add_user(OWNER, started=True)
    async with on_stage.bot(model_timeout=trouble.model_timeout):
        await on_stage.start_ai()
        on_stage.model.script(*trouble.replies)
        on_stage.telegram.user_sends(USER, "A question")
        await on_stage.shows(USER, trouble.user_reads)
        await on_stage.covered(1)
        assert len(on_stage.model.requests) == trouble.calls
        assert len(on_stage.from_bot(USER)) == 2, "that the AI is on, and the one sentence"
        await on_stage.shows(OWNER, trouble.host_reads)
        on_stage.model.script(Reply(text="Better now."))
        on_stage.telegram.user_sends(USER, "Again")
        await on_stage.shows(USER, "Better now.")


async def test_broken_arguments_of_a_tool_are_sent_back_and_cost_no_answer(live: Stage) -> None:
    await live.start_ai()
    live.model.script(
        Reply(tool_calls=(Call("remember", '{"text": "unfin'),)),
        Reply(tool_calls=(Call("remember", "[1, 2]"),)),
        Reply(text="I could not note that."),
    )
    live.telegram.user_sends(USER, "Remember something")
    await live.shows(USER, "I could not note that.")
    assert len(live.model.requests) <= 4
    assert all("unfin" not in line.text for line in await live.lines())


async def test_an_endpoint_that_trips_over_its_own_tool_calls_is_asked_without_tools(
    live: Stage,
) -> None:
    await live.start_ai()
    live.model.script(
        *[Reply(tool_calls=(Call("no_such_tool", "{}"),)) for _ in range(2)],
        Reply(text="Then without."),
    )
    live.telegram.user_sends(USER, "Use your tools")
    await live.shows(USER, "Then without.")
    assert "tools" not in live.model.requests[-1].body


async def test_a_context_that_is_too_long_is_shortened_once_and_answered(live: Stage) -> None:
    await live.start_ai()
    live.model.configure(max_characters=24_000)
    live.telegram.user_sends(USER, "word " * 8_000)
    await live.covered(10)
    assert [seen.text for seen in live.from_bot(USER)][-1].startswith("You wrote")
    assert len(live.model.requests) == 2


async def test_a_context_that_never_fits_is_not_tried_for_ever(live: Stage) -> None:
    await live.start_ai()
    live.model.configure(max_characters=50)
    for number in (1, 2):
        live.telegram.user_sends(USER, f"Question {number}")
        await live.shows(USER, "too long for the assistant", times=number)
        await live.covered(number)
    assert len(live.model.requests) <= 4
    live.model.configure(max_characters=0)
    live.telegram.user_sends(USER, "Question 3")
    await live.covered(3)
    assert live.count(USER, "too long for the assistant") == 2


async def test_a_wait_that_the_endpoint_asks_for_is_kept(live: Stage) -> None:
    await live.start_ai()
    live.model.script(
        refused(429, "Slow down", headers={"retry-after": "1"}), Reply(text="After a second.")
    )
    live.telegram.user_sends(USER, "Hurry")
    await live.shows(USER, "After a second.")
    first, second = live.model.requests
    assert second.at - first.at >= 1


async def test_an_endpoint_that_is_down_is_told_to_user_and_host(on_stage: Stage) -> None:
    on_stage.telegram.add_user(OWNER, started=True)
    async with on_stage.bot(model_base_url="http://127.0.0.1:9/v1", model_timeout=0.5):
        await on_stage.start_ai()
        on_stage.telegram.user_sends(USER, "Anybody?")
        await on_stage.shows(USER, "cannot reach the assistant")
        await on_stage.shows(OWNER, "cannot be reached")
        await on_stage.state(USER, "ai_ready")


async def test_after_three_failures_in_a_row_the_assistant_steps_aside(live: Stage) -> None:
    await live.start_ai()
    live.model.script(*[refused(402, "Insufficient Balance")] * 3)
    for number in range(1, 4):
        live.telegram.user_sends(USER, f"Question {number}")
        await live.covered(number)
    aside = await live.shows(USER, "off for now")
    labels = [button["text"] for row in aside.keyboard for button in row]
    assert labels == ["Start the AI assistant", "Talk to a person"]
    assert (await live.conversation()).state == "consent_required"
    live.model.script(Reply(text="Paid."))
    live.press(USER, "Start the AI assistant")
    await live.state(USER, "ai_ready")
    live.telegram.user_sends(USER, "Question 4")
    await live.shows(USER, "Paid.")


async def test_a_success_in_between_starts_the_count_anew(live: Stage) -> None:
    await live.start_ai()
    failed = refused(402, "Insufficient Balance")
    live.model.script(failed, failed, Reply(text="Fine."), failed)
    for number in range(1, 5):
        live.telegram.user_sends(USER, f"Question {number}")
        await live.covered(number)
    assert (await live.conversation()).state == "ai_ready"


async def test_the_host_is_told_once_and_not_for_every_user_who_asks(live: Stage) -> None:
    chats = range(5000, 5006)
    live.telegram.add_user(OWNER, started=True)
    live.model.script(*[refused(401, "Incorrect API key", "invalid_api_key")] * len(chats))
    for chat_id in chats:
        await live.start_ai(chat_id)
        live.telegram.user_sends(chat_id, "Hello")
    for chat_id in chats:
        await live.shows(chat_id, "not set up correctly")
    await live.everything_so_far(OWNER)
    assert live.count(OWNER, "MODEL_API_KEY") == 1


async def test_a_host_who_asks_themself_is_told_what_to_do(live: Stage) -> None:
    await live.start_ai(OWNER)
    live.model.script(refused(401, "Incorrect API key", "invalid_api_key"))
    live.telegram.user_sends(OWNER, "Hello")
    await live.shows(OWNER, "not set up correctly")
    await live.shows(OWNER, "Check MODEL_API_KEY")


async def test_a_provider_that_demands_its_reasoning_back_gets_it_and_nobody_sees_it(
    live: Stage,
) -> None:
    await live.start_ai()
    live.model.configure(require_reasoning_content=True)
    live.telegram.user_sends(USER, "What is my name?")
    await live.covered(1)
    assert len(live.model.requests) == 2, "recall, then the answer"
    live.telegram.user_sends(USER, "And my age?")
    await live.covered(2)
    texts = " ".join(seen.text for seen in live.from_bot(USER))
    assert "may be in what was kept" not in texts
    assert "not set up" not in texts
