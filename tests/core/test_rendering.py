"""Markdown to messages, judged by Telegram's rules as three others wrote them down."""

import unicodedata
from collections.abc import Iterable

import pytest
from aiogram import Bot
from aiogram.methods import SendMessage
from hypothesis import example, given, settings
from hypothesis import strategies as st
from teremok.validation import validate_method

from bot.lab.botapi.text import FOUND, formatted, parse_entities
from bot.telegram.characters import has_visible, is_joint, is_visible, sendable, units
from bot.telegram.direction import isolated
from bot.telegram.parts import part_from_json, part_to_json
from bot.telegram.port import Button, Entity, Part
from bot.telegram.rendering import plain, render
from bot.telegram.spans import entities_of, normalise, spans_of
from bot.telegram.splitting import split

FAMILY = "👩‍👩‍👧‍👦"
PIECES = st.sampled_from(
    [
        "word ",
        "سلام ",
        "a\u0301",
        FAMILY,
        "🇮🇷🇩🇪",
        "\n",
        "\n\n",
        "**",
        "*",
        "_",
        "`",
        "```py\n",
        "```\n",
        "[x](http://a.b/c)",
        "# ",
        "- ",
        "1. ",
        "> ",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "<b>",
        "</b>",
        "<br>",
        "<div>",
        "<!-- ",
        "||",
        "$x$",
        "$$",
        "\\(",
        "\\frac{a}{b}",
        "~~",
        "&amp;",
        "&#8238;",
        "\t",
        "\u200b",
        "\u202e",
        "\u2068",
        "\x07",
        "\ud83d",
        "\\",
        "(",
        ")",
        "    code\n",
    ]
)
MARKDOWN = st.one_of(
    st.text(), st.lists(PIECES, max_size=60).map("".join), st.lists(PIECES).map("".join)
)
ENTITIES = st.lists(
    st.builds(
        Entity,
        st.sampled_from(
            ["bold", "italic", "spoiler", "code", "pre", "text_link", "blockquote", "underline"]
        ),
        st.integers(0, 300),
        st.integers(0, 300),
        url=st.just("http://a.b/"),
    ),
    max_size=30,
)
JUDGE = Bot("1:a")


def assert_valid(parts: Iterable[Part]) -> None:
    for part in parts:
        assert 1 <= units(part.text) <= 4096
        assert has_visible(part.text)
        assert len(part.entities) <= 100
        assert sendable(part.text) == part.text
        assert part.text == part.text.rstrip()
        assert part.text == part.text.lstrip() or part.entities[0].type == "pre"
        entities = [
            {"type": e.type, "offset": e.offset, "length": e.length, "url": e.url or None}
            for e in part.entities
        ]
        method = SendMessage.model_validate({"chat_id": 1, "text": part.text, "entities": entities})
        validate_method(JUDGE, method)
        spans = spans_of(part.text, part.entities)
        assert entities_of(part.text, normalise(part.text, spans)) == part.entities


def seen(text: str) -> str:
    return "".join(filter(is_visible, text))


@given(MARKDOWN)
@example(">" * 300)
@example("`" * 300)
@example("**a** " * 300)
@example("**" + "`a` b " * 150 + "x**")
@settings(max_examples=400, deadline=None)
def test_any_markdown_makes_valid_messages(markdown: str) -> None:
    parts = render(markdown)
    assert_valid(parts)
    noncharacters = dict.fromkeys(range(0xFDD0, 0xFDF0))
    assert bool(parts) == has_visible(sendable(markdown).translate(noncharacters))


@given(MARKDOWN, st.integers(1, 4))
@settings(max_examples=300, deadline=None)
def test_plain_text_keeps_every_visible_character_in_order(text: str, times: int) -> None:
    text = text * times * 40
    parts = plain(text)
    assert_valid(parts)
    assert seen("".join(part.text for part in parts)) == seen(sendable(text))


@given(st.lists(PIECES, min_size=1, max_size=40).map("".join), ENTITIES, st.integers(1, 60))
@settings(max_examples=300, deadline=None)
def test_splitting_loses_nothing_whatever_the_entities(
    text: str, entities: list[Entity], times: int
) -> None:
    text = sendable(text * times)
    parts = split(text, entities)
    assert_valid(parts)
    assert seen("".join(part.text for part in parts)) == seen(text)


