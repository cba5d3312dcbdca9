"""Users and operators who do whatever people do, at any moment.

Every text carries a mark of its writer (u11x3: the third of chat 11), so that everybody can see
where it ends up.
"""

import asyncio
from collections.abc import Callable
from random import Random

from tests.simulation.loop import SimulatedLoop
from tests.simulation.telegram import Shown, SimulatedTelegram

FORGED = ("v1:start", "v1:human", "v1:cancel", "v1:cancel:turn:msg-1", "v1:unrequest", "v0:x", "")
COMMANDS = ("/start", "/human", "/cancel", "/stop_ai", "/new", "/end", "/help", "/memory", "/tasks")


class Person:
    """A private chat with the bot."""

    def __init__(
        self, chat_id: int, telegram: SimulatedTelegram, loop: SimulatedLoop, random: Random
    ) -> None:
        self.chat_id = chat_id
        self.written: dict[str, int] = {}  # mark → message id
        self._telegram = telegram
        self._loop = loop
        self._random = random
        self._count = 0

    def write(self) -> None:
        self._count += 1
        mark = f"u{self.chat_id}x{self._count}"
        self.written[mark] = self._telegram.writes(self.chat_id, f"message {mark}")

    def say(self, command: str) -> None:
        self._telegram.writes(self.chat_id, command)

    def send_sticker(self) -> None:
        self._telegram.writes(self.chat_id, "", kind="sticker")

    def edit(self) -> None:
        if self.written:
            mark = self._random.choice(list(self.written)[-4:])
            text = f"message {mark} changed {self._random.randrange(100)}"
            self._telegram.edits(self.chat_id, self.written[mark], text)

    def press(self, *, newest: bool, wanted: str = "v1:") -> None:
        buttons = [
            (shown.message_id, button.data)
            for shown in self._seen()
            for row in shown.part.keyboard
            for button in row
            if button.data.startswith(wanted)
        ]
        if buttons:
            chosen = self._random.choice(buttons[-2:] if newest else buttons)
            self._telegram.presses(self.chat_id, *chosen)

    def _seen(self) -> list[Shown]:
        return self._telegram.chat(self.chat_id).visible()

    async def pause(self) -> None:
        quick = self._random.random() < 0.5
        await asyncio.sleep(self._random.uniform(0.05, 2.0 if quick else 15.0))

    def _one_of(self, acts: list[tuple[int, Callable[[], None]]]) -> None:
        weights = [weight for weight, _ in acts]
        _, act = self._random.choices(acts, weights)[0]
        act()


class User(Person):
    async def live(self, until: float, *, blocks: bool, write_weight: int) -> None:
        await self.pause()
        if self._random.random() < 0.8:
            self.say("/start")
            await asyncio.sleep(1.0)
            self._telegram.presses(self.chat_id, 1, "v1:start")
        chat = self._telegram.chat(self.chat_id)
        while self._loop.time() < until:
            await self.pause()
            if chat.blocked:
                if self._random.random() < 0.3:
                    self._telegram.blocks(self.chat_id, blocked=False)
            elif blocks and self._random.random() < 0.01:
                self._telegram.blocks(self.chat_id, blocked=True)
            else:
                self._act(write_weight)
        if chat.blocked and self._random.random() < 0.5:
            self._telegram.blocks(self.chat_id, blocked=False)

    def _act(self, write_weight: int) -> None:
        self._one_of(
            [
                (write_weight, self.write),
                (8, self._burst),
                (12, lambda: self.press(newest=True)),
                (5, lambda: self.press(newest=False)),
                (4, lambda: self._telegram.presses(self.chat_id, 1, "v1:start")),
                (6, self.edit),
                (3, self.send_sticker),
                (9, lambda: self.say(self._random.choice(COMMANDS))),
                (1, lambda: self.say(f"/remember note n{self.chat_id}x{len(self.written)}")),
                (1, lambda: self.say("/done 1")),
                (1, self._forge),
            ]
        )

    def _burst(self) -> None:
        for _ in range(self._random.randint(2, 4)):
            self.write()

    def _forge(self) -> None:
        self._telegram.presses(self.chat_id, 1, self._random.choice(FORGED))


class Operator(Person):
    async def live(self, until: float, users: tuple[int, ...]) -> None:
        while self._loop.time() < until:
            await self.pause()
            self._one_of(
                [
                    (25, lambda: self.press(newest=True, wanted="v1:claim")),
                    (3, lambda: self.press(newest=False)),
                    (8, lambda: self.say("/claim")),
                    (8, lambda: self.say(f"/claim {self._random.choice(users)}")),
                    (4, lambda: self.say("/queue")),
                    (30, self.write),
                    (3, self.edit),
                    (1, self.send_sticker),
                    (10, lambda: self.say("/release")),
                    (4, lambda: self.say("/end")),
                    (2, lambda: self.say(self._random.choice(COMMANDS))),
                ]
            )
