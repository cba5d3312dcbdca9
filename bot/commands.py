"""What people type with a slash, and what operators do with a conversation.

A command is decided at once, in the transaction of its update; one that has to read memory is
stored as an effect and answered by bot/memory_commands.py.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeAlias
from zoneinfo import ZoneInfo

from bot.access import Access
from bot.coordinator import Coordinator
from bot.core.events import (
    Ended,
    Event,
    HumanClaimed,
    HumanReleased,
    UserCancelled,
    UserClearedContext,
    UserRequestedHuman,
    UserStarted,
    UserWithdrewConsent,
)
from bot.core.notices import Notice
from bot.core.reducer import Outcome
from bot.core.states import State
from bot.desk.aid import Aid
from bot.desk.translating import Translating
from bot.forgetting import Forgetter
from bot.scribe import Scribe
from bot.store import conversations, temporary, wiping, work
from bot.store.conversations import Waiting
from bot.visit import Visit

Command: TypeAlias = Callable[[Visit, str], None]
MEMORY_COMMANDS = ("memory", "why", "tasks", "done", "remember", "export")
KEEPS_SOMETHING = ("done", "remember")  # not in a temporary chat
NEEDS_ARGUMENT = {"done": "/done 1", "remember": "/remember My sister is called Leila"}
MOST_ARGUMENT = 3500  # characters that are kept of a command's argument


class Commands:
    def __init__(
        self,
        coordinator: Coordinator,
        scribe: Scribe,
        access: Access,
        aid: Aid,
        translating: Translating,
        forgetter: Forgetter,
        *,
        human_lease_seconds: float,
        zone: ZoneInfo,
    ) -> None:
        self._coordinator = coordinator
        self._scribe = scribe
        self._access = access
        self._forgetter = forgetter
        self._lease_seconds = human_lease_seconds
        self._zone = zone
        self._commands: Mapping[str, Command] = {
            "start": lambda visit, _: self.step(visit, UserStarted(visit.at)),
            "help": self._help,
            "human": lambda visit, _: self.step(visit, UserRequestedHuman(visit.at)),
            "stop_ai": lambda visit, _: self.step(visit, UserWithdrewConsent(visit.at)),
            "cancel": lambda visit, _: self.step(visit, UserCancelled(visit.at)),
            "new": lambda visit, _: self.step(visit, UserClearedContext(visit.at)),
            "privacy": lambda visit, _: self.tell(visit, Notice.PRIVACY),
            "end": self._end,
            "temporary": self._temporary,
            "forget_me": lambda visit, _: self._forgetter.ask(visit),
            "queue": self._for_operators(self._queue),
            "claim": self._for_operators(self.claim),
            "release": self._for_operators(self._release),
            "draft": self._for_operators(aid.draft),
            "summary": self._for_operators(aid.summary),
            "translate": self._for_operators(translating.translate),
            **{name: self._about_memory(name) for name in MEMORY_COMMANDS},
        }

    def knows(self, name: str) -> bool:
        return name in self._commands

    def run(self, visit: Visit, name: str, argument: str) -> None:
        self._commands[name](visit, argument.strip()[:MOST_ARGUMENT])

    def tell(self, visit: Visit, notice: Notice, **values: str) -> None:
        """Answer in the chat the command came from."""
        self._scribe.tell(
            visit.sql,
            visit.contact,
            notice,
            values,
            key=visit.key,
            at=visit.at,
            aftermath=visit.aftermath,
        )

    def step(self, visit: Visit, event: Event) -> None:
        """Apply an event to the visitor's own conversation."""
        self._coordinator.step(visit.sql, visit.contact.conversation_id, event, visit.aftermath)

    # --- everybody --------------------------------------------------------------------------------

    def _help(self, visit: Visit, argument: str) -> None:
        operator = self._access.is_operator(visit.sql, visit.user_id)
        self.tell(visit, Notice.HELP, owner="1" if operator else "")

    def _end(self, visit: Visit, argument: str) -> None:
        """An operator ends the stretch they hold; anybody else ends their own conversation."""
        held = conversations.held_by(visit.sql, visit.user_id)
        if held:
            self._release(visit, "")
        else:
            self._stop_temporary(visit)
            self.step(visit, Ended(visit.at))

    def _temporary(self, visit: Visit, argument: str) -> None:
        """On or off. What was said in it is cut off from what the assistant sees afterwards."""
        if self._stop_temporary(visit):
            self.step(visit, UserClearedContext(visit.at))
        else:
            temporary.start(visit.sql, visit.contact.conversation_id, visit.at)
            self.tell(visit, Notice.TEMPORARY_ON)

    def _stop_temporary(self, visit: Visit) -> bool:
        contact = visit.contact
        since = temporary.stop(visit.sql, contact.conversation_id)
        if since is None:
            return False
        self.tell(visit, Notice.TEMPORARY_OFF)
        wiping.since(visit.sql, contact.conversation_id, contact.chat_id, since, visit.at)
        return True

    def _about_memory(self, name: str) -> Command:
        def store(visit: Visit, argument: str) -> None:
            if not argument and name in NEEDS_ARGUMENT:
                self.tell(visit, Notice.USAGE, usage=NEEDS_ARGUMENT[name])
                return
            if name in KEEPS_SOMETHING and temporary.is_on(
                visit.sql, visit.contact.conversation_id
            ):
                self.tell(visit, Notice.TEMPORARY_KEEPS_NOTHING)
                return
            effect = work.StoredEffect(
                f"command:{visit.contact.conversation_id}:{visit.key}",
                visit.contact.conversation_id,
                "command",
                0,
                "",
                {"name": name, "argument": argument, "key": visit.key},
            )
            work.add(visit.sql, effect, visit.at)
            visit.aftermath.commands = True

        return store

    # --- operators --------------------------------------------------------------------------------

    def _for_operators(self, command: Command) -> Command:
        def checked(visit: Visit, argument: str) -> None:
            if self._access.is_operator(visit.sql, visit.user_id):
                command(visit, argument)
            else:
                self.tell(visit, Notice.OP_ONLY)

        return checked

    def _queue(self, visit: Visit, argument: str) -> None:
        waiting = [
            each
            for each in conversations.queue(visit.sql)
            if each.conversation_id != visit.contact.conversation_id
        ]
        if not waiting:
            self.tell(visit, Notice.OP_QUEUE_EMPTY)
            return
        lines = "\n".join(_queue_line(each, visit.at) for each in waiting)
        self.tell(visit, Notice.OP_QUEUE, lines=lines)

    def claim(self, visit: Visit, argument: str) -> None:
        """Compare-and-set: of many who claim at once, one holds it and the others are told."""
        wanted = _named(argument) or self._longest_waiting(visit)
        if wanted is None:
            self.tell(visit, Notice.OP_QUEUE_EMPTY)
            return
        held = [each for each in conversations.held_by(visit.sql, visit.user_id) if each != wanted]
        if held:
            self.tell(visit, Notice.OP_HOLDS_ANOTHER, conversation=held[0])
            return
        if wanted == visit.contact.conversation_id:  # nobody hands themself over to themself
            self.tell(visit, Notice.OP_NO_SUCH, conversation=wanted)
            return
        claimed = HumanClaimed(
            visit.at,
            visit.user_id,
            visit.contact.user_name,
            visit.at + self._lease_seconds,
        )
        step = self._coordinator.step(visit.sql, wanted, claimed, visit.aftermath)
        if step is None or (
            step.outcome is not Outcome.APPLIED and step.conversation.holder is None
        ):
            self.tell(visit, Notice.OP_NO_SUCH, conversation=wanted)
        elif step.outcome is not Outcome.APPLIED:
            self._tell_who_holds(visit, wanted)

    def _tell_who_holds(self, visit: Visit, wanted: str) -> None:
        known = conversations.peek(visit.sql, wanted)
        holder = known[0].holder if known else None
        if holder is None:
            self.tell(visit, Notice.OP_NO_SUCH, conversation=wanted)
            return
        since = datetime.fromtimestamp(holder.since, self._zone).strftime("%H:%M")
        self.tell(visit, Notice.OP_TAKEN, conversation=wanted, holder=holder.name, since=since)

    def _release(self, visit: Visit, argument: str) -> None:
        held = conversations.held_by(visit.sql, visit.user_id)
        if not held:
            self.tell(visit, Notice.OP_NOTHING_HELD)
            return
        released = HumanReleased(visit.at, visit.user_id)
        self._coordinator.step(visit.sql, held[0], released, visit.aftermath)

    def _longest_waiting(self, visit: Visit) -> str | None:
        for each in conversations.queue(visit.sql):
            own = each.conversation_id == visit.contact.conversation_id
            if each.state is State.HANDOFF_PENDING and not own:
                return each.conversation_id
        return None


def _named(argument: str) -> str | None:
    """The conversation that an operator named, by its id or its chat's number."""
    word = argument.split()[0] if argument else ""
    if not word:
        return None
    number = word.removeprefix("tg:")
    return f"tg:{number}" if number.lstrip("-").isdecimal() else word[:64]


def _queue_line(waiting: Waiting, now: float) -> str:
    minutes = max(0, int((now - waiting.since) // 60))
    held = f" · {waiting.holder_name}" if waiting.holder_name else ""
    mark = "●" if waiting.holder_name else "○"
    return f"{mark} {waiting.conversation_id} · {waiting.user_name} · {minutes} min{held}"
