"""Contract of `ChatModel`: every foreign status, exception and trap becomes our ModelFailure.

Three counterparts: a transport for single replies, the practice model over real HTTP, and llmock,
which we did not write.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmock.pytest_plugin import LLMock

from bot.errors import ModelFailed, ModelFailure
from bot.lab.model import PracticeModel
from bot.lab.practice.player import Ending
from bot.lab.practice.scripts import Call, Fault, Reply
from bot.lab.serve import LoopbackServer, serve
from bot.model.client import OpenAICompatibleModel
from bot.model.failures import KNOWN_CODES, diagnose, refusal
from bot.model.port import ChatMessage, ToolCall, ToolSpec, Usage
from bot.model.streaming import Assembly

ASK = (ChatMessage("system", "Be kind."), ChatMessage("user", "What is the weather like?"))
SHOUT = ToolSpec(
    "shout", "Say it loudly.", {"type": "object", "properties": {"text": {"type": "string"}}}
)


class Naps:
    """A sleep that takes no time and remembers what was asked of it."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.now = 100.0

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@asynccontextmanager
async def opened(
    url: str, naps: Naps | None = None, **limits: Any
) -> AsyncIterator[OpenAICompatibleModel]:
    naps = naps or Naps()
    model = OpenAICompatibleModel(
        f"{url}/v1",
        "secret-key-1",
        "practice",
        sleep=naps.sleep,
        clock=naps.clock,
        **({"timeout_seconds": 20.0} | limits),
    )
    try:
        yield model
    finally:
        await model.close()


@pytest.fixture
async def lab() -> AsyncIterator[tuple[PracticeModel, str]]:
    endpoint = PracticeModel()
    async with serve(endpoint) as url:
        yield endpoint, url


async def failure_of(model: OpenAICompatibleModel, **ask: Any) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        await model.complete(ask.get("messages", ASK), ask.get("tools", ()))
    return caught.value


def over(
    handler: Callable[[httpx2.Request], httpx2.Response], **limits: Any
) -> OpenAICompatibleModel:
    """A model whose endpoint is a function."""
    naps = Naps()
    return OpenAICompatibleModel(
        "http://endpoint.test/v1",
        "secret-key-1",
        "practice",
        sleep=naps.sleep,
        clock=naps.clock,
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(handler)),
        **limits,
    )


def said(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None} | more}


F = ModelFailure
# What providers answer, each with the failure it stands for. Texts are from their documentation
# and from public bug reports.
WORDINGS = json.loads(Path(__file__).with_name("provider_errors.json").read_text("utf-8"))


@pytest.mark.parametrize("told", WORDINGS, ids=lambda told: f"{told['who']}-{told['status']}")
async def test_every_providers_wording_becomes_one_failure(told: dict[str, Any]) -> None:
    status, body = told["status"], told["body"]

    def handler(_request: httpx2.Request) -> httpx2.Response:
        if isinstance(body, str):
            kind = "text/html" if body.startswith("<") else "application/json"
            return httpx2.Response(status, text=body, headers={"content-type": kind})
        return httpx2.Response(status, json=body)

    model = over(handler)
    assert (await failure_of(model)).failure == told["failure"]
    await model.close()


async def test_a_body_nested_too_deep_is_a_bad_reply() -> None:
    def handler(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, text="[" * 100_000, headers={"content-type": "text/json"})

    model = over(handler)
    assert (await failure_of(model)).failure is F.BAD_REPLY
    await model.close()


@pytest.mark.parametrize(
    ("error", "failure", "attempts"),
    [
        (httpx2.ConnectError("refused"), F.UNREACHABLE, 4),
        (httpx2.ConnectTimeout("slow"), F.UNREACHABLE, 4),
        (httpx2.RemoteProtocolError("disconnected"), F.UNREACHABLE, 4),
        (httpx2.ReadError("reset"), F.UNREACHABLE, 4),
        (httpx2.ReadTimeout("slow"), F.TIMED_OUT, 1),
        (httpx2.UnsupportedProtocol("ftp"), F.UNREACHABLE, 1),
        (httpx2.DecodingError("not gzip"), F.BAD_REPLY, 1),
    ],
)
async def test_every_transport_error_becomes_one_failure(
    error: Exception, failure: ModelFailure, attempts: int
) -> None:
    asked = 0

    def handler(_request: httpx2.Request) -> httpx2.Response:
        nonlocal asked
        asked += 1
        raise error

    model = over(handler)
    assert (await failure_of(model)).failure is failure
    assert asked == attempts
    await model.close()


