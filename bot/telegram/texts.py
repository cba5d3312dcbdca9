"""The system messages: a sentence and its buttons for each Notice, in the user's language.

Pure. Values are other people's words and are made harmless here. Values that are missing never
stop a notice: what they would say is left out or shown as "…".
"""

import gettext
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from bot.core.notices import Notice
from bot.errors import ModelFailure
from bot.telegram import sentences, untrusted
from bot.telegram.characters import MESSAGE_UNITS, has_visible, is_joint, units
from bot.telegram.direction import isolated
from bot.telegram.port import Button, Part
from bot.telegram.presses import (
    Arrived,
    Cancel,
    Claim,
    Forget,
    Human,
    Keep,
    MayTranslate,
    Missing,
    Press,
    Start,
    SuggestionAction,
    SuggestionPress,
    Unrequest,
    can_carry,
    press_data,
)
from bot.telegram.splitting import split

Language: TypeAlias = Literal["en", "fa"]
Keyboard: TypeAlias = tuple[tuple[Button, ...], ...]
Values: TypeAlias = Mapping[str, str]

LOCALES = Path(__file__).parent / "locales"
NO_VALUES: Values = {}

OFFERS_BOTH = frozenset(
    {
        Notice.CONSENT,
        Notice.CONSENT_AGAIN,
        Notice.AI_OFF,
        Notice.HANDOFF_CANCELLED,
        Notice.HUMAN_LEFT,
        Notice.HEALTH_DEGRADED,
    }
)
OFFERS_PERSON = frozenset({Notice.MODEL_FAILED, Notice.NO_ANSWER, Notice.DELIVERY_FAILED})
IN_QUEUE = frozenset(
    {
        Notice.HANDOFF_REQUESTED,
        Notice.HANDOFF_WAITING,
        Notice.HUMAN_GONE,
        Notice.NO_ANSWER_HANDOFF,
        Notice.POLICY_HANDOFF,
        Notice.DELIVERY_HANDOFF,
    }
)
OFFERS_TAKE = frozenset(
    {
        Notice.OP_REQUESTED,
        Notice.OP_REMINDER,
        Notice.OP_POLICY,
        Notice.OP_MODERATION,
        Notice.OP_DELIVERY,
        Notice.OP_LEASE_EXPIRED,
    }
)
SUGGESTS: Mapping[Notice, tuple[tuple[str, SuggestionAction], ...]] = {
    Notice.OP_DRAFT: (
        (sentences.SEND, SuggestionAction.SEND),
        (sentences.DISCARD, SuggestionAction.DISCARD),
    ),
    Notice.OP_PREVIEW: (
        (sentences.SEND, SuggestionAction.SEND),
        (sentences.AS_WRITTEN, SuggestionAction.AS_WRITTEN),
        (sentences.DISCARD, SuggestionAction.DISCARD),
    ),
    Notice.OP_NO_PREVIEW: (
        (sentences.AS_WRITTEN, SuggestionAction.AS_WRITTEN),
        (sentences.DISCARD, SuggestionAction.DISCARD),
    ),
}
NAMES = frozenset({"name", "holder"})
# Texts of several lines that stand by themselves: a list of ours, a draft, a message.
BLOCKS = frozenset({"lines", "source"})
LACKING = frozenset(
    {Notice.OP_NO_DRAFT, Notice.OP_NO_SUMMARY, Notice.OP_NO_VIEW, Notice.OP_NO_PREVIEW}
)


def language_for(telegram_code: str | None, setting: str | None) -> Language:
    """The host's setting, else the user's Telegram language, else English."""
    code = (setting or telegram_code or "").replace("_", "-").lower().split("-")[0]
    return "fa" if code == "fa" else "en"


def phrase(notice: Notice, language: str, values: Values = NO_VALUES) -> Part:
    """Return the notice as one message; a text that is too long ends with "…"."""
    return Part(
        _shortened(_text(notice, language, values)), (), _keyboard(notice, language, values)
    )


def phrases(notice: Notice, language: str, values: Values = NO_VALUES) -> tuple[Part, ...]:
    """Return the notice as as many messages as it needs; the last one has the buttons."""
    *first, last = split(_text(notice, language, values))
    return (*first, Part(last.text, last.entities, _keyboard(notice, language, values)))


def person_keyboard(language: str) -> Keyboard:
    """*Talk to a person*, for a reply that recommends it."""
    return ((_button(sentences.PERSON, Human(), language),),)


def command_menu(language: str, owner: bool) -> tuple[tuple[str, str], ...]:
    """The commands with their descriptions, for setMyCommands."""
    commands = {**sentences.COMMANDS, **(sentences.OWNER_COMMANDS if owner else {})}
    return tuple((name, _translated(what, language)) for name, what in commands.items())


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """English is what the sentences are written in."""
    languages = [language] if language in get_args(Language) else []
    return gettext.translation("dabir", LOCALES, languages, fallback=True)


def _translated(sentence: str, language: str) -> str:
    return _catalogue(language).gettext(sentence)


def filled(sentence: str, language: str, values: Values = NO_VALUES) -> str:
    """One sentence of sentences.py in this language, its values made harmless."""
    safe = _Filled({key: _safe(key, value, language) for key, value in values.items()})
    return isolated(_translated(sentence, language).format_map(safe).strip(), ())[0]


