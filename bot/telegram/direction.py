"""Keeps lines that mix right-to-left and left-to-right text in order.

The first strong character of a line decides its direction. A Persian sentence that begins with an
English word would be laid out from left to right, its end before its beginning. So the words at
the start of such a line are isolated (U+2068…U+2069): they no longer count. Nothing else is
touched, and code never is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.telegram.characters import ISOLATE, POP_ISOLATE, is_left_to_right, is_right_to_left
from bot.telegram.spans import UNBREAKABLE, Span

LONGEST_RUN = 200  # a run at the start that is longer than this is a text of its own
ADDRESS = re.compile(  # bounded, and tried only where a word begins: it must stay linear
    r"(?<![a-z])[a-z]{1,20}://\S+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]+"
    r"|(?<![\w.-])(?:[\w-]{1,63}\.)+[a-z]{2,}(?:/\S*)?",
    re.ASCII,
)
OUTER_PUNCTUATION = " \t:;,.!?-–—،؛؟"
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")


@dataclass(frozen=True, slots=True)
class _Count:
    """Letters by direction."""

    left: int
    right: int


def isolated(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """Return the text and its spans with isolates where a line would scramble."""
    if not RIGHT_TO_LEFT.search(text):
        return text, list(spans)
    runs = list(_runs(text, spans))
    marks = sorted(
        [(start, ISOLATE) for start, _ in runs] + [(end, POP_ISOLATE) for _, end in runs]
    )
    return _inserted(text, marks), _moved(spans, [at for at, _ in marks], marks)


def _runs(text: str, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    code = [span for span in spans if span.type == "pre"]
    whole = sorted(
        (span for span in spans if span.type in UNBREAKABLE), key=lambda span: span.start
    )
    uncounted = _blanked(text, [span for span in spans if span.type in ("pre", "code")])
    page = _count(uncounted)
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        if not any(span.start < end and start < span.end for span in code):
            run = _run(text, start, end, _right_wanted(_count(uncounted[start:end]), page))
            if run is not None:
                yield _around(run, whole, start, end)
        start = end + 1


def _blanked(text: str, spans: Sequence[Span]) -> str:
    """The text with spaces for code and addresses, whose letters say nothing about a language."""
    text = ADDRESS.sub(lambda match: " " * len(match[0]), text)
    pieces: list[str] = []
    done = 0
    for span in sorted(spans, key=lambda each: each.start):
        if span.start >= done:
            pieces += [text[done : span.start], " " * (span.end - span.start)]
            done = span.end
    return "".join([*pieces, text[done:]])


def _count(text: str) -> _Count:
    return _Count(sum(map(is_left_to_right, text)), sum(map(is_right_to_left, text)))


def _right_wanted(line: _Count, page: _Count) -> bool | None:
    """Whether a line should run from right to left; None: leave it as it is."""
    if not line.right:
        return None
    if line.right > line.left:
        return True
    if page.right > page.left:
        return True if line.left <= 3 * line.right else None
    return False


def _run(text: str, start: int, end: int, right_wanted: bool | None) -> tuple[int, int] | None:
    """The words at the start of a line that give it the wrong direction."""
    if right_wanted is None:
        return None
    wrong, right = is_left_to_right, is_right_to_left
    if not right_wanted:
        wrong, right = right, wrong
    strong = (i for i in range(start, end) if wrong(text[i]) or right(text[i]))
    first = next(strong, end)
    if first == end or right(text[first]) or ISOLATE in text[start:first]:
        return None
    while first > start and not text[first - 1].isspace():  # the slash of a command, a bracket
        first -= 1
    turn = next((i for i in range(first, end) if right(text[i])), end)
    length = len(text[first:turn].rstrip(OUTER_PUNCTUATION))
    opening = text[first:turn][:length]
    while opening and opening[-1] in "([{«“\"'":
        opening = opening[:-1].rstrip(OUTER_PUNCTUATION)
    return (first, first + len(opening)) if 0 < len(opening) <= LONGEST_RUN else None


def _around(run: tuple[int, int], whole: Sequence[Span], start: int, end: int) -> tuple[int, int]:
    """Widen a run so that it does not begin or end inside a link or inline code."""
    first, last = run
    for span in whole:
        if span.start < first < span.end:
            first = max(span.start, start)
        if span.start < last < span.end:
            last = min(span.end, end)
    return first, last


def _inserted(text: str, marks: Sequence[tuple[int, str]]) -> str:
    pieces: list[str] = []
    done = 0
    for at, mark in marks:
        pieces += [text[done:at], mark]
        done = at
    return "".join([*pieces, text[done:]])


def _moved(
    spans: Sequence[Span], places: Sequence[int], marks: Sequence[tuple[int, str]]
) -> list[Span]:
    """Shift spans by the marks before them: a mark at either edge stays outside."""
    return [
        replace(
            span,
            start=span.start + bisect_right(places, span.start),
            end=span.end + bisect_right(places, span.end - 1),
        )
        for span in spans
    ]
