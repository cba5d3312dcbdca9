"""What one endpoint can and cannot do, learned from what it refuses.

"OpenAI-compatible" is a wide word: some endpoints refuse `tools`, some `stream_options`, some
streaming itself; DeepSeek's thinking mode demands `reasoning_content` back where its older models
refused it. Nothing is configured for that: a refusal that names the field is the answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.model.failures import Refusal
from bot.model.port import ChatMessage, ToolSpec

# Newer DeepSeek models take a missing or an empty field for an absent one.
NO_REASONING_KEPT = " "

REFUSED = (
    r"(?:not support|unsupported|not supported|does not allow|not allowed|not permitted|unknown"
    r"|unrecognized|unexpected|not available|no endpoints found that support|requires --"
    r"|param requires|must be verified|disabled)"
)
TOOLS = re.compile(
    rf"(?s)(?=.*(?:\btools?\b|function.?call|tool.?(?:call|use|choice)))(?=.*{REFUSED})"
)
STREAM_OPTIONS = re.compile(r"stream_options|include_usage")
STREAM = re.compile(rf"(?s)(?=.*\bstream(?:ing)?\b)(?=.*{REFUSED})")
REASONING = re.compile(r"reasoning_content")
DEMANDED = re.compile(r"must be|missing|required|passed back|expected")


class Reasoning(StrEnum):
    """When an assistant message carries `reasoning_content`."""

    AFTER_TOOL_CALLS = "after_tool_calls"  # what DeepSeek documents
    ALWAYS = "always"  # the endpoint asked for it
    NEVER = "never"  # the endpoint refused it


@dataclass(frozen=True, slots=True)
class Dialect:
    streams: bool = True
    stream_options: bool = True
    tools: bool = True
    reasoning: Reasoning = Reasoning.AFTER_TOOL_CALLS

    def request(
        self, model: str, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]
    ) -> dict[str, Any]:
        """The body of a chat completion, with what this endpoint understands."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [self._message(message) for message in messages],
            "stream": self.streams,
        }
        if self.streams and self.stream_options:
            body["stream_options"] = {"include_usage": True}
        if tools and self.tools:
            body["tools"] = [_tool(tool) for tool in tools]
        return body

    def after(self, what: Refusal, *, sent_tools: bool) -> "Dialect":
        """The dialect that avoids this refusal; the same one if the refusal is about other things.

        `sent_tools`: whether the refused request offered tools.
        """
        words = what.wording
        if what.status in (401, 402, 429) or what.status > 501:
            return self
        if REASONING.search(words):
            demanded = DEMANDED.search(words) and not re.search(REFUSED, words)
            return replace(self, reasoning=Reasoning.ALWAYS if demanded else Reasoning.NEVER)
        if self.streams and self.stream_options and STREAM_OPTIONS.search(words):
            return replace(self, stream_options=False)
        if sent_tools and self.tools and TOOLS.search(words):
            return replace(self, tools=False)
        if self.streams and STREAM.search(words):
            return replace(self, streams=False)
        return self

    def _message(self, message: ChatMessage) -> dict[str, Any]:
        body: dict[str, Any] = {"role": message.role, "content": _encodable(message.content)}
        if message.role == "tool":
            body["tool_call_id"] = message.tool_call_id
        if message.role != "assistant":
            return body
        if message.tool_calls:
            body["content"] = body["content"] or None
            body["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in message.tool_calls
            ]
        if self._carries_reasoning(message):
            body["reasoning_content"] = _encodable(message.reasoning) or NO_REASONING_KEPT
        return body

    def _carries_reasoning(self, message: ChatMessage) -> bool:
        match self.reasoning:
            case Reasoning.ALWAYS:
                return True
            case Reasoning.NEVER:
                return False
            case Reasoning.AFTER_TOOL_CALLS:
                return bool(message.reasoning and message.tool_calls)


def _encodable(text: str) -> str:
    """Half a surrogate pair, cut out of some text, cannot be sent as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }
