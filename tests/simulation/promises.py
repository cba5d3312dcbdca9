"""The promises of the design page, checked after every commit, every message and every prompt.

The judge sees what is committed and what Telegram shows. It keeps the state before, so that it
can tell a change that is allowed from one that is not.
"""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from bot.core.events import Event
from bot.core.notices import Notice
from bot.core.reducer import Outcome, Step
from bot.core.states import Conversation
from bot.core.transitions.moves import RESULTS
from bot.model.port import ChatMessage
from bot.telegram import payload
from bot.telegram.fleeting import GONE
from bot.telegram.payload import SendPart
from bot.telegram.port import Part
from bot.telegram.texts import phrase
from memory.line import Author, Kind, parse_line
from memory.namespace import namespace_of
from tests.simulation.loop import MACHINE, Machine
from tests.simulation.minds import SimulatedModel, SimulatedModerator, marks
from tests.simulation.process import MAX_RESTARTS, MAX_TURN_SECONDS, MEMORY_SECRET
from tests.simulation.store import WATCHED, Store
from tests.simulation.telegram import Shown, SimulatedTelegram
from tests.simulation.trace import Trace

ANY_MARK = re.compile(r"\b[uqfn](\d+)x\d+\b")
DRAFT = re.compile(r"\ba(\d+) answers")
CHECKING = phrase(Notice.CHECKING_DELIVERY, "en").text
STATUS = phrase(Notice.STATUS, "en", {"turn_id": "turn:msg-1"}).text
FLEETING = {CHECKING, STATUS, GONE.text}
AI_STATES = {"ai_ready", "ai_generating", "moderating", "bot_sending", "delivery_unknown"}
UNDER_LEASE = {
    "TurnDue",
    "AiDrafted",
    "GenerationFailed",
    "HandoffRecommended",
    "DraftApproved",
    "DraftBlocked",
    "ModerationUnavailable",
}
ON_WIRE = {"sending", "unknown"}
CHANGES_OF_STATUS = {
    "": {"pending"},
    "pending": {"sending", "dropped"},
    "sending": {"sent", "failed", "unknown", "pending", "dropped"},
    "unknown": {"sent", "failed", "pending", "unresolved", "dropped"},
    "dropped": {"pending"},
    "unresolved": {"pending", "sent"},
    "sent": set(),
    "failed": set(),
}


class Broken(AssertionError):
    """A promise was broken."""

    def __init__(self, promise: str, how: str, chat_id: int = 0) -> None:
        super().__init__(f"{promise}: {how}")
        self.promise = promise
        self.chat_id = chat_id


def holder_of(state: str, operator_id: int) -> str:
    if state in AI_STATES:
        return "ai"
    return f"human:{operator_id}" if state == "human_active" else "nobody"


