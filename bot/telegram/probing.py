"""Whether a send that was never answered arrived, found out by edits that change nothing.

Telegram has no idempotency key and shows a bot no history, but ids in a chat only grow and an edit
tells what it met: "not modified" (our message, saying exactly this), "not found", "can't be
edited" (somebody else's). So the ids in which the message can be are tried in turn with its very
text, entities and keyboard. See the design page, "Delivery on Telegram".
"""

from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from bot.errors import Refused, RetryLater, Unknown
from bot.telegram.port import EditOutcome, Part


@dataclass(frozen=True, slots=True)
class Found:
    """It arrived, as this message; an album as these."""

    message_id: int
    together: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Absent:
    """It did not arrive: every id in which it could be is something else."""


@dataclass(frozen=True, slots=True)
class Unproven:
    """The question is open. `reason` is for the log.

    `leftover` (0: none) is another message of ours that now carries the text and could not be
    removed; it must not be probed again before it is.
    """

    reason: str
    leftover: int = 0


Finding: TypeAlias = Found | Absent | Unproven


def candidate_ids(
    low: int, high: int, known: Container[int], limit: int = 60
) -> tuple[int, ...] | None:
    """Return the ids between `low` and `high` (both excluded) that are not `known`, ascending.

    `low` is the newest id in the chat that was known before the send, `high` the id of a message
    sent after it. None: more than `limit`, too many to probe. A private chat counts its ids
    together with all other private chats of the bot, so `known` may well hold theirs.
    """
    ids: list[int] = []
    for message_id in range(low + 1, high):
        if message_id in known:
            continue
        if len(ids) == limit:
            return None
        ids.append(message_id)
    return tuple(ids)


class Editor(Protocol):
    """The part of the Messenger that looking needs."""

    async def edit(self, chat_id: int, message_id: int, part: Part) -> EditOutcome: ...

    async def delete(self, chat_id: int, message_id: int) -> bool: ...


def _always() -> bool:
    return True


async def _nowhere(message_id: int) -> bool:
    return True


async def find(
    messenger: Editor,
    chat_id: int,
    part: Part,
    candidates: Sequence[int],
    *,
    may_go_on: Callable[[], bool] = _always,
    put_down: Callable[[int], Awaitable[bool]] = _nowhere,
) -> Finding:
    """Look for `part` in these ids, in ascending order. Safe to repeat.

    `may_go_on` is asked before each request: once somebody else may have begun to look, an edit or
    a removal of ours would spoil what they find. `put_down` records an id that says the same by
    mistake, before it is removed: whoever looks next must not take it for the part, since its
    removal may take effect late. False: somebody else looks already, so it stays.
    """
    for message_id in sorted(candidates):
        if not may_go_on():
            return Unproven("this process was held up")
        try:
            outcome = await messenger.edit(chat_id, message_id, part)
        except (RetryLater, Refused, Unknown) as error:
            return Unproven(f"editing {message_id}: {type(error).__name__}")
        if outcome is EditOutcome.NOT_MODIFIED:
            return Found(message_id)
        if outcome is not EditOutcome.EDITED:
            continue
        # A message of ours that said something else, such as an old notice, says this now.
        if not await put_down(message_id) or not may_go_on():
            return Unproven("this process was held up", leftover=message_id)
        if not await _removed(messenger, chat_id, message_id):
            return Unproven(f"deleting {message_id}", leftover=message_id)
    return Absent()


async def _removed(messenger: Editor, chat_id: int, message_id: int) -> bool:
    try:
        return await messenger.delete(chat_id, message_id)
    except (RetryLater, Refused, Unknown):
        return False
