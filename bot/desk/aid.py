"""The AI as the operator's help: /draft, /summary, and what becomes of a suggestion.

Rule 1: what the model writes here goes to operators only. Whatever reaches the user is sent by the
        holder, in their name, by an act of theirs; nothing here changes who holds authority.
Rule 2: a suggestion carries the epoch it was made in and leaves `open` once: of two presses one
        counts, and one of an earlier stretch is refused with a sentence.
Rule 3: everything is decided under the row lock of the conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.notices import Notice
from bot.core.states import Conversation
from bot.desk import assignments
from bot.desk.acting import Acting, holder_of, holds, place_of
from bot.desk.assignments import Assignment, Task
from bot.desk.places import Place
from bot.store import conversations, messages, suggestions
from bot.store.messages import StoredMessage
from bot.store.suggestions import Kind, Status, Suggestion
from bot.telegram.port import Part
from bot.telegram.presses import SuggestionAction, SuggestionPress
from bot.telegram.texts import phrase
from bot.visit import Visit

DRAFTED = "drafted"  # `detail` of a person's message: the AI drafted what they sent
OVER: Mapping[Status, Notice] = {
    Status.SENT: Notice.OP_ALREADY_SENT,
    Status.WRITTEN: Notice.OP_ALREADY_SENT,
    Status.REPLACED: Notice.OP_ALREADY_SENT,
    Status.DISCARDED: Notice.OP_DISCARDED_BEFORE,
    Status.STALE: Notice.OP_SUGGESTION_STALE,
}
CLOSED: Mapping[Status, Notice] = {
    Status.SENT: Notice.OP_SUGGESTION_SENT,
    Status.WRITTEN: Notice.OP_SUGGESTION_SENT,
    Status.DISCARDED: Notice.OP_SUGGESTION_DISCARDED,
    Status.STALE: Notice.OP_SUGGESTION_OUTDATED,
}
CLOSES: Mapping[SuggestionAction, Status] = {
    SuggestionAction.SEND: Status.SENT,
    SuggestionAction.AS_WRITTEN: Status.WRITTEN,
    SuggestionAction.DISCARD: Status.DISCARDED,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a press leads to on the screen of whoever pressed."""

    notice: Notice | None = None  # said in answer to the press: why nothing was done
    shown: Part | None = None  # what the message with the button says from now on


