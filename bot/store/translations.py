"""Translations, each tied to the message that it is a view of, and who wants which.

The source is never touched. A view says language, engine and source; it is made again if the
source was edited.
"""

from dataclasses import dataclass
from enum import StrEnum

from bot.store.port import Row, Sql


class Consent(StrEnum):
    """Whether the user lets the model read what they write to a person, to translate it."""

    NONE = "none"  # not asked yet
    ASKED = "asked"
    GIVEN = "given"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Translation:
    chat_id: int  # of the source
    message_id: int
    language: str
    conversation_id: str
    source_language: str
    engine: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Interpreting:
    """How one conversation is translated."""

    conversation_id: str
    user_language: str
    operator_language: str
    active: bool
    consent: Consent
    by_id: int
    at: float


FIELDS = "chat_id, message_id, language, conversation_id, source_language, engine, text, at"
KEEP = f"""
INSERT INTO translations ({FIELDS})
VALUES (:chat_id, :message_id, :language, :conversation_id, :source_language, :engine, :text, :at)
ON CONFLICT (chat_id, message_id, language) DO UPDATE SET
 source_language = excluded.source_language, engine = excluded.engine, text = excluded.text,
 at = excluded.at
"""
FIND = f"""
SELECT {FIELDS} FROM translations
WHERE chat_id = :chat_id AND message_id = :message_id AND language = :language
"""
PAIR_FIELDS = "conversation_id, user_language, operator_language, active, consent, by_id, at"
TURN_ON = """
INSERT INTO interpreting AS known (conversation_id, user_language, operator_language, active,
 consent, by_id, at)
VALUES (:conversation_id, :user_language, :operator_language, 1, 'none', :by_id, :at)
ON CONFLICT (conversation_id) DO UPDATE SET user_language = excluded.user_language,
 operator_language = excluded.operator_language, active = 1, by_id = excluded.by_id,
 at = excluded.at
"""
TURN_OFF = "UPDATE interpreting SET active = 0 WHERE conversation_id = :id AND active = 1"
OF = f"SELECT {PAIR_FIELDS} FROM interpreting WHERE conversation_id = :id"
CONSENT = """
UPDATE interpreting SET consent = :consent
WHERE conversation_id = :id AND consent <> :consent
"""


def keep(sql: Sql, translation: Translation) -> None:
    sql.run(KEEP, {name: getattr(translation, name) for name in FIELDS.split(", ")})


def find(sql: Sql, chat_id: int, message_id: int, language: str) -> Translation | None:
    values = {"chat_id": chat_id, "message_id": message_id, "language": language}
    row = sql.row(FIND, values)
    return Translation(*row) if row else None


def turn_on(
    sql: Sql, conversation_id: str, user_language: str, operator_language: str, by: int, at: float
) -> Interpreting:
    """Translate this conversation from now on. What the user said about it stays as it is."""
    values = {"user_language": user_language, "operator_language": operator_language}
    sql.run(TURN_ON, {"conversation_id": conversation_id, **values, "by_id": by, "at": at})
    pair = of(sql, conversation_id)
    assert pair is not None
    return pair


def turn_off(sql: Sql, conversation_id: str) -> bool:
    return sql.run(TURN_OFF, {"id": conversation_id}) == 1


def of(sql: Sql, conversation_id: str) -> Interpreting | None:
    row = sql.row(OF, {"id": conversation_id})
    return _read(row) if row else None


def active(sql: Sql, conversation_id: str) -> Interpreting | None:
    pair = of(sql, conversation_id)
    return pair if pair is not None and pair.active else None


def set_consent(sql: Sql, conversation_id: str, consent: Consent) -> bool:
    """What the user says about it. False: they had said so already, or nobody ever asked."""
    return sql.run(CONSENT, {"id": conversation_id, "consent": consent.value}) == 1


def _read(row: Row) -> Interpreting:
    conversation_id, theirs, ours, active, consent, by_id, at = row
    return Interpreting(conversation_id, theirs, ours, bool(active), Consent(consent), by_id, at)
