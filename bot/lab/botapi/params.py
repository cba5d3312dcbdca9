"""A request's parameters: read from query, form, multipart or JSON; JSON inside strings decoded."""

import json
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.requests import Request

from bot.lab.botapi.records import Json
from bot.lab.botapi.refusals import bad_request

STRUCTURED: Final = frozenset(
    {
        "allowed_updates",
        "caption_entities",
        "commands",
        "entities",
        "link_preview_options",
        "media",
        "menu_button",
        "message_ids",
        "options",
        "reaction",
        "reply_markup",
        "reply_parameters",
        "scope",
        "suggested_post_parameters",
        "text_entities",
    }
)
_NAMES: Final = {
    "reply_markup": "reply keyboard markup JSON object",
    "entities": "entities: Can't parse entities JSON object",
    "caption_entities": "entities: Can't parse entities JSON object",
    "commands": "commands: Can't parse commands JSON object",
}


class Args:
    """Parameters with Telegram's leniency: numbers and booleans may be strings."""

    def __init__(self, values: Json, files: dict[str, bytes] | None = None) -> None:
        self.values = values
        self.files = files or {}

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name)
        return default if value is None else str(value)

    def integer(self, name: str, default: int = 0) -> int:
        value = self.values.get(name)
        try:
            return default if value in (None, "") else int(value)
        except (TypeError, ValueError):
            return default

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        return value is True or str(value).lower() in ("true", "1", "yes")

    def message_ids(self) -> list[int]:
        """Raises Refusal unless it is a list of numbers with something in it."""
        given = self.values.get("message_ids")
        try:
            numbers = [int(entry) for entry in given] if isinstance(given, list) else []
        except (TypeError, ValueError):
            raise bad_request("can't parse message identifiers JSON object") from None
        if not numbers:
            raise bad_request("message identifiers are not specified")
        return numbers

    def raw(self, name: str) -> Any:
        return self.values.get(name)


async def read_args(request: Request) -> Args:
    """Raises Refusal for a body that cannot be parsed."""
    values: Json = dict(parse_qsl(request.url.query, keep_blank_values=True))
    files: dict[str, bytes] = {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        async with request.form() as form:
            for key, value in form.multi_items():
                if isinstance(value, UploadFile):
                    files[key] = await value.read()
                else:
                    values[key] = value
    elif body := await request.body():
        values |= _json_body(body) if kind == "application/json" else _form_body(body)
    _decode(values)
    return Args(values, files)


def _json_body(body: bytes) -> Json:
    try:
        parsed = json.loads(body)
    except ValueError:
        raise bad_request("can't parse JSON object") from None
    if not isinstance(parsed, dict):
        raise bad_request("object expected")
    return {key: value for key, value in parsed.items() if value is not None}


def _form_body(body: bytes) -> Json:
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _decode(values: Json) -> None:
    for name in STRUCTURED & values.keys():
        value = values[name]
        if not isinstance(value, str):
            continue
        if not value:
            del values[name]
            continue
        try:
            values[name] = json.loads(value)
        except ValueError:
            if name == "media":  # a single file_id or address
                continue
            raise bad_request(f"can't parse {_NAMES.get(name, f'{name} JSON object')}") from None
