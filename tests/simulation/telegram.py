"""Telegram in the simulation: shows messages, answers edits truthfully, hands out updates.

It knows every message it ever showed, so it can tell whether one was shown twice. A request takes
effect at the server however its sender fares meanwhile: a dead machine's request may still arrive.
"""

import asyncio
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from bot.errors import Blocked, FloodWait, Refused, RetryLater, Unknown
from bot.telegram.incoming import Incoming, IncomingBlock, IncomingMessage, IncomingPress
from bot.telegram.port import PLAINLY, EditOutcome, Manner, Part
from tests.simulation.loop import Machine, SimulatedLoop
from tests.simulation.trace import Trace

T = TypeVar("T")

WORDS = re.compile(r"\b[uq]\d+x\d+\b")  # the marks that people's texts and drafts carry

# A request takes effect at most so long after it began; the bot's claims have to outlast it.
LATEST_SECONDS = 45.0


@dataclass(slots=True)
class Shown:
    """One message in a chat."""

    chat_id: int
    message_id: int
    from_bot: bool
    part: Part
    deleted: bool = False


@dataclass(slots=True)
class Chat:
    chat_id: int
    messages: dict[int, Shown] = field(default_factory=dict)
    blocked: bool = False
    updates: deque[Incoming] = field(default_factory=deque)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    def visible(self) -> list[Shown]:
        return [shown for shown in self.messages.values() if not shown.deleted]


