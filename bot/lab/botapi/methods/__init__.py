"""What the bot may ask for: method name → handler. getUpdates is in endpoint.py: it waits."""

from collections.abc import Callable, Mapping
from typing import Any

from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.methods import chats, editing, profile, sending, topics
from bot.lab.botapi.params import Args

Handler = Callable[[Telegram, Args], Any]

METHODS: Mapping[str, Handler] = {
    name.lower(): handler
    for table in (
        chats.METHODS,
        editing.METHODS,
        profile.METHODS,
        sending.METHODS,
        topics.METHODS,
    )
    for name, handler in table.items()
}
