"""Faults to order: which call is hit, how often, and what happens to it."""

import itertools
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

Json = dict[str, Any]


class Harm(StrEnum):
    NONE = "none"  # only the delays
    CUT_BEFORE = "cut_before"  # the connection breaks, nothing was processed
    CUT_AFTER = "cut_after"  # processed, then the connection breaks without an answer
    CUT_DURING = "cut_during"  # processed, half of the answer is written, then it breaks
    STALL_BEFORE = "stall_before"  # nothing is processed or answered until the client hangs up
    STALL_AFTER = "stall_after"  # processed, no answer until the client hangs up
    REFUSE = "refuse"  # answered with `status`, `description`, `retry_after` or `body`


class Network(StrEnum):
    UP = "up"
    CUT = "cut"  # every request's connection breaks before anything is processed
    SILENT = "silent"  # every request hangs unprocessed until the client gives up


@dataclass(frozen=True, slots=True)
class Fault:
    harm: Harm = Harm.NONE
    method: str = ""  # "" is every method but getUpdates; letter case does not matter
    chat_id: int | None = None
    times: int | None = 1  # None: until cleared
    skip: int = 0  # matching calls to let pass first
    delay: float = 0  # seconds before it is processed; it is processed even if the client leaves
    delay_answer: float = 0  # seconds between processing and answering
    status: int = 0  # REFUSE; 0 is 429 with retry_after, else 400
    description: str = ""
    retry_after: int = 0
    body: str = ""  # REFUSE: sent as HTML in place of JSON, e.g. what a proxy says with a 502

    def hits(self, method: str, params: Json) -> bool:
        wanted = self.method.lower()
        named = method.lower() == wanted if wanted else method.lower() != "getupdates"
        return named and (self.chat_id is None or str(params.get("chat_id")) == str(self.chat_id))


def fault_from_json(raw: Json) -> Fault:
    """Raises TypeError or ValueError for a field or a harm that does not exist."""
    unknown = set(raw) - {entry.name for entry in fields(Fault)}
    if unknown:
        raise TypeError(f"unknown fields of a fault: {', '.join(sorted(unknown))}")
    return Fault(**{**raw, "harm": Harm(raw.get("harm", "none"))})


@dataclass(slots=True)
class _Armed:
    fault: Fault
    passes: int
    left: int | None


class FaultBoard:
    """The first armed fault that matches a call is used; used-up faults disappear."""

    def __init__(self) -> None:
        self.network = Network.UP
        self._armed: dict[int, _Armed] = {}
        self._ids = itertools.count(1)

    def add(self, fault: Fault) -> int:
        """Arm a fault; the number returned removes it again."""
        number = next(self._ids)
        self._armed[number] = _Armed(fault, fault.skip, fault.times)
        return number

    def remove(self, number: int) -> None:
        self._armed.pop(number, None)

    def clear(self) -> None:
        self._armed.clear()
        self.network = Network.UP

    def armed(self) -> dict[int, Fault]:
        return {number: entry.fault for number, entry in self._armed.items()}

    def take(self, method: str, params: Json) -> Fault | None:
        for number, entry in self._armed.items():
            if not entry.fault.hits(method, params):
                continue
            if entry.passes:
                entry.passes -= 1
                continue
            if entry.left is not None:
                entry.left -= 1
                if entry.left <= 0:
                    del self._armed[number]
            return entry.fault
        return None
