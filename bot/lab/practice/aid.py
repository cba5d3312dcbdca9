"""What the practice model does for operators, by fixed rules: drafts, summaries, translations.

It knows these requests by the blocks that bot/model/aiding.py writes.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.lab.practice import dictionary
from bot.lab.practice.phrases import is_persian, say
from bot.lab.practice.prompt import text_of
from bot.lab.practice.scripts import Reply

TALK = re.compile(r"<talk-(?P<mark>[0-9a-f]{8})>\n(?P<lines>.*)\n</talk-(?P=mark)>", re.DOTALL)
TEXT = re.compile(
    r"From: [^\n]*\((?P<source>\w+)\)\nTo: [^\n]*\((?P<target>\w+)\)\n"
    r"<text-(?P<mark>[0-9a-f]{8})>\n(?P<text>.*)\n</text-(?P=mark)>",
    re.DOTALL,
)
SUMMARY = re.compile(r"\AWrite in: [^\n]*\((?P<language>\w+)\)\n")
LONGEST_QUOTE = 120


def help_operator(body: Mapping[str, Any]) -> Reply | None:
    """The answer to such a request; None for any other."""
    said = _last_words(body)
    if wanted := TEXT.search(said):
        told = dictionary.translate(wanted["text"], wanted["source"], wanted["target"])
        return Reply(told or "UNSUPPORTED")
    talk = TALK.search(said)
    if talk is None:
        return None
    lines = talk["lines"].splitlines()
    if summary := SUMMARY.match(said):
        return Reply(_summary(lines, summary["language"]))
    return Reply(_draft(lines))


def _last_words(body: Mapping[str, Any]) -> str:
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    is_user = isinstance(last, Mapping) and last.get("role") == "user"
    return text_of(last.get("content")) if is_user else ""


def _of(lines: Sequence[str], author: str) -> list[str]:
    return [line.removeprefix(f"{author}: ") for line in lines if line.startswith(f"{author}: ")]


def _draft(lines: Sequence[str]) -> str:
    """Thanks for the newest message, and a gap: what the answer is only the operator knows."""
    asked = _of(lines, "user")
    newest = asked[-1] if asked else ""
    return say(newest, "draft", _quoted(newest))


def _summary(lines: Sequence[str], language: str) -> str:
    asked, answered = _of(lines, "user"), _of(lines, "assistant")
    about = "سلام" if language == "fa" else "hello"
    told = [say(about, "summary", len(asked), len(answered))]
    told += [f"• {_quoted(line)}" for line in asked[-3:]]
    return "\n".join(told)


def _quoted(line: str) -> str:
    cut = line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
    return f"«{cut}»" if is_persian(cut) else f"“{cut}”"
