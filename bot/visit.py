"""One incoming message or press, inside the transaction that takes it."""

from dataclasses import dataclass

from bot.scribe import Aftermath
from bot.store.conversations import Contact
from bot.store.port import Sql


@dataclass(frozen=True, slots=True)
class Visit:
    sql: Sql
    aftermath: Aftermath
    at: float
    user_id: int
    contact: Contact  # the private chat it came from
    key: str  # of this update: what it causes is made once
    reply_to: int = 0  # the message that this one answers, in the same chat
