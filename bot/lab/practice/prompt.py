"""Reads a request the way the practice model understands it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The blocks that the bot puts in front of the user's words (bot/model/prompts.py).
BLOCK = re.compile(r"\s*<(?P<name>notes|earlier)-(?P<mark>\w+)>\n(?P<inside>.*?)\n?</(?P=name)-(?P=mark)>\n?", re.DOTALL)  # fmt: skip  # noqa: E501
LINE_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)]|\[[^\]]{1,160}\])\s*(?=\S)")
LINE_ID = re.compile(r"^\s*\[([^\],\s]{1,120})")
STAMP = re.compile(r"^\s*\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?\S{0,8}\s*(?:[:—–-]\s)?")
MAX_LINES_TO_TAKE_APART = 12
LONGEST_LINE_TO_TAKE_APART = 300


@dataclass(frozen=True, slots=True)
class ToolResult:
    name: str
    arguments: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    parts: tuple[str, ...]  # what the user said since the last answer, one thing each
    earlier: tuple[str, ...]  # what the user said before
    told: str  # what the model was told besides: notes in front of the words, or system messages
    memory: tuple[str, ...]  # remembered lines, without marks and ids
    tasks: tuple[str, ...]  # lines about open tasks, with their ids
    tools: Mapping[str, Mapping[str, Any]]  # name → JSON schema of the arguments
    results: tuple[ToolResult, ...]  # of the calls made since the user spoke


def read_prompt(body: Mapping[str, Any]) -> Prompt:
    messages = [one for one in _list(body.get("messages")) if isinstance(one, Mapping)]
    answered = max((at for at, one in enumerate(messages) if _is_answer(one)), default=-1)
    since = messages[answered + 1 :]
    blocks, texts = _without_blocks(_said(since, "user"))
    notes = "\n".join(inside for name, inside in blocks if name == "notes")
    told = notes or "\n".join(_said(messages, "system", "developer"))
    memory, tasks = _listed(told)
    unanswered = (inside for name, inside in blocks if name == "earlier")
    return Prompt(
        parts=tuple(part for text in texts for part in _parts(text)),
        earlier=(*_said(messages[: answered + 1], "user"), *unanswered),
        told=told,
        memory=memory,
        tasks=tasks,
        tools=_tools(body.get("tools")),
        results=tuple(_results(since)),
    )


def id_of(line: str) -> str:
    """The id in front of a line of memory or of a task, or an empty text."""
    found = LINE_ID.match(line)
    return found[1] if found else ""


def _without_blocks(texts: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    blocks: list[tuple[str, str]] = []
    rest: list[str] = []
    for text in texts:
        while found := BLOCK.match(text):
            blocks.append((found["name"], found["inside"]))
            text = text[found.end() :]
        rest.append(text)
    return blocks, [text for text in rest if text.strip()]


def _listed(told: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The list items, as memory unless the heading above them speaks of tasks."""
    memory: list[str] = []
    tasks: list[str] = []
    under_tasks = False
    for line in told.splitlines():
        if not LINE_MARK.match(line):
            under_tasks = "task" in line.lower()
        elif under_tasks:
            tasks.append(line.strip())
        else:
            memory.append(bare_line(line))
    return tuple(memory), tuple(tasks)


def text_of(content: object) -> str:
    """The text of a message, sent as a string or as a list of parts."""
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in _list(content) if isinstance(part, Mapping))
    return "\n".join(part for part in parts if isinstance(part, str))


def bare_line(line: str) -> str:
    """A list item without its mark, its id and its time stamp."""
    before = None
    while before != line:
        before, line = line, STAMP.sub("", LINE_MARK.sub("", line)).strip()
    return line


def _is_answer(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" and not message.get("tool_calls")


def _said(messages: Sequence[Mapping[str, Any]], *roles: str) -> list[str]:
    texts = (text_of(one.get("content")) for one in messages if one.get("role") in roles)
    return [text for text in texts if text.strip()]


def _parts(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    short = all(len(line) <= LONGEST_LINE_TO_TAKE_APART for line in lines)
    return lines if short and len(lines) <= MAX_LINES_TO_TAKE_APART else [text.strip()]


def _tools(offered: object) -> dict[str, Mapping[str, Any]]:
    functions = (tool.get("function") for tool in _list(offered) if isinstance(tool, Mapping))
    return {
        str(one["name"]): one.get("parameters") or {}
        for one in functions
        if isinstance(one, Mapping) and "name" in one
    }


def _results(messages: Sequence[Mapping[str, Any]]) -> list[ToolResult]:
    called = {
        call.get("id"): call.get("function") or {}
        for one in messages
        for call in _list(one.get("tool_calls"))
    }
    return [
        ToolResult(
            str(called.get(one.get("tool_call_id"), {}).get("name", "")),
            str(called.get(one.get("tool_call_id"), {}).get("arguments", "")),
            text_of(one.get("content")),
        )
        for one in messages
        if one.get("role") == "tool"
    ]


def lines_of_result(content: str) -> list[str]:
    """The lines in a tool's result, sent as JSON or as text."""
    try:
        value = json.loads(content)
    except ValueError:
        return [bare for line in content.splitlines() if (bare := bare_line(line))]
    return [line for line in _texts(value) if line]


def _texts(value: object) -> list[str]:
    match value:
        case str():
            return [bare_line(value)]
        case Mapping():
            told = value.get("text") or value.get("fact") or value.get("content")
            if isinstance(told, str):
                return [bare_line(told)]
            return [
                line
                for inner in value.values()
                if isinstance(inner, list)
                for line in _texts(inner)
            ]
        case list():
            return [line for inner in value for line in _texts(inner)]
        case _:
            return []


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
