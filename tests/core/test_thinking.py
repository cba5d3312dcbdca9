"""Reasoning is taken out of an answer; talk about reasoning stays in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.thinking import split_thinking

PLAIN = st.text(st.characters(exclude_characters="<>`~\"'“”‘’«»", exclude_categories=["Cs"]))
THOUGHT = PLAIN.map(str.strip).filter(lambda text: text not in {"", "and", "or", "&", "/", ","})
ANSWER = PLAIN.map(str.strip).filter(bool)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>hm</think>Hello", "Hello"),
        ("<think>\n\n</think>\n\nHello", "Hello"),
        (" \n\ufeff<think>hm</think> Hello", "Hello"),
        ("<THINK>hm</Think>Hello", "Hello"),
        ("<thinking>hm</thinking>\nHello", "Hello"),
        ("<think>a</think><think>b</think>Hello", "Hello"),
        ("<think>never closed, cut by the limit", ""),
        ("<think>", ""),
        ("I should greet.\n</think>\n\nHello", "Hello"),
        ("I should greet.</think>\n\nHello", "Hello"),
        ("</think>\nHello", "Hello"),
        ("I should greet.\n</think>", ""),
        ("<think>They ask about `</think>`, the tag.</think>It ends it.", "It ends it."),
        ("<think>```py\nopen fence</think>Hello", "Hello"),
        ("<think>hm</think>\n\nUse `<think>` so:\n```\n<think>\nx\n</think>\n```",
         "Use `<think>` so:\n```\n<think>\nx\n</think>\n```"),
    ],
)  # fmt: skip
def test_reasoning_is_taken_out(text: str, shown: str) -> None:
    assert split_thinking(text)[0] == shown


@pytest.mark.parametrize(
    "text",
    [
        "Models write <think> before they answer and </think> after it.",
        "`<think>` opens the block, `</think>` closes it.",
        "The closing tag is </think> and it stands alone.",
        "```xml\n<think>\nreasoning\n</think>\n```\nThat is how it looks.",
        "```xml\nreasoning\n</think>\n```",
        "~~~\n</think>\n~~~",
        "It ends with “</think>”\n\nand then the answer comes.",
        "Look:\n<think>\nreasoning\n</think>\nThat was it.",
        "<think> and </think> are the tags of reasoning models.",
        "<think> یا </think> را ننویسید.",
        "«<think>» برچسبی است که فکر را باز می‌کند.",
        "I think, therefore I am.",
        "<thinker>x</thinker>",
        "",
        "  spaces stay  ",
    ],
)
def test_talk_about_the_tags_stays(text: str) -> None:
    assert split_thinking(text) == (text, "")


@given(THOUGHT, ANSWER)
def test_a_leading_block_never_reaches_the_answer(thought: str, answer: str) -> None:
    assert split_thinking(f"<think>\n{thought}\n</think>\n\n{answer}") == (answer, thought)


@given(THOUGHT, ANSWER)
def test_a_block_opened_by_the_template_never_reaches_the_answer(thought: str, answer: str) -> None:
    assert split_thinking(f"{thought}\n</think>\n\n{answer}") == (answer, thought)


@given(THOUGHT)
def test_nothing_of_an_unclosed_block_is_shown(thought: str) -> None:
    assert split_thinking(f"<think>{thought}") == ("", thought)


@given(PLAIN)
def test_text_without_tags_is_unchanged(text: str) -> None:
    assert split_thinking(text) == (text, "")


@given(PLAIN, st.sampled_from(["`<think>`", "`</think>`", '"<think>"', "«</think>»"]), PLAIN)
def test_quoted_tags_stay_wherever_they_stand(before: str, tag: str, after: str) -> None:
    text = f"{before}{tag}{after}"
    assert split_thinking(text) == (text, "")


PIECES = st.lists(
    st.sampled_from(["<think>", "</think>", "\n", "\n\n", " ", "`", "```\n", '"', "a", "and", "b."])
).map("".join)


@given(PIECES)
def test_any_mixture_is_settled_in_one_pass(text: str) -> None:
    shown, _ = split_thinking(text)
    assert split_thinking(shown) == (shown, "")
    assert text.endswith(shown)


def test_a_long_text_of_tags_takes_no_long_time() -> None:
    for piece in ("</think>", "`</think>", "```\n", '"', "'", "<think>x</think>", "\n\n` "):
        split_thinking("a" + piece * 2000)
        split_thinking(piece * 2000)
