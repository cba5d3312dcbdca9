"""What happened, in the past tense. `at` is seconds since the epoch, UTC.

Results of asynchronous work carry the epoch and the turn they were started for, so that one that
was overtaken is refused (I2).
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class UserStarted:
    """/start: the user wants to know where they stand."""

    at: float


@dataclass(frozen=True, slots=True)
class UserMessaged:
    at: float
    readable: bool = True  # False: a sticker, a poll, nothing but blanks
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class UserEdited:
    """The text of an unanswered message changed; the store has the new text already."""

    at: float
    version: int


@dataclass(frozen=True, slots=True)
class UserOptedIn:
    at: float


@dataclass(frozen=True, slots=True)
class UserRequestedHuman:
    at: float


@dataclass(frozen=True, slots=True)
class UserCancelled:
    """*Cancel*: the answer under way, or the request for a person. `turn_id` "" means any."""

    at: float
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class UserWithdrewConsent:
    at: float


@dataclass(frozen=True, slots=True)
class UserClearedContext:
    """/new: what was said before is no longer shown to the AI."""

    at: float


@dataclass(frozen=True, slots=True)
class UserBlockedBot:
    at: float


@dataclass(frozen=True, slots=True)
class Ended:
    at: float


@dataclass(frozen=True, slots=True)
class TurnDue:
    at: float


@dataclass(frozen=True, slots=True)
class AiDrafted:
    """`judged`: the verdict is here already and follows in the same transaction."""

    at: float
    epoch: int
    turn_id: str
    judged: bool = False


@dataclass(frozen=True, slots=True)
class GenerationFailed:
    at: float
    epoch: int
    turn_id: str
    failure: str  # a bot.errors.ModelFailure value


@dataclass(frozen=True, slots=True)
class HandoffRecommended:
    """The model called the tool that recommends a person."""

    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class DraftApproved:
    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class DraftBlocked:
    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class ModerationUnavailable:
    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """All parts of the reply arrived."""

    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class DeliveryTimedOut:
    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class DeliveryConfirmed:
    """The doubtful part did arrive. `more`: parts after it still have to leave."""

    at: float
    epoch: int
    turn_id: str
    more: bool = False


@dataclass(frozen=True, slots=True)
class DeliveryDisproved:
    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class DeliveryUnresolved:
    """No proof could be had. `anyone`: there is an operator to hand the conversation to."""

    at: float
    epoch: int
    turn_id: str
    anyone: bool = True


@dataclass(frozen=True, slots=True)
class ReplyRecalled:
    """Nothing of the reply is on the wire any more, and not all of it arrived."""

    at: float
    epoch: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class PolicyEscalated:
    at: float
    rule: str


@dataclass(frozen=True, slots=True)
class HealthDegraded:
    at: float
    cause: str


@dataclass(frozen=True, slots=True)
class HumanClaimed:
    at: float
    operator_id: int
    name: str
    lease_until: float


@dataclass(frozen=True, slots=True)
class HumanMessaged:
    at: float
    operator_id: int
    message_id: int  # in the operator's chat
    lease_until: float


@dataclass(frozen=True, slots=True)
class HumanReleased:
    at: float
    operator_id: int


@dataclass(frozen=True, slots=True)
class HumanTransferred:
    at: float
    operator_id: int  # who held it
    to_operator_id: int
    to_name: str
    lease_until: float


@dataclass(frozen=True, slots=True)
class HumanLeaseExpired:
    at: float
    epoch: int


@dataclass(frozen=True, slots=True)
class HandoffReminderDue:
    at: float
    epoch: int


Result: TypeAlias = (
    AiDrafted
    | GenerationFailed
    | HandoffRecommended
    | DraftApproved
    | DraftBlocked
    | ModerationUnavailable
    | Delivered
    | DeliveryFailed
    | DeliveryTimedOut
    | DeliveryConfirmed
    | DeliveryDisproved
    | DeliveryUnresolved
    | ReplyRecalled
)

Event: TypeAlias = (
    UserStarted
    | UserMessaged
    | UserEdited
    | UserOptedIn
    | UserRequestedHuman
    | UserCancelled
    | UserWithdrewConsent
    | UserClearedContext
    | UserBlockedBot
    | Ended
    | TurnDue
    | Result
    | PolicyEscalated
    | HealthDegraded
    | HumanClaimed
    | HumanMessaged
    | HumanReleased
    | HumanTransferred
    | HumanLeaseExpired
    | HandoffReminderDue
)
