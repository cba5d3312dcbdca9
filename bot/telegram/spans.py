"""Formatted runs in Python indices, and the rules by which Telegram lets them nest.

Rules (https://core.telegram.org/bots/api#messageentity): pre and code hold nothing else; links
and custom emoji do not hold each other; quotes do not nest; the rest may lie in anything but pre
and code. Runs that break a rule are cut or dropped here, as Telegram would do, so that it has
nothing left to change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from bot.telegram.port import Entity

SIMPLE = ("bold", "italic", "underline", "strikethrough", "spoiler")
QUOTES = ("blockquote", "expandable_blockquote")
# The first of two that overlap stays.
EXCLUSIVE = ("pre", "text_link", "custom_emoji", "code")
UNBREAKABLE = frozenset({"text_link", "custom_emoji", "code"})
ORDER = {name: rank for rank, name in enumerate((*QUOTES, *EXCLUSIVE, *SIMPLE))}


@dataclass(frozen=True, slots=True)
class Span:
    type: str
    start: int
    end: int
    url: str = ""
    language: str = ""
    custom_emoji_id: str = ""


def unit_offsets(text: str) -> list[int]:
    """Return, for each index from 0 to len(text), its offset in UTF-16 units."""
    return [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]


def spans_of(text: str, entities: Iterable[Entity]) -> list[Span]:
    """Convert offsets in UTF-16 units to indices; what lies outside the text is cut off."""
    index_of = {offset: index for index, offset in enumerate(unit_offsets(text))}
    last = len(text)
    return [
        Span(
            each.type,
            index_of.get(each.offset, last),
            index_of.get(each.offset + each.length, last),
            each.url,
            each.language,
            each.custom_emoji_id,
        )
        for each in entities
        if each.length > 0
    ]


def entities_of(text: str, spans: Iterable[Span]) -> tuple[Entity, ...]:
    offsets = unit_offsets(text)
    return tuple(
        Entity(
            span.type,
            offsets[span.start],
            offsets[span.end] - offsets[span.start],
            span.url,
            span.language,
            span.custom_emoji_id,
        )
        for span in spans
    )


def normalise(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return the spans as Telegram keeps them: properly nested, trimmed, merged, sorted."""
    given = [bare for span in spans if (bare := trimmed(text, span)) is not None]
    quotes = _without_overlap(span for span in given if span.type in QUOTES)
    exclusive = _without_overlap(span for span in given if span.type in EXCLUSIVE)
    exclusive = [span for span in exclusive if not _crosses(span, quotes)]
    quotes = [span for span in quotes if not _lies_inside(span, exclusive)]
    opaque = [span for span in exclusive if span.type in ("pre", "code")]
    kept = quotes + exclusive
    for name in SIMPLE:
        runs = merged(span for span in given if span.type == name)
        pieces = [piece for run in runs for piece in _outside(run, opaque)]
        nested = [piece for run in pieces for piece in _cut_at_borders(run, kept)]
        kept += [bare for each in nested if (bare := trimmed(text, each)) is not None]
    return sorted(kept, key=lambda span: (span.start, -span.end, ORDER[span.type]))


def trimmed(text: str, span: Span) -> Span | None:
    """Without blanks at the edges; code keeps those before it. None: nothing is left."""
    start, end = span.start, span.end
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace() and span.type != "pre":
        start += 1
    if start >= end or span.type not in ORDER:
        return None
    return replace(span, start=start, end=end)


def _without_overlap(spans: Iterable[Span]) -> list[Span]:
    """Keep of overlapping spans the one of the stronger kind, or else the longest from the left."""
    kinds = {**dict.fromkeys(QUOTES, 0), **{kind: ORDER[kind] for kind in EXCLUSIVE}}
    taken: list[Span] = []
    for span in sorted(spans, key=lambda each: (kinds[each.type], each.start, -each.end)):
        if not any(span.start < each.end and each.start < span.end for each in taken):
            taken.append(span)
    return sorted(taken, key=lambda each: each.start)


def _crosses(span: Span, others: Sequence[Span]) -> bool:
    """Whether the span lies partly inside and partly outside another one."""
    return any(
        each.start < span.start < each.end < span.end
        or span.start < each.start < span.end < each.end
        for each in others
    )


def _lies_inside(span: Span, others: Sequence[Span]) -> bool:
    """Whether another, longer span holds all of this one."""
    place = (span.start, span.end)
    return any(
        each.start <= span.start and span.end <= each.end and place != (each.start, each.end)
        for each in others
    )


def merged(spans: Iterable[Span]) -> list[Span]:
    """Join spans that touch or overlap, whatever their types."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if merged and span.start <= merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _outside(span: Span, opaque: Sequence[Span]) -> list[Span]:
    pieces: list[Span] = []
    start = span.start
    for hole in opaque:
        if hole.end <= start or hole.start >= span.end:
            continue
        if hole.start > start:
            pieces.append(replace(span, start=start, end=hole.start))
        start = hole.end
    if start < span.end:
        pieces.append(replace(span, start=start))
    return pieces


def _cut_at_borders(span: Span, kept: Sequence[Span]) -> list[Span]:
    """Cut the span where it would cross another one instead of lying inside or around it."""
    borders: set[int] = set()
    for each in kept:
        if each.start < span.start < each.end < span.end:
            borders.add(each.end)
        elif span.start < each.start < span.end < each.end:
            borders.add(each.start)
    edges = [span.start, *sorted(borders), span.end]
    return [replace(span, start=start, end=end) for start, end in pairwise(edges) if start < end]
