"""Telegram updates become steps of conversations, in the transaction that stores them.

Rule 1: an update is committed under its update_id before it is confirmed to Telegram.
Rule 2: the same update_id, or the same (chat, message_id) under another one, changes nothing.
Rule 3: an update that cannot be handled is parked with its content, and the others go on.
Rule 4: whoever presses a button is checked exactly like whoever writes.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from logging import DEBUG
from typing import Any, assert_never

import structlog
import telegram

from bot.access import Access
from bot.commands import Commands
from bot.coordinator import Coordinator
from bot.core.events import (
    DeliveryConfirmed,
    DeliveryDisproved,
    Event,
    HumanMessaged,
    UserBlockedBot,
    UserCancelled,
    UserEdited,
    UserMessaged,
    UserOptedIn,
    UserRequestedHuman,
)
from bot.core.notices import Notice
from bot.core.reducer import Outcome
from bot.core.states import AI_STATES, State
from bot.desk import relays, topics
from bot.desk.acting import holds
from bot.desk.aid import Aid, Answer
from bot.desk.translating import Translating
from bot.errors import DabirError, StoreUnavailable
from bot.forgetting import Forgetter
from bot.scribe import Aftermath
from bot.store import conversations, copies, inbox, messages, meta, outbox
from bot.store.conversations import Contact
from bot.store.copies import MessageRef
from bot.store.inbox import Taken
from bot.store.port import Sql
from bot.telegram.incoming import (
    UNREADABLE,
    Incoming,
    IncomingBlock,
    IncomingMessage,
    IncomingOther,
    IncomingPress,
    IncomingReaction,
    IncomingStanding,
    TopicChange,
)
from bot.telegram.parsing import parse
from bot.telegram.parts import entities_to_json
from bot.telegram.port import Messenger, Part
from bot.telegram.presses import (
    Arrived,
    Cancel,
    Claim,
    DeskPress,
    Forget,
    Human,
    Keep,
    MayTranslate,
    Missing,
    Press,
    Start,
    SuggestionPress,
    Unrequest,
    parse_press,
)
from bot.telegram.texts import language_for, phrase
from bot.visit import Visit

log = structlog.get_logger(__name__)

CLOSE_SECONDS = 1.0
_EXPIRED = Notice.BUTTON_EXPIRED
UPDATE_KINDS = (
    "message",
    "edited_message",
    "message_reaction",
    "callback_query",
    "my_chat_member",
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An update, read; `raw` writes it out in full, in case it cannot be handled."""

    incoming: Incoming
    raw: Callable[[], str]


@dataclass(slots=True)
class _Answers:
    """Answers to presses, given once the transaction is committed: best effort."""

    presses: list[tuple[str, str]] = field(default_factory=list)
    edits: list[tuple[int, int, Part]] = field(default_factory=list)


