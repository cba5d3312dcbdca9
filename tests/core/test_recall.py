"""Finding lines by words, and the names that lines are kept under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Line, namespace_of, search
from tests.memory_lines import a_line, lines_close


def lines(*texts: str) -> list[Line]:
    return [a_line(id=f"l{n}", at_us=n, text=text, key="") for n, text in enumerate(texts)]


def texts(found: tuple[Line, ...]) -> list[str]:
    return [line.text for line in found]


def test_the_rarer_word_counts_more_and_equal_lines_come_newest_first() -> None:
    said = lines("Sam likes tea", "Sam likes tea", "Sam is here", "Sam again", "nothing")
    found = search(said, "does sam drink TEA?", limit=3)
    assert [line.id for line in found] == ["l1", "l0", "l3"]


@pytest.mark.parametrize("words", ["کتاب‌ها", "كتاب ها", "کتابها", "کتابِ"])
def test_persian_is_found_however_it_is_spelt(words: str) -> None:
    said = lines("قیمت کتاب‌ها ۱۲ تومان است", "tea")
    assert texts(search(said, words)) == ["قیمت کتاب‌ها ۱۲ تومان است"]
    assert texts(search(said, "12")) == ["قیمت کتاب‌ها ۱۲ تومان است"]


@pytest.mark.parametrize("words", ["", "?!", "   ", "unheard"])
def test_no_common_word_finds_nothing(words: str) -> None:
    assert search(lines("Sam likes tea"), words) == ()
    assert search([], "tea") == ()


@given(
    st.lists(lines_close(), max_size=8, unique_by=lambda line: line.id), st.permutations(range(8))
)
def test_i9_what_is_found_does_not_depend_on_the_order_of_the_store(
    said: list[Line], order: list[int]
) -> None:
    shuffled = [said[n] for n in order if n < len(said)]
    assert search(shuffled, "berlin now") == search(said, "berlin now")


def test_i10_a_namespace_names_its_chat_only_to_whoever_has_the_secret() -> None:
    name = namespace_of(b"secret", "4711")
    assert len(name) == 32
    assert "4711" not in name
    assert name == namespace_of(b"secret", "4711")
    assert len({name, namespace_of(b"other", "4711"), namespace_of(b"secret", "4712")}) == 3
    with pytest.raises(ValueError, match="secret"):
        namespace_of(b"", "4711")
