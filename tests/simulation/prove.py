"""Breaks one protection at a time and shows that some seed notices.

Nothing is edited: a protection is taken out of the running program, in this process only.

Two are not here, because another one stands in front of each: without the comparison of epochs the
session lease still lets nobody else work on a turn, and without the comparison of claims in
`outbox.SETTLE` the minute of watching outlasts whoever holds an old claim. Their own tests are
tests/core/test_reducer_turns.py and tests/contracts.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from bot.core import context, reducer
from bot.core.context import Author, History, Said
from bot.core.events import DraftApproved, Event
from bot.core.transitions import by_ai, by_user
from bot.executor import Executor
from bot.store import inbox, leases, messages, outbox
from bot.store.outbox import Claimed
from bot.store.port import Sql
from bot.store.work import StoredEffect
from bot.telegram.doubts import Doubts
from tests.simulation.plan import Plan, Trouble, plan_for
from tests.simulation.world import run

MOST_SEEDS = 500


@dataclass(frozen=True, slots=True)
class Breakage:
    """A protection that is taken out, and the promises that should notice."""

    name: str
    notices: frozenset[str]
    changes: tuple[tuple[Any, str, Any], ...]  # whose attribute becomes what
    plan_for: Callable[[int], Plan] = plan_for


def notice_within(breakage: Breakage, seeds: Sequence[int]) -> tuple[int, str] | None:
    """The first seed that fails without this protection, and how; None: nobody noticed."""
    with ExitStack() as stack:
        for owner, attribute, instead in breakage.changes:
            stack.enter_context(patch.object(owner, attribute, instead))
        for seed in seeds:
            broken = run(breakage.plan_for(seed)).broken
            if broken is not None:
                return seed, str(broken)
    return None


def prove() -> int:
    """Break each protection in turn; the exit code tells whether all were noticed."""
    missed = 0
    for breakage in BREAKAGES:
        found = notice_within(breakage, range(MOST_SEEDS))
        if found is None:
            missed += 1
            print(f"NOT NOTICED  {breakage.name}: {MOST_SEEDS} seeds", flush=True)
            continue
        seed, how = found
        expected = how.partition(":")[0] in breakage.notices
        missed += not expected
        told = "noticed" if expected else "UNEXPECTED"
        print(f"{told:<12} {breakage.name}: seed {seed}, {how[:90]}", flush=True)
    return 1 if missed else 0


def sleepy(seed: int) -> Plan:
    """Two workers that oversleep their leases, and users who would rather press than write."""
    plan = plan_for(seed)
    troubles = frozenset({Trouble.PAUSES, Trouble.MODEL, Trouble.PEOPLE, Trouble.FLOODS})
    return replace(plan, workers=2, troubles=troubles, intensity=8.0, seconds=180.0, write_weight=8)


# --- the program without a protection -------------------------------------------------------------


def _readable_without_consent(history: History) -> list[Said]:
    said = [each for each in history.said if each.author in (Author.USER, Author.AI)]
    return sorted(said, key=lambda each: (each.version, each.author is Author.AI, each.at))


def _readable_whoever_wrote(history: History) -> list[Said]:
    """A person's words count as the user's."""
    newest = max((each.version for each in history.said), default=0)
    return [
        replace(each, author=Author.USER, version=newest) if each.author is Author.HUMAN else each
        for each in history.said
        if each.consented or each.author is Author.HUMAN
    ]


def _approved(self: Executor, effect: StoredEffect, verdict: Any) -> Event:
    return DraftApproved(self._clock(), effect.epoch, effect.turn_id)


async def _sends_again_at_once(self: Doubts, claimed: Claimed, *ignored: Any) -> None:
    await self._settling.disproved(claimed)


def _always(*ignored: Any, **more: Any) -> bool:
    return True


def _nothing(*ignored: Any, **more: Any) -> None:
    pass


def _never(*ignored: Any, **more: Any) -> bool:
    return False


def _claims_without_a_mark(
    sql: Sql, chat_id: int, now: float, until: float, **how: Any
) -> Claimed | None:
    """The request is made first, and only its answer is put down."""
    claimed = _claim_head(sql, chat_id, now, until, **how)
    if claimed is not None:
        unmarked = "UPDATE outbox SET status = 'pending', claimed_until = 0 WHERE id = :id"
        sql.run(unmarked, {"id": claimed.outgoing.id})
    return claimed


_claim_head = outbox.claim_head
BEGIN_ALWAYS = outbox.BEGIN.partition(" AND (author <> 'ai'")[0] + "\nRETURNING low_id\n"

BREAKAGES: Sequence[Breakage] = (
    Breakage(
        "authority moves without a new epoch",
        frozenset({"I2"}),
        ((reducer, "authority", lambda conversation: "nobody"),),
    ),
    # A claim drops what has not begun to leave; what is left all the same must not begin.
    Breakage("a claim drops no part", frozenset({"liveness", "I4"}), ((outbox, "drop", _nothing),)),
    Breakage(
        "a claim drops no part, and it may begin",
        frozenset({"I3"}),
        ((outbox, "drop", _nothing), (outbox, "BEGIN", BEGIN_ALWAYS)),
    ),
    # A newer message drops the draft when it arrives, and once more before the draft is sent.
    Breakage(
        "the version is not checked",
        frozenset({"I5"}),
        ((by_ai, "may_restart", _never), (by_user, "may_restart", _never)),
    ),
    Breakage("leases do not fence", frozenset({"I2"}), ((leases, "holds", _always),)),
    Breakage(
        "consent is not asked for",
        frozenset({"I8"}),
        ((context, "_readable", _readable_without_consent),),
    ),
    Breakage(
        "a person's words are shown to the model",
        frozenset({"I8"}),
        ((context, "_readable", _readable_whoever_wrote),),
    ),
    Breakage("every draft is approved", frozenset({"I6"}), ((Executor, "_judged", _approved),)),
    Breakage(
        "updates are not deduplicated",
        frozenset({"no code of ours fails"}),
        ((inbox, "add", _always), (messages, "seen", _never)),
    ),
    Breakage(
        "a doubtful message is sent again at once",
        frozenset({"I7"}),
        ((Doubts, "find_out", _sends_again_at_once),),
    ),
    Breakage(
        "absence is believed at once",
        frozenset({"I7"}),
        ((Doubts, "_absent", _sends_again_at_once),),
    ),
    Breakage(
        "a request is made before it is put down",
        frozenset({"I7"}),
        ((outbox, "claim_head", _claims_without_a_mark),),
    ),
)
