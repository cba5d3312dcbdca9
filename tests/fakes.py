"""Fakes on our own ports, small enough to be seen through."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bot.core.context import MemoryLine
from bot.errors import ModelFailed, ModelFailure
from bot.model.port import ChatMessage, Completion, ToolCall, ToolSpec
from bot.model.toolbox import Found, NotRead, Recalled

Prompt: TypeAlias = tuple[ChatMessage, ...]
Answer: TypeAlias = Completion | ModelFailure | Callable[[Prompt], Completion]


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of the model."""

    messages: Prompt
    tools: tuple[ToolSpec, ...]

    @property
    def sent(self) -> Prompt:
        """All but the system message."""
        return self.messages[1:]


@dataclass(slots=True)
class FakeChatModel:
    """Answers from a script, one entry a call; the last entry answers all further calls."""

    script: Sequence[Answer]
    asked: list[Asked] = field(default_factory=list)
    closed: bool = False

    async def complete(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec] = ()
    ) -> Completion:
        self.asked.append(Asked(tuple(messages), tuple(tools)))
        answer = self.script[min(len(self.asked), len(self.script)) - 1]
        if isinstance(answer, ModelFailure):
            raise ModelFailed(answer)
        return answer if isinstance(answer, Completion) else answer(tuple(messages))

    async def close(self) -> None:
        self.closed = True


@dataclass(slots=True)
class FakeRecall:
    """The memory of one conversation: every query finds all of it."""

    lines: tuple[MemoryLine, ...] = ()
    readable: bool = True
    queries: list[str] = field(default_factory=list)

    async def __call__(self, query: str) -> Recalled:
        self.queries.append(query)
        return Found(self.lines) if self.readable else NotRead()


def called(name: str, arguments: str, id: str = "c1") -> ToolCall:
    return ToolCall(id, name, arguments)
