"""What kind of endpoint the practice model plays, and what such endpoints refuse."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.lab.practice import wire
from bot.lab.practice.prompt import text_of
from bot.lab.practice.scripts import Reply


@dataclass(frozen=True, slots=True)
class Settings:
    """What kind of endpoint it plays. Defaults: an agreeable one."""

    latency_seconds: float = 0.0  # before the first token of every reply that is not scripted
    token_seconds: float = 0.0
    api_key: str = ""  # if set, any other key gets 401
    models: tuple[str, ...] = ()  # if set, any other model gets 404
    max_messages: int = 0  # more get the context-length error; 0: no limit
    max_characters: int = 0
    require_reasoning_content: bool = False  # DeepSeek's thinking mode: 400 where it is missing
    refuse_reasoning_content: bool = False  # DeepSeek's older reasoner
    refuse_tools: bool = False  # Ollama, for models without them
    refuse_stream_options: bool = False
    refuse_stream: bool = False
    ignore_stream: bool = False  # answers whole even if asked to stream


@dataclass(frozen=True, slots=True)
class ModerationSettings:
    flagged: tuple[str, ...] = ()  # words; a text that contains one is flagged
    delay_seconds: float = 0.0
    down: bool = False  # 503
    stalled: bool = False  # no answer at all


def refusal(settings: Settings, body: Mapping[str, Any], authorization: str) -> Reply | None:
    """What the endpoint refuses, in the words of the endpoints that do; None if nothing."""
    return (
        _unknown_caller(settings, body, authorization)
        or _unsupported(settings, body)
        or _too_long(settings, body["messages"])
        or _reasoning(settings, body["messages"])
    )


def _unknown_caller(
    settings: Settings, body: Mapping[str, Any], authorization: str
) -> Reply | None:
    model = str(body.get("model", ""))
    if settings.api_key and authorization != f"Bearer {settings.api_key}":
        return _error(401, "Incorrect API key provided.", code="invalid_api_key")
    if settings.models and model not in settings.models:
        told = f"The model `{model}` does not exist or you do not have access to it."
        return _error(404, told, code="model_not_found")
    return None


def _unsupported(settings: Settings, body: Mapping[str, Any]) -> Reply | None:
    if settings.refuse_tools and body.get("tools"):
        return _error(400, f"{body.get('model')} does not support tools", "api_error")
    if settings.refuse_stream_options and "stream_options" in body:
        return _error(400, "Unrecognized request argument supplied: stream_options")
    if settings.refuse_stream and body.get("stream"):
        return _error(400, "Streaming is not supported for this model.")
    return None


def _too_long(settings: Settings, messages: list[Mapping[str, Any]]) -> Reply | None:
    size = sum(len(text_of(one.get("content"))) for one in messages)
    too_many = settings.max_messages and len(messages) > settings.max_messages
    too_large = settings.max_characters and size > settings.max_characters
    if not too_many and not too_large:
        return None
    told = f"This model's maximum context length is {settings.max_characters // 4} tokens."
    return _error(400, told, code="context_length_exceeded")


def _reasoning(settings: Settings, messages: list[Mapping[str, Any]]) -> Reply | None:
    spoken = [one for one in messages if one.get("role") == "assistant"]
    if settings.refuse_reasoning_content and any("reasoning_content" in one for one in spoken):
        return _error(400, "The reasoning_content field is not supported in input messages.")
    called = [one for one in spoken if one.get("tool_calls")]
    if settings.require_reasoning_content and not all(m.get("reasoning_content") for m in called):
        told = "The `reasoning_content` in the thinking mode must be passed back to the API."
        return _error(400, told, code="invalid_request_error")
    return None


def _error(
    status: int, message: str, kind: str = "invalid_request_error", code: str | None = None
) -> Reply:
    return Reply(status=status, body=wire.error(message, kind, code))
