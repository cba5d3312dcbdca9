"""Finds lines, here on this machine: by their words, by their neighbours, by time.

`search` is for a handful of lines at hand: it finds what shares a word. `recollect` answers from
the index of a whole namespace and holds the ranker to what the lines mean together:

Rule 1: a line that no longer holds is never given. Where another took its place, the place in the
        ranking goes to that one: whoever asks with the old words gets what holds now.
Rule 2: words that were said and only say what was taken back are not given either. Words that a
        correction overtook come after that correction.
Rule 3: what is given fits the limits, the best first. Each line carries its id.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memory.fold import SENTENCE_WORDS, Folded
from memory.index import Index
from memory.line import Kind, Line
from memory.normalise import canonical
from memory.order import arranged
from memory.ranking import Query, rank
from memory.words import terms

AHEAD = 4  # so many times the limit is looked at, because some of it no longer holds
CLAIMS = (Kind.FACT, Kind.PREFERENCE, Kind.SUMMARY, Kind.CORRECTION)


def search(lines: Iterable[Line], words: str, limit: int = 10) -> tuple[Line, ...]:
    """The lines that share a word with `words`: best score first, then newest first.

    Leave out what no longer holds (`Folded.void`) before calling.
    """
    in_order = arranged(lines)
    index = Index()
    for line in in_order:
        index.add(indexed(line), at_us=line.at_us)
    hits = rank(index, Query(words), limit, neighbours=False)
    return tuple(in_order[hit.number] for hit in hits)


def indexed(line: Line) -> str:
    """What of a line can be asked for: its text, and the key it was given."""
    named = line.key.rpartition("@")[0] or line.key
    return f"{line.text}\n{named.partition(':')[2].replace('-', ' ')}" if named else line.text


@dataclass(frozen=True, slots=True)
class Overtaken:
    """What the fold says about lines that no longer hold, ready to be looked up."""

    void: frozenset[str] = frozenset()
    by: Mapping[str, Line] = field(default_factory=dict)  # id of a void line -> what holds now
    words: Mapping[int, tuple[Line, ...]] = field(default_factory=dict)  # turn -> void lines of it
    sentences: Mapping[str, Line] = field(default_factory=dict)  # canonical text -> void line
    ends_us: Mapping[str, int] = field(default_factory=dict)  # id of a void line -> until when


def overtaken(claims: Iterable[Line], folded: Folded) -> Overtaken:
    """`claims`: all lines that are not mere words, whatever their order."""
    in_order = arranged(claims)
    standing = {
        line.subject: line for line in (*folded.facts, *folded.preferences, *folded.summaries)
    }
    ended = {line.subject: line.at_us for line in in_order if line.kind is Kind.RETRACTION}
    by: dict[str, Line] = {}
    words: dict[int, tuple[Line, ...]] = {}
    sentences: dict[str, Line] = {}
    ends: dict[str, int] = {}
    for line in in_order:
        if line.id not in folded.void:
            continue
        now = standing.get(line.subject)
        same = now is not None and canonical(now.text) == canonical(line.text)
        if now is not None:
            by[line.id] = now
        if same:
            continue  # said again and it holds: the words of then are still true
        ends[line.id] = max(now.at_us if now else 0, ended.get(line.subject, 0)) or line.at_us
        words[line.turn] = (*words.get(line.turn, ()), line)
        said = canonical(line.text)
        if said.count(" ") >= SENTENCE_WORDS - 1:
            sentences[said] = line
    return Overtaken(folded.void, by, words, sentences, ends)


def recollect(
    index: Index,
    line_of: Callable[[int], Line],
    query: Query,
    past: Overtaken,
    *,
    limit: int,
    allowed: Callable[[int], bool] | None = None,
) -> tuple[Line, ...]:
    """The lines for a question, the best first, at most `limit`. `line_of` gives line n of
    `index`; `allowed` says of a number whether that line may be given."""
    found: dict[str, Line] = {}
    for hit in rank(index, query, AHEAD * limit + len(past.void), allowed=allowed):
        for line in _as_it_holds(line_of(hit.number), past):
            found.setdefault(line.id, line)
        if len(found) >= limit:
            break
    return tuple(found.values())[:limit]


def _as_it_holds(line: Line, past: Overtaken) -> Sequence[Line]:
    """What to give where the ranker found `line`."""
    if line.kind is Kind.RETRACTION:
        return ()
    if line.id in past.void:
        now = past.by.get(line.id)
        return () if now is None else (now,)
    if line.kind is not Kind.SAID:
        return (line,)
    old = _said_what_went(line, past)
    if old is None:
        return (line,)
    now = past.by.get(old.id)
    return () if now is None else (now, line)


def _said_what_went(line: Line, past: Overtaken) -> Line | None:
    """The void line that these words were the source of, or repeat."""
    said = set(terms(line.text))
    for old in past.words.get(line.turn, ()):
        if said & set(terms(old.text)):
            return old
    words = canonical(line.text)
    for sentence, old in past.sentences.items():
        if sentence in words and line.at_us <= past.ends_us[old.id]:
            return old
    return None
