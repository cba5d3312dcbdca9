"""The faults of the demo: what each switch does, and to whom.

A switch is either for everybody, or for the one person it is thrown for. `used up` by itself:
`lost_answer`, which strikes once.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.lab.botapi import Fault, Harm, Network, Telegram
from bot.lab.model import PracticeModel
from bot.lab.serve import LoopbackServer

SLOW_SECONDS = 9.0
ANSWER_LOST_AFTER_SECONDS = 1.5
FLOOD_SECONDS = 3

Throw = Callable[[bool, int], Awaitable[None]]


class NoSuchSwitch(ValueError):
    """There is none of this name, or not here; the text says it."""


@dataclass(frozen=True, slots=True)
class _Switch:
    title: str
    effect: str  # what can be seen when it is on
    throw: Throw
    on: Callable[[int], bool]
    personal: bool = False
    of_practice_model: bool = False


class Switches:
    def __init__(
        self,
        telegram: Telegram,
        model: PracticeModel,
        model_server: LoopbackServer,
        lie: Path,
        *,
        practice: bool,
    ) -> None:
        self._telegram = telegram
        self._model = model
        self._model_server = model_server
        self._lie = lie
        self._practice = practice
        self._model_is_down = False
        self._armed: dict[tuple[str, int], int] = {}
        self._switches: Mapping[str, _Switch] = self._all()

    async def throw(self, name: str, on: bool, person: int) -> None:
        """Throw a switch; for a personal one, for `person`. Raises NoSuchSwitch."""
        switch = self._switches.get(name)
        if switch is None:
            raise NoSuchSwitch(f"there is no switch {name!r}")
        if switch.of_practice_model and not self._practice:
            raise NoSuchSwitch("this one works with the practice model only")
        if switch.on(person) != on:
            await switch.throw(on, person)
        self._telegram.changed()

    def shown(self, people: tuple[int, ...]) -> list[dict[str, Any]]:
        """Every switch as the page draws it; `on` names the people it is on for."""
        return [
            {
                "name": name,
                "title": switch.title,
                "effect": switch.effect,
                "personal": switch.personal,
                "available": self._practice or not switch.of_practice_model,
                "on": [person for person in people if switch.on(person)],
            }
            for name, switch in self._switches.items()
        ]

    def _all(self) -> dict[str, _Switch]:
        telegram, model = self._telegram, self._model
        return {
            "slow_model": _Switch(
                "Slow model",
                f"Every answer takes {SLOW_SECONDS:g} s: time to interrupt it.",
                self._slow_model,
                lambda _: model.settings.latency_seconds > 0,
                of_practice_model=True,
            ),
            "model_down": _Switch(
                "Model down",
                "Nothing listens at the model's address. The user is told, nothing is lost.",
                self._model_down,
                lambda _: self._model_is_down,
                of_practice_model=True,
            ),
            "moderation_down": _Switch(
                "Moderation down",
                "Drafts cannot be checked, so none is shown: a person is asked for.",
                self._moderation_down,
                lambda _: model.moderation.down,
            ),
            "lost_answer": _Switch(
                "Send times out",
                "The next message arrives, but the bot never hears so. It finds out; never twice.",
                self._lost_answer,
                self._is_armed("lost_answer"),
                personal=True,
            ),
            "network_cut": _Switch(
                "Network cut",
                "Every connection between the bot and Telegram breaks.",
                self._network_cut,
                lambda _: telegram.faults.network is Network.CUT,
            ),
            "flood": _Switch(
                "Flood wait (429)",
                "Telegram refuses messages to this one chat. Others go on.",
                self._flood,
                self._is_armed("flood"),
                personal=True,
            ),
            "blocked": _Switch(
                "User blocks the bot",
                "What is sent is refused with 403. It is recorded, and nothing is retried.",
                self._blocked,
                self._has_blocked,
                personal=True,
            ),
            "memory_empty": _Switch(
                "Memory lies: “empty”",
                "The store answers every read with nothing. The bot asks again and does not "
                "claim to know nothing.",
                self._memory_empty,
                lambda _: self._lie.exists(),
            ),
        }

    async def _slow_model(self, on: bool, _: int) -> None:
        self._model.configure(latency_seconds=SLOW_SECONDS if on else 0.0)

    async def _model_down(self, on: bool, _: int) -> None:
        self._model_is_down = on
        await (self._model_server.refuse() if on else self._model_server.accept())

    async def _moderation_down(self, on: bool, _: int) -> None:
        self._model.moderate(down=on)

    async def _network_cut(self, on: bool, _: int) -> None:
        self._telegram.faults.network = Network.CUT if on else Network.UP

    async def _lost_answer(self, on: bool, person: int) -> None:
        fault = Fault(
            Harm.CUT_AFTER,
            method="sendMessage",
            chat_id=person,
            delay_answer=ANSWER_LOST_AFTER_SECONDS,
        )
        self._arm("lost_answer", on, person, fault)

    async def _flood(self, on: bool, person: int) -> None:
        fault = Fault(
            Harm.REFUSE,
            method="sendMessage",
            chat_id=person,
            times=None,
            retry_after=FLOOD_SECONDS,
        )
        self._arm("flood", on, person, fault)

    async def _blocked(self, on: bool, person: int) -> None:
        (self._telegram.user_blocks if on else self._telegram.user_unblocks)(person)

    async def _memory_empty(self, on: bool, _: int) -> None:
        if on:
            self._lie.touch()
        else:
            self._lie.unlink(missing_ok=True)

    def _arm(self, name: str, on: bool, person: int, fault: Fault) -> None:
        if on:
            self._armed[name, person] = self._telegram.faults.add(fault)
        else:
            self._telegram.faults.remove(self._armed.pop((name, person)))

    def _is_armed(self, name: str) -> Callable[[int], bool]:
        return lambda person: self._armed.get((name, person)) in self._telegram.faults.armed()

    def _has_blocked(self, person: int) -> bool:
        chat = self._telegram.chats.get(person)
        return chat is not None and not self._telegram.bot_in(chat).present
