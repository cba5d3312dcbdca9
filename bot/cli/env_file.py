"""Changes `.env` and keeps whatever else is in it: comments, order, unrelated lines."""

import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values
from dotenv.parser import parse_stream

from bot.errors import Misconfigured

PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")


def quoted(value: str) -> str:
    """The value as it stands in `.env`: bare where that is safe, otherwise in single quotes."""
    if PLAIN.fullmatch(value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def changed(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with these settings in it: in place where they stand, otherwise at the end.

    The last of several lines for one setting counts, so the others go. Raises Misconfigured
    if the result would not be read back as meant.
    """
    bindings = list(parse_stream(StringIO(text)))
    last = {binding.key: number for number, binding in enumerate(bindings)}
    pieces = []
    for number, binding in enumerate(bindings):
        if binding.key is None or binding.key not in values:
            pieces.append(binding.original.string)
        elif last[binding.key] == number:
            pieces.append(_in_place(binding.original.string, binding.key, values[binding.key]))
    result = "".join(pieces)
    if result and not result.endswith("\n"):
        result += "\n"
    result += "".join(f"{n}={quoted(v)}\n" for n, v in values.items() if n not in last)
    _confirm(result, values)
    return result


def write(path: Path, text: str) -> None:
    """Put `text` into the file at once or not at all, readable by its owner only."""
    target = path.resolve()  # a link to a `.env` elsewhere stays a link
    draft = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, target)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        reason = error.strerror or type(error).__name__
        raise Misconfigured(
            f"{path} cannot be written ({reason}); free the place or change to another folder."
        ) from error


def _in_place(original: str, name: str, value: str) -> str:
    """The new line where the old one was. The parser counts blank lines before it as its own."""
    before = original[: len(original) - len(original.lstrip("\r\n"))]
    return f"{before}{name}={quoted(value)}\n"


def _confirm(text: str, values: Mapping[str, str]) -> None:
    seen = dotenv_values(stream=StringIO(text))
    for name, value in values.items():
        if seen.get(name) != value:
            raise Misconfigured(
                f"{name} holds characters that .env cannot keep; set it in the environment.",
                setting=name,
            )
