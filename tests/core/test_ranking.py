"""Which lines a question is about: neighbours, time, languages, and what no longer holds."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Author, Kind, Line, Reach, Reading, fold
from memory.index import Index
from memory.ranking import Query, rank
from memory.recollection import Recollection
from memory.timespans import span_of
from memory.words import terms
from tests.bench.own_recall import groups
from tests.memory_lines import a_line, lines_close

MINUTE = 60_000_000
DAY = 86_400_000_000
NOW = datetime(2026, 12, 1, 12, tzinfo=ZoneInfo("Asia/Tehran"))  # a Tuesday
NOW_US = round(NOW.timestamp()) * 1_000_000


def said(turn: int, text: str, at_us: int = 0, author: Author = Author.USER) -> Line:
    at = at_us or NOW_US - 30 * DAY + turn * MINUTE
    return a_line(id=f"s{turn}", at_us=at, turn=turn, kind=Kind.SAID, author=author, text=text)


def noted(turn: int, kind: Kind, key: str, text: str, author: Author = Author.AI) -> Line:
    at = NOW_US - 30 * DAY + turn * MINUTE
    return a_line(
        id=f"n{turn}", at_us=at, turn=turn, ordinal=1, kind=kind, key=key, text=text, author=author
    )


def recalled(lines: list[Line], question: str, limit: int = 5) -> list[str]:
    mind = Recollection(Reading(tuple(lines), Reach.COMPLETE))
    return [line.id for line in mind.recall(question, NOW, limit=limit, said_since=0.0)]


def test_the_answer_to_a_question_is_found_by_what_it_answers() -> None:
    lines = [
        said(1, "Which restaurant did you like in Rome?"),
        said(2, "The one by the river, no doubt."),
        said(3, "Fine.", NOW_US - 9 * DAY),
    ]
    assert recalled(lines, "restaurant in Rome")[:2] in (["s2", "s1"], ["s1", "s2"])
    assert "s3" not in recalled(lines, "restaurant in Rome")


def test_a_pause_parts_conversations() -> None:
    lines = [said(1, "We talked about Rome"), said(2, "Bye", NOW_US - DAY)]
    assert recalled(lines, "Rome") == ["s1"]


@pytest.mark.parametrize("question", ["what did I buy last week", "هفتهٔ پیش چه خریدم"])
def test_a_named_time_makes_its_lines_likelier(question: str) -> None:
    lines = [
        said(1, "I bought a lamp, خریدم", NOW_US - 60 * DAY),
        said(2, "I bought a chair, خریدم", NOW_US - 5 * DAY),
        said(3, "I bought a table, خریدم", NOW_US - 40 * DAY),
    ]
    assert recalled(lines, question)[0] == "s2"


def test_a_time_alone_is_answered_with_what_was_said_then() -> None:
    lines = [said(1, "lamp", NOW_US - 60 * DAY), said(2, "chair", NOW_US - DAY)]
    assert recalled(lines, "yesterday?") == ["s2"]


def test_a_correction_comes_before_the_older_words_however_they_rank() -> None:
    lines = [
        said(1, "I live in Berlin, Berlin is my home, my home is Berlin"),
        noted(1, Kind.FACT, "fact:home", "Lives in Berlin"),
        noted(9, Kind.CORRECTION, "fact:home", "Lives in Paris"),
    ]
    assert recalled(lines, "home in Berlin") == ["n9", "s1"]


def test_what_was_taken_back_is_never_recalled_nor_are_the_words_it_came_from() -> None:
    lines = [
        said(1, "My ex is called Tom"),
        noted(1, Kind.FACT, "fact:ex", "The ex is called Tom"),
        said(2, "Tom is also my cat"),
        noted(9, Kind.RETRACTION, "fact:ex", "The ex is called Tom", Author.USER),
    ]
    assert recalled(lines, "Who is Tom, my ex?") == ["s2"]


def test_words_said_again_after_a_retraction_are_recalled() -> None:
    lines = [
        noted(1, Kind.FACT, "fact:home", "I live in Berlin now"),
        noted(2, Kind.RETRACTION, "fact:home", "I live in Berlin now", Author.USER),
        noted(3, Kind.FACT, "fact:home", "I live in Berlin now", Author.USER),
    ]
    assert recalled(lines, "Berlin") == ["n3"]


@given(st.lists(lines_close(), max_size=8, unique_by=lambda line: line.id))
def test_i9_a_line_that_no_longer_holds_is_never_recalled(lines: list[Line]) -> None:
    void = fold(line for line in lines if line.kind is not Kind.SAID).void
    mind = Recollection(Reading(tuple(lines), Reach.COMPLETE))
    found = mind.recall("berlin paris live now", NOW, limit=8, said_since=0.0)
    assert not void & {line.id for line in found}
    assert all(line.kind is not Kind.RETRACTION for line in found)


@given(st.lists(st.text(max_size=12), max_size=40), st.text(max_size=20))
def test_lines_added_one_by_one_rank_as_lines_that_were_settled(
    texts: list[str], question: str
) -> None:
    fresh, settled = Index(), Index()
    for number, text in enumerate(texts):
        fresh.add(text, at_us=number)
        settled.add(text, at_us=number)
        settled.settle()
    assert rank(fresh, Query(question), 10) == rank(settled, Query(question), 10)


def test_words_before_a_cut_off_are_not_recalled_but_facts_are() -> None:
    mind = Recollection(
        Reading((said(1, "Berlin"), noted(2, Kind.FACT, "", "Berlin")), Reach.COMPLETE)
    )
    ids = [line.id for line in mind.recall("Berlin", NOW, limit=5, said_since=NOW.timestamp())]
    assert ids == ["n2"]
    assert [line.id for line in mind.recall("Berlin", NOW, limit=5)] == ["n2"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("painting sunrises", "painted a sunrise"),
        ("کتاب‌های من", "كتابهایم"),
        ("خواهرم", "خواهر"),
        ("Caroline's dog", "dogs of Caroline"),
        ("книги", "книга"),
        ("東京", "東京"),
    ],
)
def test_forms_of_a_word_share_a_term(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


@pytest.mark.parametrize(
    ("question", "first", "days"),
    [
        ("what happened yesterday", "2026-11-30", 1),
        ("دیروز چه شد", "2026-11-30", 1),
        ("last week", "2026-11-23", 7),
        ("هفتهٔ پیش", "2026-11-21", 7),
        ("هفته گذشته", "2026-11-21", 7),
        ("last month", "2026-11-01", 30),
        ("ماه پیش", "2026-11-01", 30),
        ("پارسال", "2025-01-01", 365),
        ("two days ago", "2026-11-29", 1),
        ("۳ روز پیش", "2026-11-28", 1),
        ("last monday", "2026-11-30", 1),
        ("شنبهٔ پیش", "2026-11-28", 1),
        ("in May 2023", "2023-05-01", 31),
        ("on 8 May 2023", "2023-05-08", 1),
        ("in december", "2026-12-01", 31),
        ("on 2026-03-04?", "2026-03-04", 1),
    ],
)
def test_time_words_name_a_stretch_in_the_users_zone(question: str, first: str, days: int) -> None:
    span = span_of(question, NOW)
    assert span is not None
    begin = datetime.fromisoformat(first).replace(tzinfo=NOW.tzinfo)
    assert span.since_us == round(begin.timestamp()) * 1_000_000
    assert round((span.until_us - span.since_us) / DAY) == days


@pytest.mark.parametrize("question", ["may I march on", "31 February 2023", "", "2023-99-99"])
def test_what_names_no_time_is_none(question: str) -> None:
    assert span_of(question, NOW) is None


@given(st.text())
def test_any_text_can_be_asked(text: str) -> None:
    span_of(text, datetime(2024, 2, 29, tzinfo=UTC))
    assert rank(Index(), Query(text), 5) == ()


def test_own_questions_find_their_lines() -> None:
    """The floor under docs/memory.md's table."""
    found = groups()
    assert found["English about English"][2] > 90
    assert found["Persian about Persian"][2] > 90
    assert found["English about Persian"][2] > 80
    assert found["Persian about English"][2] > 75
