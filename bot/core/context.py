"""Compiles what the model may know of a conversation for one turn.

Rule 1: only what the user consented to; never a human's words or notes, never a notice, never a
        stale draft, never a derived view (a translation, a summary) in place of its source (I8).
Rule 2: the turn's own messages are always there. If they alone are too long, they are cut in the
        middle with a mark that says how much is missing.
Rule 3: then, newest first, as much of what was said before as the limits allow. A message counts
        once against `max_messages`, the whole turn counts as one, the system prompt not at all.
Rule 4: authors alternate and the first is the user: several chat templates refuse anything else.
Rule 5: same input, same output, in whatever order the store returned the messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import TypeVar
from zoneinfo import ZoneInfo

from bot.core.excerpts import cut_in_the_middle, estimate_tokens, whole

T = TypeVar("T")

LEAST_TOKENS = 512
MESSAGE_TOKENS = 4  # what chat templates add to a message
NOTES_TOKENS = 300  # date, zone, language, headings and fences around the last message
LINE_TOKENS = 24  # dates and brackets around a recalled line or a task
RECALLED_TOKENS = 250  # of one recalled line
WORTH_CUTTING_TOKENS = 100  # an earlier message is cut to what is left only if that is as much
MEMORY_SHARE = 4  # recalled lines and tasks get at most one in so many tokens
STRETCHES_TOLD = 3


class NothingToAnswer(ValueError):
    """No message of the turn may be read by the AI, so there is nothing to ask the model."""


class Author(StrEnum):
    USER = "user"
    AI = "ai"
    HUMAN = "human"  # an operator: words and notes
    SYSTEM = "system"  # notices of the bot


@dataclass(frozen=True, slots=True)
class Said:
    conversation_id: str
    author: Author
    text: str
    at: float  # seconds since the epoch, UTC
    version: int = 0  # the user's: its own; the AI's: `covers_to` of its turn; others: 0
    kind: str = "text"  # the user's: text, sticker, photo, …; a human's: text or note
    consented: bool = False  # the AI may read it; the AI's own: what it answered may still be read
    stale: bool = False  # a draft that was dropped
    derived: bool = False  # a view of another message, such as a translation


@dataclass(frozen=True, slots=True)
class Stretch:
    """A person held the conversation, from `since` to `until` (seconds since the epoch, UTC)."""

    since: float
    until: float


@dataclass(frozen=True, slots=True)
class History:
    """What is stored of one conversation, in any order, readable by the AI or not."""

    conversation_id: str
    said: tuple[Said, ...]
    stretches: tuple[Stretch, ...] = ()

    def __post_init__(self) -> None:
        if any(said.conversation_id != self.conversation_id for said in self.said):
            raise ValueError("a message of another conversation must never be in a history")


@dataclass(frozen=True, slots=True)
class MemoryLine:
    id: str
    text: str
    at: float  # when it was written
    said_by: str = ""  # "user" or "ai" for words of a conversation, nothing for what was noted


@dataclass(frozen=True, slots=True)
class OpenTask:
    id: str  # of the line it stands on
    text: str
    due: str = ""  # as in a memory line, or nothing
    key: str = ""  # what a line that closes it has to carry


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be sent: of messages all but the system prompt, of tokens everything."""

    max_messages: int = 40
    max_tokens: int = 16_000  # by `estimate_tokens`; the answer comes on top

    def __post_init__(self) -> None:
        if self.max_messages < 1 or self.max_tokens < LEAST_TOKENS:
            raise ValueError(f"a budget needs 1 message and {LEAST_TOKENS} tokens at least")

    def tighter(self) -> "Budget":
        """Half of it, for another try after the model found the prompt too long."""
        return Budget(max(1, self.max_messages // 2), max(LEAST_TOKENS, self.max_tokens // 2))


@dataclass(frozen=True, slots=True)
class Question:
    """All that one turn may draw on."""

    history: History
    covers_from: int
    covers_to: int
    now: float
    zone: ZoneInfo
    language: str = ""  # the user's Telegram language
    context_from: int = 0  # only messages with a higher version are shown
    memory: tuple[MemoryLine, ...] = ()  # the best first
    tasks: tuple[OpenTask, ...] = ()
    remembers: bool = True  # False: a temporary chat, of which nothing is kept
    budget: Budget = Budget()


@dataclass(frozen=True, slots=True)
class ContextMessage:
    author: Author  # USER or AI
    text: str


@dataclass(frozen=True, slots=True)
class Context:
    """What is sent, in the order in which it is laid out."""

    earlier: tuple[ContextMessage, ...]  # user, AI, user, AI …; ends with the AI
    unanswered: str  # what the user said after that and before this turn
    memory: tuple[MemoryLine, ...]
    tasks: tuple[OpenTask, ...]
    stretches: tuple[str, ...]  # people who helped right before this turn
    now: datetime  # in the user's zone
    language: str
    turn: str  # all messages of the turn as one
    remembers: bool = True


@dataclass(frozen=True, slots=True)
class _Piece:
    author: Author
    text: str
    at: float


def compile_context(question: Question, budget: Budget | None = None) -> Context:
    """Choose what the model sees; `budget` replaces the question's own, for a tighter try.

    Raises NothingToAnswer if no message of the turn may be read.
    """
    budget = budget or question.budget
    left = budget.max_tokens - MESSAGE_TOKENS - NOTES_TOKENS
    turn = cut_in_the_middle(_turn_text(question), left)
    left -= estimate_tokens(turn)

    share = min(left, budget.max_tokens // MEMORY_SHARE)
    tasks, unspent = _fitting(question.tasks, _task_tokens, share)
    memory, unspent = _fitting([shortened(line) for line in question.memory], _line_tokens, unspent)
    left -= share - unspent

    earlier, stretches = _with_stretches(_earlier(question), question)
    window = _newest(earlier, budget.max_messages - 1, left)
    grouped = _alternating(window)
    unanswered = grouped.pop().text if grouped and grouped[-1].author is Author.USER else ""
    return Context(
        earlier=tuple(grouped),
        unanswered=unanswered,
        memory=memory,
        tasks=tasks,
        stretches=stretches,
        now=datetime.fromtimestamp(question.now, question.zone),
        language=question.language[:16],
        turn=turn,
        remembers=question.remembers,
    )


def readable_talk(history: History, context_from: int, budget: Budget) -> tuple[Said, ...]:
    """What the AI may read of a conversation, the newest that fits, in order; no turn is under way.

    By the same rules as a turn's context (I8). Raises NothingToAnswer if there is nothing.
    """
    readable = [
        replace(each, text=text)
        for each in _readable(history)
        if each.version > context_from and (text := _worded(each))
    ]
    left = budget.max_tokens - NOTES_TOKENS
    talk: list[Said] = []
    for said in reversed(readable[-budget.max_messages :]):
        room = left - MESSAGE_TOKENS
        text = cut_in_the_middle(said.text, max(room, WORTH_CUTTING_TOKENS))
        if talk and estimate_tokens(text) > room:
            break
        left = room - estimate_tokens(text)
        talk.append(replace(said, text=text))
    if not any(each.author is Author.USER for each in talk):
        raise NothingToAnswer("no message of the user may be read by the AI")
    return tuple(reversed(talk))


def shortened(line: MemoryLine) -> MemoryLine:
    """A whole message may have become one line; enough of it to know what it says."""
    return replace(line, text=cut_in_the_middle(line.text, RECALLED_TOKENS))


def _turn_text(question: Question) -> str:
    covered = range(question.covers_from, question.covers_to + 1)
    said = [each for each in _readable(question.history) if each.version in covered]
    texts = [_worded(each) for each in said if each.author is Author.USER]
    if not texts:
        raise NothingToAnswer("no message of the turn may be read by the AI")
    return "\n".join(filter(None, texts)) or "[an empty message]"


def _earlier(question: Question) -> list[_Piece]:
    shown = range(question.context_from + 1, question.covers_from)
    return [
        _Piece(each.author, text, each.at)
        for each in _readable(question.history)
        if each.version in shown and (text := _worded(each))
    ]


def _readable(history: History) -> list[Said]:
    """In the order of the conversation: an answer follows what it covers, whenever it was sent."""
    readable = (
        each
        for each in history.said
        if each.author in (Author.USER, Author.AI)
        and each.consented
        and not (each.stale or each.derived)
    )
    return sorted(
        readable,
        key=lambda each: (each.version, each.author is Author.AI, each.at, each.kind, each.text),
    )


def _worded(said: Said) -> str:
    """The text, or a mark for what has none."""
    text = whole(said.text).strip()
    if said.author is Author.AI or said.kind == "text":
        return text
    return f"[{said.kind} {text}]" if said.kind == "sticker" and text else f"[{said.kind}] {text}"


def _with_stretches(
    earlier: list[_Piece], question: Question
) -> tuple[list[_Piece], tuple[str, ...]]:
    """State each stretch before the next thing the user said; those right before the turn apart."""
    pieces = list(earlier)
    before_turn: list[str] = []
    begin = min((each.at for each in question.history.said), default=0.0)
    told = sorted(
        (each for each in question.history.stretches if each.until >= begin),
        key=lambda each: (each.since, each.until),
    )
    for stretch in reversed(told[-STRETCHES_TOLD:]):
        note = _stretch_note(stretch, question.zone)
        following = (
            index
            for index, piece in enumerate(pieces)
            if piece.author is Author.USER and piece.at >= stretch.since
        )
        index = next(following, None)
        if index is None:
            before_turn.insert(0, note)
        else:
            pieces[index] = replace(pieces[index], text=f"[{note}]\n{pieces[index].text}")
    return pieces, tuple(before_turn)


def _stretch_note(stretch: Stretch, zone: ZoneInfo) -> str:
    since, until = (
        datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M")
        for at in (stretch.since, stretch.until)
    )
    return f"a person helped from {since} to {until}; what they wrote is not shown to you"


def _newest(pieces: Sequence[_Piece], max_messages: int, max_tokens: int) -> list[_Piece]:
    """The newest that fit; the oldest of them cut, if that leaves enough of it."""
    window: list[_Piece] = []
    left = max_tokens
    for piece in reversed(pieces[max(0, len(pieces) - max_messages) :]):
        room = left - MESSAGE_TOKENS
        if estimate_tokens(piece.text) > room:
            if room >= WORTH_CUTTING_TOKENS:
                window.append(replace(piece, text=cut_in_the_middle(piece.text, room)))
            break
        left = room - estimate_tokens(piece.text)
        window.append(piece)
    return window[::-1]


def _alternating(window: Sequence[_Piece]) -> list[ContextMessage]:
    """Neighbours of one author become one message; an answer to nothing shown is left out."""
    grouped = [
        ContextMessage(author, "\n".join(piece.text for piece in pieces))
        for author, pieces in groupby(window, key=lambda piece: piece.author)
    ]
    return grouped[1:] if grouped and grouped[0].author is Author.AI else grouped


def _fitting(
    lines: Sequence[T], cost: Callable[[T], int], max_tokens: int
) -> tuple[tuple[T, ...], int]:
    """Those that fit, in their order, and the tokens that are left over."""
    fitting = []
    for line in lines:
        if cost(line) <= max_tokens:
            max_tokens -= cost(line)
            fitting.append(line)
    return tuple(fitting), max_tokens


def _line_tokens(line: MemoryLine) -> int:
    return LINE_TOKENS + estimate_tokens(line.id + line.text)


def _task_tokens(task: OpenTask) -> int:
    return LINE_TOKENS + estimate_tokens(task.id + task.text + task.due)
