"""Puts one completion together from the pieces of a stream, or from a whole answer.

Pure: it reads plain JSON values, believes no shape and never waits. A piece that is not what the
protocol says raises `ModelFailed(BAD_REPLY)`; a stream that merely stops leaves `finished` False.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.errors import ModelFailed, ModelFailure
from bot.model.port import Completion, ToolCall, Usage
from bot.model.thinking import split_thinking

# A runaway model ends here, as if its own limit had been reached. Telegram shows 4096 a message.
MAX_ANSWER_CHARACTERS = 400_000

FILTERED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist", "recitation"})
BROKEN_OFF = frozenset({"error", "insufficient_system_resource", "abort", "aborted", "cancelled"})


def _new_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Assembly:
    """The answer so far."""

    new_id: Callable[[], str] = _new_id
    finish_reason: str = ""
    started: bool = False  # the first token (of text, of reasoning or of a call) has come
    usage: Usage = field(default_factory=Usage)
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _calls: dict[int, _Call] = field(default_factory=dict)
    _length: int = 0

    @property
    def finished(self) -> bool:
        return bool(self.finish_reason)

    def add_chunk(self, chunk: object) -> None:
        """Take one streamed chunk. Choices other than the first are ignored: we ask for one."""
        if not isinstance(chunk, Mapping):
            raise ModelFailed(ModelFailure.BAD_REPLY, "chunk is no object")
        self._read_usage(chunk.get("usage"))
        for choice in _mappings(chunk.get("choices")):
            if choice.get("index") in (0, None):
                self._add_part(choice.get("delta"))
                self._finish(choice.get("finish_reason"))

    def add_whole(self, answer: object) -> None:
        """Take the whole answer of an endpoint that does not stream."""
        choices = answer.get("choices") if isinstance(answer, Mapping) else None
        if not isinstance(answer, Mapping) or not isinstance(choices, list):
            raise ModelFailed(ModelFailure.BAD_REPLY, "answer has no choices")
        self._read_usage(answer.get("usage"))
        for choice in _mappings(choices[:1]):
            self._add_part(choice.get("message"))
            self._finish(choice.get("finish_reason") or "stop")

    def completion(self) -> Completion:
        """The completion, or ModelFailed if what came is no usable one."""
        reason = self.finish_reason
        if not reason or reason in BROKEN_OFF:
            raise ModelFailed(ModelFailure.CUT_OFF, reason or "no finish_reason")
        if reason in FILTERED:
            raise ModelFailed(ModelFailure.CONTENT_FILTER, reason)
        shown, thought = split_thinking("".join(self._text))
        calls = tuple(self._tool_calls())
        if not shown.strip() and not calls:
            raise ModelFailed(ModelFailure.EMPTY_ANSWER, "length" if reason == "length" else "")
        reasoning = "\n\n".join(part for part in ("".join(self._reasoning), thought) if part)
        return Completion(shown, calls, reasoning, reason, self.usage)

    def _add_part(self, part: object) -> None:
        if part is None:
            return
        if not isinstance(part, Mapping):
            raise ModelFailed(ModelFailure.BAD_REPLY, "delta is no object")
        self._add_content(part.get("content"))
        self._collect(self._text, part.get("refusal"))
        # vLLM sends both names with the same text while it renames the field.
        self._collect(self._reasoning, part.get("reasoning_content") or part.get("reasoning"))
        for delta in _mappings(part.get("tool_calls")):
            self._add_call(delta)

    def _add_content(self, content: object) -> None:
        if not isinstance(content, list):
            self._collect(self._text, content)
            return
        for item in _mappings(content):  # Mistral's reasoning models send a list of parts
            if item.get("type") == "thinking":
                for thought in _mappings(item.get("thinking")):
                    self._collect(self._reasoning, thought.get("text"))
            else:
                self._collect(self._text, item.get("text"))

    def _collect(self, into: list[str], piece: object) -> None:
        if not isinstance(piece, str) or not piece:
            return
        self.started = True
        self._length += len(piece)
        into.append(piece)
        if self._length > MAX_ANSWER_CHARACTERS:
            self._finish("length")

    def _add_call(self, delta: Mapping[str, Any]) -> None:
        call = self._call_for(delta)
        function = delta.get("function")
        if not isinstance(function, Mapping):
            return
        self.started = True
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(name, str):
            call.name = call.name or name
        if isinstance(arguments, Mapping | list):  # Ollama's own shape, already decoded
            arguments = json.dumps(arguments, ensure_ascii=False)
        self._collect(call.arguments, arguments)

    def _call_for(self, delta: Mapping[str, Any]) -> _Call:
        """The call a delta belongs to. Gemini's endpoint repeats index 0 and changes the id."""
        call_id, position = delta.get("id"), delta.get("index")
        call_id = call_id if isinstance(call_id, str) else ""
        last = max(self._calls, default=-1)
        if not isinstance(position, int):
            function = delta.get("function")
            opens = call_id or (isinstance(function, Mapping) and function.get("name"))
            position = last + 1 if opens or last < 0 else last
        known = self._calls.get(position)
        if known is not None and call_id and known.id and call_id != known.id:
            by_id = [at for at, call in self._calls.items() if call.id == call_id]
            position = by_id[0] if by_id else last + 1
        call = self._calls.setdefault(position, _Call())
        call.id = call.id or call_id
        return call

    def _tool_calls(self) -> Iterator[ToolCall]:
        used: set[str] = set()
        for _, call in sorted(self._calls.items()):
            if not call.name:
                continue
            call_id = call.id if call.id and call.id not in used else self.new_id()
            used.add(call_id)
            yield ToolCall(call_id, call.name, "".join(call.arguments).strip() or "{}")

    def _finish(self, reason: object) -> None:
        if isinstance(reason, str) and reason and not self.finish_reason:
            self.finish_reason = reason.lower()

    def _read_usage(self, usage: object) -> None:
        if not isinstance(usage, Mapping):
            return
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
        self.usage = Usage(
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
            _count(cached) or _count(usage.get("prompt_cache_hit_tokens")),
        )


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
