"""Lab servers in this process, the bot in processes of its own, and what can be said of both.

What is waited for is an event of the lab where there is one. Where only the bot's database knows,
it is looked at again after a short pause, up to a deadline.
"""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from bot.lab.botapi import LAB_TOKEN, Seen, Telegram, serve_telegram
from bot.lab.model import PracticeModel
from bot.lab.practice.journal import Asked
from bot.lab.practice.prompt import read_prompt
from bot.lab.practice.scripts import Reply
from bot.lab.serve import serve
from tests.crash.ledger import (
    PostgresLedger,
    SqliteLedger,
    complaints,
    ledger_of,
    left_to_do,
    memory_complaints,
)
from tests.crash.process import BotProcess
from tests.judges import Judgement, attach_judges

T = TypeVar("T")
OWNER = 1000
CANARY = "kanarienvogel"  # stands in every text, so that a log that holds it gives itself away
KEY = "sk-crash-canary-0123456789abcdefgh"
MARK = re.compile(rf"{CANARY} (u\d+m\d+)\b")
LOOK_SECONDS = 0.03
FLEETING = ("I am working on it", "I am checking whether")


class NamingModel(PracticeModel):
    """Names in each reply every message that it answers, however many there are."""

    def _answer(self, asked: Asked, authorization: str) -> Reply:
        reply = super()._answer(asked, authorization)
        named = MARK.findall(reply.text)
        said = MARK.findall(" ".join(read_prompt(asked.body).parts))
        unnamed = [f"{CANARY} {mark}" for mark in said if mark not in named]
        return replace(reply, text=" ".join((reply.text, *unnamed)))


