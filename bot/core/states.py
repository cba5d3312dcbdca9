"""What a conversation is at one moment. Changed only by reducer.py."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where a conversation stands; design page, "States and authority"."""

    CONSENT_REQUIRED = "consent_required"  # nobody replies; a notice offers the AI or a person
    AI_READY = "ai_ready"  # the AI may reply; perhaps waiting for a typist to pause
    AI_GENERATING = "ai_generating"  # a draft is being written
    MODERATING = "moderating"  # a draft is being checked; nobody has seen it
    BOT_SENDING = "bot_sending"  # an approved reply is leaving
    DELIVERY_UNKNOWN = "delivery_unknown"  # it left; whether it arrived is being found out
    HANDOFF_PENDING = "handoff_pending"  # a person was asked for; nobody replies meanwhile
    HUMAN_ACTIVE = "human_active"  # one operator holds the lease and replies
    ENDED = "ended"  # closed; the next message starts again


AI_STATES = frozenset(
    {
        State.AI_READY,
        State.AI_GENERATING,
        State.MODERATING,
        State.BOT_SENDING,
        State.DELIVERY_UNKNOWN,
    }
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the AI and the user messages that it covers."""

    covers_from: int  # version of the first message
    covers_to: int  # version of the newest message
    offers_person: bool = False  # the model recommended a person: the reply carries the button

    @property
    def id(self) -> str:
        return f"turn:msg-{self.covers_to}"


@dataclass(frozen=True, slots=True)
class Holder:
    """The operator who holds reply authority."""

    operator_id: int
    name: str
    since: float  # seconds since the epoch, UTC
    lease_until: float


@dataclass(frozen=True, slots=True)
class Conversation:
    """The head of a conversation: counters and authority, never text.

    Every user message has a `version`, counted from 1. Versions up to `covered` are settled:
    an AI reply, a human's authority or an explicit notice covers them. Those of a reply that is
    `in_flight` count as settled, too: what settled them is recorded once the reply landed.
    """

    id: str
    state: State = State.CONSENT_REQUIRED
    epoch: int = 0  # +1 whenever the holder of authority changes
    version: int = 0  # the newest user message
    covered: int = 0
    turn: Turn | None = None  # in ai_generating, moderating, bot_sending, delivery_unknown
    in_flight: Turn | None = None  # a reply on the wire when authority was taken from the AI
    restarts: int = 0  # drafts dropped for newer messages since the last reply
    waiting_since: float = 0.0  # arrival of the oldest message that waits for the AI
    holder: Holder | None = None  # in human_active
    # In handoff_pending since when; in delivery_unknown when the user was asked whether it arrived.
    requested_at: float = 0.0
    reminders: int = 0  # sent to operators about this request
    told_at: float = 0.0  # when a standing notice (consent, waiting) was last shown
    context_from: int = 0  # the AI sees only messages with a higher version
    model_failures: int = 0  # in a row
    blocked: bool = False  # the user blocked the bot

    @property
    def pending(self) -> bool:
        return self.version > self.covered


def client_message_id(conversation_id: str, turn_id: str, part: int = 1) -> str:
    """The deterministic id of an AI message; part 1 has no suffix, part k of a split has "#k"."""
    suffix = f"#{part}" if part > 1 else ""
    return f"ai:{conversation_id}:{turn_id}{suffix}"


def authority(conversation: Conversation) -> str:
    """Who may reply: "ai", "human:<operator>" or "nobody". Never two at once (I1)."""
    if conversation.state in AI_STATES:
        return "ai"
    if conversation.state is State.HUMAN_ACTIVE and conversation.holder is not None:
        return f"human:{conversation.holder.operator_id}"
    return "nobody"
