"""What the bot needs from a language model. Adapter: client.py (any OpenAI-compatible one)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: str  # the model's raw JSON text, checked by whoever runs the tool


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()  # assistant only
    tool_call_id: str = ""  # tool only
    reasoning: str = ""  # assistant only; sent back where the provider demands it


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    description: str
    parameters: Mapping[str, Any]  # JSON schema of the arguments object


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0  # of the prompt's, read from the provider's prefix cache


@dataclass(frozen=True, slots=True)
class Completion:
    text: str  # what may be shown; reasoning and think blocks are not in it
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish_reason: str = "stop"
    usage: Usage = Usage()


class ChatModel(Protocol):
    """Contract: tests/adapters/test_model_client.py."""

    async def complete(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec] = ()
    ) -> Completion:
        """Return one answer: text, or tool calls, or both; never neither.

        Raises ModelFailed with the reason. Cancelling the call closes its connection.
        """
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Passed:
    pass


@dataclass(frozen=True, slots=True)
class BlockedDraft:
    rules: tuple[str, ...]  # names of the rules or categories that matched, never the text


@dataclass(frozen=True, slots=True)
class Unavailable:
    cause: str  # for the log


Verdict: TypeAlias = Passed | BlockedDraft | Unavailable


class Moderator(Protocol):
    """Contract: tests/adapters/test_moderation.py."""

    async def review(self, draft: str) -> Verdict:
        """Judge a draft before anyone sees it. Never raises: an outage is `Unavailable`."""
        ...

    async def close(self) -> None: ...