class Judge:
    def __init__(
        self,
        store: Store,
        telegram: SimulatedTelegram,
        model: SimulatedModel,
        moderator: SimulatedModerator,
        trace: Trace,
        chats: Sequence[int],
    ) -> None:
        self._store = store
        self._telegram = telegram
        self._model = model
        self._moderator = moderator
        self._trace = trace
        self._namespaces = {namespace_of(MEMORY_SECRET, str(chat)): chat for chat in chats}
        self._cursor = store.connection.cursor()
        self._cursor.row_factory = sqlite3.Row
        self._heads: dict[str, dict[str, Any]] = {}
        self._status: dict[str, str] = {}
        self._journal: dict[str, tuple[int, str, int]] = {}  # seq, state, epoch
        self._covered: dict[tuple[str, int], str] = {}
        self._texts: dict[str, dict[str, Any]] = {}  # mark → what is known of its message
        self._turn_began: dict[int, float] = {}
        self._human_epoch: dict[int, int] = defaultdict(int)  # of the newest human words shown
        self._held: dict[str, set[int]] = {}  # who held a conversation during this commit
        self._said_in_memory: set[str] = set()
        self.memory_ids: set[tuple[str, str]] = set()
        self.max_messages = 0

    def _rows(self, text: str, **values: Any) -> list[Any]:
        return self._cursor.execute(text, values).fetchall()

    def _touched(self) -> dict[str, list[Any]]:
        """The rows that were written since the last call, by table."""
        numbers = defaultdict(list)
        for kind, number in self._rows("SELECT kind, number FROM touched ORDER BY number"):
            numbers[WATCHED[kind]].append(str(number))
        if numbers:
            self._cursor.execute("DELETE FROM touched")
        return {
            table: self._rows(
                f"SELECT * FROM {table} WHERE rowid IN ({','.join(found)}) ORDER BY rowid"
            )
            for table, found in numbers.items()
        }

    # --- every step ------------------------------------------------------------------------------

    def on_step(self, before: Conversation, event: Event, step: Step) -> None:
        """Also steps that are undone again, as when a unit of work has to run twice."""
        if not isinstance(event, RESULTS) or step.outcome is not Outcome.APPLIED:
            return
        flying = before.in_flight is not None and before.in_flight.id == event.turn_id
        wanted = before.turn is not None and before.turn.id == event.turn_id
        if not flying and not (wanted and event.epoch == before.epoch):
            how = f"{type(event).__name__} of epoch {event.epoch} counted in {before.epoch}"
            raise Broken("I2", how, int(before.id.removeprefix("tg:")))

    # --- after every commit -----------------------------------------------------------------------

    def after_commit(self, machine: Machine) -> None:
        touched = self._touched()
        if not touched:
            return
        self._held = {name: {head["holder_id"]} for name, head in self._heads.items()}
        for row in touched.get("conversations", ()):
            self._head(row)
            self._held.setdefault(row["id"], set()).add(row["holder_id"])
        for row in touched.get("messages", ()):
            self._message(row)
        for row in touched.get("journal", ()):
            self._entry(row, machine)
        for row in touched.get("outbox", ()):
            self._outgoing(row)
        for row in touched.get("memory_outbox", ()):
            self._memory(row)
        for row in touched.get("inbox", ()):
            if row["outcome"] == "parked":
                raise Broken("no update is ever too much", f"parked: {row['raw']}")

    def _head(self, row: Any) -> None:
        before, after = self._heads.get(row["id"]), dict(row)
        self._heads[row["id"]] = after
        chat = row["chat_id"]
        if (row["state"] == "human_active") != bool(row["holder_id"]):
            raise Broken("I1", f"{row['state']} with holder {row['holder_id']}", chat)
        working = row["state"] in AI_STATES - {"ai_ready"}
        if working != bool(row["turn_from"]):
            raise Broken("I1", f"{row['state']} with turn {row['turn_to']}", chat)
        if before is None:
            return
        if row["epoch"] < before["epoch"] or row["version"] < before["version"]:
            raise Broken("I2", "epoch or version went back", chat)
        was = holder_of(before["state"], before["holder_id"])
        now = holder_of(row["state"], row["holder_id"])
        if was != now and row["epoch"] == before["epoch"]:
            raise Broken("I2", f"{was} → {now} under one epoch", chat)
        if not before["covered"] <= row["covered"] <= row["version"]:
            raise Broken("I4", "covered went back or ahead", chat)

    def _entry(self, row: Any, machine: Machine) -> None:
        where = row["conversation_id"]
        chat = int(where.removeprefix("tg:"))
        what = f"{row['event']} {row['outcome']} {row['state_before']} → {row['state_after']}"
        self._trace.note(
            machine.name, f"{what} epoch {row['epoch']} {row['turn_id']} {row['note']}", chat
        )
        seq, state, epoch = self._journal.get(where, (0, "consent_required", 0))
        self._journal[where] = row["seq"], row["state_after"], row["epoch"]
        if row["seq"] != seq + 1 or row["state_before"] != state:
            raise Broken("I2", f"the journal has a gap before {what}", chat)
        was, now = holder_of(state, 0), holder_of(row["state_after"], 0)
        if row["epoch"] != epoch + (was != now):
            raise Broken("I2", f"epoch {epoch} → {row['epoch']} on {what}", chat)
        if row["outcome"] != "applied" and row["state_before"] != row["state_after"]:
            raise Broken("I2", f"changed something: {what}", chat)
        if any(isinstance(each, str) and ANY_MARK.search(each) for each in tuple(row)):
            raise Broken("I11", "text in the journal", chat)
        if row["event"] in UNDER_LEASE:
            self._fenced(row, machine, chat)
        if row["outcome"] == "applied":
            self._applied(row, chat)

    def _fenced(self, row: Any, machine: Machine, chat: int) -> None:
        lease = self._rows("SELECT holder FROM leases WHERE name = :id", id=row["conversation_id"])
        if not lease or lease[0][0] != machine.name:
            held = lease[0][0] if lease else "nobody"
            raise Broken("I2", f"{machine.name} wrote {row['event']} under a lease of {held}", chat)

    def _applied(self, row: Any, chat: int) -> None:
        if row["actor"].startswith("human:"):  # perhaps for the time of a few updates only
            self._held.setdefault(row["conversation_id"], set()).add(int(row["actor"][6:]))
        if row["event"] == "TurnDue":
            self._turn_began[chat] = self._trace.clock()
        if row["event"] == "DraftApproved" and row["state_after"] == "bot_sending":
            self._sends_the_newest(row, chat)

    def _sends_the_newest(self, row: Any, chat: int) -> None:
        head = self._heads[row["conversation_id"]]
        newest = head["turn_to"] == row["version"]
        late = row["at"] - head["waiting_since"] >= MAX_TURN_SECONDS
        if not (newest or head["restarts"] >= MAX_RESTARTS or late):
            raise Broken("I5", f"{row['turn_id']} is sent at version {row['version']}", chat)

    def _message(self, row: Any) -> None:
        where = row["conversation_id"]
        chat = int(where.removeprefix("tg:"))
        key = (where, row["seq"])
        before = self._covered.get(key, "")
        if before and row["covered_by"] != before:
            raise Broken("I4", f"{before} → {row['covered_by']}: covered twice", chat)
        if row["covered_by"] and not before and row["covered_by"] == "ai":
            self._answered(row, chat)
        self._covered[key] = row["covered_by"]
        if row["author"] == "ai":
            if row["text"] not in self._moderator.passed:
                raise Broken("I6", f"{row['turn_id']} was accepted unmoderated", chat)
            return
        for mark in marks(row["text"]):
            self._marked(mark, row, chat)

    def _marked(self, mark: str, row: Any, chat: int) -> None:
        known = self._texts.setdefault(mark, {"consented": 0, "revoked_at": -1.0})
        if known["consented"] and not row["consented"]:
            known["revoked_at"] = self._trace.clock()
        known.update(consented=row["consented"], author=row["author"], chat=chat, kind=row["kind"])

    def _answered(self, row: Any, chat: int) -> None:
        """The reply names this message, and Telegram showed all of it."""
        where, turn_id = row["conversation_id"], row["turn_id"]
        reply = self._rows(
            "SELECT text FROM messages WHERE conversation_id = :id AND author = 'ai'"
            " AND turn_id = :turn",
            id=where,
            turn=turn_id,
        )
        if len(reply) != 1:
            raise Broken("I4", f"{len(reply)} replies for {turn_id}", chat)
        covers = self._model.covered_by_draft.get(reply[0][0])
        wanted = set(marks(row["text"]))
        if covers is not None and not wanted <= covers:
            raise Broken("I4", f"{turn_id} does not answer {wanted}", chat)
        for part in self._rows(
            "SELECT id, status FROM outbox WHERE conversation_id = :id AND turn_id = :turn",
            id=where,
            turn=turn_id,
        ):
            if part["status"] != "sent":
                raise Broken("I4", f"{part['id']} is {part['status']}, yet it counts", chat)

    # --- what leaves ------------------------------------------------------------------------------

    def _outgoing(self, row: Any) -> None:
        before, now = self._status.get(row["id"], ""), row["status"]
        self._status[row["id"]] = now
        chat = row["chat_id"]
        if before != now and now not in CHANGES_OF_STATUS[before] and before:
            raise Broken("I7", f"{row['id']}: {before} → {now}", chat)
        head = self._heads.get(row["conversation_id"])
        if not before:
            self._queued(row, head)
        if now == "sending" and before != "sending" and row["author"] == "ai":
            assert head is not None
            if head["state"] != "bot_sending" or head["epoch"] != row["epoch"]:
                raise Broken("I3", f"{row['id']} begins to leave in {head['state']}", chat)
        if now in ON_WIRE:
            self._alone_on_wire(row)

    def _alone_on_wire(self, row: Any) -> None:
        ahead = self._rows(
            "SELECT id FROM outbox WHERE chat_id = :chat AND seq < :seq"
            " AND (status IN ('sending', 'unknown') OR status = 'pending' AND seq > 0) LIMIT 1",
            chat=row["chat_id"],
            seq=row["seq"],
        )
        if ahead:
            raise Broken("I3", f"{row['id']} overtakes {ahead[0][0]}", row["chat_id"])

    def _queued(self, row: Any, head: dict[str, Any] | None) -> None:
        chat, author = row["chat_id"], row["author"]
        if author == "ai":
            assert head is not None
            if head["state"] != "bot_sending" or head["epoch"] != row["epoch"]:
                raise Broken("I3", f"{row['id']} is queued in {head['state']}", chat)
        if author in ("human", "relay"):
            whose = row["id"].partition(f"human:{row['conversation_id']}:")[2]
            operator = int(whose.partition(":")[0]) if author == "human" else chat
            if operator not in self._held[row["conversation_id"]]:
                raise Broken("I1", f"{row['id']} without holding the conversation", chat)
        for owner in map(int, ANY_MARK.findall(row["payload"])):
            passed_on = author in ("human", "relay") and owner != chat
            if owner != chat and not passed_on:
                raise Broken("I10", f"words of {owner} in {row['id']}", chat)
            if author == "relay" and f"tg:{owner}" != row["conversation_id"]:
                raise Broken("I10", f"words of {owner} in {row['id']}", chat)

    def on_shown(self, machine: Machine, shown: Shown) -> None:
        chat, part = shown.chat_id, shown.part
        if part.text.startswith("[copy of"):
            return
        begins = payload.write(SendPart(part))[:-1]
        alike = self._rows(
            "SELECT * FROM outbox WHERE chat_id = :chat AND substr(payload, 1, :length) = :begins"
            " ORDER BY seq",
            chat=chat,
            length=len(begins),
            begins=begins,
        )
        rows = [row for row in alike if _says(row["payload"], part)]
        if not rows:
            if part.text not in FLEETING:
                raise Broken("I6", f"nobody queued “{part.text[:60]}”", chat)
            return
        begun = [row for row in rows if row["attempts"]]
        if self._telegram.shown[chat, part] > len(begun):
            raise Broken("I7", f"{rows[-1]['id']} is shown twice ({machine.name})", chat)
        if all(row["status"] in ("pending", "dropped", "sent") for row in rows):
            raise Broken("I7", f"{rows[-1]['id']} is shown though {rows[-1]['status']}", chat)
        last = begun[-1]
        if last["author"] == "human":
            self._human_epoch[chat] = max(self._human_epoch[chat], last["epoch"])
        if last["author"] == "ai" and last["epoch"] < self._human_epoch[chat]:
            raise Broken("I3", f"{last['id']} follows a person's words", chat)

    # --- what the model and memory get ------------------------------------------------------------

    def on_asked(self, prompt: Sequence[ChatMessage]) -> None:
        text = "\n".join(message.content for message in prompt)
        owners = {int(each) for each in ANY_MARK.findall(text)}
        chat = min(owners, default=0)
        for mark in marks(text):
            self._readable(mark, chat)
        if len(owners) > 1:
            raise Broken("I10", f"one prompt with words of {sorted(owners)}", chat)
        if len(prompt) - 1 > self.max_messages:
            raise Broken("I8", f"{len(prompt) - 1} messages", chat)

    def _readable(self, mark: str, chat: int) -> None:
        known = self._texts.get(mark)
        if known is None:
            raise Broken("I8", f"{mark} is not on record", chat)
        if known["author"] != "user":
            raise Broken("I8", f"{mark} is a person's word", chat)
        machine = MACHINE.get()
        overslept = machine is not None and known["revoked_at"] <= machine.woke_at
        allowed = known["consented"] or known["revoked_at"] >= self._turn_began.get(chat, 0.0)
        if not allowed and not overslept:
            raise Broken("I8", f"{mark} is not for the AI", chat)

    def _memory(self, row: Any) -> None:
        address = (row["namespace"], row["line_id"])
        if address in self.memory_ids:
            return
        self.memory_ids.add(address)
        chat = self._namespaces[row["namespace"]]
        line = parse_line(row["line"])
        if any(int(owner) != chat for owner in ANY_MARK.findall(line.text)):
            raise Broken("I10", "words of another chat in memory", chat)
        if line.kind is not Kind.SAID:
            return
        if line.author is Author.AI and line.text not in self._moderator.passed:
            raise Broken("I6", "an unmoderated draft in memory", chat)
        for mark in marks(line.text) if line.author is Author.USER else ():
            if mark in self._said_in_memory:
                raise Broken("I9", f"{mark} is in memory twice", chat)
            self._said_in_memory.add(mark)
            if self._texts[mark]["author"] != "user":
                raise Broken("I8", f"a person's words {mark} in memory", chat)

    def on_log(self, event: Mapping[str, Any]) -> None:
        said = " ".join(map(str, event.values()))
        if ANY_MARK.search(said) or DRAFT.search(said):
            raise Broken("I11", f"text in the log event {event.get('event')}")


def _says(written: str, part: Part) -> bool:
    what = payload.read(written)
    return isinstance(what, SendPart) and what.part == part
