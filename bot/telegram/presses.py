"""What a pressed button means, and the strict grammar of the data that buttons carry.

Data comes back from the outside: from old versions of this program and from forged requests.
Whatever is not exactly what `press_data` writes today is None. Whether the presser may do it is
not decided here.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never

DATA_BYTES = 64  # https://core.telegram.org/bots/api#inlinekeyboardbutton


@dataclass(frozen=True, slots=True)
class Start:
    """*Start the AI assistant*"""


@dataclass(frozen=True, slots=True)
class Human:
    """*Talk to a person*"""


@dataclass(frozen=True, slots=True)
class Cancel:
    """*Cancel* the answer to this turn; "" means whichever is under way."""

    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Unrequest:
    """*Cancel the request* for a person."""


@dataclass(frozen=True, slots=True)
class Claim:
    """*Take* (operators)."""

    conversation: str


@dataclass(frozen=True, slots=True)
class Arrived:
    """*It arrived*"""

    turn_id: str


@dataclass(frozen=True, slots=True)
class Missing:
    """*It did not*"""

    turn_id: str


class SuggestionAction(StrEnum):
    SEND = "send"  # *Send* it as suggested
    AS_WRITTEN = "written"  # *Send as written*: the operator's words without their translation
    DISCARD = "discard"  # *Discard*


@dataclass(frozen=True, slots=True)
class SuggestionPress:
    """A button below a suggestion to an operator."""

    action: SuggestionAction
    suggestion: str


@dataclass(frozen=True, slots=True)
class MayTranslate:
    """The user says whether what they write may be translated."""

    allowed: bool


@dataclass(frozen=True, slots=True)
class Forget:
    """*Destroy everything*; the token is of the question that it answers."""

    token: str


@dataclass(frozen=True, slots=True)
class Keep:
    """*Keep everything*"""

    token: str


class DeskAction(StrEnum):
    """The buttons at the operators' desk. Their data is `v1:desk:<action>:<conversation>`."""

    # fmt: off
    TAKE = "take"  # *Take*
    TAKE_OVER = "over"  # *Take over* from the colleague who holds it
    RELEASE = "release"  # *Release*
    PASS = "pass"  # *Pass*: offer it to a colleague  # noqa: S105
    ACCEPT = "accept"  # take what a colleague offers
    DECLINE = "decline"  # do not
    DRAFT = "draft"  # *Draft*: the AI makes a suggestion
    SUMMARY = "summary"  # *Summary* of what the AI may read
    END = "end"  # *End* the conversation
    MUTE = "mute"  # *Mute* or *Unmute* the topic
    # fmt: on


@dataclass(frozen=True, slots=True)
class DeskPress:
    """A button of a card, or of something else said at the desk."""

    action: DeskAction
    conversation: str


Press: TypeAlias = (
    Start
    | Human
    | Cancel
    | Unrequest
    | Claim
    | Arrived
    | Missing
    | DeskPress
    | Forget
    | Keep
    | SuggestionPress
    | MayTranslate
)

CONVERSATION = r"(?:[A-Za-z0-9][A-Za-z0-9:._#-]{0,53}|-[0-9]{1,20})"
TURN = r"turn:msg-(?:0|[1-9][0-9]{0,17})"
QUESTION = r"[A-Za-z0-9_-]{16}"
GRAMMAR = re.compile(
    r"v1:(?:"
    r"(?P<start>start)"
    r"|(?P<human>human)"
    rf"|cancel(?::(?P<cancel>{TURN}))?"
    r"|(?P<unrequest>unrequest)"
    rf"|claim:(?P<claim>{CONVERSATION})"
    rf"|desk:(?P<desk>(?:{'|'.join(DeskAction)}):{CONVERSATION})"
    rf"|arrived:(?P<arrived>{TURN})"
    rf"|missing:(?P<missing>{TURN})"
    rf"|suggest:(?P<suggest>(?:{'|'.join(SuggestionAction)}):[0-9a-f]{{16}})"
    r"|translate:(?P<translate>yes|no)"
    rf"|forget:(?P<forget>{QUESTION})"
    rf"|keep:(?P<keep>{QUESTION})"
    r")",
    re.ASCII,
)


def parse_press(data: str) -> Press | None:
    """Return what was pressed, or None if the data is forged, broken or of another version."""
    match = GRAMMAR.fullmatch(data)
    if match is None:
        return None
    value = match[match.lastgroup] if match.lastgroup else ""
    match match.lastgroup:
        case "start":
            return Start()
        case "human":
            return Human()
        case "unrequest":
            return Unrequest()
        case "claim":
            return Claim(value)
        case "desk":
            action, _, conversation = value.partition(":")
            return DeskPress(DeskAction(action), conversation)
        case "arrived":
            return Arrived(value)
        case "missing":
            return Missing(value)
        case "suggest":
            action, _, suggestion = value.partition(":")
            return SuggestionPress(SuggestionAction(action), suggestion)
        case "translate":
            return MayTranslate(value == "yes")
        case "forget":
            return Forget(value)
        case "keep":
            return Keep(value)
    return Cancel(value)


def can_carry(press: Press) -> bool:
    """Whether a button can carry it: the data fits and would be parsed back."""
    data = _write(press)
    return len(data.encode()) <= DATA_BYTES and parse_press(data) == press


def press_data(press: Press) -> str:
    """Return the callback data of a button. Raises ValueError if none can carry it."""
    if not can_carry(press):
        raise ValueError(f"no button can carry a {type(press).__name__} with such an id")
    return _write(press)


def _write(press: Press) -> str:
    match press:
        case Start():
            return "v1:start"
        case Human():
            return "v1:human"
        case Cancel(turn_id):
            return f"v1:cancel:{turn_id}" if turn_id else "v1:cancel"
        case Unrequest():
            return "v1:unrequest"
        case Claim(conversation):
            return f"v1:claim:{conversation}"
        case DeskPress(action, conversation):
            return f"v1:desk:{action}:{conversation}"
        case Arrived(turn_id):
            return f"v1:arrived:{turn_id}"
        case Missing(turn_id):
            return f"v1:missing:{turn_id}"
        case SuggestionPress(action, suggestion):
            return f"v1:suggest:{action}:{suggestion}"
        case MayTranslate(allowed):
            return f"v1:translate:{'yes' if allowed else 'no'}"
        case Forget(token):
            return f"v1:forget:{token}"
        case Keep(token):
            return f"v1:keep:{token}"
        case _:
            assert_never(press)
