"""The bot's own sentences: complete in every language, and safe whatever the values."""

import gettext
import string
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

import bot.telegram
from bot.core.notices import Notice
from bot.errors import ModelFailure
from bot.model.aiding import Lack
from bot.telegram.characters import has_visible, units
from bot.telegram.port import Part
from bot.telegram.presses import (
    Arrived,
    Cancel,
    Claim,
    Human,
    MayTranslate,
    Missing,
    Press,
    Start,
    SuggestionAction,
    SuggestionPress,
    Unrequest,
    parse_press,
    press_data,
)
from bot.telegram.texts import (
    LACKING,
    LOCALES,
    command_menu,
    language_for,
    person_keyboard,
    phrase,
    phrases,
)

LANGUAGES = ("en", "fa")
CATALOGUES = sorted(LOCALES.glob("*/LC_MESSAGES/dabir.po"))
SOURCES = Path(bot.telegram.__file__).parent
VALUES = {
    "words": "my sister",
    "name": "Sara",
    "holder": "Omid",
    "since": "14:05",
    "place": "2",
    "conversation": "chat:-100123",
    "turn_id": "turn:msg-7",
    "failure": "wrong_key",
    "kind": "sticker",
    "minutes": "5",
    "emoji": "👍",
    "lines": "one\ntwo",
    "task": "water the plants",
    "text": "I am vegetarian",
    "command": "/foo",
    "usage": "/done <number>",
    "rule": "refunds",
    "reason": "it is too long",
    "source": "three\nfour",
    "from": "فارسی (fa)",
    "to": "English (en)",
    "theirs": "فارسی (fa)",
    "ours": "English (en)",
    "engine": "practice",
    "lack": "unsupported",
    "language": "klingon",
    "suggestion": "0123456789abcdef",
    "count": "12",
    "messages": "34",
    "left": "3",
    "waiting": "4",
    "damaged": "1",
    "token": "abcdefghijklmnop",
}


def sentences() -> set[str]:
    found = extract_from_dir(SOURCES, [("**.py", "python")], keywords={"N_": None})
    return {str(each[2]) for each in found}


def catalogue(path: Path) -> Catalog:
    return read_po(BytesIO(path.read_bytes()))


def placeholders(sentence: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(sentence) if field}


def data_of(part: Part) -> list[Press | None]:
    return [parse_press(button.data) for row in part.keyboard for button in row]


def test_there_is_a_catalogue_besides_english() -> None:
    assert [path.parts[-3] for path in CATALOGUES] == ["fa"]


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_every_sentence_is_translated_and_none_is_left_over(path: Path) -> None:
    messages = {str(message.id): message for message in catalogue(path) if message.id}
    assert set(messages) == sentences()
    assert [m.id for m in messages.values() if not m.string or m.fuzzy] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_placeholders_and_commands_agree(path: Path) -> None:
    for message in catalogue(path):
        english, foreign = str(message.id), str(message.string)
        assert placeholders(foreign) == placeholders(english)
        for word in english.replace(":", " ").replace(",", " ").replace(";", " ").split():
            if word.startswith("/") or (word.isupper() and "_" in word):
                assert word.strip(".") in foreign


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_the_compiled_catalogue_is_up_to_date(path: Path) -> None:
    buffer = BytesIO()
    write_mo(buffer, catalogue(path))
    buffer.seek(0)
    fresh = gettext.GNUTranslations(buffer)
    with path.with_suffix(".mo").open("rb") as file:
        committed = gettext.GNUTranslations(file)
    for sentence in sentences():
        assert committed.gettext(sentence) == fresh.gettext(sentence) != sentence


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("notice", Notice)
def test_every_notice_is_a_sentence(notice: Notice, language: str) -> None:
    part = phrase(notice, language, VALUES)
    assert has_visible(part.text)
    assert part.entities == ()
    assert "…" not in part.text or notice in (Notice.STATUS, Notice.CHECKING_DELIVERY)
    assert "{" not in part.text
    assert None not in data_of(part)
    assert phrases(notice, language, VALUES) == (part,)


@pytest.mark.parametrize("language", [*LANGUAGES, "de", ""])
@pytest.mark.parametrize("notice", Notice)
def test_missing_values_never_stop_a_notice(notice: Notice, language: str) -> None:
    assert has_visible(phrase(notice, language).text)
    assert None not in data_of(phrase(notice, language))


