"""When a message is translated, and what then goes to the user.

Rule 1: the source is on record and shown before any translation is asked for; a translation
        never stands in for it.
Rule 2: the model reads words of a human stretch only if the user agreed to have them translated.
Rule 3: an operator's translated words are sent only after the operator confirmed them.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from bot.core.languages import has_letters
from bot.core.notices import Notice
from bot.core.states import Conversation
from bot.desk import assignments
from bot.desk.assignments import Assignment, Source, Task
from bot.desk.places import Place
from bot.store import suggestions, translations
from bot.store.conversations import Contact
from bot.store.messages import StoredMessage
from bot.store.port import Sql
from bot.store.suggestions import Status
from bot.store.translations import Consent
from bot.telegram.texts import phrase

MOST_CAUGHT_UP = 5  # earlier messages that are translated once the user agreed


def want_views(
    sql: Sql, c: Conversation, place: Place, said: Sequence[StoredMessage], at: float
) -> bool:
    """Have the user's messages translated for whoever sees them there. False: nothing to do."""
    pair = translations.active(sql, c.id)
    if pair is None or c.holder is None:
        return False
    agreed = pair.consent is Consent.GIVEN
    readable = [each for each in said if (each.consented or agreed) and is_translatable(each.text)]
    for message in readable:
        assignments.put(
            sql,
            view_of(
                c,
                place,
                message,
                operator_id=c.holder.operator_id,
                source_language=pair.user_language,
                target_language=pair.operator_language,
            ),
            at,
        )
    return bool(readable)


def view_of(
    c: Conversation,
    place: Place,
    message: StoredMessage,
    *,
    operator_id: int,
    source_language: str,
    target_language: str,
    key: str = "",
) -> Assignment:
    """A message in another language, once a place and wording: an edited one is shown again."""
    source = Source(message.chat_id, message.message_id)
    wording = sha256(message.text.encode("utf-8", "replace")).hexdigest()[:8]
    name = f"view:{source.chat_id}:{source.message_id}:{target_language}:{place.chat_id}"
    name = f"{name}:{place.topic}:{wording}"
    return Assignment(
        id=f"{name}:{key}" if key else name,
        task=Task.VIEW,
        conversation_id=c.id,
        epoch=c.epoch,
        operator_id=operator_id,
        place=place,
        key=key or name,
        source=source,
        source_language=source_language,
        target_language=target_language,
    )


def take_back(sql: Sql, conversation_id: str) -> None:
    """The user turned the AI off: it reads nothing any more, not even to translate it."""
    translations.set_consent(sql, conversation_id, Consent.NONE)


def end(sql: Sql, conversation_id: str) -> None:
    """The conversation is closed: the next one begins without translation and asks again."""
    translations.turn_off(sql, conversation_id)
    take_back(sql, conversation_id)


def may_read(sql: Sql, conversation_id: str, message: StoredMessage) -> bool:
    """Whether the model may read this message now, to translate it."""
    if message.author == "human" or message.consented:
        return True
    pair = translations.of(sql, conversation_id)
    return pair is not None and pair.consent is Consent.GIVEN


def is_translatable(text: str) -> bool:
    return has_letters(text)


def as_sent(sql: Sql, contact: Contact, said: StoredMessage) -> StoredMessage:
    """What the user gets for an operator's message: the translation that was confirmed, with the
    source below it and a label between them, or the message as it is."""
    preview = suggestions.find(sql, assignments.preview_id(Source(said.chat_id, said.message_id)))
    if preview is None or preview.status is not Status.SENT:
        return said
    values = {"lines": preview.text, "source": preview.source}
    return replace(said, text=phrase(Notice.TRANSLATED, contact.language, values).text)
