"""Judges what the bot sends and what the lab's server answers, with code we did not write.

aiogram's models of the Bot API judge every request, update and result; teremok's validators judge
what must be refused. A judge returns complaints; an empty list is an acquittal.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import aiogram
import aiogram.methods
from aiogram.types import Update
from pydantic import BaseModel, TypeAdapter, ValidationError
from teremok.validation import ApiRuleViolation, validate_method

from bot.lab.botapi import Call, Telegram
from bot.lab.botapi.text import formatted

Json = dict[str, Any]

# PTB 22.8 speaks Bot API 10.0 and still sends these, which later versions renamed.
LEGACY_PARAMS = frozenset({"disable_web_page_preview"})
BARE_AMPERSAND = "Unexpected character '&'"  # teremok is stricter here: Telegram lets it pass


@cache
def _model(method: str) -> type[BaseModel] | None:
    """aiogram's class for a method; letter case does not matter to Telegram."""
    wanted = method.lower()
    names = {name.lower(): name for name in aiogram.methods.__all__}
    found = getattr(aiogram.methods, names.get(wanted, ""), None)
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


@cache
def _result_type(method: str) -> TypeAdapter[Any]:
    return TypeAdapter(getattr(_model(method), "__returning__", Any))


@cache
def _judge_bot() -> aiogram.Bot:
    return aiogram.Bot("42:JUDGE")


def _faults_of(method: str, found: ValidationError) -> list[str]:
    return [
        f"{method}: {'.'.join(map(str, error['loc']))}: {error['msg']}" for error in found.errors()
    ]


def judge_request(method: str, params: Json) -> list[str]:
    """Complaints about a request: unknown method or parameter, missing or mistyped value."""
    model = _model(method)
    if model is None:
        return [f"{method}: no such method of the Bot API"]
    unknown = set(params) - set(model.model_fields) - LEGACY_PARAMS
    complaints = [f"{method}: unknown parameter {name}" for name in sorted(unknown)]
    try:
        model.model_validate(params)
    except ValidationError as found:
        complaints += _faults_of(method, found)
    return complaints


def judge_update(update: Json) -> list[str]:
    """Complaints about an update: missing, mistyped or unknown fields at any depth."""
    try:
        model = Update.model_validate(update)
    except ValidationError as found:
        return _faults_of("update", found)
    complaints = list(_unknown_fields("update", model))
    if len(model.model_fields_set) != 2:
        complaints.append("update: not exactly one kind beside update_id")
    return complaints


def judge_result(method: str, result: Any) -> list[str]:
    """Complaints about the result of a successful call."""
    if _model(method) is None:
        return [f"{method}: answered, but no such method of the Bot API"]
    try:
        value = _result_type(method).validate_python(result)
    except ValidationError as found:
        return _faults_of(f"{method} result", found)
    return list(_unknown_fields(f"{method} result", value))


def _unknown_fields(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, BaseModel):
        yield from (f"{path}: unknown field {name}" for name in value.model_extra or {})
        for name in value.model_fields_set & set(type(value).model_fields):
            yield from _unknown_fields(f"{path}.{name}", getattr(value, name))
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _unknown_fields(f"{path}[{number}]", entry)


def refusal_due(method: str, params: Json) -> str:
    """What teremok would refuse this request with; "" if it would let it pass."""
    model = _model(method)
    if model is None:
        return ""
    try:
        validate_method(_judge_bot(), model.model_validate(params))  # type: ignore[arg-type]
    except ValidationError:
        return ""
    except ApiRuleViolation as found:
        return "" if _excused(found.description, params) else found.description
    return ""


def _excused(description: str, params: Json) -> bool:
    """Where teremok measures the raw text, Telegram measures it trimmed and without markup."""
    if BARE_AMPERSAND in description:
        return True
    if re.search("too long", description):
        text = str(params.get("text", params.get("caption", "")))
        return bool(params.get("parse_mode")) or len(text) != len(formatted(text, limit=10**6)[0])
    return False


def judge_answer(call: Call) -> list[str]:
    """Complaints about our server: a malformed result, or a yes where teremok says no."""
    if not call.ok:
        return []
    complaints = judge_result(call.method, call.result)
    if due := refusal_due(call.method, call.params):
        complaints.append(f"{call.method}: accepted, teremok says {due}")
    return complaints


@dataclass
class Judgement:
    """Everything the judges have to say about one world."""

    complaints: list[str] = field(default_factory=list)

    def collect(self, judge: Callable[..., list[str]]) -> Callable[..., None]:
        return lambda *evidence: self.complaints.extend(judge(*evidence))


def attach_judges(world: Telegram) -> Judgement:
    """Judge every request, update and answer of `world` from now on."""
    judgement = Judgement()
    world.hooks.on_request.append(judgement.collect(judge_request))
    world.hooks.on_update.append(judgement.collect(judge_update))
    world.hooks.on_answer.append(judgement.collect(judge_answer))
    return judgement