def test_the_buttons_are_those_that_the_notices_name() -> None:
    buttons = {notice: phrase(notice, "en", VALUES).keyboard for notice in Notice}
    shown = {n: [(b.text, b.data) for row in rows for b in row] for n, rows in buttons.items()}
    start = ("Start the AI assistant", "v1:start")
    person = ("Talk to a person", "v1:human")
    both, unrequest = [start, person], [("Cancel the request", "v1:unrequest")]
    send = ("Send", "v1:suggest:send:0123456789abcdef")
    as_written = ("Send as written", "v1:suggest:written:0123456789abcdef")
    discard = ("Discard", "v1:suggest:discard:0123456789abcdef")
    take = [("Take", "v1:claim:chat:-100123")]
    assert {notice: row for notice, row in shown.items() if row} == {
        Notice.CONSENT: both,
        Notice.CONSENT_AGAIN: both,
        Notice.AI_OFF: both,
        Notice.HANDOFF_CANCELLED: both,
        Notice.HUMAN_LEFT: both,
        Notice.HEALTH_DEGRADED: both,
        Notice.MODEL_FAILED: [person],
        Notice.NO_ANSWER: [person],
        Notice.DELIVERY_FAILED: [person],
        Notice.HANDOFF_REQUESTED: unrequest,
        Notice.FORGET_ASK: [
            ("Destroy everything", "v1:forget:abcdefghijklmnop"),
            ("Keep everything", "v1:keep:abcdefghijklmnop"),
        ],
        Notice.HANDOFF_WAITING: unrequest,
        Notice.HUMAN_GONE: unrequest,
        Notice.NO_ANSWER_HANDOFF: unrequest,
        Notice.POLICY_HANDOFF: unrequest,
        Notice.DELIVERY_HANDOFF: unrequest,
        Notice.STATUS: [("Cancel", "v1:cancel:turn:msg-7"), person],
        Notice.DID_IT_ARRIVE: [
            ("It arrived", "v1:arrived:turn:msg-7"),
            ("It did not", "v1:missing:turn:msg-7"),
        ],
        Notice.OP_REQUESTED: take,
        Notice.OP_REMINDER: take,
        Notice.OP_POLICY: take,
        Notice.OP_MODERATION: take,
        Notice.OP_DELIVERY: take,
        Notice.OP_LEASE_EXPIRED: take,
        Notice.OP_DRAFT: [send, discard],
        Notice.OP_PREVIEW: [send, as_written, discard],
        Notice.OP_NO_PREVIEW: [as_written, discard],
        Notice.TRANSLATION_ASKED: [
            ("Allow translation", "v1:translate:yes"),
            ("No, thank you", "v1:translate:no"),
        ],
    }
    assert [(b.text, b.data) for b in person_keyboard("en")[0]] == [person]
    assert data_of(phrase(Notice.STATUS, "en")) == [Cancel(), Human()]


@pytest.mark.parametrize("notice", [Notice.MODEL_FAILED, Notice.OP_MODEL_TROUBLE])
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_model_failure_has_its_own_sentence(notice: Notice, language: str) -> None:
    texts = {phrase(notice, language, {"failure": each.value}).text for each in ModelFailure}
    otherwise = phrase(notice, language, {"failure": "new"}).text
    assert len(texts | {otherwise}) == len(ModelFailure) + 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("notice", sorted(LACKING))
def test_each_lack_has_its_own_sentence(notice: Notice, language: str) -> None:
    texts = {phrase(notice, language, {**VALUES, "lack": each.value}).text for each in Lack}
    otherwise = phrase(notice, language, {**VALUES, "lack": "new"}).text
    assert len(texts | {otherwise}) == len(Lack) + 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_blocked_draft_and_an_unavailable_check_begin_alike(language: str) -> None:
    blocked = phrase(Notice.NO_ANSWER, language).text
    unavailable = phrase(Notice.NO_ANSWER_HANDOFF, language).text
    first = blocked.split(".")[0]
    assert unavailable.startswith(first)
    assert len(first) > 15


def test_the_place_in_the_queue_is_told_where_it_is_known() -> None:
    def waiting(place: str) -> str:
        return phrase(Notice.HANDOFF_REQUESTED, "en", {"place": place}).text

    assert waiting("1").endswith("You are first in the queue.")
    assert waiting("3").endswith("You are number 3 in the queue.")
    assert "queue" not in waiting("") + waiting("x")


