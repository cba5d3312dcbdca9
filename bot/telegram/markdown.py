"""Rewrites what the Markdown library would lose or spoil, and puts it back afterwards.

Rule 1: HTML is not dropped. Paired tags such as <b>…</b> become formatting, <br> a new line, all
        other tags stay readable as they were typed.
Rule 2: a table becomes fixed-width text where a phone can show it so; a wide one, or one with
        links or right-to-left text, becomes a list.
Rule 3: || in ordinary text is two bars, not the start of a hidden spoiler.
Rule 4: code is never touched. What is code is asked of the library's own parser.

Marks (characters that Unicode keeps for private use inside programs) stand for tags while the
library works; `restore` turns them into spans.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import pyromark
from telegramify_markdown.converter import STANDARD_OPTIONS

from bot.telegram.characters import is_right_to_left, sendable
from bot.telegram.spans import Span

FORMATS = ("bold", "italic", "underline", "strikethrough", "code", "spoiler")
TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "del": "strikethrough",
    "strike": "strikethrough",
    "code": "code",
    "kbd": "code",
    "tg-spoiler": "spoiler",
}
OPENING = {name: chr(0xFDD0 + 2 * rank) for rank, name in enumerate(FORMATS)}
CLOSING = {name: chr(0xFDD1 + 2 * rank) for rank, name in enumerate(FORMATS)}
LINE_BREAK = "\ufdef"
MARKS = dict.fromkeys(range(0xFDD0, 0xFDF0))  # for str.translate: none comes in from outside

TAG = re.compile(rb"<(/?)([A-Za-z][A-Za-z-]*)\s*/?>")
# What `sendable` would change, and the marks: both may be in what the library returns.
SPECIAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u0333\u033f\u030a\ufdd0-\ufdef]")
HTML_PASSES = 20  # each takes one layer of nested HTML blocks
TABLE_WIDTH = 40  # characters of fixed-width text in a line on a phone


@dataclass(frozen=True, slots=True)
class _Edit:
    """Replace the bytes from `start` to `end` of the source."""

    start: int
    end: int
    text: str


def readable(text: str) -> str:
    """Return Markdown of which the library loses nothing."""
    if "<" in text:
        text = _with_html_kept(text)
    if "|" in text:
        text = _edited(text, _table_edits(text))
    if "||" in text:
        text = _edited(text, _bar_edits(text))
    return text


def restore(shown: str, spans: Iterable[Span]) -> tuple[str, list[Span]]:
    """Turn marks into spans and clean what the library decoded, keeping all spans in place."""
    found = list(SPECIAL.finditer(shown))
    if not found:
        return shown, list(spans)
    instead = [_shown_as(match[0]) for match in found]
    pieces: list[str] = []
    done = 0
    for match, new in zip(found, instead, strict=True):
        pieces += [shown[done : match.start()], new]
        done = match.end()
    starts = [match.start() for match in found]
    moved = [0, *accumulate(len(new) - 1 for new in instead)]

    def place(index: int) -> int:
        return index + moved[bisect_left(starts, index)]

    kept = [
        replace(span, start=place(span.start), end=place(span.end))
        for span in (*spans, *_marked(found))
    ]
    return "".join([*pieces, shown[done:]]), kept


def _shown_as(character: str) -> str:
    if character == LINE_BREAK:
        return "\n"
    return "" if "\ufdd0" <= character <= "\ufdef" else sendable(character)


def _marked(found: Iterable[re.Match[str]]) -> Iterator[Span]:
    opened: dict[str, list[int]] = {name: [] for name in FORMATS}
    closing = {mark: name for name, mark in CLOSING.items()}
    opening = {mark: name for name, mark in OPENING.items()}
    for match in found:
        if match[0] in opening:
            opened[opening[match[0]]].append(match.end())
        elif match[0] in closing and opened[closing[match[0]]]:
            name = closing[match[0]]
            yield Span(name, opened[name].pop(), match.start())


def _events(text: str) -> Iterator[tuple[Any, int, int]]:
    """The parser's events, each with its range in the UTF-8 source."""
    for event, place in pyromark.events_with_range(text, options=STANDARD_OPTIONS):
        yield event, place["start"], place["end"]


def _edited(text: str, edits: Iterable[_Edit]) -> str:
    source = text.encode()
    pieces: list[bytes] = []
    done = 0
    for edit in sorted(edits, key=lambda each: each.start):
        pieces += [source[done : edit.start], edit.text.encode()]
        done = edit.end
    return b"".join([*pieces, source[done:]]).decode()


# --- HTML ---


def _with_html_kept(text: str) -> str:
    for _ in range(HTML_PASSES):
        edits = list(_html_edits(text))
        if not edits:
            return text
        text = _edited(text, edits)
    code = [(start, end) for event, start, end in _events(text) if _is_code(event)]
    return _edited(text, _outside(text, code, re.compile(rb"(?<!\\)<"), "\\<"))


def _html_edits(text: str) -> Iterator[_Edit]:
    source = text.encode()
    open_tags: list[tuple[bytes, int, int]] = []
    in_cell = False
    for event, start, end in _events(text):
        if event == {"Start": "TableCell"} or event == {"End": "TableCell"}:
            in_cell = "Start" in event
        if event == {"Start": "HtmlBlock"}:
            yield _literal(source, start)
        elif not (isinstance(event, dict) and "InlineHtml" in event):
            if isinstance(event, dict) and "End" in event and not _is_inline(event["End"]):
                yield from (_literal(source, at) for _, at, _ in open_tags)
                open_tags.clear()
        elif (match := TAG.fullmatch(source, start, end)) is None:
            yield _literal(source, start)
        elif (name := match[2].lower()) == b"br":
            yield _Edit(start, end, " " if in_cell else LINE_BREAK)
        elif name.decode() not in TAGS:
            yield _literal(source, start)
        elif not match[1]:
            open_tags.append((name, start, end))
        elif open_tags and _encloses(source, open_tags[-1], name, start):
            _, opened, inner = open_tags.pop()
            yield _Edit(opened, inner, OPENING[TAGS[name.decode()]])
            yield _Edit(start, end, CLOSING[TAGS[name.decode()]])
        else:
            yield _literal(source, start)
    yield from (_literal(source, at) for _, at, _ in open_tags)


