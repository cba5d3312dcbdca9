"""Carries out the writes that a step asks for, inside the transaction that saves its state.

What it puts down is all that a restart needs: nothing here waits, sends or asks a model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from bot.core.effects import (
    CancelGeneration,
    ContinueReply,
    Cover,
    Effect,
    Generate,
    GrantConsent,
    Moderate,
    NotifyOperators,
    RecallReply,
    RelayToOperators,
    RelayToUser,
    RevokeConsent,
    SendBot,
    ShowNotice,
    StartDebounce,
    StartTimer,
    StopDebounce,
    StopTimers,
)
from bot.core.events import Event, ReplyRecalled
from bot.core.notices import Notice
from bot.core.states import Conversation, State, Turn, client_message_id
from bot.desk import interpreting, relays
from bot.desk.places import Place
from bot.desk.staffing import Desk
from bot.remembering import Remembering
from bot.store import conversations, messages, outbox, topics, work
from bot.store.conversations import Contact
from bot.store.copies import MessageRef
from bot.store.outbox import Author, Claimed, Outgoing
from bot.store.port import Sql
from bot.telegram import payload
from bot.telegram.payload import SendPart
from bot.telegram.port import Button, Part

Render: TypeAlias = Callable[[str], tuple[Part, ...]]
MOST_UNREAD = 20  # messages that are copied to the operator who takes a conversation
CARD_SECONDS = 1.0  # changes that follow each other closely are shown together
TROUBLE_SECONDS = 3600  # the same trouble with the model is told to operators once in so long


@dataclass(slots=True)
class Aftermath:
    """What running parts of this process should know once the transaction is committed."""

    turns: bool = False  # a timer or stored work changed
    due: dict[str, float] = field(default_factory=dict)  # when conversations' turns fall due
    chats: set[int] = field(default_factory=set)  # have something to send
    claims: list[Claimed] = field(default_factory=list)  # messages to send right away
    commands: bool = False
    cards: bool = False  # a card of the operators' group says something old
    memory: bool = False
    forgetting: bool = False
    cancelled: set[str] = field(default_factory=set)  # conversations whose generation is void


@dataclass(frozen=True, slots=True)
class Timing:
    quiet_seconds: float
    cap_seconds: float


@dataclass(frozen=True, slots=True)
class Occasion:
    """One step of one conversation: everything a write may depend on."""

    conversation: Conversation  # after the step
    before: Conversation
    contact: Contact
    at: float
    entry: int  # number of the step's journal entry: ids of notices are made from it


class Scribe:
    def __init__(
        self,
        *,
        timing: Timing,
        desk: Desk,
        phrase: Callable[[Notice, str, Mapping[str, str]], tuple[Part, ...]],
        render: Render,
        remembering: Remembering,
    ) -> None:
        self._timing = timing
        self._desk = desk
        self._phrase = phrase
        self._render = render
        self._remembering = remembering

    def carry_out(
        self, sql: Sql, occasion: Occasion, effects: Sequence[Effect], aftermath: Aftermath
    ) -> list[Event]:
        """Write all effects; return the events that follow at once."""
        if _shows_on_card(occasion.before) != _shows_on_card(occasion.conversation):
            topics.touch(sql, occasion.conversation.id, occasion.at + CARD_SECONDS)
            aftermath.cards = True
        follow: list[Event] = []
        for number, effect in enumerate(effects):
            event = self._write(sql, occasion, effect, number, aftermath)
            if event is not None:
                follow.append(event)
        return follow

    def tell(
        self,
        sql: Sql,
        contact: Contact,
        notice: Notice,
        values: Mapping[str, str],
        *,
        key: str,
        at: float,
        aftermath: Aftermath,
        topic: str = "",
        answers: MessageRef | None = None,
    ) -> None:
        """Queue a system message; the same `key` again changes nothing.

        `topic`: the conversation in whose topic of a group it is said. `answers`: what it is a
        reply to.
        """
        for number, part in enumerate(self._phrase(notice, contact.language, values), 1):
            suffix = f"#{number}" if number > 1 else ""
            outgoing = Outgoing(
                f"system:{contact.conversation_id}:{key}:{notice}{suffix}",
                contact.conversation_id,
                contact.chat_id,
                Author.SYSTEM,
                payload.write(SendPart(part, answers)),
                topic=topic,
            )
            outbox.put(sql, outgoing, at)
        aftermath.chats.add(contact.chat_id)

    def _write(
        self, sql: Sql, occasion: Occasion, effect: Effect, number: int, aftermath: Aftermath
    ) -> Event | None:
        c, at = occasion.conversation, occasion.at
        match effect:
            case Generate(turn) | Moderate(turn):
                kind = "generate" if isinstance(effect, Generate) else "moderate"
                stored = work.StoredEffect(
                    f"{kind}:{c.id}:{c.epoch}:{turn.id}", c.id, kind, c.epoch, turn.id, {}
                )
                work.add(sql, stored, at)
                aftermath.turns = True
            case CancelGeneration(turn):
                work.cancel(sql, c.id, turn.id)
                aftermath.cancelled.add(c.id)
            case StartDebounce():
                aftermath.due[c.id] = self._debounce(sql, c, effect)
            case StopDebounce():
                work.stop_debounce(sql, c.id)
            case SendBot(turn):
                self._send_reply(sql, occasion, turn, aftermath)
            case ContinueReply(turn):
                outbox.revive(sql, c.id, turn.id, at)
                aftermath.chats.add(occasion.contact.chat_id)
            case RecallReply(turn):
                return self._recall(sql, occasion, turn, aftermath)
            case Cover(first, last, by, turn_id):
                messages.cover(sql, c.id, first, last, by=by.value, turn_id=turn_id)
                if by == "ai":
                    messages.show_reply(sql, c.id, turn_id)
            case GrantConsent(first, last):
                messages.set_consent(sql, c.id, first, last, consented=True)
            case RevokeConsent(last):
                messages.set_consent(sql, c.id, 1, last, consented=False)
                interpreting.take_back(sql, c.id)
            case ShowNotice(notice, values):
                self._show(sql, occasion, notice, values, number, aftermath)
            case NotifyOperators(notice, values):
                self._notify(sql, occasion, notice, values, number, aftermath)
            case RelayToOperators(first, last, operator_id):
                self._relay_to_operator(sql, occasion, first, last, operator_id, aftermath)
            case RelayToUser(operator_id, message_id):
                self._relay_to_user(sql, occasion, operator_id, message_id, aftermath)
            case StartTimer(timer, due_at):
                work.set_timer(sql, c.id, timer.value, due_at, c.epoch)
                aftermath.turns = True
            case StopTimers():
                work.stop_timers(sql, c.id)
                if c.state is State.ENDED:
                    interpreting.end(sql, c.id)
            case _:
                assert_never(effect)
        return None

    def _debounce(self, sql: Sql, c: Conversation, effect: StartDebounce) -> float:
        quiet = 0.0 if effect.now else self._timing.quiet_seconds
        cap = self._timing.cap_seconds / 2**effect.restarts
        return work.debounce(
            sql, c.id, now=effect.at, quiet_seconds=min(quiet, cap), cap_seconds=cap
        )

    def _send_reply(self, sql: Sql, occasion: Occasion, turn: Turn, aftermath: Aftermath) -> None:
        """Queue the approved draft part by part, and its memory lines with it."""
        c, contact = occasion.conversation, occasion.contact
        draft = work.load_draft(sql, c.id, turn.id)
        assert draft is not None, "an approved draft is stored"
        parts = self._render(draft.text) or (Part(draft.text.strip()),)
        if turn.offers_person:
            parts = (*parts[:-1], self._with_person_button(parts[-1], contact.language))
        for number, part in enumerate(parts, 1):
            outgoing = Outgoing(
                client_message_id(c.id, turn.id, number),
                c.id,
                contact.chat_id,
                Author.AI,
                payload.write(SendPart(part)),
                c.epoch,
                turn.id,
            )
            outbox.put(sql, outgoing, occasion.at)
        reply = messages.StoredMessage(
            author="ai",
            kind="text",
            text=draft.text,
            detail="",
            at=occasion.at,
            version=turn.covers_to,
            turn_id=turn.id,
            chat_id=contact.chat_id,
            message_id=0,
            consented=True,
            visible=False,
        )
        messages.add(sql, c.id, reply)
        asked = messages.of_user(sql, c.id, turn.covers_from, turn.covers_to)
        self._remembering.accept_turn(sql, contact, asked, draft, occasion.at)
        work.cancel(sql, c.id, turn.id)  # its draft and its work are used up
        aftermath.memory = True
        aftermath.chats.add(contact.chat_id)

    def _with_person_button(self, part: Part, language: str) -> Part:
        offer = self._phrase(Notice.NO_ANSWER, language, {})[0].keyboard
        person: tuple[tuple[Button, ...], ...] = offer
        return replace(part, keyboard=person)

    def _recall(
        self, sql: Sql, occasion: Occasion, turn: Turn, aftermath: Aftermath
    ) -> Event | None:
        c = occasion.conversation
        outbox.drop(sql, c.id, turn.id, occasion.at)
        aftermath.chats.add(occasion.contact.chat_id)
        if outbox.tally(sql, c.id, turn.id).on_wire:
            return None
        return ReplyRecalled(occasion.at, c.epoch, turn.id)

    def _show(
        self,
        sql: Sql,
        occasion: Occasion,
        notice: Notice,
        values: Mapping[str, str],
        number: int,
        aftermath: Aftermath,
    ) -> None:
        c = occasion.conversation
        if c.blocked:
            return
        if c.state is State.HANDOFF_PENDING:
            values = {**values, "place": str(conversations.place_in_queue(sql, c))}
        self.tell(
            sql,
            occasion.contact,
            notice,
            values,
            key=f"{occasion.entry}.{number}",
            at=occasion.at,
            aftermath=aftermath,
        )

    def _notify(
        self,
        sql: Sql,
        occasion: Occasion,
        notice: Notice,
        values: Mapping[str, str],
        number: int,
        aftermath: Aftermath,
    ) -> None:
        contact = occasion.contact
        told = {
            **values,
            "conversation": contact.conversation_id,
            "name": contact.user_name,
        }
        key = f"{contact.conversation_id}:{occasion.entry}.{number}"
        if notice is Notice.OP_MODEL_TROUBLE:  # one endpoint, however many users run into it
            key = f"{values.get('failure', '')}:{int(occasion.at // TROUBLE_SECONDS)}"
        for operator in self._desk.recipients(
            sql, notice, occasion.conversation, occasion.before, contact.chat_id
        ):
            self.tell(
                sql,
                operator,
                notice,
                told,
                key=key,
                at=occasion.at,
                aftermath=aftermath,
            )

    def _relay_to_operator(
        self,
        sql: Sql,
        occasion: Occasion,
        first: int,
        last: int,
        operator_id: int,
        aftermath: Aftermath,
    ) -> None:
        c = occasion.conversation
        newest = max(first, last - MOST_UNREAD + 1)
        said = messages.of_user(sql, c.id, newest, last)
        place = Place(operator_id, "", self._desk.contact(sql, operator_id).language)
        relays.to_operators(sql, c, place, said, occasion.at)
        if interpreting.want_views(sql, c, place, said, occasion.at):
            aftermath.commands = True
        aftermath.chats.add(operator_id)

    def _relay_to_user(
        self,
        sql: Sql,
        occasion: Occasion,
        operator_id: int,
        message_id: int,
        aftermath: Aftermath,
    ) -> None:
        c, contact = occasion.conversation, occasion.contact
        message = messages.by_id(sql, operator_id, message_id)
        assert message is not None, "the operator's message is stored in this transaction"
        relays.to_user(sql, c, contact, operator_id, message, occasion.at)
        aftermath.chats.add(contact.chat_id)


def _shows_on_card(c: Conversation) -> tuple[object, ...]:
    holder = (c.holder.operator_id, c.holder.since) if c.holder else None
    return c.state, c.epoch, holder, c.requested_at, c.blocked
