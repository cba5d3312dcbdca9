"""Reads why a provider gave no answer. The decision is a value; retrying is done elsewhere.

Rule 1: the wording is searched, never kept: a provider's message may quote the prompt, the
        answer or the key. A diagnosis carries a status and a code from `KNOWN_CODES`, no more.
Rule 2: only the provider's own words are searched (message, code, type, parameter), not the
        whole body, because validation errors repeat the request inside it.
Rule 3: the specific reading wins over the status: a 403 or a 429 may well mean an empty account.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from bot.errors import ModelFailure

KNOWN_CODES = frozenset(
    {
        "account_deactivated", "api_error", "arrearage", "authentication_error",
        "billing_hard_limit_reached", "billing_not_active", "content_filter",
        "content_policy_violation", "context_length_exceeded", "data_inspection_failed",
        "deploymentnotfound", "exceed_context_size_error", "insufficient_balance",
        "insufficient_quota", "internal_server_error", "invalid_api_key", "invalid_model",
        "invalid_prompt", "invalid_request_error", "model_decommissioned", "model_not_found",
        "not_found_error", "overloaded_error", "permission_error", "rate_limit_error",
        "rate_limit_exceeded", "request_too_large", "requests", "server_error",
        "string_above_max_length", "tokens", "unknown_model", "unknown_parameter",
        "unsupported_country_region_territory", "unsupported_parameter", "unsupported_value",
    }
)  # fmt: skip

CONTENT_FILTER = re.compile(
    r"content[ _]?filter|content[ _]policy|content management policy|content exists risk"
    r"|responsibleaipolicy|data_inspection_failed|inappropriate content|flagged"
    r"|prohibited_content|usage policy|敏感内容|不安全"
)
NO_BALANCE = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|credit balance is too low|more credits"
    r"|no credits|out of credits|billing_(?:hard_limit_reached|not_active)|arrearage"
    r"|account is in good standing|key limit exceeded|余额不足|exceeded your current quota"
    r"|not enough (?:credits?|balance)"
)
QUOTA_PER_TIME = re.compile(r"retry in|resource_exhausted|per[ _]?(?:minute|day|second|hour)")
CONTEXT_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length|request_too_large"
    r"|(?:maximum|max|model'?s?) (?:context|prompt|model) length|(?:context|model) length of"
    r"|longer than the (?:maximum )?(?:model|context)|context length exceeded"
    r"|exceed\w* [^.]{0,60}context (?:size|length|window|limit)|context (?:size|window) (?:of|is)"
    r"|(?:prompt|input|request|conversation|messages?) (?:is|are) too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|reduce the length of the (?:messages|input|prompt)"
    r"|exceed\w* the (?:maximum|configured limit)[^.]{0,30}tokens|tokens must be reduced"
    r"|request too large|context the overflows|context overflow|max_new_tokens` must be <="
    r"|too large for model with|reduce your message size|token limit exceeded"
    r"|prompt contains \d+ tokens"
)
UNKNOWN_MODEL = re.compile(
    r"model_not_found|invalid_model|model_decommissioned|unknown_model|deploymentnotfound"
    r"|model not exist|not a valid model|invalid model|unknown model|no such model"
    r"|models? [^.]{0,120}?(?:does not exist|do not exist|not found|is not available"
    r"|not supported for|decommissioned|not been found|is not a chat model|is disabled)"
    r"|no endpoints found|not a chat model|no models? loaded|failed to load model"
    r"|(?:access to|unable to access) (?:the )?(?:non-serverless )?model"
    r"|deployment [^.]{0,60}does not exist|must provide a model|model is required"
    r"|model `?[^ ]{0,100}`? not found"
)
WRONG_KEY = re.compile(
    r"invalid[ _]api[ _]key|incorrect api key|api key not valid|no auth credentials"
    r"|api key (?:is )?(?:invalid|missing|expired|disabled)|invalid (?:authentication|token)"
    r"|authentication_error|account_deactivated|unauthorized"
)
# A wrong MODEL_BASE_URL, in the words of Ollama, llama.cpp, FastAPI, OpenAI and Express.
NO_SUCH_PATH = re.compile(r"^not found$|(?:page|file|route) not found|invalid url|cannot post")

WAIT_IN_WORDS = re.compile(r"(?:retry|try again) in (\d+(?:\.\d+)?) ?(ms|s)\b")
REPEATABLE_STATUSES = frozenset({408, 425, 429})
SEARCHED_CHARACTERS = 3000


@dataclass(frozen=True, slots=True)
class Refusal:
    """What came back instead of an answer."""

    status: int
    wording: str = field(default="", repr=False)  # lower case, only to be searched
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    structured: bool = True  # False: a web page, so no model server wrote it


@dataclass(frozen=True, slots=True)
class Diagnosis:
    failure: ModelFailure
    detail: str = ""
    repeatable: bool = False  # the same request may succeed in a moment, and does no harm
    retry_after_seconds: float | None = None


def refusal(status: int, body: object, headers: Mapping[str, str] | None = None) -> Refusal:
    """Read an error body: OpenAI's, FastAPI's `detail` list, a bare string, or nothing at all."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    words = " ".join(_provider_words(error)).lower()[:SEARCHED_CHARACTERS]
    return Refusal(
        status=_inner_status(error) if status < 400 else status,
        wording=words,
        code=_known_code(error),
        headers=headers or {},
        structured=not (isinstance(body, str) and _is_page(body)),
    )