@given(st.lists(PIECES, min_size=1, max_size=60).map("".join), ENTITIES)
@settings(max_examples=300, deadline=None)
def test_the_lab_server_keeps_what_we_send_unchanged(text: str, entities: list[Entity]) -> None:
    for part in split(sendable(text), entities):
        asked = [
            {"type": e.type, "offset": e.offset, "length": e.length}
            | ({"url": e.url} if e.type == "text_link" else {})
            for e in part.entities
        ]
        kept_text, kept = formatted(part.text, parse_entities(asked))
        assert kept_text == part.text
        ours = [run for run in kept if run.type not in FOUND]
        assert [(run.type, run.offset, run.length) for run in ours] == [
            (e.type, e.offset, e.length) for e in part.entities
        ]


@pytest.mark.parametrize("text", ["", " \n\t ", "\u200b\u200c\u2060", "\x00\x07", "\u2800\u3164"])
def test_nothing_visible_makes_no_message(text: str) -> None:
    assert render(text) == ()
    assert plain(text) == ()


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "سلام دنیا " * 10_000, "سلام" * 25_000, "سa" * 20_000, "a." * 20_000 + "س",
     FAMILY * 9_000, "\\(" * 50_000, "<div>\n" * 9_000, "**a** " * 9_000, "||a" * 20_000,
     ">" * 20_000, "a" + "\u0301" * 20_000],
    ids=range(12),
)  # fmt: skip
def test_very_long_text_is_split_in_reasonable_time(text: str) -> None:
    parts = render(text)
    assert_valid(parts)
    assert len(parts) > 1


def test_formatting_becomes_entities() -> None:
    (part,) = render("**bold** and `code`\n\n```python\nx = 1\n```\n[here](https://a.b)")
    assert part.text == "bold and code\n\nx = 1\nhere"
    assert [(e.type, e.offset, e.length, e.language or e.url) for e in part.entities] == [
        ("bold", 0, 4, ""),
        ("code", 9, 4, ""),
        ("pre", 15, 5, "python"),
        ("text_link", 21, 4, "https://a.b"),
    ]


def test_headings_are_bold_without_decoration() -> None:
    (part,) = render("# One\ntext\n\n## Two")
    assert part.text == "One\ntext\n\nTwo"
    assert {e.type for e in part.entities} == {"bold"}


def test_lists_keep_their_nesting() -> None:
    (part,) = render("- a\n  - b\n    1. c\n- [x] d\n")
    assert part.text == "• a\n  • b\n    1. c\n✅ d"


def test_html_is_formatting_or_readable() -> None:
    assert render("<b>x</b> y<br>z")[0].text == "x y\nz"
    assert render("<b>x</b> y")[0].entities == (Entity("bold", 0, 1),)
    assert render("write <b> and </b>")[0].text == "write <b> and </b>"
    assert render("<div>\nhi\n</div>")[0].text == "<div>\nhi\n</div>"
    assert render("`<b>` <!-- note -->")[0].text == "<b> <!-- note -->"
    assert render("2 < 3 <script>alert(1)</script>")[0].text == "2 < 3 <script>alert(1)</script>"


def test_talk_about_markdown_stays_readable() -> None:
    (part,) = render("Use `**` for bold, a \\* for a star, and ``` for code || or not ||")
    assert part.text == "Use ** for bold, a * for a star, and ``` for code || or not ||"


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    (part,) = render("see:\n```sh\nls *.py")
    assert part.text == "see:\nls *.py"
    assert part.entities == (Entity("pre", 5, 7, language="sh"),)


def test_links_that_lead_nowhere_are_text() -> None:
    (part,) = render("[a](javascript:x) [b](/path) [c](http://) [d](https://d.e)")
    assert part.text == "a b c d"
    assert [e.url for e in part.entities] == ["https://d.e"]


def test_a_small_table_is_fixed_width_and_a_wide_one_a_list() -> None:
    small = render("| a | b |\n|---|---|\n| 1 | 2 |")[0]
    assert [e.type for e in small.entities] == ["pre"]
    head = "| Name | What it is mostly good for | Price |\n|-|-|-|\n"
    wide = render(f"{head}| **X** | everything | 3 |")[0]
    assert wide.text == "• X\n  • What it is mostly good for: everything\n  • Price: 3"
    persian = render("| واژه | معنی |\n|-|-|\n| سلام | hello |")[0]
    assert persian.text == "واژه · معنی\n\n• سلام: hello"


def test_formulas_are_readable() -> None:
    assert render("\\(x^2 + \\alpha\\) costs $5 to $6")[0].text == "x² + α costs $5 to $6"


