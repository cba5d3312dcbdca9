"""What passes between a user and the operators, put into the outbox within the step's transaction.

Nobody's authority is decided here: whoever calls has made sure of it.
"""

from collections.abc import Sequence

from bot.core.states import Conversation
from bot.desk import interpreting
from bot.desk.places import Place
from bot.store import outbox
from bot.store.conversations import Contact
from bot.store.messages import StoredMessage
from bot.store.outbox import Author, Outgoing
from bot.store.port import Sql
from bot.telegram import payload
from bot.telegram.payload import CopyOf, SendPart
from bot.telegram.port import Part


def to_operators(
    sql: Sql, c: Conversation, place: Place, said: Sequence[StoredMessage], at: float
) -> None:
    """Show the user's messages where operators see it, each once a place and epoch."""
    for message in said:
        outgoing = Outgoing(
            f"relay:{c.id}:{message.version}:{place.chat_id}:{c.epoch}",
            c.id,
            place.chat_id,
            Author.RELAY,
            payload.write(_passed_on(message)),
            c.epoch,
        )
        outbox.put(sql, outgoing, at)


def to_user(
    sql: Sql, c: Conversation, contact: Contact, operator_id: int, said: StoredMessage, at: float
) -> None:
    """Bring what the holder wrote to the user."""
    outgoing = Outgoing(
        f"human:{c.id}:{operator_id}:{said.message_id}",
        c.id,
        contact.chat_id,
        Author.HUMAN,
        payload.write(_passed_on(interpreting.as_sent(sql, contact, said))),
        c.epoch,
    )
    outbox.put(sql, outgoing, at)


def _passed_on(message: StoredMessage) -> payload.Payload:
    """Plain words are sent, so that a doubtful send can be proven; anything else is copied."""
    if message.kind == "text" and message.text.strip():
        return SendPart(Part(message.text.strip()))
    return CopyOf(message.chat_id, message.message_id)
