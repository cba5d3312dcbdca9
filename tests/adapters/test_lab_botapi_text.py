"""Telegram's text rules in the lab: what no example list would find."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.lab.botapi.markup import parse
from bot.lab.botapi.refusals import Refusal
from bot.lab.botapi.text import (
    FOUND,
    MONOSPACE,
    SPLITTABLE,
    Run,
    cut,
    formatted,
    split_as_clients_do,
    units,
)
from tests.judges import refusal_due

LETTERS = st.text(st.sampled_from("ab 😀\nد\u200c\t\r./@#x:_*"), max_size=30)
KINDS = st.sampled_from([*SPLITTABLE, *MONOSPACE, "blockquote", "text_link", "url"])


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, list[Run]]:
    text = draw(LETTERS)
    borders = [units(text[:place]) for place in range(len(text) + 1)]
    runs = []
    for _ in range(draw(st.integers(0, 5))):
        start, end = sorted(draw(st.tuples(st.sampled_from(borders), st.sampled_from(borders))))
        kind = draw(KINDS)
        details = (("url", "https://a.example/"),) if kind == "text_link" else ()
        runs.append(Run(kind, start, end - start, details))
    return text, runs


@given(marked_texts())
def test_what_telegram_made_of_a_text_it_leaves_as_it_is(source: tuple[str, list[Run]]) -> None:
    once = formatted(*source)
    assert formatted(*once) == once


@given(marked_texts(), st.randoms(use_true_random=False))
def test_the_order_in_which_entities_come_does_not_matter(
    source: tuple[str, list[Run]], random: Any
) -> None:
    text, runs = source
    styles = [run for run in runs if run.type in SPLITTABLE]
    shuffled = random.sample(styles, len(styles))
    assert formatted(text, styles) == formatted(text, shuffled)


@given(marked_texts())
def test_entities_nest_inside_the_text_and_cover_whole_characters(
    source: tuple[str, list[Run]],
) -> None:
    text, runs = formatted(*source)
    for run in runs:
        assert 0 <= run.offset < run.end <= units(text)
        cut(text, run.offset, run.end).encode()  # would raise for half a surrogate pair
        for other in runs:
            crossing = run.offset < other.offset < run.end < other.end
            assert not crossing
    for code in (run for run in runs if run.type in MONOSPACE):
        inside = [r for r in runs if r.offset < code.end and code.offset < r.end and r != code]
        assert all(r.type == "blockquote" for r in inside)


@given(LETTERS)
def test_only_space_at_the_ends_and_forbidden_characters_are_lost(text: str) -> None:
    kept, _ = formatted(text)
    assert kept.strip(" \n") == kept
    visible = text.replace("\r", "").strip(" \n")
    assert kept == visible or not visible.strip(" \n\t\u200c")


@given(st.text(st.sampled_from("abc 😀\n"), max_size=400), st.integers(20, 60))
def test_a_split_paste_loses_nothing_but_space(text: str, limit: int) -> None:
    parts = split_as_clients_do(text, limit)
    assert all(0 < units(part) <= limit for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("mode", "source", "text", "runs"),
    [
        ("HTML", "<b>a<i>b</i></b> &lt;&amp;&#33; &x", "ab <&! &x", ["bold 0 2", "italic 1 1"]),
        ("HTML", '<a href="https://a.b/?x=1&amp;y">t</a>', "t", ["text_link 0 1"]),
        ("HTML", '<pre><code class="language-py">x</code></pre>', "x", ["pre 0 1"]),
        ("HTML", '<span class="tg-spoiler">s</span>', "s", ["spoiler 0 1"]),
        ("HTML", "<blockquote expandable>q</blockquote>", "q", ["expandable_blockquote 0 1"]),
        (
            "MarkdownV2",
            "*b _i_* __u__ ~s~ ||p||",
            "b i u s p",
            ["bold 0 3", "italic 2 1", "underline 4 1", "strikethrough 6 1", "spoiler 8 1"],
        ),
        ("MarkdownV2", "😀 `a\\`b` \\*", "😀 a`b *", ["code 3 3"]),
        ("MarkdownV2", "```py\nx*y\n```", "x*y", ["pre 0 3"]),
        ("MarkdownV2", "[t](https://a.b/\\)x)", "t", ["text_link 0 1"]),
        ("MarkdownV2", ">one\n>two\nafter", "one\ntwo\nafter", ["blockquote 0 8"]),
        ("MarkdownV2", "**>one\n>two||\nafter", "one\ntwo\nafter", ["expandable_blockquote 0 7"]),
        (
            "Markdown",
            "*b* _i_ `c` [t](https://a.b) 2\\*3",
            "b i c t 2*3",
            ["bold 0 1", "italic 2 1", "code 4 1", "text_link 6 1"],
        ),
    ],
)
def test_markup_becomes_text_and_entities(
    mode: str, source: str, text: str, runs: list[str]
) -> None:
    plain, marks = formatted(*parse(source, mode))
    assert plain == text
    found = [f"{r.type} {r.offset} {r.length}" for r in marks if r.type not in FOUND]
    assert found == runs


@pytest.mark.parametrize(
    ("mode", "source", "words"),
    [
        ("HTML", "<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("HTML", "<x>y</x>", 'Unsupported start tag "x" at byte offset 0'),
        ("HTML", "د</b>", "Unexpected end tag at byte offset 2"),
        (
            "HTML",
            "<b><i>x</b></i>",
            'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"',
        ),
        ("HTML", "1 < 2", "Unclosed start tag at byte offset 2"),
        (
            "MarkdownV2",
            "1.",
            "Character '.' is reserved and must be escaped with the preceding '\\'",
        ),
        ("MarkdownV2", "د *x", "Can't find end of Bold entity at byte offset 3"),
        ("MarkdownV2", "*a _b* c_", "Can't find end of Italic entity at byte offset 3"),
        ("MarkdownV2", "`x", "Can't find end of Code entity at byte offset 0"),
        ("MarkdownV2", "[x](y", "Can't find end of a URL at byte offset 0"),
        ("Markdown", "a *b", "Can't find end of the entity starting at byte offset 2"),
    ],
)
def test_broken_markup_is_refused_in_telegrams_words(mode: str, source: str, words: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse(source, mode)
    assert refused.value.description == f"Bad Request: can't parse entities: {words}"


@given(
    st.text(st.sampled_from("ab*_~|`[]()>\\.#\n<>/&;="), max_size=20),
    st.sampled_from(["HTML", "MarkdownV2"]),
)
def test_what_teremok_refuses_is_refused_here_too(source: str, mode: str) -> None:
    due = refusal_due("sendMessage", {"chat_id": 1, "text": source, "parse_mode": mode})
    if "can't parse entities" in due:
        with pytest.raises(Refusal):
            parse(source, mode)