def test_a_code_block_goes_on_in_the_next_message() -> None:
    code = "\n".join(f"    line {i}" for i in range(600))
    parts = render(f"Look:\n```py\ndef f():\n{code}\n```")
    assert len(parts) > 1
    assert all(part.entities[-1].language == "py" for part in parts)
    assert parts[1].text.startswith("    line ")
    lines = "\n".join(part.text for part in parts).split("\n")
    assert lines == ["Look:", "def f():", *code.split("\n")]


def test_a_link_is_not_torn_apart() -> None:
    parts = render("word " * 817 + "[a long label of a link](https://a.b) end")
    assert len(parts) == 2
    assert parts[1].text.startswith("a long label of a link")
    assert [e.type for part in parts for e in part.entities] == ["text_link"]


def test_paragraphs_come_before_lines_and_words() -> None:
    paragraphs = ["one " * 500, "two " * 400, "three " * 300]
    parts = render("\n\n".join(paragraphs))
    assert [part.text for part in parts] == [
        f"{paragraphs[0].strip()}\n\n{paragraphs[1].strip()}",
        paragraphs[2].strip(),
    ]


@pytest.mark.parametrize("drawn", [FAMILY, "🇮🇷", "e\u0301\u0302", "👍🏽", "می\u200cشود"])
def test_a_drawn_character_is_not_cut(drawn: str) -> None:
    for shift in range(12):
        for part in plain("x" * shift + drawn * 2000):
            bare = part.text.replace(drawn, "").replace("x", "")
            assert bare == "" or drawn.startswith("می")


def test_flags_are_cut_between_pairs() -> None:
    assert not is_joint("🇮🇷🇩🇪", 2)
    assert is_joint("🇮🇷🇩🇪", 1)
    assert is_joint("🇮🇷🇩🇪", 3)


def test_a_persian_line_that_begins_in_english_keeps_its_order() -> None:
    assert render("Python یک زبان است.")[0].text == "\u2068Python\u2069 یک زبان است."
    (part,) = render("`git commit` دستور ثبت است")
    assert part.text == "\u2068git commit\u2069 دستور ثبت است"
    assert part.entities == (Entity("code", 1, 10),)
    (listed,) = render("- Docker: یک ابزار **خوب** است")
    assert listed.text == "• \u2068Docker\u2069: یک ابزار خوب است"
    assert listed.entities == (Entity("bold", 21, 3),)


def test_an_english_line_that_begins_in_persian_keeps_its_order() -> None:
    text = render("سلام means hello, and it is the most common greeting.")[0].text
    assert text.startswith("\u2068سلام\u2069 means")


@pytest.mark.parametrize(
    "text",
    ["plain English", "متن فارسی", "متن با Python در میان", "An English line with سلام in it",
     "```\nx = 'سلام' # متن فارسی بسیار\n```"],
)  # fmt: skip
def test_lines_that_are_in_order_are_left_alone(text: str) -> None:
    assert "\u2068" not in render(text)[0].text


@given(st.text(alphabet="ab سلا.:\n(`", max_size=80))
def test_isolates_are_paired_and_nothing_else_changes(text: str) -> None:
    shown, _ = isolated(text, [])
    assert shown.replace("\u2068", "").replace("\u2069", "") == text
    for line in shown.split("\n"):
        assert line.count("\u2068") == line.count("\u2069") <= 1


def test_direction_overrides_and_control_characters_go() -> None:
    assert render("a\u202eb\x07c\u2028d &#8238;e")[0].text == "ab c\nd e"


@given(
    st.text(min_size=1),
    ENTITIES,
    st.lists(st.builds(Button, st.text(), data=st.text(), url=st.text()), max_size=3),
)
def test_a_part_survives_storage(text: str, entities: list[Entity], row: list[Button]) -> None:
    part = Part(text, tuple(entities), (tuple(row),) if row else ())
    assert part_from_json(part_to_json(part)) == part


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"text":"a","entities":[{"x":1}]}', "null"])
def test_a_broken_stored_part_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (json's own error is one)
        part_from_json(text)


def test_visible_means_drawn() -> None:
    assert has_visible("a")
    assert has_visible("🙂")
    assert not any(has_visible(c) for c in "\u200b\u200d\ufe0f\u00a0\u2028\ufeff")
    assert unicodedata.category("\u2800") == "So"  # why it needs naming
    assert not has_visible("\u2800")
