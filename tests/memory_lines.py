"""Lines for the tests of memory/: one to vary, and hypothesis strategies."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from memory import Author, Kind, Line

ANY_TEXT = st.text(st.characters(), max_size=40)  # surrogates and controls included
NASTY_TEXT = st.text(
    st.sampled_from("aB \\|#=nus\n\r\t\v\f\x00\x1b\x1c\x1e\x7f\x85\u2028\u2029\ud800\udfff‌می🙂"),
    max_size=30,
)
TEXTS = ANY_TEXT | NASTY_TEXT
IDS = st.text("abzAZ09._:-", min_size=1, max_size=12)
EVENT_TIMES = st.sampled_from(
    [
        "2026-12-04T09:00:00+03:30[Asia/Tehran]",
        "2026-12-04T05:30:00Z",
        "2026-12-04T05:30+00:00",
        "2026-12-05[Asia/Tehran]",
    ]
)
WORDINGS = st.sampled_from(
    ["Berlin", "berlin!", "Paris", "I live in Berlin now", "i live in  BERLIN now.", "زنگ‌بزن", ""]
)


def a_line(**changes: Any) -> Line:
    line = Line(
        id="chat.1.0",
        at_us=1_796_000_000_000_000,
        turn=1,
        ordinal=0,
        kind=Kind.FACT,
        author=Author.AI,
        text="Likes tea",
    )
    return replace(line, **changes)


def lines_any() -> st.SearchStrategy[Line]:
    """Any line at all."""
    return st.builds(
        Line,
        id=IDS,
        at_us=st.integers(0, 253_402_300_799_999_999),
        turn=st.integers(0, 2**63 - 1),
        ordinal=st.integers(0, 2**63 - 1),
        kind=st.sampled_from(Kind),
        author=st.sampled_from(Author),
        text=TEXTS,
        key=TEXTS,
        event_time=st.none() | EVENT_TIMES,
    )


def lines_close() -> st.SearchStrategy[Line]:
    """Lines that meet: few keys, few times, few wordings; ids follow from nothing."""
    return st.builds(
        Line,
        id=st.integers(0, 30).map(str),
        at_us=st.integers(0, 4),
        turn=st.integers(0, 1),
        ordinal=st.integers(0, 1),
        kind=st.sampled_from(Kind),
        author=st.sampled_from(Author),
        text=WORDINGS,
        key=st.sampled_from(["fact:home", "fact:birthplace", "task:call", "reminder:pill", ""]),
        event_time=st.none() | EVENT_TIMES,
    )