def _literal(source: bytes, start: int) -> _Edit:
    at = source.index(b"<", start)
    return _Edit(at, at, "\\")


def _encloses(source: bytes, opening: tuple[bytes, int, int], name: bytes, end: int) -> bool:
    """Whether text stands close between the two tags, as it does not in "write <b> and </b>"."""
    inside = source[opening[2] : end]
    return opening[0] == name and bool(inside) and inside == inside.strip()


def _is_inline(tag: Any) -> bool:
    if isinstance(tag, dict):
        return "Link" in tag or "Image" in tag
    return tag in ("Emphasis", "Strong", "Strikethrough", "Link", "Image")


def _is_code(event: Any) -> bool:
    if not isinstance(event, dict):
        return False
    start = event.get("Start")
    return "Code" in event or (isinstance(start, dict) and "CodeBlock" in start)


def _is_math(event: Any) -> bool:
    return isinstance(event, dict) and ("InlineMath" in event or "DisplayMath" in event)


def _outside(
    text: str, ranges: Sequence[tuple[int, int]], pattern: re.Pattern[bytes], new: str
) -> Iterator[_Edit]:
    """Replace matches that lie in none of the ranges, which are in order."""
    source = text.encode()
    starts = [start for start, _ in ranges]
    for match in pattern.finditer(source):
        before = bisect_left(starts, match.start() + 1) - 1
        if before < 0 or ranges[before][1] <= match.start():
            yield _Edit(match.start(), match.end(), new)


# --- bars ---


def _bar_edits(text: str) -> Iterator[_Edit]:
    code: list[tuple[int, int]] = []
    apart: list[tuple[int, int]] = []  # where a backslash would show or change the meaning
    for event, start, end in _events(text):
        if _is_code(event):
            code.append((start, end))
        elif _is_math(event) or _is_table(event):
            apart.append((start, end))
    in_either = sorted([*code, *apart])
    yield from _outside(text, in_either, re.compile(rb"\|(?=\|)"), "\\|")
    for start, end in apart:
        for match in re.finditer(rb"\|(?=\|)", text.encode()[start:end]):
            if not any(a <= start + match.start() < b for a, b in code):
                yield _Edit(start + match.start(), start + match.end(), "| ")


def _is_table(event: Any) -> bool:
    start = event.get("Start") if isinstance(event, dict) else None
    return isinstance(start, dict) and "Table" in start


# --- tables ---


@dataclass(slots=True)
class _Table:
    start: int
    rows: list[list[str]] = field(default_factory=list)
    has_links: bool = False


def _table_edits(text: str) -> Iterator[_Edit]:
    source = text.encode()
    depth = 0  # of quotes and lists: inside them each line has a prefix, so tables stay
    table: _Table | None = None
    for event, start, end in _events(text):
        if not isinstance(event, dict):
            continue
        depth += _container_step(event)
        if _is_table(event) and depth == 0:
            table = _Table(start)
        if table is None:
            continue
        tag = event.get("Start", event.get("End"))
        if "Start" in event and tag in ("TableHead", "TableRow"):
            table.rows.append([])
        elif "Start" in event and tag == "TableCell":
            table.rows[-1].append(source[start:end].decode().strip().strip("|").strip())
        elif "Start" in event and isinstance(tag, dict) and "Link" in tag:
            table.has_links = True
        elif "End" in event and tag == "Table":
            if _reads_better_as_list(table):
                yield _Edit(table.start, end, _as_list(table.rows))
            table = None


def _container_step(event: dict[str, Any]) -> int:
    for side, step in (("Start", 1), ("End", -1)):
        tag = event.get(side)
        if tag == "Item" or (isinstance(tag, dict) and "BlockQuote" in tag):
            return step
    return 0


def _reads_better_as_list(table: _Table) -> bool:
    columns = max(map(len, table.rows))
    widths = [max(len(row[i]) for row in table.rows if i < len(row)) for i in range(columns)]
    width = sum(widths) + 3 * (columns - 1)
    mixed = any(is_right_to_left(letter) for row in table.rows for cell in row for letter in cell)
    return columns > 1 and (table.has_links or mixed or width > TABLE_WIDTH)


def _as_list(rows: Sequence[Sequence[str]]) -> str:
    """Each row under its first cell; with two columns, on one line."""
    head, *body = rows
    if not body:
        return " · ".join(filter(None, head)) + "\n"
    lines: list[str] = []
    for row in body:
        title, *cells = row
        pairs = [(name, cell) for name, cell in zip(head[1:], cells, strict=False) if cell]
        if len(head) == 2:
            lines.append(f"- {title}: {cells[0] if cells else ''}".rstrip(": "))
            continue
        lines.append(f"- {title or '–'}")
        lines += [f"  - {name}: {cell}" if name else f"  - {cell}" for name, cell in pairs]
    if len(head) == 2 and any(head):
        lines.insert(0, f"{' · '.join(filter(None, head))}\n")
    return "\n".join(lines) + "\n"
