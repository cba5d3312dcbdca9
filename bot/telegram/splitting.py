"""Cuts a formatted text into messages that Telegram accepts and does not change.

Rule 1: at most 4096 UTF-16 units and 100 entities a message, and something to see in each.
Rule 2: cut where a reader would: after a paragraph, a line, a sentence, a word, a character.
Rule 3: a link or a piece of inline code is not torn apart unless it alone is too long; code
        blocks and other formatting go on in the next message.
Rule 4: no blanks at either end, since Telegram trims them; only code that begins a message
        keeps the indentation of its first line.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.telegram.characters import ISOLATE, MESSAGE_UNITS, POP_ISOLATE, has_visible, is_joint
from bot.telegram.port import Entity, Part
from bot.telegram.spans import (
    UNBREAKABLE,
    Span,
    entities_of,
    merged,
    normalise,
    spans_of,
    trimmed,
    unit_offsets,
)

MESSAGE_ENTITIES = 100  # https://core.telegram.org/bots/api: more are ignored
LONGEST_CLUSTER = 64  # a drawn character of more code points is nonsense and may be cut

PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
LINE = re.compile(r"\n")
SENTENCE = re.compile(r"(?<=[.!?؟…])[\"'”’»)\]]*(?=\s)|(?<=[。！？])[”’」』）]*")
WORD = re.compile(r"\s")
BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)+")
BLANKS = re.compile(r"\s+")
ISOLATED = re.compile(f"{ISOLATE}[^{POP_ISOLATE}\n]*{POP_ISOLATE}")


@dataclass(frozen=True, slots=True)
class _Place:
    """A kind of place to cut at; `floor`: not before this share of the message is used."""

    pattern: re.Pattern[str]
    floor: float
    in_code: bool = False


PLACES = (
    _Place(PARAGRAPH, 0.25),
    _Place(LINE, 0.5),
    _Place(PARAGRAPH, 0.5, in_code=True),
    _Place(LINE, 0.5, in_code=True),
    _Place(SENTENCE, 0.5),
    _Place(WORD, 0.5),
    _Place(PARAGRAPH, 0.0),
    _Place(LINE, 0.0, in_code=True),
    _Place(SENTENCE, 0.0, in_code=True),
    _Place(WORD, 0.0, in_code=True),
)


def split(text: str, entities: Iterable[Entity] = ()) -> tuple[Part, ...]:
    """Return the text as messages in order; () if nothing in it is visible.

    `text` must be clean (characters.sendable). Entities are put in order on the way.
    """
    return split_spans(text, spans_of(text, entities))


def split_spans(text: str, spans: Iterable[Span]) -> tuple[Part, ...]:
    """Like `split`, for spans in indices."""
    return tuple(_Source(text, spans).parts())


class _Source:
    def __init__(self, text: str, spans: Iterable[Span]) -> None:
        self._text = text
        kept = (bare for span in spans if (bare := trimmed(text, span)) is not None)
        self._spans = sorted(kept, key=lambda span: (span.start, -span.end))
        self._starts = [span.start for span in self._spans]
        self._offsets = unit_offsets(text)
        self._code = merged(span for span in self._spans if span.type == "pre")
        isolated = (Span("", *match.span()) for match in ISOLATED.finditer(text))
        unbreakable = (span for span in self._spans if span.type in UNBREAKABLE)
        self._unbreakable = merged([*unbreakable, *isolated])

    def parts(self) -> Iterator[Part]:
        start = self._after_blanks(0)
        while start < len(self._text):
            end = self._cut(start, self._limit(start))
            part = self._part(start, end)
            while part and len(part.entities) > MESSAGE_ENTITIES:
                # Nesting rules cut runs in pieces, so there can be more than were counted.
                end = self._cut(start, (start + end) // 2)
                part = self._part(start, end)
            if part:
                yield part
            start = self._after_blanks(end)

    def _part(self, start: int, end: int) -> Part | None:
        """The message between two indices, or None if nothing of it is visible."""
        while end > start and self._text[end - 1].isspace():
            end -= 1
        text = self._text[start:end]
        if not has_visible(text):
            return None
        clipped = (
            replace(span, start=max(span.start, start) - start, end=min(span.end, end) - start)
            for span in self._spans[: bisect_left(self._starts, end)]
            if span.end > start
        )
        return Part(text, entities_of(text, normalise(text, clipped)))

    def _after_blanks(self, index: int) -> int:
        """The next index at which a message may begin: not a blank, unless it indents code."""
        inside = _holder(self._code, index)
        if inside is not None:
            match = BLANK_LINES.match(self._text, index, inside.end)
            return match.end() if match else index
        match = BLANKS.match(self._text, index)
        if match is None:
            return index
        following = [span.start for span in self._code if index <= span.start < match.end()]
        return min(following, default=match.end())

    def _cut(self, start: int, limit: int) -> int:
        """Where a message from `start` that may reach `limit` ends best."""
        if limit == len(self._text):
            return limit
        for place in PLACES:
            if (found := self._last(place, start, limit)) is not None:
                return found
        return self._between_characters(start, limit)

    def _limit(self, start: int) -> int:
        """The index that a message from `start` may reach at most."""
        limit = bisect_right(self._offsets, self._offsets[start] + MESSAGE_UNITS) - 1
        first = bisect_right(self._starts, start)
        open_before = sum(1 for span in self._spans[:first] if span.end > start)
        too_many = first + max(MESSAGE_ENTITIES - open_before, 1)
        if too_many < bisect_left(self._starts, limit):
            limit = max(self._starts[too_many], start + 1)
        return limit

    def _last(self, place: _Place, start: int, limit: int) -> int | None:
        """The last place of its kind up to `limit`."""
        floor = start + max(1, int((limit - start) * place.floor))
        best: int | None = None
        for match in place.pattern.finditer(self._text, floor, min(limit + 2, len(self._text))):
            index = match.end() if place.pattern is SENTENCE else match.start()
            if floor <= index <= limit and self._may_cut(index, place):
                best = index
        return best

    def _may_cut(self, index: int, place: _Place) -> bool:
        if _holder(self._unbreakable, index) is not None:
            return False
        return place.in_code or _holder(self._code, index) is None

    def _between_characters(self, start: int, limit: int) -> int:
        holder = _holder(self._unbreakable, limit)
        if holder is not None and holder.start > start:
            return holder.start
        index = limit
        while index > start + 1 and limit - index < LONGEST_CLUSTER:
            if not is_joint(self._text, index):
                return index
            index -= 1
        return limit


def _holder(spans: Sequence[Span], index: int) -> Span | None:
    """The span that a cut before `index` would tear apart. The spans do not overlap."""
    at = bisect_left(spans, index, key=lambda span: span.start) - 1
    return spans[at] if at >= 0 and spans[at].end > index else None
