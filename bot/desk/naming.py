"""How a conversation is called at the desk: the name of its topic, its short id.

A user's name is what a stranger typed: it must not hide, turn round or imitate the rest.
"""

from collections.abc import Mapping

from bot.core.states import State
from bot.telegram import untrusted
from bot.telegram.characters import ISOLATE, POP_ISOLATE, units

# https://core.telegram.org/bots/api#createforumtopic
NAME_UNITS = 128
MARKS: Mapping[State, str] = {
    State.CONSENT_REQUIRED: "⚪",
    State.AI_READY: "🤖",
    State.AI_GENERATING: "🤖",
    State.MODERATING: "🤖",
    State.BOT_SENDING: "🤖",
    State.DELIVERY_UNKNOWN: "🟠",
    State.HANDOFF_PENDING: "🔴",
    State.HUMAN_ACTIVE: "🟢",
    State.ENDED: "⚫",
}


def short_id(conversation_id: str) -> str:
    """What operators type: "42" for "tg:42"."""
    return conversation_id.removeprefix("tg:")


def topic_name(user_name: str, conversation_id: str, state: State) -> str:
    """The name of a topic: a mark for the state, the user's name, the short id."""
    name = untrusted.line(user_name, "en", untrusted.NAME_LENGTH)
    # A topic's name stands alone, so nothing has to be isolated, and "|" is ours.
    plain = name.replace(ISOLATE, "").replace(POP_ISOLATE, "").replace("|", "¦")
    rest = f" | {short_id(conversation_id)}"
    mark = f"{MARKS[state]} "
    while units(plain) > NAME_UNITS - units(mark + rest):
        plain = plain[:-1]
    return f"{mark}{plain}{rest}"
