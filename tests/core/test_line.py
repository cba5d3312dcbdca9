"""The written form of a line, and the keys that follow from words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Author, Kind, Line, LineError, fact_key, format_line, parse_line, task_key
from memory.event_time import instant_of
from memory.normalise import canonical, key_of, tokens
from tests.memory_lines import NASTY_TEXT, TEXTS, a_line, lines_any


@given(lines_any())
def test_i9_what_is_written_reads_back_as_it_was(line: Line) -> None:
    assert parse_line(format_line(line)) == line


@given(lines_any())
def test_a_written_line_is_one_line_of_utf8(line: Line) -> None:
    written = format_line(line)
    assert written.splitlines() == [written]
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", written)
    assert written.encode().decode() == written


@given(lines_any(), lines_any())
def test_two_lines_are_never_written_the_same(one: Line, other: Line) -> None:
    assert (format_line(one) == format_line(other)) == (one == other)


@given(st.text(max_size=60) | NASTY_TEXT)
def test_anything_that_parses_is_what_would_have_been_written(noise: str) -> None:
    written = format_line(a_line(key="k")).replace("Likes tea", noise)
    try:
        line = parse_line(written)
    except LineError:
        return
    assert format_line(line) == written


@given(st.text(max_size=200))
def test_noise_is_refused_with_a_typed_error(noise: str) -> None:
    with pytest.raises(LineError):
        parse_line(noise)


def test_a_line_is_readable_and_greppable() -> None:
    line = a_line(
        kind=Kind.TASK,
        author=Author.USER,
        turn=42,
        ordinal=3,
        at_us=1_796_075_945_123_456,
        key=task_key("فردا به سارا زنگ بزن", "2026-12-04[Asia/Tehran]"),
        event_time="2026-12-04[Asia/Tehran]",
        text="فردا به سارا زنگ بزن: 5 | 6 \\ 7\nو بعد",
    )
    assert format_line(line) == (
        "2026-11-30T21:59:05.123456Z 42.3 #task user id=chat.1.0 "
        "key=task:فردابهسارازنگبزن@20261204 when=2026-12-04[Asia/Tehran] "
        "| فردا به سارا زنگ بزن: 5 | 6 \\\\ 7\\nو بعد"
    )


GOOD = format_line(a_line(key="fact:tea", event_time="2026-12-05[Asia/Tehran]"))


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ("", "line"),
        (GOOD.split(" | ")[0], "line"),
        (GOOD[:40], "line"),
        (GOOD.replace("2026-", "2026", 1), "time"),
        (re.sub("^....-..", "2026-13", GOOD), "time"),
        (re.sub("^....-", "1969-", GOOD), "time"),
        (GOOD.replace(" 1.0 ", " 1 "), "place"),
        (GOOD.replace(" 1.0 ", " 01.0 "), "place"),
        (GOOD.replace(" 1.0 ", " ۱.0 "), "place"),
        (GOOD.replace(" 1.0 ", " 9999999999999999999.0 "), "place"),
        (GOOD.replace("#fact", "fact"), "kind"),
        (GOOD.replace("#fact", "#rumour"), "kind"),
        (GOOD.replace(" ai ", " nobody "), "author"),
        (GOOD.replace(" id=", " no="), "id"),
        (GOOD.replace("id=chat.1.0", "id=../etc"), "id"),
        (GOOD.replace("id=chat.1.0", "id="), "id"),
        (GOOD.replace("key=fact", "key=\\q"), "key"),
        (GOOD.replace("when=2026-12-05[", "when=2026-12-05x["), "when"),
        (GOOD.replace("[Asia/Tehran]", ""), "when"),
        (GOOD.replace("2026-12-05", "2026-02-30"), "when"),
        (GOOD.replace(" | ", " extra=1 | "), "line"),
        (GOOD + "\\", "text"),
        (GOOD + "\\u0041", "text"),
        (GOOD + "\\u2028"[:4], "text"),
        (GOOD + "\n", "text"),
        (GOOD + "\x85", "text"),
    ],
)
def test_a_wrong_line_is_refused_by_the_name_of_the_part(wrong: str, part: str) -> None:
    assert parse_line(GOOD)
    with pytest.raises(LineError) as refusal:
        parse_line(wrong)
    assert refusal.value.part == part
    assert "Likes tea" not in str(refusal.value)  # the error may be logged


@pytest.mark.parametrize(
    "changes",
    [
        {"id": ""},
        {"id": "a b"},
        {"at_us": -1},
        {"at_us": 253_402_300_800_000_000},
        {"turn": -1},
        {"ordinal": 2**63},
        {"event_time": "2026-12-04T09:00:00"},
        {"event_time": "tomorrow"},
        {"event_time": "0000-01-01[UTC]"},
        {"event_time": "9999-12-31T23:59:59-12:00"},
    ],
)
def test_a_line_that_could_not_be_written_cannot_be_made(changes: dict[str, object]) -> None:
    with pytest.raises(LineError):
        a_line(**changes)


SAME_DEADLINE = [
    ("Call Sam on Friday.", "2026-12-04T09:00:00+03:30[Asia/Tehran]"),
    ("call sam  on friday", "2026-12-04T05:30:00Z"),
    ("  ＣＡＬＬ Sam, on Friday!", "2026-12-04T05:30+00:00"),
]
SAME_PERSIAN = [
    "می‌خواهم کتاب ۱۲ را بخوانم.",
    "مي‌خواهم كتاب 12 را بخوانم",
    "می خواهم کتاب ١٢ را بخوانم!",
    "میخواهم کتابِ ۱۲ را بخوانم",
]


def test_one_deadline_worded_twice_has_one_key() -> None:
    assert len({task_key(text, due) for text, due in SAME_DEADLINE}) == 1
    assert len({task_key(text) for text in SAME_PERSIAN}) == 1
    assert task_key("Call Sam", SAME_DEADLINE[0][1]) != task_key("Call Sam")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Call Sam", "Call Tom"),
        ("Pay Bob for Ann", "Pay Ann for Bob"),
        ("I know C#", "I know C++"),
        ("room 12", "room 1 2"),
        ("!!!", "???"),
        ("", " "),
        ("a" * 100 + " one", "a" * 100 + " two"),
        ("آب", "تاب"),
    ],
)
def test_different_things_have_different_keys(one: str, other: str) -> None:
    assert task_key(one) != task_key(other)
    assert fact_key(one) != fact_key(other)


@given(TEXTS)
def test_a_key_is_short_and_has_no_spaces(text: str) -> None:
    assert 1 <= len(key_of(text)) <= 80
    assert not re.search(r"\s", key_of(text))


@given(TEXTS)
def test_comparing_by_words_is_settled_after_one_step(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


def test_a_word_with_zwnj_is_found_whole_and_in_parts() -> None:
    assert tokens("کتاب‌ها") == ("کتابها", "کتاب", "ها")


def test_a_day_begins_in_its_own_zone() -> None:
    assert instant_of("2026-12-05[Asia/Tehran]") == instant_of("2026-12-04T20:30:00Z")
    assert instant_of("2026-12-05[Not/AZone]") == instant_of("2026-12-05T00:00Z")