def test_only_the_owner_reads_of_the_owners_commands() -> None:
    assert "/claim" not in phrase(Notice.HELP, "en").text
    assert "/claim" in phrase(Notice.HELP, "en", {"owner": "1"}).text
    assert [name for name, _ in command_menu("en", owner=True)][-6:] == [
        "queue",
        "claim",
        "release",
        "draft",
        "summary",
        "translate",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_menu_has_every_command(language: str) -> None:
    menu = dict(command_menu(language, owner=False))
    everything = "start help human stop_ai cancel new privacy end memory why tasks done remember"
    everything += " export temporary forget_me"
    assert list(menu) == everything.split()
    # https://core.telegram.org/bots/api#botcommand
    assert all(1 <= len(what) <= 256 for what in menu.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answer_to_a_press_fits(language: str) -> None:
    assert units(phrase(Notice.BUTTON_EXPIRED, language).text) <= 200


@pytest.mark.parametrize(
    ("telegram_code", "setting", "language"),
    [("fa", None, "fa"), ("fa-IR", "", "fa"), ("FA_ir", None, "fa"), ("en", "fa", "fa"),
     ("fa", "en", "en"), ("de", None, "en"), (None, None, "en"), ("", "", "en"),
     ("fat", None, "en"), ("fa", "de", "en")],
)  # fmt: skip
def test_the_setting_comes_before_the_users_language(
    telegram_code: str | None, setting: str | None, language: str
) -> None:
    assert language_for(telegram_code, setting) == language


@given(
    st.sampled_from(list(Notice)),
    st.sampled_from(LANGUAGES),
    st.dictionaries(st.sampled_from([*VALUES, "owner"]), st.text(max_size=200)),
)
def test_no_value_breaks_a_sentence(notice: Notice, language: str, values: dict[str, str]) -> None:
    part = phrase(notice, language, values)
    assert has_visible(part.text)
    assert units(part.text) <= 4096
    assert None not in data_of(part)
    assert not set(part.text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\0\u200b\r")
    if notice is not Notice.MEMORY_SHOWN:
        assert part.text.count("\u2068") == part.text.count("\u2069")


def test_a_hostile_name_stays_a_name() -> None:
    name = "Eve\u202e\n\n/end @admin http://evil.com {place}\u200b <b>**x**" + "\u0301" * 50
    text = phrase(Notice.OP_ENDED, "en", {"name": name, "conversation": "c"}).text
    assert text.endswith("closed the conversation.\nConversation c")
    shown = text.split(" closed the")[0]
    assert "\n" not in shown
    assert "\u202e" not in shown
    assert "/end" not in shown
    assert "@admin" not in shown
    assert "http:" not in shown.replace("http:\u2060", "")
    assert "evil.com" not in shown
    assert len(phrase(Notice.OP_ENDED, "en", {"name": "x" * 9999, "conversation": "c"}).text) < 120


def test_a_name_in_the_other_direction_is_isolated() -> None:
    assert phrase(Notice.HUMAN_CHANGED, "en", {"name": "سارا"}).text.startswith("\u2068سارا\u2069 ")
    persian = phrase(Notice.HUMAN_CHANGED, "fa", {"name": "Sara"}).text
    assert "\u2068Sara\u2069" in persian
    assert "\u2068" not in phrase(Notice.HUMAN_CHANGED, "en", {"name": "Sara"}).text


def test_an_id_can_be_copied_from_a_notice() -> None:
    for language in LANGUAGES:
        text = phrase(Notice.OP_HOLDS_ANOTHER, language, {"conversation": "chat:-12.x"}).text
        assert "chat:-12.x" in text


def test_a_persian_command_list_stays_clickable_and_in_order() -> None:
    lines = phrase(Notice.HELP, "fa").text.split("\n")
    assert "\u2068/human\u2069 – گفت‌وگو با یک نفر" in lines


def test_a_long_list_is_cut_or_split_with_its_buttons_last() -> None:
    lines = "\n".join(f"{i}: سلام، دنیا" for i in range(1000))
    cut = phrase(Notice.OP_QUEUE, "en", {"lines": lines})
    assert units(cut.text) <= 4096
    assert cut.text.endswith("…")
    parts = phrases(Notice.OP_QUEUE, "en", {"lines": lines})
    assert len(parts) > 1
    assert "999: " in parts[-1].text
    assert all(units(part.text) <= 4096 for part in parts)


@pytest.mark.parametrize(
    "press",
    [Start(), Human(), Cancel(), Cancel("turn:msg-12"), Unrequest(), Claim("tg:123"),
     Claim("-100123"), Arrived("turn:msg-1"), Missing("turn:msg-999999999999"),
     *(SuggestionPress(each, "0123456789abcdef") for each in SuggestionAction),
     MayTranslate(True), MayTranslate(False)],
)  # fmt: skip
def test_a_press_survives_its_button(press: Press) -> None:
    assert parse_press(press_data(press)) == press
    assert len(press_data(press).encode()) <= 64


@pytest.mark.parametrize(
    "data",
    ["", "start", "v0:start", "v2:start", "v1:start:", "v1:start\n", "V1:start", " v1:start",
     "v1:claim", "v1:claim:", "v1:claim:a b", "v1:claim:../x", "v1:claim:" + "a" * 60,
     "v1:cancel:", "v1:cancel:turn", "v1:cancel:turn:msg-", "v1:cancel:turn:msg-1x",
     "v1:cancel:turn:msg-01", "v1:cancel:turn:msg-١", "v1:arrived", "v1:missing:x",
     "v1:suggest:send:", "v1:suggest:send:0123", "v1:suggest:keep:0123456789abcdef",
     "v1:suggest:send:0123456789ABCDEF", "v1:translate:", "v1:translate:maybe",
     "v1:start\0", "v1:human;v1:start", "v1:cancel:turn:msg-" + "9" * 30],
)  # fmt: skip
def test_forged_and_old_data_is_nothing(data: str) -> None:
    assert parse_press(data) is None


@given(st.text(max_size=80))
def test_data_is_either_nothing_or_exactly_what_we_write(data: str) -> None:
    for text in (data, f"v1:{data}", f"v1:claim:{data}", f"v1:suggest:send:{data}"):
        press = parse_press(text)
        assert press is None or press_data(press) == text


def test_no_button_carries_what_would_not_come_back() -> None:
    with pytest.raises(ValueError, match="no button"):
        press_data(Claim("a" * 60))
    assert phrase(Notice.OP_REQUESTED, "en", {"conversation": "a b"}).keyboard == ()
