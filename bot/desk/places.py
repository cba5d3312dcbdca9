"""Where operators see a conversation, and where what they are told goes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """An operator's private chat, or a topic of the operators' group."""

    chat_id: int
    topic: str = ""  # the conversation whose topic it is; "" for a chat without topics or General
    language: str = "en"
