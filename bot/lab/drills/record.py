"""The stage of a drill: what happened is kept step by step, what must hold claim by claim."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.states import Conversation
from bot.lab.botapi import Seen
from bot.lab.process import BotProcess
from bot.lab.stage import NO_CHANGES, OWNER, USER, Stage
from bot.store.journal import Entry

SECOND_OPERATOR = 1001
OPERATORS = (OWNER, SECOND_OPERATOR)
SHOWN_CHARACTERS = 70


@dataclass(frozen=True, slots=True)
class Row:
    """One step, as it stood once the step was over."""

    step: str
    state: str
    epoch: int
    turn_id: str
    client_message_id: str
    user_saw: tuple[str, ...]
    operator_saw: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A claim and whether it held; `found` says what was there instead."""

    claim: str
    held: bool
    found: str = ""


@dataclass(slots=True)
class DrillStage(Stage):
    broken: str = ""  # the protection that is taken away, also in the processes of this drill
    rows_kept: list[Row] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    known: dict[int, dict[int, str]] = field(default_factory=dict)

    async def step(self, what: str, chat_id: int = USER) -> None:
        """Keep a row: where the conversation stands, and what is new on both screens."""
        conversation: Conversation | None = None
        entries: list[Entry] = []
        if self.running or self.processes:
            try:
                conversation = await self.conversation(chat_id)
                entries = await self.journal(chat_id)
            except AssertionError:  # the bot has not met them yet
                pass
        newest = entries[-1] if entries else None
        saw = [line for operator in OPERATORS for line in self._new(operator)]
        row = Row(
            step=what,
            state=conversation.state.value if conversation else "",
            epoch=conversation.epoch if conversation else 0,
            turn_id=newest.turn_id if newest else "",
            client_message_id=newest.client_message_id if newest else "",
            user_saw=tuple(self._new(chat_id)),
            operator_saw=tuple(saw),
        )
        self.rows_kept.append(row)

    def check(self, claim: str, held: bool, found: object = "") -> None:
        """Note whether a claim holds. A drill goes on after one that does not."""
        self.checks.append(Check(claim, bool(held), "" if held else str(found)))

    async def events(self, chat_id: int = USER, outcome: str = "applied") -> list[str]:
        """The names of the journal's events that had this outcome, in order."""
        return [each.event for each in await self.journal(chat_id) if each.outcome == outcome]

    async def meet_operators(self, *operators: int) -> None:
        """Each operator has a private chat with the bot."""
        for operator in operators or (OWNER,):
            self.telegram.user_starts(operator)
            await self.shows(operator, "assistant")
            self._new(operator)  # what they saw so far is no part of the drill

    def sent(self, chat_id: int, text: str) -> int:
        """How often Telegram took a message with these words, removed again or not."""
        return sum(
            call.ok and text in str(call.params.get("text"))
            for call in self.telegram.journal.calls("sendMessage", chat_id=chat_id)
        )

    async def helper(
        self, role: str = "polls", changes: Mapping[str, object] = NO_CHANGES
    ) -> BotProcess:
        """A bot process that shares the database with others; process.py says what roles do."""
        return await self.process(
            program="bot.lab.drills.process",
            words=["--share", "--role", role, *self._breaking()],
            hears=role == "hears",
            changes=changes,
        )

    async def own_process(
        self, changes: Mapping[str, object] = NO_CHANGES, *, waits: bool = True
    ) -> BotProcess:
        """The bot as its host starts it; only where a protection is broken, by way of the lab."""
        program = "bot.lab.drills.process" if self.broken else "bot"
        return await self.process(
            program=program, words=self._breaking(), waits=waits, changes=changes
        )

    def _breaking(self) -> list[str]:
        return ["--break", self.broken] if self.broken else []

    def _new(self, chat_id: int) -> list[str]:
        """What appeared, changed (~) or vanished (−) on a screen since the last look."""
        before = self.known.get(chat_id, {})
        now = {seen.message_id: _line(seen) for seen in self.from_bot(chat_id)}
        self.known[chat_id] = now
        gone = [f"− {text}" for number, text in before.items() if number not in now]
        new = [
            text if number not in before else f"~ {text}"
            for number, text in now.items()
            if before.get(number) != text
        ]
        return gone + new


def _line(seen: Seen) -> str:
    text = " ".join(seen.text.split())
    if len(text) > SHOWN_CHARACTERS:
        text = f"{text[: SHOWN_CHARACTERS - 1]}…"
    labels = "".join(f" [{button['text']}]" for row in seen.keyboard for button in row)
    return text + labels
