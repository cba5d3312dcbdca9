"""Tells a model's reasoning from its answer where both arrive in one text.

Rule 1: a `<think>` block is reasoning where the answer would start. Some templates open the
        block in the prompt, so that only its closing tag arrives, alone on its line.
Rule 2: a tag anywhere else, or in code or quotation marks, is what the answer talks about.
Rule 3: a block that never closes is reasoning to its end: nothing of it is ever shown.
"""

import re
import sys
from bisect import bisect

NAMES = r"(?:think|thinking|thought)"
OPENING = re.compile(rf"[\s\ufeff\u200b]*<{NAMES}>", re.IGNORECASE)
CLOSING = re.compile(rf"</{NAMES}>", re.IGNORECASE)
OPENING_ANYWHERE = re.compile(rf"<{NAMES}>", re.IGNORECASE)

# "<think> and </think> are tags": the sentence is about them, nothing was thought.
BETWEEN_TAGS_OF_A_SENTENCE = frozenset(
    {"and", "or", "&", "/", ",", "...", "…", "to", "plus", "و", "یا", "تا", "،"}
)
MOST_BLOCKS = 50  # no model thinks so often; each costs a look at the whole rest

QUOTED = re.compile(
    r"""
      (?P<fence>^[ ]{0,3}(?P<marks>`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]{0,3}(?P=marks)[`~]*[ ]*$|\Z))
    | (?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ ]*\n).)+?(?<!`)(?P=ticks)(?!`))
    | "[^"\n]*" | “[^”\n]*” | «[^»\n]*» | (?<!\w)'[^'\n]*'(?!\w) | ‘[^’\n]*’
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def split_thinking(text: str) -> tuple[str, str]:
    """Return (what may be shown, what was reasoning). Without reasoning the text is unchanged."""
    thoughts: list[str] = []
    shown = text
    for _ in range(MOST_BLOCKS):
        parts = _leading_block(shown) or _orphan_block(shown)
        if parts is None:
            break
        thought, shown = parts
        if thought.strip():
            thoughts.append(thought.strip())
    return shown, "\n\n".join(thoughts)


def _leading_block(text: str) -> tuple[str, str] | None:
    opening = OPENING.match(text)
    if opening is None:
        return None
    closing = _first_closing(text, opening.end())
    if closing is None:
        return text[opening.end() :], ""
    thought, rest = text[opening.end() : closing.start()], text[closing.end() :]
    if thought.strip(" ").lower() in BETWEEN_TAGS_OF_A_SENTENCE and rest[:1] in (" ", ",", "."):
        return None
    return thought, rest.lstrip()


def _orphan_block(text: str) -> tuple[str, str] | None:
    """Reasoning whose opening tag was part of the prompt template."""
    quoted = _quoted_spans(text)
    closing = next((m for m in CLOSING.finditer(text) if not _inside(quoted, m.start())), None)
    if closing is None or not _ends_a_block(text, closing):
        return None
    before = text[: closing.start()]
    opened = (m for m in OPENING_ANYWHERE.finditer(before) if not _inside(quoted, m.start()))
    if next(opened, None) is not None:
        return None
    return before, text[closing.end() :].lstrip()


def _ends_a_block(text: str, closing: re.Match[str]) -> bool:
    line_before = text[: closing.start()].rpartition("\n")[2]
    line_after = text[closing.end() :].partition("\n")[0]
    if line_after.strip():
        return False
    if not line_before.strip():
        return True
    glued = not line_before[-1].isspace()
    return glued and text.startswith("\n\n", closing.end())


def _first_closing(text: str, start: int) -> re.Match[str] | None:
    """The first closing tag that is not quoted; failing that, the first one at all.

    Reasoning about tags quotes them, but it also leaves fences open, and an answer that
    swallowed its own end would be worse than a quoted tag taken for the real one.
    """
    quoted = _quoted_spans(text[start:])
    found = list(CLOSING.finditer(text, start))
    unquoted = (match for match in found if not _inside(quoted, match.start() - start))
    return next(unquoted, found[0] if found else None)


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in QUOTED.finditer(text)]


def _inside(spans: list[tuple[int, int]], position: int) -> bool:
    at = bisect(spans, (position, sys.maxsize)) - 1
    return at >= 0 and position < spans[at][1]