class Aid:
    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    def draft(self, visit: Visit, argument: str) -> None:
        """/draft: an answer that the holder may send."""
        held = self._acting.held(visit)
        if held is not None:
            self.draft_for(visit, held, place_of(visit))

    def draft_for(self, visit: Visit, c: Conversation, place: Place) -> None:
        """The same for a conversation that is locked, shown in `place`."""
        if not holds(c, visit.user_id):
            self._acting.tell(visit, Notice.OP_NOT_YOURS)
            return
        self._assign(visit, c, place, Task.DRAFT)
        self._acting.keep_lease(visit, c)
        self._acting.record(visit, c, "draft")

    def summary(self, visit: Visit, argument: str) -> None:
        """/summary: what the user let the AI read; of any conversation by its id."""
        named = argument.split()[0] if argument else ""
        if not named:
            held = self._acting.held(visit)
            if held is not None:
                self.summary_for(visit, held, place_of(visit))
            return
        name = f"tg:{named}" if named.lstrip("-").isdecimal() else named[:64]
        loaded = conversations.load(visit.sql, name)
        if loaded is None:
            self._acting.tell(visit, Notice.OP_NO_SUCH, conversation=name)
        else:
            self.summary_for(visit, loaded[0], place_of(visit))

    def summary_for(self, visit: Visit, c: Conversation, place: Place) -> None:
        self._assign(visit, c, place, Task.SUMMARY)
        if holds(c, visit.user_id):
            self._acting.keep_lease(visit, c)
        self._acting.record(visit, c, "summary")

    def _assign(self, visit: Visit, c: Conversation, place: Place, task: Task) -> None:
        name = f"{task}:{c.id}:{visit.key}"
        assignment = Assignment(name, task, c.id, c.epoch, visit.user_id, place, visit.key)
        assignments.put(visit.sql, assignment, visit.at)
        visit.aftermath.commands = True

    # --- suggestions --------------------------------------------------------------------------

    def replied(self, visit: Visit, c: Conversation, chat_id: int) -> None:
        """The holder's words, if they answer a suggestion, take its place."""
        if not visit.reply_to:
            return
        answered = suggestions.shown_at(visit.sql, chat_id, visit.reply_to)
        if answered is not None and answered.conversation_id == c.id:
            status = Status.REPLACED if answered.epoch == c.epoch else Status.STALE
            if suggestions.settle(visit.sql, answered.id, status):
                self._acting.record(visit, c, f"{answered.kind}_{status}")

    def pressed(self, visit: Visit, press: SuggestionPress, message_id: int) -> Answer:
        """Send or discard a suggestion, if it is the presser's to send and its time is not over.

        `message_id` is that of the message with the button, in the chat where it was pressed.
        """
        found = suggestions.find(visit.sql, press.suggestion)
        loaded = conversations.load(visit.sql, found.conversation_id) if found else None
        # Read again under the lock of the conversation: it may have been closed meanwhile.
        suggestion = suggestions.find(visit.sql, press.suggestion)
        if suggestion is None or loaded is None:
            return Answer(Notice.BUTTON_EXPIRED)
        c = loaded[0]
        if suggestion.status is not Status.OPEN:
            return Answer(OVER[suggestion.status])
        if c.epoch != suggestion.epoch:
            suggestions.settle(visit.sql, suggestion.id, Status.STALE)
            self._acting.record(visit, c, f"{suggestion.kind}_stale", outcome="refused")
            shown = self._shown(visit, suggestion, Status.STALE)
            return Answer(Notice.OP_SUGGESTION_STALE, shown)
        if not holds(c, visit.user_id):
            return Answer(Notice.OP_NOT_YOURS)
        if not _offers(suggestion, press.action):
            return Answer(Notice.BUTTON_EXPIRED)
        return self._carry_out(visit, c, suggestion, CLOSES[press.action], message_id)

    def _carry_out(
        self, visit: Visit, c: Conversation, suggestion: Suggestion, status: Status, shown_id: int
    ) -> Answer:
        if not suggestions.settle(visit.sql, suggestion.id, status):
            return Answer(Notice.OP_ALREADY_SENT)
        self._acting.record(visit, c, f"{suggestion.kind}_{status}", note=suggestion.id)
        if status is Status.DISCARDED:
            self._acting.keep_lease(visit, c)
        elif suggestion.kind is Kind.DRAFT:
            messages.add(visit.sql, c.id, _sent_by_person(visit, suggestion, shown_id))
            self._acting.speak(visit, c, shown_id)
        else:
            self._acting.speak(visit, c, suggestion.source_id)
        return Answer(shown=self._shown(visit, suggestion, status, holder_of(c).name))

    def _shown(self, visit: Visit, suggestion: Suggestion, status: Status, name: str = "") -> Part:
        said = suggestion.source if status is Status.WRITTEN else suggestion.text
        values = {"lines": said or suggestion.source, "name": name}
        return phrase(CLOSED[status], visit.contact.language, values)


def _offers(suggestion: Suggestion, action: SuggestionAction) -> bool:
    """Whether the suggestion has this button at all: its data may be forged."""
    match action:
        case SuggestionAction.SEND:
            return bool(suggestion.text)
        case SuggestionAction.AS_WRITTEN:
            return suggestion.kind is Kind.TRANSLATION
    return True


def _sent_by_person(visit: Visit, suggestion: Suggestion, shown_id: int) -> StoredMessage:
    """The author is the human who sent it; `detail` keeps that it was drafted."""
    return StoredMessage(
        author="human",
        kind="text",
        text=suggestion.text,
        detail=DRAFTED,
        at=visit.at,
        version=0,
        turn_id="",
        chat_id=suggestion.chat_id,
        message_id=shown_id,
        consented=False,
        visible=True,
    )