class _Filled(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


def _text(notice: Notice, language: str, values: Values) -> str:
    said = [_translated(each, language) for each in _sentences(notice, values)]
    safe = _Filled({key: _safe(key, value, language) for key, value in values.items()})
    if notice is Notice.OP_NOT_RELAYED:
        sent = sentences.KINDS_SENT.get(values.get("kind", ""), sentences.KIND_UNKNOWN)
        safe["thing"] = _translated(sent, language)
    elif notice in (Notice.UNREADABLE, Notice.NOT_PASSED_ON):
        thing = sentences.KINDS.get(values.get("kind", ""), sentences.SOMETHING)
        safe["thing"] = _translated(thing, language)
    joint = "\n\n" if notice is Notice.HELP else " "
    return isolated(joint.join(each.format_map(safe) for each in said).strip(), ())[0]


def _sentences(notice: Notice, values: Values) -> list[str]:
    """The English sentences that make up the notice."""
    match notice:
        case Notice.MODEL_FAILED:
            chosen = _by_failure(sentences.MODEL_FAILED, values)
            return [chosen or sentences.MODEL_FAILED_OTHERWISE]
        case Notice.OP_MODEL_TROUBLE:
            chosen = _by_failure(sentences.MODEL_TROUBLE, values)
            return [chosen or sentences.MODEL_TROUBLE_OTHERWISE]
        case Notice.UNREADABLE:
            is_empty = values.get("kind") == "empty"
            return [sentences.UNREADABLE_EMPTY if is_empty else sentences.UNREADABLE]
        case Notice.HELP if values.get("owner") == "1":
            return [sentences.NOTICES[notice], sentences.OWNER_HELP]
        case Notice.NO_ANSWER | Notice.NO_ANSWER_HANDOFF:
            # The same words first: why there is no answer is not the user's to know.
            return [sentences.NO_ANSWER, sentences.NOTICES[notice], *_place(notice, values)]
        case _ if notice in LACKING:
            lack = sentences.LACKS.get(values.get("lack", ""), sentences.LACKS_OTHERWISE)
            return [sentences.NOTICES[notice], lack]
        case Notice.MEMORY_STATUS:
            return [sentences.NOTICES[notice], *_about_memory(values)]
        case Notice.FORGOTTEN:
            return [sentences.NOTICES[notice], _left(values), sentences.FORGOTTEN_END]
    return [sentences.NOTICES[notice], *_place(notice, values)]


def _about_memory(values: Values) -> list[str]:
    told = {
        "waiting": sentences.MEMORY_WAITING,
        "damaged": sentences.MEMORY_DAMAGED,
        "unread": sentences.MEMORY_NOT_ALL_READ,
        "temporary": sentences.MEMORY_TEMPORARY,
    }
    return [sentence for name, sentence in told.items() if values.get(name, "0") not in ("0", "")]


def _left(values: Values) -> str:
    match values.get("left", "?"):
        case "0":
            return sentences.NOTHING_LEFT
        case "?":
            return sentences.SOME_LEFT
    return sentences.LINES_LEFT


def _by_failure(texts: Mapping[ModelFailure, str], values: Values) -> str | None:
    failure = values.get("failure", "")
    return next((text for each, text in texts.items() if each.value == failure), None)


def _place(notice: Notice, values: Values) -> list[str]:
    place = values.get("place", "").strip()
    if notice not in IN_QUEUE or not (place.isascii() and place.isdigit()):
        return []
    return [sentences.FIRST_IN_QUEUE if place == "1" else sentences.PLACE_IN_QUEUE]


def _safe(key: str, value: str, language: str) -> str:
    if key in BLOCKS:
        return untrusted.lines(value)
    if key == "conversation":
        return untrusted.identifier(value)
    return (untrusted.name if key in NAMES else untrusted.line)(value, language)


def _shortened(text: str) -> str:
    if units(text) <= MESSAGE_UNITS:
        return text
    end = len(text)
    while units(text[:end]) >= MESSAGE_UNITS:
        end -= max(1, (units(text[:end]) - MESSAGE_UNITS) // 2)
    while end > 1 and is_joint(text, end):
        end -= 1
    return text[:end].rstrip() + "…"


def _keyboard(notice: Notice, language: str, values: Values) -> Keyboard:
    rows = (
        tuple(_button(text, press, language) for text, press in row if can_carry(press))
        for row in _buttons(notice, values)
    )
    return tuple(row for row in rows if row)


def _buttons(notice: Notice, values: Values) -> tuple[tuple[tuple[str, Press], ...], ...]:
    person = (sentences.PERSON, Human())
    if notice in OFFERS_BOTH:
        return (((sentences.START, Start()),), (person,))
    if notice in OFFERS_PERSON:
        return ((person,),)
    if notice in IN_QUEUE:
        return (((sentences.UNREQUEST, Unrequest()),),)
    turn_id = values.get("turn_id", "")
    if notice is Notice.STATUS:
        return (((sentences.CANCEL, Cancel(turn_id)), person),)
    if notice is Notice.DID_IT_ARRIVE and turn_id:
        arrived, missing = Arrived(turn_id), Missing(turn_id)
        return (((sentences.ARRIVED, arrived), (sentences.MISSING, missing)),)
    if notice is Notice.TRANSLATION_ASKED:
        yes, no = MayTranslate(True), MayTranslate(False)
        return (((sentences.ALLOW_TRANSLATION, yes),), ((sentences.REFUSE_TRANSLATION, no),))
    if notice in SUGGESTS and (suggestion := values.get("suggestion", "")):
        labels = SUGGESTS[notice]
        return (tuple((label, SuggestionPress(act, suggestion)) for label, act in labels),)
    if notice is Notice.FORGET_ASK and (token := values.get("token", "")):
        return (((sentences.DESTROY, Forget(token)),), ((sentences.KEEP, Keep(token)),))
    if notice in OFFERS_TAKE and has_visible(values.get("conversation", "")):
        return (((sentences.TAKE, Claim(values["conversation"])),),)
    return ()


def _button(text: str, press: Press, language: str) -> Button:
    return Button(_translated(text, language), press_data(press))