def diagnose(what: Refusal) -> Diagnosis:
    """Return what the refusal means for the caller, most specific reading first."""
    failure = _by_wording(what) or _by_status(what)
    repeatable = failure in {ModelFailure.RATE_LIMITED, ModelFailure.UNREACHABLE} and (
        what.status in REPEATABLE_STATUSES or what.status >= 500
    )
    detail = f"{what.status} {what.code}".strip()
    return Diagnosis(failure, detail, repeatable, retry_after(what) if repeatable else None)


def retry_after(what: Refusal) -> float | None:
    """Seconds to wait, from `retry-after-ms`, `Retry-After` (seconds or a date) or the words."""
    headers = {name.lower(): value for name, value in what.headers.items()}
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is None:
        seconds = _seconds_until(asked, headers.get("date"))
    return seconds if seconds is not None else _wait_in_words(what.wording)


def _by_wording(what: Refusal) -> ModelFailure | None:
    words = what.wording
    if what.status == 402 or _says_no_balance(words):
        return ModelFailure.NO_BALANCE
    if what.status == 413 or CONTEXT_TOO_LONG.search(words):
        return ModelFailure.CONTEXT_TOO_LONG
    if CONTENT_FILTER.search(words):
        return ModelFailure.CONTENT_FILTER
    if what.status not in (401, 429) and UNKNOWN_MODEL.search(words):
        return ModelFailure.UNKNOWN_MODEL
    if what.status < 500 and what.status != 429 and WRONG_KEY.search(words):
        return ModelFailure.WRONG_KEY
    return None


def _by_status(what: Refusal) -> ModelFailure:
    match what.status:
        case 401 | 403:
            return ModelFailure.WRONG_KEY
        case 404 if what.structured and not NO_SUCH_PATH.search(what.wording):
            return ModelFailure.UNKNOWN_MODEL
        case 429:
            return ModelFailure.RATE_LIMITED
        case 408 | 425 | 407:
            return ModelFailure.UNREACHABLE
        case status if status >= 500:
            return ModelFailure.UNREACHABLE
        case _:
            return ModelFailure.BAD_REPLY


def _says_no_balance(words: str) -> bool:
    if not NO_BALANCE.search(words):
        return False
    # Gemini words its per-minute limits exactly like OpenAI's used-up quota.
    return "insufficient_quota" in words or not QUOTA_PER_TIME.search(words)


def _provider_words(error: object) -> Iterator[str]:
    match error:
        case str():
            yield error
        case list():
            for item in error[:5]:
                yield from _provider_words(item)
        case Mapping():
            for name in ("error", "message", "msg", "code", "type", "param", "status", "detail"):
                yield from _provider_words(error.get(name))
            for name in ("loc", "reasons"):
                yield from (str(part) for part in _items(error.get(name)))
            for name in ("innererror", "metadata"):
                yield from _nested_words(error.get(name))
        case _:
            return


def _nested_words(value: object) -> Iterator[str]:
    """Azure's `innererror.code`, OpenRouter's `metadata.raw` (the upstream provider's body)."""
    if isinstance(value, Mapping):
        yield from _provider_words(
            {name: value.get(name) for name in ("code", "message", "reasons")}
        )
        raw = value.get("raw")
        if isinstance(raw, str):
            yield raw[:1000]


def _items(value: object) -> list[Any]:
    return value[:8] if isinstance(value, list) else []


def _known_code(error: object) -> str:
    if not isinstance(error, Mapping):
        return ""
    candidates = (str(error.get(name)).lower() for name in ("code", "type"))
    return next((code for code in candidates if code in KNOWN_CODES), "")


def _inner_status(error: object) -> int:
    """Gateways answer 200 and put the status into the body."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code[:4])
    return code if isinstance(code, int) and 400 <= code <= 599 else 200


def _is_page(body: str) -> bool:
    return body.lstrip()[:1] == "<"


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None


def _seconds_until(moment: str | None, now: str | None) -> float | None:
    """Both moments come from the server, so the clock of this machine does not matter."""
    try:
        wait = parsedate_to_datetime(moment or "") - parsedate_to_datetime(now or "")
    except (ValueError, TypeError):
        return None
    return max(0.0, wait.total_seconds())


def _wait_in_words(words: str) -> float | None:
    found = WAIT_IN_WORDS.search(words)
    if found is None:
        return None
    return float(found[1]) / (1000 if found[2] == "ms" else 1)
