"""The practice model's words in the shapes of OpenAI's chat completions."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.lab.practice.scripts import Call, Reply

CREATED = 1_700_000_000  # the same for every answer, which keeps answers comparable
CACHE_BLOCK_TOKENS = 64  # providers cache prompt prefixes in blocks
TOKEN = re.compile(r"\s*\S{1,8}|\s+")


def tokens(text: str) -> list[str]:
    """Pieces of about the size of real tokens; joined they are the text again."""
    return TOKEN.findall(text)


def count(text: str) -> int:
    return math.ceil(len(text) / 4)


def usage(body: Mapping[str, Any], reply: Reply, cached: int) -> dict[str, Any]:
    prompt_tokens = count(prompt_text(body))
    written = "".join((reply.reasoning, reply.text, *(call.arguments for call in reply.tool_calls)))
    cached = min(cached, prompt_tokens)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": count(written),
        "total_tokens": prompt_tokens + count(written),
        "prompt_tokens_details": {"cached_tokens": cached},
        "prompt_cache_hit_tokens": cached,
        "prompt_cache_miss_tokens": prompt_tokens - cached,
    }


def cached_tokens(body: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of the longest prefix shared with an earlier prompt, in whole blocks."""
    text = prompt_text(body)
    shared = max((_shared(text, prompt_text(one)) for one in before), default=0)
    return shared // 4 // CACHE_BLOCK_TOKENS * CACHE_BLOCK_TOKENS


def prompt_text(body: Mapping[str, Any]) -> str:
    return json.dumps([body.get("tools"), body.get("messages")], ensure_ascii=False)


def whole(number: int, model: str, reply: Reply, used: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [
            _call(number, at, call) for at, call in enumerate(reply.tool_calls)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
    return _head(number, model, "chat.completion") | {"choices": [choice], "usage": dict(used)}


def chunks(
    number: int, model: str, reply: Reply, used: Mapping[str, Any] | None
) -> Iterator[dict[str, Any]]:
    """One delta a token: role, reasoning, text, calls, finish_reason, and usage if asked for."""
    head = _head(number, model, "chat.completion.chunk")
    yield _chunk(head, {"role": "assistant", "content": ""})
    for piece in tokens(reply.reasoning):
        yield _chunk(head, {"reasoning_content": piece})
    for piece in tokens(reply.text):
        yield _chunk(head, {"content": piece})
    for at, call in enumerate(reply.tool_calls):
        opening = _call(number, at, call)
        opening["function"]["arguments"] = ""
        yield _chunk(head, {"tool_calls": [{"index": at} | opening]})
        for piece in tokens(call.arguments):
            yield _chunk(head, {"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield _chunk(head, {}, reply.finish)
    if used is not None:
        yield head | {"choices": [], "usage": dict(used)}


def error(message: str, kind: str = "invalid_request_error", code: str | None = None) -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def event(value: object) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def _head(number: int, model: str, kind: str) -> dict[str, Any]:
    return {"id": f"practice-{number}", "object": kind, "created": CREATED, "model": model}


def _chunk(head: Mapping[str, Any], delta: Any, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**head, "choices": [choice]}


def _call(number: int, at: int, call: Call) -> dict[str, Any]:
    return {
        "id": call.id or f"call_{number}_{at}",
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _shared(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:  # the longest common prefix by halving: a slice compare is one memcmp
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
