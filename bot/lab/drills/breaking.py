"""Takes one protection away, to show that a drill notices.

The seam is the name under which a module knows the protecting function: it is replaced for the
length of a `with`, in a process that does nothing else (proving.py, process.py). Nothing of this
is reachable from `dabir` in earnest.
"""

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from bot import executor
from bot.core import context, reducer
from bot.core.context import Author, History, Said
from bot.core.events import DraftApproved
from bot.core.states import State
from bot.core.transitions import by_ai, by_people, by_user, table
from bot.desk import interpreting
from bot.desk.translating import Translating
from bot.model import aiding
from bot.store import inbox, leases, messages
from bot.store.port import Sql
from bot.telegram import doubts
from bot.telegram.probing import Absent
from memory import reader, writer

Broken = Callable[[], contextlib.AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Protection:
    """What is broken, how, and which claims of which drills must give way to it."""

    name: str
    keeps: str
    broken_by: str
    drills: Mapping[str, str]  # by name: a claim that cannot hold any more
    take_away: Broken


def breaking(name: str) -> contextlib.AbstractContextManager[object]:
    """Without the protection of this name; "" is nothing broken. Raises KeyError if unknown."""
    return PROTECTIONS[name].take_away() if name else contextlib.nullcontext()


def shuffled(seed: int) -> Sequence[Protection]:
    """All protections in an order that follows from the seed."""
    chosen = list(PROTECTIONS.values())
    random.Random(seed).shuffle(chosen)  # noqa: S311
    return chosen


@contextlib.contextmanager
def _all(*patches: Any) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for each in patches:
            stack.enter_context(each)
        yield


def _without_epoch_check() -> contextlib.AbstractContextManager[object]:
    return patch.object(reducer, "_counts", lambda conversation, result: True)


def _without_version_check() -> contextlib.AbstractContextManager[object]:
    def never(*_: object) -> bool:
        return False

    return _all(
        patch.object(by_ai, "may_restart", never), patch.object(by_user, "may_restart", never)
    )


def _without_fencing() -> contextlib.AbstractContextManager[object]:
    def held(*_: object) -> bool:
        return True

    return _all(patch.object(leases, "holds", held), patch.object(leases, "renew", held))


def _without_consent_filter() -> contextlib.AbstractContextManager[object]:
    def everything(history: History) -> list[Said]:
        said = [each for each in history.said if each.author in (Author.USER, Author.AI)]
        return sorted(said, key=lambda each: (each.version, each.author is Author.AI, each.at))

    return patch.object(context, "_readable", everything)


def _without_moderation_gate() -> contextlib.AbstractContextManager[object]:
    def passed(self: executor.Executor, effect: Any, verdict: object) -> DraftApproved:
        return DraftApproved(self._clock(), effect.epoch, effect.turn_id)

    return patch.object(executor.Executor, "_judged", passed)


def _without_dedupe() -> contextlib.AbstractContextManager[object]:
    add = inbox.add

    def new(sql: Sql, update_id: int, at: float) -> bool:
        add(sql, update_id, at)
        return True

    def unseen(*_: object) -> bool:
        return False

    return _all(patch.object(inbox, "add", new), patch.object(messages, "seen", unseen))


def _without_reconciling() -> contextlib.AbstractContextManager[object]:
    async def absent(*_: object, **__: object) -> Absent:
        return Absent()

    return patch.object(doubts, "find", absent)


def _without_claim_check() -> contextlib.AbstractContextManager[object]:
    changed = {**table.TRANSITIONS[State.HUMAN_ACTIVE]}
    for event, transition in changed.items():
        if transition is by_people.claim_again:
            changed[event] = by_people.claim
    return patch.object(reducer, "TRANSITIONS", {**table.TRANSITIONS, State.HUMAN_ACTIVE: changed})


def _without_patience() -> contextlib.AbstractContextManager[object]:
    async def once(look: Any, enough: object, **_: object) -> Any:
        return await look()

    return patch.object(reader, "look_until", once)


def _without_proof() -> contextlib.AbstractContextManager[object]:
    async def believe(
        self: object, claimed: object, accepted: Any, outcome: Any, now: float
    ) -> None:
        outcome.proven += accepted

    return patch.object(writer.Writer, "_look", believe)


def _without_openness() -> contextlib.AbstractContextManager[object]:
    def anything(*_: object) -> bool:
        return True

    return _all(
        patch.object(aiding, "UNSUPPORTED", "\0"), patch.object(aiding, "could_be", anything)
    )


def _without_confirmation() -> contextlib.AbstractContextManager[object]:
    def at_once(*_: object) -> bool:
        return False

    return patch.object(Translating, "takes", at_once)


def _without_users_leave() -> contextlib.AbstractContextManager[object]:
    want = interpreting.want_views

    def agreed(sql: Sql, c: Any, place: Any, said: Any, at: float) -> bool:
        return want(sql, c, place, [replace(each, consented=True) for each in said], at)

    def may(*_: object) -> bool:
        return True

    return _all(
        patch.object(interpreting, "want_views", agreed),
        patch.object(interpreting, "may_read", may),
    )


PROTECTIONS = {
    each.name: each
    for each in (
        Protection(
            "epoch",
            "a result of an epoch that is over has no effect and is recorded as stale (I2)",
            "every result counts, whatever its epoch and turn",
            {"human-in-mid-generation": "the late draft is recorded as stale"},
            _without_epoch_check,
        ),
        Protection(
            "version",
            "a draft that newer messages overtook is dropped (I5)",
            "no draft is ever overtaken",
            {"third-message": "the overtaken draft was never sent"},
            _without_version_check,
        ),
        Protection(
            "fencing",
            "who lost the lease writes nothing",
            "everybody still holds what they held",
            {"paused-holder": "the one that woke late wrote nothing"},
            _without_fencing,
        ),
        Protection(
            "consent",
            "the model sees only what the user consented to (I8)",
            "the context compiler takes whatever the user wrote",
            {"person-leaves": "nor what was said to the operator only"},
            _without_consent_filter,
        ),
        Protection(
            "moderation",
            "no draft is visible before moderation passed it (I6)",
            "every verdict is read as a pass",
            {
                "moderation-times-out": "nobody saw the draft",
                "moderation-blocks": "nobody saw the draft",
            },
            _without_moderation_gate,
        ),
        Protection(
            "dedupe",
            "the same update or message again changes nothing",
            "every update is new and no message was seen before",
            {"two-bots-one-token": "nothing had to be parked"},
            _without_dedupe,
        ),
        Protection(
            "reconcile",
            "a doubtful send is found out before anything is sent again (I7)",
            "what is in doubt is taken for lost",
            {"send-times-out": "chat 42 got the answer once"},
            _without_reconciling,
        ),
        Protection(
            "claim",
            "of two operators who claim at once one holds the conversation (I1)",
            "whoever claims last holds it",
            {"two-operators": "user 42: one claim was applied"},
            _without_claim_check,
        ),
        Protection(
            "patience",
            "an empty answer of the memory store is not believed at once",
            "the store is asked once",
            {"memory-answers-empty": "the note is shown"},
            _without_patience,
        ),
        Protection(
            "proof",
            "a memory line waits until a read has shown it (I9)",
            "what was accepted counts as kept",
            {"memory-job-fails": "it is kept exactly once"},
            _without_proof,
        ),
        Protection(
            "openness",
            "a language that the model lacks is said to be missing",
            "whatever the model answers is taken for a translation",
            {"translation": "the operator is told why there is no translation"},
            _without_openness,
        ),
        Protection(
            "confirmation",
            "an operator's translated words leave only after they confirmed",
            "what the operator writes leaves at once",
            {"translation": "the operator's words are not sent before they confirmed"},
            _without_confirmation,
        ),
        Protection(
            "leave",
            "words for a person are translated only if the user agreed (I8)",
            "whatever the user writes is translated",
            {"translation": "nothing is translated before the user agreed"},
            _without_users_leave,
        ),
    )
}