class SimulatedTelegram:
    def __init__(
        self,
        loop: SimulatedLoop,
        random: Random,
        trace: Trace,
        *,
        sends_fail: bool,
        floods: bool,
        rate: float,
    ) -> None:
        self.chats: dict[int, Chat] = {}
        self.on_shown: Callable[[Machine, Shown], None] = lambda machine, shown: None
        self.sends_fail = sends_fail
        self.floods = floods
        self.down_until = 0.0
        self.shown: Counter[tuple[int, Part]] = Counter()
        self.copied: Counter[tuple[int, int, int]] = Counter()
        self._loop = loop
        self._random = random
        self._trace = trace
        self._rate = rate
        self._next_id = 100
        self._next_update = 5000

    def chat(self, chat_id: int) -> Chat:
        return self.chats.setdefault(chat_id, Chat(chat_id))

    # --- people -----------------------------------------------------------------------------------

    def writes(self, chat_id: int, text: str, *, kind: str = "text") -> int:
        """The user of a private chat writes; return the message's id."""
        message_id = self._new_id()
        chat = self.chat(chat_id)
        chat.messages[message_id] = Shown(chat_id, message_id, False, Part(text))
        self._trace.note("user", f"writes #{message_id} {text or kind}", chat_id)
        self._push(chat, self._message(chat_id, message_id, text, kind, is_edit=False))
        return message_id

    def edits(self, chat_id: int, message_id: int, text: str) -> None:
        self.chat(chat_id).messages[message_id].part = Part(text)
        self._trace.note("user", f"edits #{message_id} {text}", chat_id)
        self._push(
            self.chat(chat_id), self._message(chat_id, message_id, text, "text", is_edit=True)
        )

    def presses(self, chat_id: int, message_id: int, data: str) -> None:
        self._trace.note("user", f"presses {data} of #{message_id}", chat_id)
        update_id = self._new_update()
        press = IncomingPress(
            update_id=update_id,
            callback_id=f"press{update_id}",
            chat_id=chat_id,
            chat_type="private",
            message_id=message_id,
            user_id=chat_id,
            user_name=f"User{chat_id}",
            username="",
            language_code="en",
            data=data,
        )
        self._push(self.chat(chat_id), press)

    def blocks(self, chat_id: int, *, blocked: bool) -> None:
        self._trace.note("user", "blocks the bot" if blocked else "unblocks the bot", chat_id)
        self.chat(chat_id).blocked = blocked
        self._push(self.chat(chat_id), IncomingBlock(self._new_update(), chat_id, chat_id, blocked))

    def again(self, update: Incoming) -> Incoming:
        """The same thing under a new update_id, as after a change of servers."""
        return replace(update, update_id=self._new_update())

    def _push(self, chat: Chat, update: Incoming) -> None:
        chat.updates.append(update)
        chat.waiting.set()

    def _message(
        self, chat_id: int, message_id: int, text: str, kind: str, *, is_edit: bool
    ) -> IncomingMessage:
        command, _, argument = text.partition(" ") if text.startswith("/") else ("", "", "")
        return IncomingMessage(
            update_id=self._new_update(),
            chat_id=chat_id,
            chat_type="private",
            message_id=message_id,
            user_id=chat_id,
            user_name=f"User{chat_id}",
            username="",
            language_code="en",
            text=text,
            kind=kind,
            detail="",
            command=command.removeprefix("/"),
            argument=argument,
            reply_to=0,
            media_group_id="",
            date=self._loop.time(),
            is_edit=is_edit,
            forwarded=False,
        )

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _new_update(self) -> int:
        self._next_update += 1
        return self._next_update

    # --- the bot's requests ----------------------------------------------------------------------

    async def request(
        self, what: str, chat_id: int, act: Callable[[], T], *, refusable: bool = False
    ) -> T:
        """Carry out `act` at the server, or not, and answer, or not.

        `refusable`: other people's words are in it, so Telegram may find fault with them.
        """
        fate, begin, end = self._fate()
        if fate == "refused" and not refusable:
            fate = "not reached"
        if fate != "ok":
            self._trace.note("network", f"{what}: {fate}", chat_id)
        future: asyncio.Future[T] = self._loop.create_future()

        def at_server() -> None:
            try:
                result = act()
            except Refused as error:
                refusal = error
                if fate == "ok":
                    self._loop.later(end - begin, lambda: _fail(future, refusal))
                return
            if fate == "ok":
                self._loop.later(end - begin, lambda: _settle(future, result))

        match fate:
            case "ok":
                self._loop.later(begin, at_server)
            case "lost before":
                self._loop.later(end, lambda: _fail(future, Unknown("no answer")))
            case "lost after":
                self._loop.later(begin, at_server)
                self._loop.later(end, lambda: _fail(future, Unknown("no answer")))
            case "late":
                self._loop.later(end, at_server)
                self._loop.later(begin, lambda: _fail(future, Unknown("no answer")))
            case "flood":
                flood = FloodWait("429", delay_seconds=self._random.uniform(1, 20))
                self._loop.later(begin, lambda: _fail(future, flood))
            case "not reached":
                self._loop.later(begin, lambda: _fail(future, RetryLater("connection refused")))
            case _:
                self._loop.later(begin, lambda: _fail(future, Refused("400")))
        return await future

    def _fate(self) -> tuple[str, float, float]:
        """What becomes of a request, and two moments after its beginning."""
        random = self._random
        short = random.uniform(0.02, 0.4)
        if self._loop.time() < self.down_until:
            return "not reached", short, short
        chance = random.random() / self._rate
        if self.sends_fail:
            if chance < 0.02:
                return "lost before", 0.0, random.uniform(0.1, 20)
            if chance < 0.05:
                return "lost after", short, random.uniform(short, 20)
            if chance < 0.07:
                begin = random.uniform(0.1, 20)
                return "late", begin, random.uniform(begin, LATEST_SECONDS)
            if chance < 0.09:
                begin = random.uniform(0.1, 10)
                return "ok", begin, begin + random.uniform(0.1, 10)
        if self.floods:
            if 0.10 < chance < 0.12:
                return "flood", short, short
            if 0.12 < chance < 0.14:
                return "not reached", short, short
            if 0.140 < chance < 0.143:
                return "refused", short, short
        return "ok", short / 2, short

    def show(self, machine: Machine, chat_id: int, part: Part) -> int:
        chat = self.chat(chat_id)
        if chat.blocked:
            raise Blocked("blocked")
        message_id = self._new_id()
        shown = chat.messages[message_id] = Shown(chat_id, message_id, True, part)
        self._trace.note("telegram", f"shows #{message_id} {brief(part)}", chat_id)
        self.shown[chat_id, part] += 1
        self.on_shown(machine, shown)
        return message_id

    def edit(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        if self.chat(chat_id).blocked:
            raise Blocked("blocked")
        shown = self.chat(chat_id).messages.get(message_id)
        if shown is None or shown.deleted:
            outcome = EditOutcome.NOT_FOUND
        elif not shown.from_bot:
            outcome = EditOutcome.NOT_OURS
        elif shown.part == part:
            outcome = EditOutcome.NOT_MODIFIED
        else:
            shown.part = part
            outcome = EditOutcome.EDITED
        self._trace.note("telegram", f"edit of #{message_id}: {outcome}", chat_id)
        return outcome

    def touch(self, chat_id: int, message_id: int) -> EditOutcome:
        """Take the buttons away."""
        shown = self.chat(chat_id).messages.get(message_id)
        if shown is None or shown.deleted:
            return EditOutcome.NOT_FOUND
        return self.edit(chat_id, message_id, replace(shown.part, keyboard=()))

    def delete(self, chat_id: int, message_id: int) -> bool:
        shown = self.chat(chat_id).messages.get(message_id)
        if shown is None or shown.deleted or not shown.from_bot:
            return False
        shown.deleted = True
        self._trace.note("telegram", f"deletes #{message_id}", chat_id)
        return True

    def copy(self, machine: Machine, chat_id: int, from_chat_id: int, message_id: int) -> int:
        source = self.chat(from_chat_id).messages.get(message_id)
        if source is None:
            raise Refused("message to copy not found")
        self.copied[chat_id, from_chat_id, message_id] += 1
        return self.show(machine, chat_id, Part(f"[copy of #{message_id}] {source.part.text}"))


class SimulatedMessenger:
    """The `Messenger` port as one machine sees it."""

    def __init__(self, telegram: SimulatedTelegram, machine: Machine) -> None:
        self._telegram = telegram
        self._machine = machine

    async def send(self, chat_id: int, part: Part, manner: Manner = PLAINLY) -> int:
        show = lambda: self._telegram.show(self._machine, chat_id, part)  # noqa: E731
        return await self._telegram.request(
            f"{self._machine.name} sends", chat_id, show, refusable=bool(WORDS.search(part.text))
        )

    async def edit(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        edit = lambda: self._telegram.edit(chat_id, message_id, part)  # noqa: E731
        what = f"{self._machine.name} edits #{message_id}"
        return await self._telegram.request(what, chat_id, edit)

    async def delete(self, chat_id: int, message_id: int) -> bool:
        delete = lambda: self._telegram.delete(chat_id, message_id)  # noqa: E731
        what = f"{self._machine.name} deletes #{message_id}"
        return await self._telegram.request(what, chat_id, delete)

    async def copy(
        self, chat_id: int, from_chat_id: int, message_id: int, manner: Manner = PLAINLY
    ) -> int:
        copy = lambda: self._telegram.copy(self._machine, chat_id, from_chat_id, message_id)  # noqa: E731
        return await self._telegram.request(f"{self._machine.name} copies", chat_id, copy)

    async def send_document(self, chat_id: int, name: str, content: bytes) -> int:
        return await self.send(chat_id, Part(name))

    async def copy_album(
        self, chat_id: int, from_chat_id: int, message_ids: Sequence[int], manner: Manner = PLAINLY
    ) -> tuple[int, ...]:
        raise AssertionError("nobody sends albums here")

    async def edit_caption(self, chat_id: int, message_id: int, part: Part) -> EditOutcome:
        raise AssertionError("there are no captions here")

    async def touch(self, chat_id: int, message_id: int) -> EditOutcome:
        touch = lambda: self._telegram.touch(chat_id, message_id)  # noqa: E731
        return await self._telegram.request(f"{self._machine.name} touches", chat_id, touch)

    async def react(self, chat_id: int, message_id: int, emoji: str) -> None:
        raise AssertionError("nobody reacts here")

    async def pin(self, chat_id: int, message_id: int) -> None:
        raise AssertionError("nothing is pinned here")

    async def show_typing(self, chat_id: int, thread_id: int = 0) -> None:
        await asyncio.sleep(0)

    async def answer_press(self, callback_id: str, text: str = "") -> None:
        await asyncio.sleep(0)


class NoForum:
    """The `Forum` port where nobody has a group."""

    async def open_topic(self, chat_id: int, name: str) -> int:
        raise Refused("the chat is not a forum")

    async def rename_topic(self, chat_id: int, thread_id: int, name: str) -> bool:
        raise Refused("the chat is not a forum")

    async def has_topic(self, chat_id: int, thread_id: int) -> bool:
        raise Refused("the chat is not a forum")

    async def reopen_topic(self, chat_id: int, thread_id: int) -> None:
        raise Refused("the chat is not a forum")

    async def delete_topic(self, chat_id: int, thread_id: int) -> None:
        raise Refused("the chat is not a forum")


def brief(part: Part) -> str:
    buttons = " ".join(f"({button.data})" for row in part.keyboard for button in row)
    return f"“{part.text[:90]}” {buttons}".strip()


def _settle(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[Any]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