@given(
    words=st.text(max_size=60) | st.sampled_from(sorted(KNOWN_CODES)),
    status=st.sampled_from([200, 400, 401, 402, 403, 404, 413, 422, 429, 500, 503]),
    name=st.sampled_from(["message", "code", "type", "param", "status"]),
)
def test_a_diagnosis_holds_nothing_but_a_status_and_a_known_code(
    words: str, status: int, name: str
) -> None:
    told, _, code = diagnose(refusal(status, {"error": {name: words}})).detail.partition(" ")
    assert told.isdigit()
    assert code in KNOWN_CODES | {""}


async def test_no_exception_or_traceback_leads_to_the_providers_words() -> None:
    def handler(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(401, json=said("Incorrect API key provided: secret-key-1"))

    error = await failure_of(over(handler))
    assert "secret-key-1" not in repr(error) + str(error) + error.detail
    assert error.__cause__ is None
    assert error.__context__ is None


# --- answers ------------------------------------------------------------------------------------


async def test_a_streamed_answer_arrives_whole_with_its_usage(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    text = "سلام! \n\n**Hello** 👋🏽 " * 40
    endpoint.script(Reply(text, reasoning="They greet me."))
    async with opened(url) as model:
        answer = await model.complete(ASK)
    assert answer.text == text
    assert answer.reasoning == "They greet me."
    assert answer.finish_reason == "stop"
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.completion_tokens > 0
    assert endpoint.requests[0].body["stream_options"] == {"include_usage": True}


async def test_tool_calls_are_put_together_and_sent_back(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.configure(require_reasoning_content=True)
    calls = (Call("shout", '{"text": "one two three"}'), Call("shout", '{"text": "سلام"}'))
    endpoint.script(Reply("Wait.", tool_calls=calls, reasoning="Loud."))
    async with opened(url) as model:
        first = await model.complete(ASK, [SHOUT])
        assert [(one.name, one.arguments) for one in first.tool_calls] == [
            (call.name, call.arguments) for call in calls
        ]
        assert (first.text, first.finish_reason) == ("Wait.", "tool_calls")
        told = ChatMessage("assistant", first.text, first.tool_calls, reasoning=first.reasoning)
        results = [ChatMessage("tool", "done", tool_call_id=one.id) for one in first.tool_calls]
        await model.complete([*ASK, told, *results], [SHOUT])
    sent = endpoint.requests[1].body["messages"]
    assert sent[2]["reasoning_content"] == "Loud."
    assert [one["id"] for one in sent[2]["tool_calls"]] == [m["tool_call_id"] for m in sent[3:]]


async def test_an_endpoint_that_ignores_stream_is_read_whole(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    endpoint.configure(ignore_stream=True)
    endpoint.script(Reply("All at once.", tool_calls=(Call("shout", "{}"),), reasoning="Hm."))
    async with opened(url) as model:
        answer = await model.complete(ASK, [SHOUT])
    assert (answer.text, answer.reasoning) == ("All at once.", "Hm.")
    assert answer.tool_calls[0].name == "shout"


async def test_an_answer_cut_at_the_length_limit_keeps_its_text(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    endpoint.script(Reply("And then she", finish_reason="length"))
    async with opened(url) as model:
        answer = await model.complete(ASK)
    assert (answer.text, answer.finish_reason) == ("And then she", "length")


async def test_a_think_block_is_reasoning_and_a_talked_about_one_is_text(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    endpoint.script(Reply("<think>\nA tag.\n</think>\n\nWrite `<think>` first."))
    async with opened(url) as model:
        answer = await model.complete(ASK)
    assert (answer.text, answer.reasoning) == ("Write `<think>` first.", "A tag.")


async def test_half_a_surrogate_pair_in_the_prompt_does_not_stop_the_request(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    async with opened(url) as model:
        await model.complete([ChatMessage("user", "cut \ud83d here")])
    assert endpoint.requests[0].texts == ["cut � here"]


# --- traps of a stream --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (Reply("one two three four", fault=Fault.TRUNCATE), F.CUT_OFF),
        (Reply("one two three four", fault=Fault.DISCONNECT), F.CUT_OFF),
        (Reply("one two three four", fault=Fault.MALFORMED), F.BAD_REPLY),
        (Reply("one two three four", fault=Fault.ERROR), F.CUT_OFF),
        (Reply("one two three four", fault=Fault.HTML), F.BAD_REPLY),
        (Reply("one two", finish_reason="content_filter"), F.CONTENT_FILTER),
        (Reply(""), F.EMPTY_ANSWER),
        (Reply("", reasoning="only thoughts"), F.EMPTY_ANSWER),
        (Reply("", tool_calls=(Call("", "{}"),)), F.EMPTY_ANSWER),
    ],
    ids=lambda value: value.fault if isinstance(value, Reply) else str(value),
)
async def test_a_broken_stream_is_a_failure_and_is_not_repeated(
    lab: tuple[PracticeModel, str], reply: Reply, failure: ModelFailure
) -> None:
    endpoint, url = lab
    endpoint.script(reply)
    async with opened(url) as model:
        assert (await failure_of(model)).failure is failure
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("fault", [Fault.DISCONNECT, Fault.MALFORMED, Fault.TRUNCATE, Fault.STALL])
async def test_what_happens_after_the_answer_is_complete_does_not_matter(
    lab: tuple[PracticeModel, str], fault: Fault
) -> None:
    endpoint, url = lab
    endpoint.script(Reply("Done.", fault=fault, after_tokens=2))  # role, text, finish
    async with opened(url) as model:
        assert (await model.complete(ASK)).text == "Done."


async def test_a_silent_endpoint_ends_at_the_first_token_time_out(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    endpoint.hold()
    async with opened(url, first_token_seconds=0.1) as model:
        error = await failure_of(model)
    assert (error.failure, error.detail) == (F.TIMED_OUT, "first token")
    await endpoint.until(lambda lab: lab.requests[0].gone)
    assert len(endpoint.requests) == 1


async def test_a_role_chunk_is_no_first_token(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.script(Reply("never", fault=Fault.STALL, after_tokens=0))
    async with opened(url, first_token_seconds=0.1) as model:
        assert (await failure_of(model)).detail == "first token"


async def test_a_dripping_body_ends_at_the_deadline(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.script(Reply("drip " * 1000, token_seconds=0.02))
    async with opened(url, timeout_seconds=0.3, first_token_seconds=0.2) as model:
        error = await failure_of(model)
    assert (error.failure, error.detail) == (F.TIMED_OUT, "answer")
    await endpoint.until(lambda lab: lab.requests[0].gone)


async def test_a_runaway_answer_ends_as_if_its_limit_were_reached() -> None:
    def handler(_request: httpx2.Request) -> httpx2.Response:
        chunk = {"choices": [{"index": 0, "delta": {"content": "x" * 10_000}}]}
        events = f"data: {json.dumps(chunk)}\n\n" * 60
        return httpx2.Response(200, text=events, headers={"content-type": "text/event-stream"})

    model = over(handler)
    answer = await model.complete(ASK)
    assert answer.finish_reason == "length"
    await model.close()


async def test_cancelling_the_call_closes_its_connection(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.hold()
    async with opened(url) as model:
        call = asyncio.create_task(model.complete(ASK))
        asked = await endpoint.until_asked()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await endpoint.until(lambda _: asked.ending is not Ending.RUNNING)
    assert asked.gone


async def test_an_event_stream_without_a_content_type_is_read() -> None:
    def handler(_request: httpx2.Request) -> httpx2.Response:
        chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
        return httpx2.Response(200, content=f": ping\n\ndata: {json.dumps(chunk)}\n\n".encode())

    model = over(handler)
    assert (await model.complete(ASK)).text == "Hi"
    await model.close()


# --- repeating ----------------------------------------------------------------------------------


async def test_a_rate_limit_is_waited_out_as_long_as_asked(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    busy = Reply(status=429, headers={"Retry-After": "7"})
    endpoint.script(busy, busy, Reply("At last."))
    naps = Naps()
    async with opened(url, naps) as model:
        assert (await model.complete(ASK)).text == "At last."
    assert naps.seconds == [7.0, 7.0]


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after-ms": "1500"}, "", 1.5),
        (
            {
                "Retry-After": "Fri, 01 May 2026 10:00:05 GMT",
                "Date": "Fri, 01 May 2026 10:00:00 GMT",
            },
            "",
            5.0,
        ),
        ({}, "Please retry in 3.5s.", 3.5),
        ({}, "Please try again in 20ms.", 0.02),
    ],
)
def test_the_wait_is_read_in_every_form(
    headers: Mapping[str, str], message: str, seconds: float
) -> None:
    found = diagnose(refusal(429, said(message), headers))
    assert found.retry_after_seconds == pytest.approx(seconds)


async def test_a_wait_beyond_the_deadline_fails_at_once(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.script(Reply(status=429, headers={"Retry-After": "60"}))
    naps = Naps()
    async with opened(url, naps, timeout_seconds=20.0) as model:
        assert (await failure_of(model)).failure is F.RATE_LIMITED
    assert naps.seconds == []


@pytest.mark.parametrize("status", [408, 500, 502, 503, 529])
async def test_a_server_error_is_repeated_a_few_times(
    lab: tuple[PracticeModel, str], status: int
) -> None:
    endpoint, url = lab
    endpoint.script(*[Reply(status=status)] * 3, Reply("Back."))
    async with opened(url) as model:
        assert (await model.complete(ASK)).text == "Back."
        endpoint.script(*[Reply(status=status)] * 9)
        assert (await failure_of(model)).failure is F.UNREACHABLE
    assert len(endpoint.requests) == 8


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_a_definite_refusal_is_not_repeated(
    lab: tuple[PracticeModel, str], status: int
) -> None:
    endpoint, url = lab
    endpoint.script(Reply(status=status))
    async with opened(url) as model:
        await failure_of(model)
    assert len(endpoint.requests) == 1


async def test_a_connection_cut_before_the_first_token_is_repeated(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    endpoint.script(Reply("x", fault=Fault.DISCONNECT, after_tokens=0), Reply("Again."))
    async with opened(url) as model:
        assert (await model.complete(ASK)).text == "Again."


async def test_an_endpoint_that_is_down_is_tried_again_and_then_unreachable() -> None:
    server = LoopbackServer(PracticeModel())
    await server.start()
    await server.refuse()
    naps = Naps()
    async with opened(server.url, naps) as model:
        assert (await failure_of(model)).failure is F.UNREACHABLE
        assert len(naps.seconds) == 3
        await server.accept()
        assert (await model.complete(ASK)).text
    await server.stop()


# --- dialects -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "field"),
    [("refuse_tools", "tools"), ("refuse_stream_options", "stream_options")],
)
async def test_a_refused_field_is_left_out_from_then_on(
    lab: tuple[PracticeModel, str], setting: str, field: str
) -> None:
    endpoint, url = lab
    endpoint.configure(**{setting: True})
    async with opened(url) as model:
        await model.complete(ASK, [SHOUT])
        await model.complete(ASK, [SHOUT])
    assert [field in one.body for one in endpoint.requests] == [True, False, False]


async def test_an_endpoint_that_refuses_to_stream_is_asked_for_whole_answers(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    endpoint.configure(refuse_stream=True, refuse_tools=True, refuse_stream_options=True)
    async with opened(url) as model:
        assert (await model.complete(ASK, [SHOUT])).text
        assert (await model.complete(ASK, [SHOUT])).text
    last = endpoint.requests[-1].body
    assert last["stream"] is False
    assert not {"stream_options", "tools"} & set(last)
    assert len(endpoint.requests) == 5


CALLED = (
    ChatMessage("user", "hi"),
    ChatMessage("assistant", "", (ToolCall("c1", "shout", "{}"),), reasoning="Because."),
    ChatMessage("tool", "ok", tool_call_id="c1"),
)


async def test_reasoning_is_left_out_where_it_is_refused(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.configure(refuse_reasoning_content=True)
    async with opened(url) as model:
        await model.complete(CALLED)
        await model.complete(CALLED)
    sent = ["reasoning_content" in one.body["messages"][1] for one in endpoint.requests]
    assert sent == [True, False, False]


async def test_reasoning_is_added_where_it_is_demanded(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.configure(require_reasoning_content=True)
    without = (CALLED[0], ChatMessage("assistant", "", CALLED[1].tool_calls), CALLED[2])
    async with opened(url) as model:
        await model.complete(without)
        await model.complete(without)
    sent = ["reasoning_content" in one.body["messages"][1] for one in endpoint.requests]
    assert sent == [False, True, True]


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/gemma3:latest does not support tools",
        'No endpoints found that support tool use. Try disabling "shout".',
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "tools param requires --jinja flag",
        "`tool calling` is not supported with this model",
        "deepseek-reasoner does not support Function Calling",
    ],
)
async def test_tools_are_left_out_in_every_wording(words: str) -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        if "tools" in json.loads(request.content):
            return httpx2.Response(400, json=said(words))
        choice = {"message": {"content": "Fine."}, "finish_reason": "stop"}
        return httpx2.Response(200, json={"choices": [choice]})

    model = over(handler)
    assert (await model.complete(ASK, [SHOUT])).text == "Fine."
    await model.close()


# --- checking, opening and closing --------------------------------------------------------------


async def test_a_check_hangs_up_at_the_first_token(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.script(Reply("ok " * 10_000, token_seconds=0.01))
    async with opened(url) as model:
        await model.check()
        await endpoint.until(lambda lab: lab.requests[0].gone)


async def test_a_check_says_what_is_wrong_without_repeating(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.configure(api_key="another")
    async with opened(url) as model:
        with pytest.raises(ModelFailed) as caught:
            await model.check()
        assert caught.value.failure is F.WRONG_KEY
        endpoint.script(Reply(status=503), Reply(status=503))
        with pytest.raises(ModelFailed):
            await model.check()
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("key", ["ключ", "two\nlines", "zero\u200bwidth"])
async def test_a_key_that_no_header_can_carry_is_a_wrong_key(key: str) -> None:
    model = OpenAICompatibleModel("http://127.0.0.1:9/v1", key, "x")
    assert (await failure_of(model)).failure is F.WRONG_KEY
    await model.close()


@pytest.mark.parametrize(
    "address", ["", "endpoint", "ftp://endpoint.test", "http://[::1", "http://"]
)
async def test_an_address_that_is_none_is_unreachable(address: str) -> None:
    model = OpenAICompatibleModel(address, "k", "x", sleep=Naps().sleep)
    assert (await failure_of(model)).failure is F.UNREACHABLE
    await model.close()


async def test_other_programs_settings_are_not_sent_along(
    lab: tuple[PracticeModel, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[httpx2.Headers] = []
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-host")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-host")

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers)
        return httpx2.Response(400)

    await failure_of(over(handler))
    assert "of-the-host" not in str(seen[0].raw)


def test_importing_the_client_does_not_load_the_openai_package() -> None:
    code = "import sys, bot.model.client, bot.model.moderation; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- the assembly of deltas ---------------------------------------------------------------------


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def call(index: int | None, call_id: str | None, name: str | None, arguments: str) -> Any:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    head = {} if index is None else {"index": index}
    return delta(tool_calls=[head | ({"id": call_id} if call_id else {}) | {"function": function}])


FINISH = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (  # in turn
            [
                call(0, "a", "f", ""), call(0, None, None, '{"x":'), call(1, "b", "g", "{}"),
                call(0, None, None, "1}"),
            ],
            [("a", "f", '{"x":1}'), ("b", "g", "{}")],
        ),
        (  # one index for all
            [call(0, "a", "f", "{}"), call(0, "b", "g", "{}"), call(0, "a", None, "")],
            [("a", "f", "{}"), ("b", "g", "{}")],
        ),
        (  # no index
            [call(None, "a", "f", "{"), call(None, None, None, "}"), call(None, "b", "g", "")],
            [("a", "f", "{}"), ("b", "g", "{}")],
        ),
        (  # no id, and one used twice
            [call(0, None, "f", "{}"), call(1, "a", "g", "{}"), call(2, "a", "h", "{}")],
            [("new-1", "f", "{}"), ("a", "g", "{}"), ("new-2", "h", "{}")],
        ),
    ],
)  # fmt: skip
def test_deltas_of_tool_calls_are_put_together(
    chunks: list[Any], expected: list[tuple[str, str, str]]
) -> None:
    names = iter(["new-1", "new-2"])
    assembly = Assembly(new_id=lambda: next(names))
    for chunk in [*chunks, FINISH]:
        assembly.add_chunk(chunk)
    assert [(c.id, c.name, c.arguments) for c in assembly.completion().tool_calls] == expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 2, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 0, 4)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 8}, Usage(9, 0, 8)),
        ({"prompt_tokens": None, "completion_tokens": "x", "prompt_tokens_details": None}, Usage()),
    ],
)
def test_usage_is_read_in_every_form(usage: Any, expected: Usage) -> None:
    assembly = Assembly()
    assembly.add_chunk(delta(content="x") | {"usage": usage})
    assert assembly.usage == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "delta", "message", "index", "content", "tool_calls", "id"])
            | st.sampled_from(["function", "name", "arguments", "usage", "finish_reason", "text"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=4), JSON)
def test_no_shape_of_reply_raises_anything_else(chunks: list[Any], whole: Any) -> None:
    assembly = Assembly()
    try:
        for chunk in chunks:
            assembly.add_chunk(chunk)
        assembly.add_whole(whole)
        answer = assembly.completion()
    except ModelFailed:
        return
    assert answer.text.strip() or answer.tool_calls


# --- llmock, which we did not write -------------------------------------------------------------


@asynccontextmanager
async def facing(llmock: LLMock, **limits: Any) -> AsyncIterator[OpenAICompatibleModel]:
    """With real sleeping, because llmock measures how long a client waits."""
    model = OpenAICompatibleModel(
        llmock.base_url(), "k", "gpt-4o", **({"timeout_seconds": 15.0} | limits)
    )
    try:
        yield model
    finally:
        await model.close()


async def test_llmock_streams_and_calls_tools(llmock: LLMock) -> None:
    llmock.reply("Grey, with سلام in between.").call_tool("shout", {"text": "rain"})
    async with facing(llmock) as model:
        answer = await model.complete(ASK)
        assert answer.text == "Grey, with سلام in between."
        assert answer.usage.prompt_tokens > 0
        called = await model.complete(ASK, [SHOUT])
    assert [(c.name, json.loads(c.arguments)) for c in called.tool_calls] == [
        ("shout", {"text": "rain"})
    ]
    llmock.assert_resilient(strict=True)


async def test_llmock_finds_that_retry_after_is_kept(llmock: LLMock) -> None:
    llmock.rate_limit(times=2, retry_after=0.3)
    async with facing(llmock) as model:
        assert (await model.complete(ASK)).text
    assert len(llmock.requests) == 3
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_llmock_finds_no_pointless_repetition(llmock: LLMock, status: int) -> None:
    llmock.fail(status, times=None)
    async with facing(llmock) as model:
        await failure_of(model)
    assert len(llmock.requests) == 1
    llmock.assert_resilient(strict=True)


async def test_llmock_outage_is_unreachable(llmock: LLMock) -> None:
    llmock.fail(503, times=2)
    async with facing(llmock) as model:
        assert (await model.complete(ASK)).text
        llmock.outage()
        assert (await failure_of(model)).failure is F.UNREACHABLE
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize(
    ("kind", "failure"),
    [("disconnect", F.CUT_OFF), ("truncate", F.CUT_OFF), ("corrupt", F.BAD_REPLY)],
)
async def test_llmock_broken_streams_are_never_taken_for_answers(
    llmock: LLMock, kind: str, failure: ModelFailure
) -> None:
    llmock.reply("one two three four five six seven eight")
    getattr(llmock, kind)(after_chunks=3)
    async with facing(llmock) as model:
        assert (await failure_of(model)).failure is failure
    if kind != "truncate":  # llmock takes what is not repeated for accepted; we refuse it instead
        llmock.assert_resilient()


async def test_llmock_stall_ends_at_the_deadline(llmock: LLMock) -> None:
    llmock.stall(after_chunks=2, seconds=20)
    async with facing(llmock, timeout_seconds=0.5) as model:
        assert (await failure_of(model)).failure is F.TIMED_OUT
    llmock.assert_resilient()


async def test_llmock_context_overflow_and_slow_first_token(llmock: LLMock) -> None:
    llmock.context_overflow()
    async with facing(llmock, first_token_seconds=0.3) as model:
        assert (await failure_of(model)).failure is F.CONTEXT_TOO_LONG
        llmock.slow_first_token(5)
        assert (await failure_of(model, messages=CALLED[:1])).detail == "first token"
    llmock.assert_resilient()
