"""The forms that the value of a setting can have: each turns text into what the program uses.

A form raises ValueError with half a sentence that says what is wrong and never holds the value.
"""

import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, SecretStr
from pydantic.config import JsonDict

Access: TypeAlias = Literal["owner", "public"] | frozenset[int]


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int


def from_file(value: str) -> str:
    """Replace `@file` by the file's text, so that long settings can live in files."""
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).expanduser().read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"that file cannot be read ({type(error).__name__})") from error


def parse_prompt(value: str) -> str:
    text = from_file(value)
    if not text:
        raise ValueError("that file is empty")
    return text


def parse_words(value: str | tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    lines = (line for line in from_file(value).splitlines() if not line.lstrip().startswith("#"))
    return tuple(word.strip() for line in lines for word in line.split(",") if word.strip())


def parse_patterns(value: str | tuple[re.Pattern[str], ...]) -> tuple[re.Pattern[str], ...]:
    if isinstance(value, tuple):
        return value
    if not value.startswith("@"):
        raise ValueError("it does not start with @")
    patterns = []
    for number, line in enumerate(from_file(value).splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                patterns.append(re.compile(line.strip(), re.IGNORECASE))
            except re.error as error:
                raise ValueError(f"line {number} is no regular expression ({error})") from error
    return tuple(patterns)


def parse_ids(value: str | frozenset[int]) -> frozenset[int]:
    if isinstance(value, frozenset):
        return value
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if not parts or not all(re.fullmatch(r"[1-9][0-9]{0,15}", part) for part in parts):
        raise ValueError("it is no list of Telegram user ids")
    return frozenset(map(int, parts))


def parse_access(value: str | frozenset[int]) -> Access:
    match value.strip().lower() if isinstance(value, str) else value:
        case "owner":
            return "owner"
        case "public":
            return "public"
    return parse_ids(value)


def parse_zone(value: str | ZoneInfo) -> ZoneInfo:
    if isinstance(value, ZoneInfo):
        return value
    try:
        return ZoneInfo(value.strip() or "unnamed")
    except (KeyError, ValueError, OSError) as error:
        raise ValueError("no such time zone is known") from error


def parse_address(value: str | Address | None) -> Address | None:
    if not isinstance(value, str):
        return value
    host, colon, port = value.strip().rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not 0 <= int(port) <= 65535:
        raise ValueError("it is no host:port")
    return Address(host.strip("[]") or "127.0.0.1", int(port))


def parse_http_url(value: str) -> str:
    url = value.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if url and (not valid or re.search(r"\s", url)):
        raise ValueError("it is no http:// or https:// address")
    return url


def matching(pattern: str, problem: str) -> BeforeValidator:
    """Accept text of this form; spaces around it, as copying leaves them, are cut off."""
    form = re.compile(pattern)

    def check(value: Any) -> Any:
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if not form.fullmatch(text.strip()):
            raise ValueError(problem)
        return text.strip()

    return BeforeValidator(check)


def one_of(*choices: str, upper: bool = False) -> BeforeValidator:
    def check(value: str) -> str:
        choice = value.strip().upper() if upper else value.strip().lower()
        if choice not in choices:
            raise ValueError("that is not one of the choices")
        return choice

    return BeforeValidator(check)


def setting(default: Any, allowed: str, description: str, **limits: Any) -> Any:
    """A field with its meaning (for the documentation) and what is allowed (for the errors)."""
    validate = default is not None
    extra: JsonDict = {"allowed": allowed}
    return Field(
        default,
        description=description,
        json_schema_extra=extra,
        validate_default=validate,
        **limits,
    )


def seconds(
    default: float, description: str, *, at_least: float = 0, at_most: float = 86400
) -> Any:
    return setting(
        default,
        f"a number of seconds from {at_least:g} to {at_most:g}",
        description,
        ge=at_least,
        le=at_most,
        allow_inf_nan=False,
    )


def count(default: int, description: str, *, at_least: int, at_most: int) -> Any:
    allowed = f"a whole number from {at_least} to {at_most}"
    return setting(default, allowed, description, ge=at_least, le=at_most)
