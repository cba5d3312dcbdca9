"""The model and the moderator of the simulation.

A draft names what it covers: each user message carries a mark (u11x3), the draft repeats those of
the turn (q11x3). So everybody can see which messages an answer answers.
"""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from random import Random

from bot.errors import ModelFailed, ModelFailure
from bot.model.port import (
    BlockedDraft,
    ChatMessage,
    Completion,
    Passed,
    ToolCall,
    ToolSpec,
    Unavailable,
    Verdict,
)
from tests.simulation.loop import MACHINE
from tests.simulation.trace import Trace

BLOCK = re.compile(r"<((?:notes|earlier)-[0-9a-f]{8})>.*?</\1>\s*", re.DOTALL)
OF_USER = re.compile(r"\bu(\d+)x(\d+)\b")
FAILURES = tuple(ModelFailure)
TIMEOUT_SECONDS = 80.0


def marks(text: str) -> list[str]:
    """The user messages that a text holds."""
    return [match[0] for match in OF_USER.finditer(text)]


class SimulatedModel:
    def __init__(self, random: Random, trace: Trace, *, faulty: bool, rate: float) -> None:
        self.faulty = faulty
        self.on_asked: Callable[[Sequence[ChatMessage]], None] = lambda prompt: None
        self.covered_by_draft: dict[str, frozenset[str]] = {}  # draft's text → marks of its turn
        self._random = random
        self._trace = trace
        self._rate = rate
        self._drafts = 0

    async def complete(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec] = ()
    ) -> Completion:
        self.on_asked(messages)
        question = _turn(messages)
        asked = marks(question)
        chat_id = int(OF_USER.search(question)[1]) if asked else 0  # type: ignore[index]
        who = machine.name if (machine := MACHINE.get()) else "model"
        self._trace.note(who, f"asks the model about {' '.join(asked)}", chat_id)
        chance = self._random.random() / self._rate if self.faulty else 1.0
        await asyncio.sleep(self._delay(chance))
        if chance < 0.06:
            failure = self._random.choice(FAILURES)
            self._trace.note("model", f"fails: {failure}", chat_id)
            raise ModelFailed(failure)
        return self._answer(asked, chat_id, tools)

    async def close(self) -> None:
        pass

    def _delay(self, chance: float) -> float:
        if chance < 0.03:
            return self._random.uniform(20.0, TIMEOUT_SECONDS)
        return self._random.uniform(0.05, 6.0)

    def _answer(self, asked: list[str], chat_id: int, tools: Sequence[ToolSpec]) -> Completion:
        self._drafts += 1
        number, random = self._drafts, self._random
        covers = " ".join(mark.replace("u", "q") for mark in asked)
        text = f"a{number} answers {covers}"
        if random.random() < 0.04:
            text = "\n\n".join(f"{text} part {part} " + "word " * 650 for part in range(1, 4))
        calls: tuple[ToolCall, ...] = ()
        if tools and chat_id and random.random() < 0.25:
            calls = (self._call(number, chat_id, asked),)
            if random.random() < 0.3:
                text = ""
        self.covered_by_draft[text] = frozenset(asked)
        return Completion(text, calls)

    def _call(self, number: int, chat_id: int, asked: list[str]) -> ToolCall:
        name, arguments = self._random.choice(
            (
                ("remember", {"text": f"fact f{chat_id}x{number}", "kind": "fact"}),
                ("add_task", {"text": f"task f{chat_id}x{number}", "due": "2033-05-02"}),
                ("recall", {"query": "what about message answers"}),
                ("recommend_handoff", {"reason": "unsure"}),
            )
        )
        return ToolCall(f"c{number}", name, json.dumps(arguments))


def _turn(messages: Sequence[ChatMessage]) -> str:
    """What the user said in this turn."""
    said = [message.content for message in messages if message.role == "user"]
    return BLOCK.sub("", said[-1])


class SimulatedModerator:
    def __init__(
        self, random: Random, trace: Trace, *, faulty: bool, rate: float, separate: bool
    ) -> None:
        self.faulty = faulty
        self.passed: set[str] = set()
        self._random = random
        self._trace = trace
        self._rate = rate
        self._separate = separate

    async def review(self, draft: str) -> Verdict:
        chance = self._random.random() / self._rate if self.faulty else 1.0
        if self._separate:
            slow = chance < 0.05
            await asyncio.sleep(self._random.uniform(10, 70) if slow else chance % 2.0)
        if chance < 0.04:
            self._trace.note("moderator", f"blocks {draft[:20]}")
            return BlockedDraft(("rule",))
        if self._separate and chance < 0.08:
            self._trace.note("moderator", f"is out of reach for {draft[:20]}")
            return Unavailable("simulated")
        self.passed.add(draft)
        return Passed()

    async def close(self) -> None:
        pass
