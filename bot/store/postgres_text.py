"""Turns our SQL text (`:name`) and values into what psycopg expects, and rows back into ours.

Both databases get the same text. Where their types differ, PostgreSQL is brought closer to SQLite:
a bool may be compared with a number, and a sum is an int or a float, never a Decimal.
"""

import re
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader

# What is not code (literals, quoted names, comments) is matched first, and left alone.
_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | \$\$.*?\$\$
    | ::
    | :(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | %""",
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=2048)
def psycopg_text(text: str) -> str:
    """`:name` → `%(name)s`; `%` → `%%`; casts, literals and comments keep their meaning."""
    return _TOKEN.sub(_token, text)


def _token(match: re.Match[str]) -> str:
    name = match["name"]
    return f"%({name})s" if name else match[0].replace("%", "%%")


class _BoolDumper(Dumper):
    """As an untyped literal, which PostgreSQL takes for a boolean and for a number alike."""

    def dump(self, obj: Any) -> Buffer:
        return b"1" if obj else b"0"


class _NumericLoader(Loader):
    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode("ascii")
        return int(text) if text.lstrip("-").isdigit() else float(text)


def adapt(connection: psycopg.Connection[Any]) -> None:
    connection.adapters.register_dumper(bool, _BoolDumper)
    connection.adapters.register_loader("numeric", _NumericLoader)
