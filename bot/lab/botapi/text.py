"""Telegram's rules for a text and its entities. Pure.

Rule 1: offsets and lengths are UTF-16 code units, before and after.
Rule 2: what comes out goes in again unchanged: `formatted(*formatted(t, e)) == formatted(t, e)`.
        The no-op edit that proves a delivery stands on it.
Rule 3: in this order, as Telegram does it: offsets are checked against the text as given; control
        characters go; crossing entities are made to nest, touching equal ones joined; leading
        space is cut up to the first entity, trailing space always, and entities with it; links,
        mentions, commands and hashtags are found in what is left.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.lab.botapi.refusals import bad_request

Json = dict[str, Any]

MAX_TEXT: Final = 4096
MAX_CAPTION: Final = 1024

SPLITTABLE: Final = ("bold", "italic", "underline", "strikethrough", "spoiler")
QUOTES: Final = ("blockquote", "expandable_blockquote")
MONOSPACE: Final = ("code", "pre")
LINKS: Final = ("text_link", "text_mention", "custom_emoji", "date_time")
FOUND: Final = (
    "mention",
    "hashtag",
    "cashtag",
    "bot_command",
    "url",
    "email",
    "phone_number",
)  # sent by a bot they are ignored: Telegram finds its own
TYPES: Final = frozenset((*SPLITTABLE, *QUOTES, *MONOSPACE, *LINKS, *FOUND))
_NESTING_ORDER: Final = {
    name: rank for rank, name in enumerate((*QUOTES, *MONOSPACE, *LINKS, *FOUND, *SPLITTABLE))
}

# Removed or turned into a space (tdlib, clean_input_string): line and paragraph separators, the
# old bidi embeddings, three combining marks that draw over neighbouring lines.
_DROPPED = re.compile("[\r\u2028-\u202e\u0333\u033f\u030a]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_INVISIBLE = re.compile("[\\s\u200b-\u200f\u2060-\u2064\u2800\u3164\ufeff\u00ad\u180e]*")
_TRIMMED = " \n"


@dataclass(frozen=True, slots=True)
class Run:
    """An entity: `details` are the fields besides type, offset and length."""

    type: str
    offset: int
    length: int
    details: tuple[tuple[str, Any], ...] = ()

    @property
    def end(self) -> int:
        return self.offset + self.length

    def as_json(self) -> Json:
        return {
            "offset": self.offset,
            "length": self.length,
            "type": self.type,
            **{key: dict(value) if key == "user" else value for key, value in self.details},
        }


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, start: int, end: int) -> str:
    """The part of `text` between two UTF-16 offsets."""
    if text.isascii():
        return text[start:end]
    raw = text.encode("utf-16-le", "surrogatepass")[start * 2 : end * 2]
    return raw.decode("utf-16-le", "surrogatepass")


def formatted(
    text: str, runs: Iterable[Run] = (), *, limit: int = MAX_TEXT
) -> tuple[str, list[Run]]:
    """Text and entities as Telegram would store them; "" if nothing visible is left.

    Raises Refusal for entities that do not fit the text and for a text over `limit`.
    """
    given = [run for run in runs if run.length > 0]
    _check_bounds(text, given)
    text, given = _without_offending(text, [run for run in given if run.type not in FOUND])
    text, given = _trimmed(text, _nested(given))
    explicit = _nested(given)  # trimming may have undone a crossing
    if _INVISIBLE.fullmatch(text):
        return "", []
    if len(text) > limit or units(text) > limit:
        raise bad_request(
            "message is too long" if limit == MAX_TEXT else "message caption is too long"
        )
    return text, _sorted([*explicit, *_found(text, explicit)])


def parse_entities(raw: Any) -> list[Run]:
    """Entities from a request. Raises Refusal for a wrong shape or an unknown type."""
    if not isinstance(raw, list):
        raise bad_request("can't parse entities: expected an Array of MessageEntity")
    return [_parse_entity(entry) for entry in raw]


def _parse_entity(entry: Any) -> Run:
    if not isinstance(entry, dict):
        raise bad_request("can't parse MessageEntity: Expected an Object")
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise bad_request("can't parse MessageEntity: Unsupported type specified")
    try:
        offset, length = int(entry["offset"]), int(entry["length"])
    except (KeyError, TypeError, ValueError):
        raise bad_request('can\'t parse MessageEntity: Field "offset" must be a Number') from None
    if kind == "text_link" and not entry.get("url"):
        raise bad_request("can't parse MessageEntity: Can't find field \"url\"")
    if kind == "custom_emoji" and not str(entry.get("custom_emoji_id", "")).isdigit():
        raise bad_request(
            'can\'t parse MessageEntity: Field "custom_emoji_id" must be a valid Number'
        )
    details = {
        key: tuple(sorted(value.items())) if isinstance(value, dict) else value
        for key, value in entry.items()
        if key not in ("type", "offset", "length")
    }
    return Run(kind, offset, length, tuple(sorted(details.items())))


def _check_bounds(text: str, runs: list[Run]) -> None:
    if not runs:
        return
    whole = units(text)
    inside = set() if len(text) == whole else _inside_surrogates(text)
    for run in runs:
        if run.offset < 0 or run.offset >= whole:
            raise bad_request(
                f"entity begins after the end of the text at UTF-16 offset {run.offset}"
            )
        if run.end > whole:
            raise bad_request(
                f"entity beginning at UTF-16 offset {run.offset} ends after the end of the text "
                f"at UTF-16 offset {run.end}"
            )
        if run.offset in inside:
            raise bad_request("entity begins in a middle of a UTF-16 symbol")
        if run.end in inside:
            raise bad_request(
                f"entity beginning at UTF-16 offset {run.offset} "
                "ends in a middle of a UTF-16 symbol"
            )


def _inside_surrogates(text: str) -> set[int]:
    offsets, position = set(), 0
    for character in text:
        if ord(character) > 0xFFFF:
            offsets.add(position + 1)
            position += 2
        else:
            position += 1
    return offsets


def _without_offending(text: str, runs: list[Run]) -> tuple[str, list[Run]]:
    text = _CONTROL.sub(" ", text)
    gone = [units(text[: match.start()]) for match in _DROPPED.finditer(text)]
    if not gone:
        return text, runs

    def moved(offset: int) -> int:
        return offset - sum(place < offset for place in gone)

    kept = [replace(r, offset=moved(r.offset), length=moved(r.end) - moved(r.offset)) for r in runs]
    return _DROPPED.sub("", text), [run for run in kept if run.length]


def _trimmed(text: str, runs: list[Run]) -> tuple[str, list[Run]]:
    text = text.rstrip(_TRIMMED)
    bare = text.lstrip(_TRIMMED)
    shift = len(text) - len(bare)
    if shift and runs:
        shift = min(shift, min(run.offset for run in runs))
        bare = text[shift:]
    end = units(bare)
    clipped = []
    for run in runs:
        start = max(run.offset - shift, 0)
        length = min(run.end - shift, end) - start
        if length > 0:
            clipped.append(replace(run, offset=start, length=length))
    return bare, clipped


def _sorted(runs: Iterable[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.offset, -run.length, _NESTING_ORDER[run.type]))


def _nested(runs: list[Run]) -> list[Run]:
    """Make entities nest: blocks first come first kept; styles are split where they would cross."""
    if not runs:
        return []
    blocks: list[Run] = []
    for run in _sorted(run for run in runs if run.type not in SPLITTABLE):
        if all(_may_share(run, other) for other in blocks):
            blocks.append(run)
    styles: list[Run] = []
    for kind in SPLITTABLE:
        styles.extend(_style_runs(kind, [run for run in runs if run.type == kind], blocks, styles))
    return _sorted([*blocks, *styles])


def _may_share(run: Run, other: Run) -> bool:
    if run.end <= other.offset or other.end <= run.offset:
        return True
    inside = other.offset <= run.offset and run.end <= other.end
    around = run.offset <= other.offset and other.end <= run.end
    quoted = (inside and other.type in QUOTES) or (around and run.type in QUOTES)
    return quoted and not (run.type in QUOTES and other.type in QUOTES)


def _style_runs(kind: str, runs: list[Run], blocks: list[Run], styles: list[Run]) -> list[Run]:
    """One style's runs: joined where they touch, kept out of code, split where they would cross."""
    code = [block for block in blocks if block.type in MONOSPACE]
    others = [*(block for block in blocks if block.type not in MONOSPACE), *styles]
    pieces: list[Run] = []
    for joined in _joined(kind, runs):
        for start, end in _split(joined, code):
            if any(block.offset <= start and end <= block.end for block in code):
                continue
            piece = Run(kind, start, end - start)
            crossing = [other for other in others if not _nests(piece, other)]
            pieces += [Run(kind, left, right - left) for left, right in _split(piece, crossing)]
    return pieces


