"""What the pinned card of a topic says, and its buttons. Pure."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.core.states import Conversation, State
from bot.telegram import sentences, untrusted
from bot.telegram.port import Button, Part
from bot.telegram.presses import DeskAction, DeskPress, can_carry, press_data
from bot.telegram.texts import filled


@dataclass(frozen=True, slots=True)
class Face:
    """What a card is about."""

    conversation: Conversation
    user_name: str
    failed_at: float = 0.0  # when something last could not be delivered; 0.0: never
    silent: bool = False


def face(what: Face, language: str, zone: ZoneInfo) -> Part:
    """The card as a message."""
    c = what.conversation
    lines = [untrusted.name(what.user_name, language), *_standing(c, language, zone)]
    lines.append(
        filled(sentences.CARD_EPOCH, language, {"conversation": c.id, "epoch": str(c.epoch)})
    )
    if c.blocked:
        lines.append(filled(sentences.CARD_BLOCKED, language))
    if what.failed_at:
        failed = {"since": _clock(what.failed_at, zone)}
        lines.append(filled(sentences.CARD_FAILURE, language, failed))
    if what.silent:
        lines.append(filled(sentences.CARD_MUTED, language))
    return Part("\n".join(lines), (), _keyboard(what, language))


def _standing(c: Conversation, language: str, zone: ZoneInfo) -> list[str]:
    lines = [filled(sentences.CARD_STATES[c.state], language)]
    if c.holder is not None:
        held = {"holder": c.holder.name, "since": _clock(c.holder.since, zone)}
        lines.append(filled(sentences.CARD_HELD, language, held))
    else:
        lines.append(filled(sentences.CARD_NOBODY, language))
    if c.state is State.HANDOFF_PENDING and c.requested_at:
        lines.append(
            filled(sentences.CARD_WAITS, language, {"since": _clock(c.requested_at, zone)})
        )
    return lines


def _clock(at: float, zone: ZoneInfo) -> str:
    return datetime.fromtimestamp(at, zone).strftime("%d.%m. %H:%M")


def _keyboard(what: Face, language: str) -> tuple[tuple[Button, ...], ...]:
    held = what.conversation.state is State.HUMAN_ACTIVE
    mute = sentences.UNMUTE if what.silent else sentences.MUTE
    take = (
        (sentences.TAKE_OVER, DeskAction.TAKE_OVER) if held else (sentences.TAKE, DeskAction.TAKE)
    )
    rows = (
        (take, (sentences.RELEASE, DeskAction.RELEASE), (sentences.PASS, DeskAction.PASS)),
        ((sentences.DRAFT, DeskAction.DRAFT), (sentences.SUMMARY, DeskAction.SUMMARY)),
        ((sentences.END, DeskAction.END), (mute, DeskAction.MUTE)),
    )
    return tuple(
        tuple(
            Button(filled(label, language), press_data(press))
            for label, action in row
            if can_carry(press := DeskPress(action, what.conversation.id))
        )
        for row in rows
        if can_carry(DeskPress(DeskAction.SUMMARY, what.conversation.id))
    )
