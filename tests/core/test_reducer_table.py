from typing import get_args

import pytest

from bot.core.events import Event
from bot.core.states import State
from bot.core.transitions.table import IGNORED, TRANSITIONS

EVENTS = [kind for union in get_args(Event) for kind in (get_args(union) or (union,))]


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", EVENTS)
def test_every_pair_is_a_transition_or_ignored_with_a_reason(state: State, event: type) -> None:
    assert (event in TRANSITIONS[state]) != ((state, event) in IGNORED)
