"""Names of topics, data of the desk's buttons and stored payloads, for whatever people type."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.states import State
from bot.desk.naming import MARKS, topic_name
from bot.store.copies import MessageRef
from bot.telegram import payload
from bot.telegram.characters import units
from bot.telegram.payload import Album, CopyOf, EditOf, Payload, Pin, React, SendPart
from bot.telegram.port import Entity, Part
from bot.telegram.presses import DeskAction, DeskPress, parse_press, press_data

REFS = st.builds(MessageRef, st.integers(-(2**52), 2**52), st.integers(1, 2**31))
PARTS = st.builds(Part, st.text(min_size=1), st.just((Entity("bold", 0, 1),)) | st.just(()))
PAYLOADS: st.SearchStrategy[Payload] = st.one_of(
    st.builds(SendPart, PARTS, st.none() | REFS, st.booleans(), st.none() | REFS, st.integers(0)),
    st.builds(CopyOf, st.integers(), st.integers(), st.none() | REFS, st.booleans()),
    st.builds(Album, st.integers(), st.lists(st.integers(1), min_size=1).map(tuple)),
    st.builds(EditOf, REFS, PARTS, st.booleans()),
    st.builds(React, REFS, st.text()),
    st.builds(Pin, st.integers(1)),
)


@given(st.text(max_size=300), st.sampled_from(State))
def test_a_name_shows_the_state_and_the_id_and_hides_nothing(name: str, state: State) -> None:
    shown = topic_name(name, "tg:42", state)
    assert shown.startswith(f"{MARKS[state]} ")
    assert shown.endswith(" | 42")
    assert shown.count("|") == 1
    assert units(shown) <= 128
    assert "\n" not in shown
    inside = shown[len(MARKS[state]) :]
    joiners = "\u200c\u200d"
    assert not any(unicodedata.category(c) in ("Cc", "Cf") and c not in joiners for c in inside)


@pytest.mark.parametrize("name", ["", "\u200b\u200f", "\u202e"])
def test_a_name_of_nothing_is_a_dash(name: str) -> None:
    assert topic_name(name, "tg:42", State.ENDED) == "⚫ – | 42"


@pytest.mark.parametrize("action", DeskAction)
@pytest.mark.parametrize("conversation", ["tg:42", "tg:9007199254740991"])
def test_every_button_of_the_desk_is_parsed_back(action: DeskAction, conversation: str) -> None:
    data = press_data(DeskPress(action, conversation))
    assert data == f"v1:desk:{action.value}:{conversation}"
    assert len(data.encode()) <= 64
    assert parse_press(data) == DeskPress(action, conversation)


@pytest.mark.parametrize(
    "data", ["v1:desk:take", "v1:desk:take:", "v1:desk:burn:tg:1", "v1:desk:take:tg:1 ", "v1:desk:"]
)
def test_what_no_button_of_ours_carries_is_nothing(data: str) -> None:
    assert parse_press(data) is None


@given(PAYLOADS)
def test_a_payload_is_read_as_it_was_written(what: Payload) -> None:
    assert payload.read(payload.write(what)) == what


@pytest.mark.parametrize("text", ['{"copy":[1]}', '{"react":[1,2]}', "{}", '{"edit":[1,2]}'])
def test_what_is_no_payload_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        payload.read(text)