@dataclass(slots=True)
class Scene:
    folder: Path
    telegram: Telegram
    model: PracticeModel
    judgement: Judgement
    environment: dict[str, str]
    ledger: SqliteLedger | PostgresLedger
    bots: list[BotProcess] = field(default_factory=list)
    said: int = 0
    attended: int = 0  # the user whom the owner talks to

    # The bot

    async def launch(self, *before: str, **changes: str) -> BotProcess:
        """Start a bot without waiting for anything."""
        bot = await BotProcess.start(self.folder, {**self.environment, **changes}, *before)
        self.bots.append(bot)
        return bot

    async def start(self, *before: str, **changes: str) -> BotProcess:
        """Start a bot and wait until it polls."""
        polls = self.calls("getUpdates")
        bot = await self.launch(*before, **changes)
        polling = asyncio.create_task(
            self.until(lambda: self.calls("getUpdates") > polls or None, 30)
        )
        dead = asyncio.create_task(bot.ended(60))
        await asyncio.wait({polling, dead}, return_when=asyncio.FIRST_COMPLETED)
        assert not dead.done(), f"it ended at once:\n{bot.said}"
        dead.cancel()
        await polling
        return bot

    # People

    def writes(self, user: int, words: str = "") -> str:
        """The user writes something that no other message says; return its mark."""
        self.said += 1
        mark = f"u{user}m{self.said}"
        self.telegram.user_sends(user, f"{words} {CANARY} {mark}".strip())
        return mark

    async def opt_in(self, *users: int) -> None:
        for user in users:
            self.telegram.user_starts(user)
        for user in users:
            notice = await self.shows(user, "assistant")
            self.telegram.user_presses(user, notice.message_id, "Start the AI assistant")
        for user in users:
            await self.shows(user, "is on")

    async def shows(self, user: int, text: str, timeout: float = 20) -> Seen:
        def found() -> Seen | None:
            hits = [seen for seen in self.from_bot(user) if text in seen.text]
            return hits[-1] if hits else None

        return await self.until(found, timeout)

    def from_bot(self, user: int) -> list[Seen]:
        return [seen for seen in self.telegram.messages(user) if seen.author == "bot"]

    def copies(self, user: int, text: str) -> int:
        """In how many messages of the bot the chat shows this."""
        return sum(text in seen.text for seen in self.from_bot(user))

    async def attend(self, user: int) -> None:
        """The owner takes this user's conversation over."""
        self.telegram.user_starts(OWNER)
        await self.shows(OWNER, "assistant")
        self.telegram.user_sends(OWNER, f"/claim {user}")
        await self.shows(user, "is here now")
        self.attended = user

    # Waiting

    async def until(self, wanted: Callable[[], T | None], timeout: float = 15) -> T:
        found = await self.telegram.wait_for(wanted, timeout)
        assert found is not None
        return found

    def calls(self, method: str) -> int:
        return sum(call.method == method for call in self.telegram.journal)

    async def looks(self, wanted: Callable[[], T | None], timeout: float = 20) -> T:
        """Look at the database until it shows what is wanted."""
        deadline = asyncio.get_running_loop().time() + timeout
        while (found := await asyncio.to_thread(wanted)) is None:
            if asyncio.get_running_loop().time() > deadline:
                raise AssertionError(f"not within {timeout} s\n{self.last_words()}")
            await asyncio.sleep(LOOK_SECONDS)
        return found

    async def state(self, user: int, *states: str, timeout: float = 20) -> str:
        text = f"SELECT state FROM conversations WHERE chat_id = {user}"

        def reached() -> str | None:
            rows = self.ledger.rows(text)
            return str(rows[0][0]) if rows and rows[0][0] in states else None

        try:
            return await self.looks(reached, timeout)
        except AssertionError as error:
            raise AssertionError(
                f"{user} is {self.ledger.rows(text)}, not {states}; {error}"
            ) from None

    async def settled(self, timeout: float = 100) -> None:
        """Wait until nothing is under way: no update, turn, message, timer or memory line."""

        def at_rest() -> bool | None:
            return (not len(self.telegram.updates) and not left_to_do(self.ledger)) or None

        try:
            await self.looks(at_rest, timeout)
        except AssertionError as error:
            raise AssertionError(f"left: {left_to_do(self.ledger)}; {error}") from None

    def last_words(self) -> str:
        return "\n".join(f"--- {bot.pid}\n{bot.said[-2500:]}" for bot in self.bots[-2:])

    # Judging

    def verify(self) -> None:
        """Everything that must hold once all has settled. Raises with all that does not."""
        wrong = [
            *complaints(self.ledger),
            *memory_complaints(self.ledger),
            *self._chats(),
            *self.leaks(),
            *self.judgement.complaints,
        ]
        assert not wrong, "\n".join(wrong) + "\n" + self.last_words()

    def _chats(self) -> list[str]:
        """Nothing lost, nothing doubled, nothing left over, by what the chats show."""
        stored = {
            (chat, message): (author, kind, by)
            for chat, message, author, kind, by in self.ledger.rows(
                "SELECT chat_id, message_id, author, kind, covered_by FROM messages"
                " WHERE author <> 'ai'"
            )
        }
        shown = {
            chat: Counter(
                mark for seen in self.from_bot(chat) for mark in set(MARK.findall(seen.text))
            )
            for chat in self.telegram.chats
        }
        wrong: list[str] = []
        for chat in self.telegram.chats:
            for seen in self.telegram.messages(chat):
                wrong += self._leftovers(chat, seen)
                if seen.author == "bot" or not (found := MARK.search(seen.text)):
                    continue
                known = stored.get((chat, seen.message_id))
                if known is None:
                    wrong.append(f"{found[1]} was lost")
                    continue
                where = self._belongs(chat, *known)
                times = {
                    place: count[found[1]] for place, count in shown.items() if count[found[1]]
                }
                if times != dict.fromkeys(where, 1):
                    wrong.append(f"{found[1]} {known} is shown {times}, not once in {where}")
        return wrong + self._sent_twice()

    def _belongs(self, chat: int, author: str, kind: str, by: str) -> tuple[int, ...]:
        """The chats in which the bot says these words again, once each."""
        if author == "human":
            return (self.attended,)
        if kind == "command" or by == "ai":
            return (chat,)
        return (OWNER,) if by == "human" else ()

    def _leftovers(self, chat: int, seen: Seen) -> list[str]:
        if seen.author != "bot" or not seen.text.startswith(FLEETING):
            return []
        return [f"chat {chat} still shows {seen.text!r} ({seen.message_id})"]

    def _sent_twice(self) -> list[str]:
        """Also a copy that was removed again at once counts: somebody may have seen it."""
        sent = Counter(
            (call.params.get("chat_id"), call.params.get("text"))
            for call in self.telegram.journal
            if call.method == "sendMessage" and call.ok and MARK.search(call.params["text"])
        )
        return [f"sent {count} times: {what}" for what, count in sent.items() if count > 1]

    def leaks(self) -> list[str]:
        secrets = (CANARY, LAB_TOKEN, LAB_TOKEN.partition(":")[2], KEY)
        return [
            f"{bot.pid} wrote {secret!r} to its log"
            for bot in self.bots
            for secret in secrets
            if secret in bot.said
        ]


@contextlib.asynccontextmanager
async def scene(folder: Path, url: str = "", **changes: str) -> AsyncIterator[Scene]:
    """Servers and settings; the test starts the bots. All are ended with it."""
    world, model = Telegram(), NamingModel()
    judgement = attach_judges(world)
    url = url or f"sqlite:///{folder}/dabir.db"
    async with serve_telegram(world) as telegram_url, serve(model) as model_url:
        environment = {
            "TELEGRAM_BOT_TOKEN": LAB_TOKEN,
            "TELEGRAM_API_URL": telegram_url,
            "MODEL_BASE_URL": f"{model_url}/v1",
            "MODEL_API_KEY": KEY,
            "MODEL_NAME": "practice",
            "OWNER_ID": str(OWNER),
            "ACCESS": "public",
            "DATABASE_URL": url,
            "DEBOUNCE_QUIET": "0.05",
            "DEBOUNCE_CAP": "0.4",
            "LOG_LEVEL": "DEBUG",
            **changes,
        }
        ready = Scene(folder, world, model, judgement, environment, ledger_of(url))
        try:
            yield ready
        finally:
            for bot in ready.bots:
                await bot.kill()