def _joined(kind: str, runs: list[Run]) -> list[Run]:
    whole: list[Run] = []
    for run in _sorted(runs):
        if whole and run.offset <= whole[-1].end:
            start = whole[-1].offset
            whole[-1] = Run(kind, start, max(whole[-1].end, run.end) - start)
        else:
            whole.append(run)
    return whole


def _split(run: Run, others: list[Run]) -> Iterator[tuple[int, int]]:
    edges = {edge for other in others for edge in (other.offset, other.end)}
    inner = {edge for edge in edges if run.offset < edge < run.end}
    return itertools.pairwise(sorted({run.offset, run.end} | inner))


def _nests(run: Run, other: Run) -> bool:
    apart = run.end <= other.offset or other.end <= run.offset
    inside = other.offset <= run.offset and run.end <= other.end
    around = run.offset <= other.offset and other.end <= run.end
    return apart or inside or around


_DOMAINS = (
    "com|org|net|io|dev|app|me|ir|de|uk|eu|info|ai|co|ru|fr|nl|se|it|es|edu|gov|xyz|site|online"
)
_PATTERNS: Final = (
    ("url", re.compile(r"(?<![\w@.])(?:https?://|tg://|ftp://)[^\s<>\"']+", re.IGNORECASE)),
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    (
        "url",
        re.compile(
            rf"(?<![\w@./-])(?:[a-z0-9-]+\.)+(?:{_DOMAINS})(?![\w-])(?:[/?#][^\s<>\"']*)?",
            re.IGNORECASE,
        ),
    ),
    ("mention", re.compile(r"(?<![\w/@])@[A-Za-z][A-Za-z0-9_]{2,31}(?![\w])")),
    (
        "bot_command",
        re.compile(r"(?<![\w/<>@])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/])"),
    ),
    ("hashtag", re.compile(r"(?<![\w#])#(?=\w*[^\W\d_])\w{1,256}(?![\w#])")),
    ("cashtag", re.compile(r"(?<![\w$])\$[A-Z]{1,8}(?![\w$])")),
)
_HINT = re.compile(r"[/@#.$]")


