"""Makes a failure small: leaves out what it does not need, as long as the same promise breaks."""

from collections.abc import Iterator
from dataclasses import replace

from tests.simulation.plan import Plan
from tests.simulation.world import Result, run

MOST_RUNS = 60


def shrunk(failure: Result) -> Result:
    """The smallest run found in which the same promise breaks."""
    runs = 0
    best = failure
    while True:
        for plan in _smaller(best.plan):
            runs += 1
            result = run(plan)
            if _same(result, failure) and len(result.trace.entries) < len(best.trace.entries):
                best = result
                break
            if runs >= MOST_RUNS:
                return best
        else:
            return best


def _same(result: Result, failure: Result) -> bool:
    if result.broken is None or failure.broken is None:
        return False
    return result.broken.promise == failure.broken.promise


def _smaller(plan: Plan) -> Iterator[Plan]:
    if plan.workers > 1:
        yield replace(plan, workers=1)
    if len(plan.users) > 1:
        for user in plan.users:
            yield replace(plan, users=(user,))
    if len(plan.operators) > 1:
        yield replace(plan, operators=plan.operators[:1])
    for trouble in sorted(plan.troubles):
        yield replace(plan, troubles=plan.troubles - {trouble})
    if plan.remote_memory:
        yield replace(plan, remote_memory=False)
