"""The practice model: what it answers, that the openai package reads it, and its controls."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lab.model import PracticeModel
from bot.lab.practice.answers import answer
from bot.lab.practice.journal import Gate
from bot.lab.practice.player import Ending
from bot.lab.practice.prompt import read_prompt
from bot.lab.practice.scripts import Call, Fault, Reply
from bot.lab.practice.wire import cached_tokens, tokens
from bot.lab.serve import serve
from bot.model.port import ToolCall
from bot.model.tools import TOOLS, Malformed, parse_call

NOTES = """\
<notes-1a2b3c4d>
Now: Friday 2026-05-01 14:03, time zone Europe/Berlin (UTC+0200).
From memory, each as [line id, date written] text:
[m1, 2026-04-01] my sister is Leila
[m2, 2026-04-02] گربه‌ام پیشی نام دارد
Open tasks of the user, each as [task id] text:
[t9, due 2026-05-02] buy milk
</notes-1a2b3c4d>
"""
OFFERED = [
    {
        "type": "function",
        "function": {"name": tool.name, "description": "", "parameters": dict(tool.parameters)},
    }
    for tool in TOOLS
]


def asked(
    text: str, *, tools: bool = True, notes: str = NOTES, before: Sequence[Any] = ()
) -> Reply:
    messages = [{"role": "system", "content": "- rules"}, *before]
    messages.append({"role": "user", "content": notes + text})
    return answer(read_prompt({"messages": messages, "tools": OFFERED if tools else []}))


def called(reply: Reply) -> list[tuple[str, dict[str, Any]]]:
    for call in reply.tool_calls:
        assert not isinstance(parse_call(ToolCall("1", call.name, call.arguments)), Malformed)
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


# --- what it says -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("hello", "I am the practice model"),
        ("Hi Dabir!", "I am the practice model"),
        ("سلام", "مدل تمرینی"),
        ("who are you?", "not a language model"),
        ("تو کی هستی؟", "نه یک مدل زبانی"),
        ("what is 12 * 12?", "12 * 12 = 144"),
        ("۲+۳ چند می‌شود", "2 + 3 = 5"),
        ("what day is it?", "2026-05-01 14:03"),
        ("who is my sister?", "my sister is Leila"),
        ("اسم گربه من چیست؟", "گربه‌ام پیشی نام دارد"),
        ("what do you know about me", "- my sister is Leila\n- گربه‌ام پیشی نام دارد"),
        ("درباره من چه می‌دانی", "- my sister is Leila"),
        ("what are my tasks?", "- buy milk"),
        ("say **bold** `<think>` text", "**bold** `<think>` text"),
        ("count to 5", "1 2 3 4 5"),
        ("thanks", "You are welcome!"),
        ("The weather was grey.", "You wrote: “The weather was grey.”"),
    ],
)
def test_a_small_question_is_answered(text: str, part: str) -> None:
    assert part in asked(text).text


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "Please remember that my sister is Leila.",
            ("remember", {"text": "my sister is Leila", "kind": "fact", "about": "sister"}),
        ),
        (
            "remember: I like tea",
            ("remember", {"text": "I like tea", "kind": "preference"}),
        ),
        (
            "یادت باشه که برادرم علی است",
            ("remember", {"text": "برادرم علی است", "kind": "fact", "about": "برادرم"}),
        ),
        (
            "remind me to call Sara tomorrow at 9",
            ("add_task", {"text": "call Sara", "due": "2026-05-02T09:00"}),
        ),
        (
            "remind me in 20 minutes to drink",
            ("add_task", {"text": "drink", "due": "2026-05-01T14:23"}),
        ),
        ("add task: buy bread", ("add_task", {"text": "buy bread"})),
        (
            "یادم بنداز فردا ساعت ۱۰ به مادرم زنگ بزنم",
            ("add_task", {"text": "به مادرم زنگ بزنم", "due": "2026-05-02T10:00"}),
        ),
        ("I'm done with the milk", ("complete_task", {"task": "t9"})),
        ("done with nothing known", ("complete_task", {"task": "nothing known"})),
        ("Can I talk to a person?", ("recommend_handoff", {"reason": "Can I talk to a person?"})),
        ("با یک آدم صحبت کنم", ("recommend_handoff", {"reason": "با یک آدم صحبت کنم"})),
        ("who is my dentist?", ("recall", {"query": "who is my dentist?"})),
    ],
)
def test_a_wish_calls_the_tool_with_arguments_the_bot_accepts(
    text: str, call: tuple[str, dict[str, Any]]
) -> None:
    reply = asked(text)
    assert called(reply) == [call]
    assert bool(reply.text) is (call[0] != "recall")  # only a look-up is waited for


def test_without_tools_it_says_that_it_kept_nothing() -> None:
    assert "no tool" in asked("remember that I ski", tools=False).text
    assert "/human" in asked("I want a human", tools=False).text


def test_every_merged_message_is_answered_in_one_reply() -> None:
    reply = asked("hello\nremember that I ski\nwho is my sister?\nfourth thing")
    assert [name for name, _ in called(reply)] == ["remember"]
    for part in ("hello", "I ski", "who is my sister?", "my sister is Leila", "fourth thing"):
        assert part in reply.text
    assert reply.text.startswith("You sent 4 messages")


def test_what_was_looked_up_is_used_and_not_looked_up_again() -> None:
    calls = [{"id": "c1", "function": {"name": "recall", "arguments": "{}"}}]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "who is my dentist?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "[m7, 2026-01-02] my dentist is Dr. Who"},
    ]
    reply = answer(read_prompt({"messages": messages, "tools": OFFERED}))
    assert not reply.tool_calls
    assert "my dentist is Dr. Who" in reply.text


def test_what_was_said_before_is_known() -> None:
    before = [
        {"role": "user", "content": "my bike is red"},
        {"role": "assistant", "content": "Noted."},
    ]
    assert "my bike is red" in asked("what colour is my bike?", before=before).text


def test_a_long_paste_is_quoted_with_its_ends_and_its_length() -> None:
    paste = "start " + "x" * 9000 + " end"
    reply = asked(paste)
    assert "start" in reply.text
    assert "end”" in reply.text
    assert str(len(paste)) in reply.text
    assert len(reply.text) < 400


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_is_answered_the_same_way_each_time(text: str) -> None:
    first, second = asked(text), asked(text)
    assert first == second
    assert first.text or first.tool_calls
    called(first)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text


def test_a_shared_beginning_counts_as_cached() -> None:
    first = {"messages": [{"role": "system", "content": "x" * 4000}]}
    longer = {"messages": [*first["messages"], {"role": "user", "content": "more"}]}
    assert cached_tokens(longer, [first]) == 960
    assert cached_tokens(longer, []) == 0
    assert cached_tokens({"messages": [{"role": "system", "content": "other"}]}, [first]) == 0


# --- over HTTP ----------------------------------------------------------------------------------


@pytest.fixture
async def lab() -> AsyncIterator[tuple[PracticeModel, str]]:
    endpoint = PracticeModel()
    async with serve(endpoint) as url:
        yield endpoint, url


def question(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "practice", "messages": [{"role": "user", "content": text}]} | more


@pytest.mark.parametrize("prefix", ["", "/v1"])
async def test_the_openai_package_reads_whole_and_streamed_answers(
    lab: tuple[PracticeModel, str], prefix: str
) -> None:
    _, url = lab
    async with openai.AsyncOpenAI(base_url=url + prefix, api_key="k", max_retries=0) as client:
        told: Any = {"model": "practice", "messages": [{"role": "user", "content": "hello"}]}
        whole = await client.chat.completions.create(**told)
        pieces = [
            chunk.choices[0].delta.content or ""
            async for chunk in await client.chat.completions.create(**told, stream=True)
        ]
        assert "".join(pieces) == whole.choices[0].message.content
        assert whole.usage is not None
        assert whole.usage.total_tokens > 0
        assert [model.id async for model in client.models.list()] == ["practice"]
        judged = await client.moderations.create(input="fine")
        assert judged.results[0].flagged is False


async def test_held_requests_wait_and_are_released_one_by_one(
    lab: tuple[PracticeModel, str],
) -> None:
    endpoint, url = lab
    endpoint.hold()
    async with httpx.AsyncClient(base_url=url) as client:
        calls = [
            asyncio.create_task(client.post("/v1/chat/completions", json=question(f"say {n}")))
            for n in range(3)
        ]
        await endpoint.until(lambda model: model.waiting == 3)
        assert endpoint.running == 3
        endpoint.release(1)
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        assert [call.done() for call in calls].count(True) == 1
        endpoint.release()
        await asyncio.gather(*calls)
        assert (await client.post("/v1/chat/completions", json=question())).status_code == 200
    assert [one.ending for one in endpoint.requests] == [Ending.FINISHED] * 4


async def test_the_journal_tells_who_hung_up(lab: tuple[PracticeModel, str]) -> None:
    endpoint, url = lab
    endpoint.hold()
    async with httpx.AsyncClient(base_url=url) as client:
        call = asyncio.create_task(client.post("/v1/chat/completions", json=question("wait")))
        one = await endpoint.until_asked()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await endpoint.until(lambda model: one.gone)
        assert endpoint.waiting == 0
        endpoint.release()
        endpoint.script(Reply("x y z", fault=Fault.DISCONNECT))
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post("/v1/chat/completions", json=question(stream=True))
    assert [one.texts for one in endpoint.requests] == [["wait"], ["hello"]]
    assert endpoint.requests[1].ending is Ending.FAULT


async def test_stopping_the_server_never_waits_for_a_stalled_stream() -> None:
    endpoint = PracticeModel()
    endpoint.script(Reply("a b c", fault=Fault.STALL))
    async with httpx.AsyncClient() as client:
        async with serve(endpoint) as url:
            address = f"{url}/v1/chat/completions"
            call = asyncio.create_task(client.post(address, json=question(stream=True)))
            await endpoint.until_asked()
        with pytest.raises(httpx.HTTPError):
            await call


@pytest.mark.parametrize(
    ("settings", "sent", "status", "code"),
    [
        ({"api_key": "right"}, {}, 401, "invalid_api_key"),
        ({"models": ["other"]}, {}, 404, "model_not_found"),
        ({"max_messages": 0, "max_characters": 3}, {}, 400, "context_length_exceeded"),
        ({"refuse_tools": True}, {"tools": OFFERED}, 400, None),
        ({"refuse_stream_options": True}, {"stream_options": {}}, 400, None),
    ],
)
async def test_it_refuses_what_it_was_told_to(
    lab: tuple[PracticeModel, str], settings: Any, sent: Any, status: int, code: str | None
) -> None:
    endpoint, url = lab
    endpoint.configure(**settings)
    async with httpx.AsyncClient(base_url=url) as client:
        reply = await client.post("/v1/chat/completions", json=question(**sent))
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
        endpoint.reset()
        assert (await client.post("/v1/chat/completions", json=question())).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"messages": 3}'])
async def test_a_request_that_is_none_is_refused(
    lab: tuple[PracticeModel, str], body: bytes
) -> None:
    endpoint, url = lab
    async with httpx.AsyncClient(base_url=url) as client:
        assert (await client.post("/v1/chat/completions", content=body)).status_code == 400
    assert endpoint.requests == []


async def test_the_controls_work_over_http(lab: tuple[PracticeModel, str]) -> None:
    _, url = lab
    async with httpx.AsyncClient(base_url=url) as client:
        calls = [{"name": "recall", "arguments": '{"query": "x"}'}]
        script = {"replies": [{"text": "Scripted.", "tool_calls": calls}, {"status": 503}]}
        assert (await client.post("/lab/script", json=script)).json()["scripted"] == 2
        first = (await client.post("/chat/completions", json=question())).json()["choices"][0]
        assert first["message"]["content"] == "Scripted."
        assert first["message"]["tool_calls"][0]["function"]["name"] == "recall"
        assert (await client.post("/chat/completions", json=question())).status_code == 503
        assert (await client.post("/lab/hold")).json()["held"] is True
        assert (await client.post("/lab/release", json={})).json()["held"] is False
        changed = await client.post("/lab/settings", json={"models": ["a"]})
        assert changed.status_code == 200
        assert (await client.post("/chat/completions", json=question())).status_code == 404
        journal = (await client.get("/lab/requests")).json()
        assert [one["ending"] for one in journal] == ["finished"] * 3
        assert (await client.post("/lab/reset")).json()["requests"] == 0
        flagged = {"flagged": ["bad"]}
        await client.post("/lab/moderation", json=flagged)
        judged = (await client.post("/v1/moderations", json={"input": ["bad", "good"]})).json()
        assert [one["flagged"] for one in judged["results"]] == [True, False]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("script", {"replies": [{"fault": "nonsense"}]}),
        ("script", {"replies": [{"txt": "x"}]}),
        ("script", {}),
        ("settings", {"nonsense": 1}),
        ("moderation", {"nonsense": 1}),
        ("release", [1]),
    ],
)
async def test_a_control_that_is_not_understood_says_so(
    lab: tuple[PracticeModel, str], path: str, body: Any
) -> None:
    _, url = lab
    async with httpx.AsyncClient(base_url=url) as client:
        assert (await client.post(f"/lab/{path}", json=body)).status_code == 400


async def test_a_gate_lets_nobody_through_twice() -> None:
    gate = Gate()
    gate.hold()
    waiting = [asyncio.create_task(gate.passed()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.gather(waiting[0], return_exceptions=True)
    gate.release(1)
    await asyncio.wait(waiting[1:], return_when=asyncio.FIRST_COMPLETED)
    assert [task.done() for task in waiting] == [True, True, False]
    gate.release()
    await waiting[2]
    await gate.passed()


def test_a_reply_finishes_as_its_content_says() -> None:
    assert Reply("x").finish == "stop"
    assert Reply(tool_calls=(Call("f"),)).finish == "tool_calls"
    assert Reply("x", finish_reason="length").finish == "length"


async def test_the_command_prints_its_address_and_stops_on_sigterm() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.lab.model", "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        told = json.loads(await process.stdout.readline())
        async with httpx.AsyncClient() as client:
            reply = await client.post(f"{told['base_url']}/chat/completions", json=question())
        assert "practice model" in reply.json()["choices"][0]["message"]["content"]
    finally:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
