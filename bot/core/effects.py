"""What is to be done, in the imperative.

Writes are carried out in the transaction that saves the state; see bot/scribe.py. Work is
stored in it and carried out afterwards under the session lease; see bot/executor.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from bot.core.notices import Covering, Notice
from bot.core.states import Turn


class Timer(StrEnum):
    HUMAN_LEASE = "human_lease"  # fires HumanLeaseExpired
    HANDOFF_REMINDER = "handoff_reminder"  # fires HandoffReminderDue


# --- work ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Generate:
    turn: Turn


@dataclass(frozen=True, slots=True)
class Moderate:
    turn: Turn


@dataclass(frozen=True, slots=True)
class CancelGeneration:
    """Forget the work of this turn; stopping the HTTP call to the model is only a courtesy."""

    turn: Turn


# --- writes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartDebounce:
    at: float
    restarts: int = 0  # each restart halves the cap, so that a steady typist is answered sooner
    now: bool = False  # the messages waited already: due at once


@dataclass(frozen=True, slots=True)
class StopDebounce:
    pass


@dataclass(frozen=True, slots=True)
class SendBot:
    """Put the approved draft of this turn into the outbox, with its memory lines."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class ContinueReply:
    """Let the doubtful part and those after it leave (again)."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class RecallReply:
    """Drop the parts that have not begun to leave. If none is on the wire: ReplyRecalled."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Cover:
    first: int
    last: int
    by: Covering
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class GrantConsent:
    """From now on the AI may read the messages `first`..`last`."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class RevokeConsent:
    last: int


@dataclass(frozen=True, slots=True)
class ShowNotice:
    notice: Notice
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotifyOperators:
    notice: Notice
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RelayToOperators:
    """Copy the user's messages `first`..`last` to the operator who holds the conversation."""

    first: int
    last: int
    operator_id: int


@dataclass(frozen=True, slots=True)
class RelayToUser:
    operator_id: int
    message_id: int


@dataclass(frozen=True, slots=True)
class StartTimer:
    timer: Timer
    due_at: float


@dataclass(frozen=True, slots=True)
class StopTimers:
    pass


Work: TypeAlias = Generate | Moderate
Write: TypeAlias = (
    CancelGeneration
    | StartDebounce
    | StopDebounce
    | SendBot
    | ContinueReply
    | RecallReply
    | Cover
    | GrantConsent
    | RevokeConsent
    | ShowNotice
    | NotifyOperators
    | RelayToOperators
    | RelayToUser
    | StartTimer
    | StopTimers
)
Effect: TypeAlias = Work | Write
