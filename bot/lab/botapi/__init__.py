"""A Bot API server that keeps Telegram's rules, for tests, drills, benches and the demo.

    world = Telegram()
    async with serve_telegram(world) as url:          # http://127.0.0.1:<port>
        bot = Bot(world.token, base_url=f"{url}/bot", base_file_url=f"{url}/file/bot")
        world.user_starts(42)
        await world.wait_for(lambda: world.bot_texts(42))

One world is one bot account. Read text.py and updates.py for the rules, methods/ for what the bot
may ask, talk.py and groups.py for what people do, faults.py for what can go wrong, control.py for
the same over HTTP. `python -m bot.lab.botapi` runs it as a process of its own.

What it does not play: channels, inline mode, payments, business connections (send such updates
with `world.hear`), topics in private chats, and Telegram's 3 s pacing of repeated getUpdates.
"""

from bot.lab.botapi.app import build_app, serve_telegram
from bot.lab.botapi.faults import Fault, Harm, Network
from bot.lab.botapi.groups import ALL_RIGHTS, Telegram
from bot.lab.botapi.journal import Call, Fate
from bot.lab.botapi.records import Chat, Message, Seen, Topic, User
from bot.lab.botapi.world import LAB_TOKEN, Press

__all__ = [
    "ALL_RIGHTS",
    "LAB_TOKEN",
    "Call",
    "Chat",
    "Fate",
    "Fault",
    "Harm",
    "Message",
    "Network",
    "Press",
    "Seen",
    "Telegram",
    "Topic",
    "User",
    "build_app",
    "serve_telegram",
]
