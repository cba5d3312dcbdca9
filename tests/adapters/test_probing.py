"""Finding out by edits whether a message arrived, against a model of a chat."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import Blocked, DabirError, FloodWait, Migrated, Refused, RetryLater, Unknown
from bot.telegram.port import Button, EditOutcome, Entity, Part
from bot.telegram.probing import Absent, Found, Unproven, candidate_ids, find

CHAT = 5
OURS = Part("the reply", (Entity("bold", 0, 3),), ((Button("x", "v1:human"),),))
OTHER = Part("checking…")


@dataclass
class Chat:
    """A chat as Telegram keeps it: None is somebody else's message."""

    messages: dict[int, Part | None]
    errors: dict[int, DabirError] = field(default_factory=dict)
    deletes: list[int] = field(default_factory=list)
    delete_answer: bool | DabirError = True

    async def edit(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        assert chat_id == CHAT
        if message_id in self.errors:
            raise self.errors[message_id]
        if message_id not in self.messages:
            return EditOutcome.NOT_FOUND
        present = self.messages[message_id]
        if present is None:
            return EditOutcome.NOT_OURS
        if present == part:
            return EditOutcome.NOT_MODIFIED
        self.messages[message_id] = part
        return EditOutcome.EDITED

    async def delete(self, chat_id: int, message_id: int) -> bool:
        assert chat_id == CHAT
        if isinstance(self.delete_answer, DabirError):
            raise self.delete_answer
        self.deletes.append(message_id)
        if self.delete_answer:
            del self.messages[message_id]
        return self.delete_answer


@given(st.dictionaries(st.integers(1, 40), st.sampled_from([None, OURS, OTHER])))
async def test_the_answer_is_the_truth(messages: dict[int, Part | None]) -> None:
    chat = Chat(dict(messages))
    candidates = candidate_ids(0, 41, ())
    assert candidates is not None
    finding = await find(chat, CHAT, OURS, candidates)
    copies = [message_id for message_id, part in sorted(messages.items()) if part == OURS]
    assert finding == (Found(copies[0]) if copies else Absent())
    # Afterwards our text stands there as often as before, and nothing of others is touched.
    assert sorted(i for i, part in chat.messages.items() if part == OURS) == copies
    assert {i for i, part in chat.messages.items() if part is None} == {
        i for i, part in messages.items() if part is None
    }


@pytest.mark.parametrize(
    "error",
    [Unknown("x"), RetryLater("x"), FloodWait("x"), Refused("x"), Blocked("x"),
     Migrated("x", new_chat_id=-1)],
)  # fmt: skip
async def test_an_unanswered_probe_proves_nothing(error: DabirError) -> None:
    chat = Chat({3: OURS}, errors={2: error})
    finding = await find(chat, CHAT, OURS, (1, 2, 3))
    assert finding == Unproven(f"editing 2: {type(error).__name__}")


@pytest.mark.parametrize("answer", [False, Unknown("x"), Refused("x")])
async def test_a_message_that_stays_with_our_text_is_named(answer: bool | DabirError) -> None:
    chat = Chat({1: OTHER, 2: OURS}, delete_answer=answer)
    assert await find(chat, CHAT, OURS, (1, 2)) == Unproven("deleting 1", leftover=1)


async def test_a_difference_in_entities_or_keyboard_is_another_message() -> None:
    chat = Chat({1: replace(OURS, entities=()), 2: replace(OURS, keyboard=())})
    assert await find(chat, CHAT, OURS, (1, 2)) == Absent()
    assert chat.deletes == [1, 2]


async def test_ids_are_tried_in_ascending_order() -> None:
    assert await find(Chat({7: OURS, 9: OURS}), CHAT, OURS, (9, 7)) == Found(7)


def test_candidates_lie_between_and_are_unknown() -> None:
    assert candidate_ids(10, 15, {12}) == (11, 13, 14)
    assert candidate_ids(10, 11, ()) == ()
    assert candidate_ids(10, 5, ()) == ()
    assert candidate_ids(0, 61, ()) == tuple(range(1, 61))
    assert candidate_ids(0, 62, ()) is None
    assert candidate_ids(0, 10**12, ()) is None
    assert candidate_ids(0, 100, range(1, 60), limit=41) == tuple(range(60, 100))