class Inbound:
    def __init__(
        self,
        *,
        coordinator: Coordinator,
        commands: Commands,
        aid: Aid,
        translating: Translating,
        access: Access,
        forgetter: Forgetter,
        messenger: Messenger,
        clock: Callable[[], float],
        bot_username: str,
        language: str,
        human_lease_seconds: float,
        welcome_owner: Callable[[int], Coroutine[Any, Any, None]],
    ) -> None:
        self._coordinator = coordinator
        self._commands = commands
        self._aid = aid
        self._translating = translating
        self._access = access
        self._forgetter = forgetter
        self._messenger = messenger
        self._welcome_owner = welcome_owner
        self._clock = clock
        self._bot_username = bot_username
        self._language = language
        self._human_lease_seconds = human_lease_seconds
        self._answering: set[asyncio.Task[None]] = set()

    async def accept(self, updates: Sequence[telegram.Update]) -> None:
        """Take updates, in order, in one transaction. Once this returns they may be confirmed."""
        await self.take(
            [Arrival(parse(each, self._bot_username), partial(_raw, each)) for each in updates]
        )

    async def take(self, arrivals: Sequence[Arrival]) -> None:
        """The same with updates that were read already."""
        owners = {each.incoming.update_id for each in arrivals if self._proves_owner(each.incoming)}
        at = self._clock()

        def take(sql: Sql, aftermath: Aftermath) -> _Answers:
            answers = _Answers()
            for arrival in arrivals:
                if inbox.add(sql, arrival.incoming.update_id, at):
                    owner = arrival.incoming.update_id in owners
                    self._take(sql, aftermath, answers, arrival, at, owner=owner)
            return answers

        answers = await self._coordinator.transact(take)
        for callback_id, text in answers.presses:
            self._afterwards(self._messenger.answer_press(callback_id, text))
        for chat_id, message_id, part in answers.edits:
            self._afterwards(self._show(chat_id, message_id, part))
        for each in (arrival.incoming for arrival in arrivals):
            if isinstance(each, IncomingMessage) and each.update_id in owners:
                self._afterwards(self._welcome_owner(each.user_id))

    async def _show(self, chat_id: int, message_id: int, part: Part) -> None:
        """Let a message say what became of it; its buttons answer that as well."""
        with suppress(DabirError):
            await self._messenger.edit(chat_id, message_id, part)

    def _afterwards(self, work: Coroutine[Any, Any, None]) -> None:
        """What is decided already and only has to be told: best effort, nobody waits for it."""
        task = asyncio.create_task(work)
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def close(self) -> None:
        """Let what is being told go, but wait for no dead network."""
        answering = set(self._answering)
        if answering:
            await asyncio.wait(answering, timeout=CLOSE_SECONDS)
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)

    def _proves_owner(self, incoming: Incoming) -> bool:
        if not isinstance(incoming, IncomingMessage) or incoming.command != "start":
            return False
        private = incoming.chat_type == "private" and not incoming.is_edit
        return private and bool(incoming.argument) and self._access.redeem(incoming.argument)

    def _take(
        self,
        sql: Sql,
        aftermath: Aftermath,
        answers: _Answers,
        arrival: Arrival,
        at: float,
        *,
        owner: bool,
    ) -> None:
        incoming = arrival.incoming

        def take(inner: Sql) -> Taken:
            match incoming:
                case IncomingMessage():
                    return self._message(inner, aftermath, incoming, at, owner=owner)
                case IncomingPress():
                    return self._press(inner, aftermath, answers, incoming, at)
                case IncomingBlock():
                    return self._block(inner, aftermath, incoming, at)
                case IncomingReaction():
                    return self._reaction(inner, aftermath, incoming, at)
                case IncomingStanding():
                    return Taken.IGNORED
                case IncomingOther(what=what):
                    return Taken.PARKED if what == UNREADABLE else Taken.IGNORED
                case _:
                    assert_never(incoming)

        try:
            outcome = sql.attempt(take)
        except StoreUnavailable:
            raise  # the database's trouble is not the update's
        except Exception as error:
            inbox.mark(sql, incoming.update_id, Taken.PARKED, arrival.raw())
            log.error(
                "update_parked",
                update_id=incoming.update_id,
                cause=type(error).__name__,
                exc_info=log.is_enabled_for(DEBUG),
            )
            return
        if outcome is Taken.PARKED:
            inbox.mark(sql, incoming.update_id, outcome, arrival.raw())
        elif outcome is Taken.IGNORED:
            inbox.mark(sql, incoming.update_id, outcome)

    # --- messages ---------------------------------------------------------------------------------

    def _message(
        self, sql: Sql, aftermath: Aftermath, message: IncomingMessage, at: float, *, owner: bool
    ) -> Taken:
        if message.chat_type != "private":
            return self._group_message(sql, message, at)
        if message.user_id == 0 or message.kind == "service":
            return Taken.IGNORED
        visit = self._visit(sql, aftermath, message, at)
        if owner:
            meta.set_owner(sql, message.user_id)
        if not self._access.admits(sql, message.user_id):
            if not message.is_edit:
                self._access.turn_away(visit)
            return Taken.IGNORED
        if message.is_edit:
            return self._edit(visit, message)
        if messages.seen(sql, message.chat_id, message.message_id):
            return Taken.IGNORED
        conversations.ensure(sql, visit.contact)
        outbox.know_id(sql, message.chat_id, message.message_id)
        if owner:
            self._commands.tell(visit, Notice.OWNER_LEARNT)
        if message.command and self._command(visit, message):
            return Taken.TAKEN
        held = conversations.held_by(sql, message.user_id)
        if held:
            self._from_operator(visit, message, held[0])
        else:
            self._from_user(visit, message)
        return Taken.TAKEN

    def _group_message(self, sql: Sql, message: IncomingMessage, at: float) -> Taken:
        outbox.know_id(sql, message.chat_id, message.message_id)
        event = message.topic_event
        if event is not None and event.change is TopicChange.CREATED and message.from_us:
            topics.created(sql, message.chat_id, message.thread_id, event.name, at)
        return Taken.IGNORED

    def _visit(
        self,
        sql: Sql,
        aftermath: Aftermath,
        source: IncomingMessage | IncomingPress,
        at: float,
    ) -> Visit:
        contact = Contact(
            conversations.conversation_id(source.chat_id),
            source.chat_id,
            source.user_name,
            language_for(source.language_code, self._language),
        )
        key = f"update:{source.update_id}"
        reply_to = source.reply_to if isinstance(source, IncomingMessage) else 0
        return Visit(sql, aftermath, at, source.user_id, contact, key, reply_to)

    def _edit(self, visit: Visit, message: IncomingMessage) -> Taken:
        """An edit changes the text on record; it never runs a command."""
        where = (message.chat_id, message.message_id)
        marks = entities_to_json(message.entities)
        edited = messages.edit(visit.sql, *where, message.text, message.kind, marks)
        stored = messages.by_id(visit.sql, *where) if edited else None
        if edited is None or stored is None:
            return Taken.IGNORED
        conversation_id, version = edited
        if stored.author == "human" and conversation_id not in conversations.held_by(
            visit.sql, visit.user_id
        ):  # what they said remains as it was said
            return Taken.IGNORED
        visit.aftermath.chats |= relays.edit(
            visit.sql, conversation_id, stored, key=visit.key, at=visit.at
        )
        self._translating.edited(visit, conversation_id, stored)
        if version:
            self._step(visit, UserEdited(visit.at, version), conversation_id)
        return Taken.TAKEN

    def _reaction(
        self, sql: Sql, aftermath: Aftermath, reaction: IncomingReaction, at: float
    ) -> Taken:
        """In a private chat: the user's, or an operator's to what they were shown."""
        seen = MessageRef(reaction.chat_id, reaction.message_id)
        private = reaction.chat_type == "private" and reaction.user_id == reaction.chat_id
        conversation_id = copies.conversation_of(sql, seen) if private else ""
        if not conversation_id or (reaction.odd and not reaction.emoji):
            return Taken.IGNORED
        own = conversations.conversation_id(reaction.user_id) == conversation_id
        held = conversations.held_by(sql, reaction.user_id)
        if not own and conversation_id not in held:
            return Taken.IGNORED
        chats = relays.react(
            sql,
            conversation_id,
            seen,
            reaction.emoji,
            user_id=reaction.user_id,
            key=f"update:{reaction.update_id}",
            at=at,
        )
        aftermath.chats |= chats
        return Taken.TAKEN if chats else Taken.IGNORED

    def _command(self, visit: Visit, message: IncomingMessage) -> bool:
        """Run a command. False: a person is listening, and an unknown one is meant for them."""
        loaded = conversations.load(visit.sql, visit.contact.conversation_id)
        assert loaded is not None
        listening = loaded[0].state in {State.HANDOFF_PENDING, State.HUMAN_ACTIVE}
        if not self._commands.knows(message.command) and listening:
            return False
        self._store(visit, message, version=0, consented=False, kind="command")
        if self._commands.knows(message.command):
            self._commands.run(visit, message.command, message.argument)
        else:
            self._commands.tell(visit, Notice.UNKNOWN_COMMAND, command=message.command)
        return True

    def _from_user(self, visit: Visit, message: IncomingMessage) -> None:
        loaded = conversations.load(visit.sql, visit.contact.conversation_id)
        assert loaded is not None
        conversation = loaded[0]
        consented = conversation.state in AI_STATES
        self._store(
            visit,
            message,
            version=conversation.version + 1,
            consented=consented,
            kind=message.kind,
        )
        readable = message.kind != "empty" and bool(message.text.strip())
        self._step(visit, UserMessaged(visit.at, readable, message.kind))

    def _from_operator(self, visit: Visit, message: IncomingMessage, held: str) -> None:
        """What an operator writes goes to the conversation that they hold."""
        stored = messages.StoredMessage(
            author="human",
            kind=message.kind,
            text=message.text,
            detail=message.detail,
            at=visit.at,
            version=0,
            turn_id="",
            chat_id=message.chat_id,
            message_id=message.message_id,
            consented=False,
            visible=True,
            reply_to=message.reply_to,
            media_group=message.media_group_id,
            entities=entities_to_json(message.entities),
        )
        loaded = conversations.load(visit.sql, held)
        if loaded is None or not holds(loaded[0], visit.user_id):  # lost a moment ago
            self._commands.tell(visit, Notice.OP_NOTHING_HELD)
            return
        messages.add(visit.sql, held, stored)
        self._aid.replied(visit, loaded[0], message.chat_id)
        if self._translating.takes(visit, loaded[0], stored):
            return
        until = visit.at + self._human_lease_seconds
        said = HumanMessaged(visit.at, visit.user_id, message.message_id, until)
        self._step(visit, said, held)

    def _store(
        self, visit: Visit, message: IncomingMessage, *, version: int, consented: bool, kind: str
    ) -> None:
        stored = messages.StoredMessage(
            author="user",
            kind=kind,
            text=message.text,
            detail=message.detail,
            at=visit.at,
            version=version,
            turn_id="",
            chat_id=message.chat_id,
            message_id=message.message_id,
            consented=consented,
            visible=True,
            reply_to=message.reply_to,
            media_group=message.media_group_id,
            entities=entities_to_json(message.entities),
        )
        messages.add(visit.sql, visit.contact.conversation_id, stored)

    # --- buttons ----------------------------------------------------------------------------------

    def _press(
        self,
        sql: Sql,
        aftermath: Aftermath,
        answers: _Answers,
        press: IncomingPress,
        at: float,
    ) -> Taken:
        visit = self._visit(sql, aftermath, press, at)
        language = visit.contact.language
        private = press.chat_type == "private" and press.chat_id == press.user_id
        if not private or not self._access.admits(sql, press.user_id):
            refusal = phrase(Notice.STRANGER if private else Notice.BUTTON_EXPIRED, language)
            answers.presses.append((press.callback_id, refusal.text))
            return Taken.IGNORED
        conversations.ensure(sql, visit.contact)
        wanted = parse_press(press.data)
        answer = self._pressed(visit, wanted, press.message_id) if wanted else Answer(_EXPIRED)
        text = phrase(answer.notice, language).text if answer.notice else ""
        if answer.shown is not None:
            answers.edits.append((press.chat_id, press.message_id, answer.shown))
        answers.presses.append((press.callback_id, text))
        return Taken.TAKEN

    def _pressed(self, visit: Visit, press: Press, message_id: int) -> Answer:
        """Carry out a press, or say why not."""
        if isinstance(press, SuggestionPress):
            if not self._access.is_operator(visit.sql, visit.user_id):
                return Answer(_EXPIRED)
            return self._aid.pressed(visit, press, message_id)
        return Answer(None if self._applied(visit, press) else _EXPIRED)

    def _applied(self, visit: Visit, press: Press) -> bool:
        """Carry out a press; False if its time is over."""
        match press:
            case SuggestionPress():
                return False
            case MayTranslate():
                return self._translating.answered(visit, press)
            case Start():
                return self._step(visit, UserOptedIn(visit.at))
            case Human():
                return self._step(visit, UserRequestedHuman(visit.at))
            case Cancel(turn_id):
                return self._step(visit, UserCancelled(visit.at, turn_id))
            case Unrequest():
                waiting = self._state(visit) is State.HANDOFF_PENDING
                return waiting and self._step(visit, UserCancelled(visit.at))
            case Claim(conversation):
                if not self._access.is_operator(visit.sql, visit.user_id):
                    return False
                self._commands.claim(visit, conversation)
                return True
            case DeskPress():
                return False
            case Arrived(turn_id) | Missing(turn_id):
                return self._testimony(visit, turn_id, arrived=isinstance(press, Arrived))
            case Forget(token):
                return self._forgetter.confirm(visit, token)
            case Keep(token):
                return self._forgetter.keep(visit, token)

    def _testimony(self, visit: Visit, turn_id: str, *, arrived: bool) -> bool:
        """The user says whether a doubtful message arrived; nobody else could know."""
        loaded = conversations.load(visit.sql, visit.contact.conversation_id)
        if loaded is None or loaded[0].state is not State.DELIVERY_UNKNOWN:
            return False
        conversation = loaded[0]
        if conversation.turn is None or conversation.turn.id != turn_id:
            return False
        tally = outbox.tally(visit.sql, conversation.id, turn_id)
        if tally.on_wire:  # it is still being found out
            return False
        epoch = conversation.epoch
        if not arrived:
            return self._step(visit, DeliveryDisproved(visit.at, epoch, turn_id))
        outbox.accept_word(visit.sql, conversation.id, turn_id, visit.at)
        more = outbox.tally(visit.sql, conversation.id, turn_id).lost > 0
        return self._step(visit, DeliveryConfirmed(visit.at, epoch, turn_id, more))

    def _state(self, visit: Visit) -> State:
        loaded = conversations.load(visit.sql, visit.contact.conversation_id)
        assert loaded is not None
        return loaded[0].state

    def _step(self, visit: Visit, event: Event, conversation_id: str = "") -> bool:
        where = conversation_id or visit.contact.conversation_id
        step = self._coordinator.step(visit.sql, where, event, visit.aftermath)
        return step is not None and step.outcome is Outcome.APPLIED

    # --- the rest ---------------------------------------------------------------------------------

    def _block(self, sql: Sql, aftermath: Aftermath, block: IncomingBlock, at: float) -> Taken:
        if not block.blocked:
            return Taken.IGNORED
        where = conversations.conversation_id(block.chat_id)
        step = self._coordinator.step(sql, where, UserBlockedBot(at), aftermath)
        return Taken.TAKEN if step else Taken.IGNORED


def _raw(update: telegram.Update) -> str:
    return json.dumps(update.to_dict(), default=str)
