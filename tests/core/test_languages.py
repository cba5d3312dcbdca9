"""Languages by name and code, and the letters that give another one away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.languages import LANGUAGES, could_be, has_letters, language_of, words_of


@pytest.mark.parametrize(
    ("word", "code"),
    [("fa", "fa"), (" FA ", "fa"), ("Persian", "fa"), ("فارسی", "fa"), ("pt-BR", "pt"),
     ("zh_TW", "zh"), ("german", "de"), ("Norsk bokmål", "nb")],
)  # fmt: skip
def test_a_language_is_known_by_code_and_by_name(word: str, code: str) -> None:
    language = language_of(word)
    assert language is not None
    assert language.code == code


@pytest.mark.parametrize("word", ["", "klingon", "xx", "-", "f", "off", "en;drop"])
def test_what_is_no_language_is_none(word: str) -> None:
    assert language_of(word) is None


@pytest.mark.parametrize("argument", ["fa en", "fa>en", "fa -> en", " fa → en ", "fa,en", "fa/en"])
def test_a_pair_is_read_however_it_is_written(argument: str) -> None:
    assert words_of(argument) == ("fa", "en")


@pytest.mark.parametrize(
    ("text", "code", "fits"),
    [("سلام دنیا", "fa", True), ("Hello world", "fa", False), ("Hello world", "de", True),
     ("سلام دنیا", "en", False), ("OK", "fa", True), ("12:30 😀", "ru", True),
     ("Привет, Dabir", "ru", True), ("東京です", "ja", True), ("東京です", "ko", False),
     ("سفارش A12-B (Samsung) رسید", "fa", True)],
)  # fmt: skip
def test_letters_tell_languages_of_other_scripts_apart(text: str, code: str, fits: bool) -> None:
    assert could_be(text, LANGUAGES[code]) is fits


def test_every_code_finds_itself_and_every_label_names_it() -> None:
    for code, language in LANGUAGES.items():
        assert language_of(code) == language
        assert could_be(language.name, language)
        assert code in language.label


@given(st.text(), st.sampled_from(sorted(LANGUAGES)))
def test_any_text_can_be_judged(text: str, code: str) -> None:
    assert could_be(text, LANGUAGES[code]) in (True, False)
    if not has_letters(text):
        assert could_be(text, LANGUAGES[code])