def _found(text: str, explicit: list[Run]) -> list[Run]:
    """What Telegram marks by itself, outside links and code."""
    if not _HINT.search(text):
        return []
    taken = [(r.offset, r.end) for r in explicit if r.type in MONOSPACE or r.type in LINKS]
    wide = units(text) != len(text)
    found: list[Run] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            word = match.group().rstrip(".,:;!?)]}…") if kind == "url" else match.group()
            start = units(text[: match.start()]) if wide else match.start()
            end = start + (units(word) if wide else len(word))
            if end > start and all(end <= left or right <= start for left, right in taken):
                taken.append((start, end))
                found.append(Run(kind, start, end - start))
    rest = [run for run in explicit if run.type in SPLITTABLE or run.type in QUOTES]
    return [run for run in found if all(_nests(run, other) for other in rest)]


def split_as_clients_do(text: str, limit: int = MAX_TEXT) -> list[str]:
    """How an app sends a paste that is too long: cut at a line, else at a space, else anywhere."""
    parts = []
    while units(text) > limit:
        head = cut(text, 0, limit)
        if head and 0xD800 <= ord(head[-1]) <= 0xDBFF:
            head = head[:-1]
        for mark in ("\n", " "):
            place = head.rfind(mark)
            if place > len(head) // 2:
                head = head[:place]
                break
        parts.append(head)
        text = text[len(head) :]
    parts.append(text)
    return [part for part in (part.strip(_TRIMMED) for part in parts) if part]
