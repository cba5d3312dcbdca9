"""Stored messages as the core reads them."""

from bot.core.context import Author, Said
from bot.store.messages import StoredMessage


def as_said(conversation_id: str, message: StoredMessage) -> Said:
    """What may go into a prompt is decided there, by consent; here nothing is left out."""
    return Said(
        conversation_id=conversation_id,
        author=Author(message.author),
        text=message.text,
        at=message.at,
        version=message.version,
        kind=message.kind,
        consented=message.consented,
        stale=not message.visible,
    )
