"""/translate: who reads whose words in which language, and whether the user agreed to it."""

from bot.core.languages import Language, language_of, words_of
from bot.core.notices import Notice
from bot.core.states import Conversation, State
from bot.desk import assignments, interpreting
from bot.desk.acting import Acting, holder_of, place_of
from bot.desk.assignments import Assignment, Source, Task
from bot.desk.places import Place
from bot.store import conversations, copies, messages, translations
from bot.store.copies import MessageRef
from bot.store.messages import StoredMessage
from bot.store.translations import Consent, Interpreting
from bot.telegram.presses import MayTranslate
from bot.visit import Visit

USAGE = "/translate fa en"


class Translating:
    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    def translate(self, visit: Visit, argument: str) -> None:
        """/translate: on or off; as a reply: a view of that one message."""
        held = self._acting.held(visit)
        if held is not None:
            self.translate_for(visit, held, place_of(visit), argument)

    def translate_for(self, visit: Visit, c: Conversation, place: Place, argument: str) -> None:
        """The same for a conversation that is locked and that the visitor holds."""
        self._acting.keep_lease(visit, c)
        words = words_of(argument)
        if visit.reply_to:
            self._one(visit, c, place, words)
        elif words == ("off",) or (not words and translations.active(visit.sql, c.id)):
            translations.turn_off(visit.sql, c.id)
            self._acting.tell(visit, Notice.OP_TRANSLATION_OFF)
            self._acting.record(visit, c, "translate_off")
        else:
            self._turn_on(visit, c, place, words)

    def _turn_on(self, visit: Visit, c: Conversation, place: Place, words: tuple[str, ...]) -> None:
        user = self._acting.contact(visit, c.id)
        theirs = self._language(visit, words[0] if words else user.language)
        ours = self._language(visit, words[1] if len(words) > 1 else place.language)
        if theirs is None or ours is None:
            return
        if theirs == ours or len(words) > 2:
            self._acting.tell(visit, Notice.USAGE, usage=USAGE)
            return
        pair = translations.turn_on(
            visit.sql, c.id, theirs.code, ours.code, visit.user_id, visit.at
        )
        asks = pair.consent is not Consent.GIVEN
        told = Notice.OP_TRANSLATION_ASKED if asks else Notice.OP_TRANSLATION_ON
        names = {"theirs": theirs.label, "ours": ours.label, "name": user.user_name}
        self._acting.tell(visit, told, c.id, **names)
        self._acting.record(visit, c, "translate_on", note=f"{theirs.code}>{ours.code}")
        if asks:
            translations.set_consent(visit.sql, c.id, Consent.ASKED)
            name = holder_of(c).name
            self._acting.tell_contact(visit, user, Notice.TRANSLATION_ASKED, name=name)

    def _one(self, visit: Visit, c: Conversation, place: Place, words: tuple[str, ...]) -> None:
        message = self._meant(visit, c, place)
        if message is None or not interpreting.is_translatable(message.text):
            self._acting.tell(visit, Notice.OP_NOTHING_TO_TRANSLATE)
            return
        pair = translations.of(visit.sql, c.id)
        own = message.author == "human"
        languages = self._pair(visit, c, place, pair, words, own=own)
        if languages is None:
            return
        agreed = pair is not None and pair.consent is Consent.GIVEN
        if not (own or message.consented or agreed):
            self._acting.tell(visit, Notice.OP_TRANSLATION_NOT_ALLOWED)
            return
        view = interpreting.view_of(
            c,
            place,
            message,
            operator_id=visit.user_id,
            source_language=languages[0].code,
            target_language=languages[1].code,
            key=visit.key,
        )
        assignments.put(visit.sql, view, visit.at)
        visit.aftermath.commands = True

    def _pair(
        self,
        visit: Visit,
        c: Conversation,
        place: Place,
        pair: Interpreting | None,
        words: tuple[str, ...],
        *,
        own: bool,
    ) -> tuple[Language, Language] | None:
        """From which language to which: the last word is the target, one before it the source."""
        theirs = pair.user_language if pair else self._acting.contact(visit, c.id).language
        ours = pair.operator_language if pair else place.language
        source, target = (ours, theirs) if own else (theirs, ours)
        found = (
            self._language(visit, words[0] if len(words) > 1 else source),
            self._language(visit, words[-1] if words else target),
        )
        return (found[0], found[1]) if found[0] and found[1] else None

    def _meant(self, visit: Visit, c: Conversation, place: Place) -> StoredMessage | None:
        """The message of this conversation that the operator replied to."""
        own = messages.by_id(visit.sql, place.chat_id, visit.reply_to)
        if own is not None and own.author == "human":
            return own
        original = copies.original_of(visit.sql, MessageRef(place.chat_id, visit.reply_to))
        if original is None or original.chat_id != self._acting.contact(visit, c.id).chat_id:
            return None
        return messages.by_id(visit.sql, original.chat_id, original.message_id)

    def _language(self, visit: Visit, word: str) -> Language | None:
        language = language_of(word)
        if language is None:
            self._acting.tell(visit, Notice.OP_NO_LANGUAGE, language=word[:24])
        return language

    def takes(self, visit: Visit, c: Conversation, said: StoredMessage) -> bool:
        """Whether the holder's words, already on record, are shown in translation before they are
        sent. False: they are to be sent as they are."""
        pair = translations.active(visit.sql, c.id)
        if pair is None or said.kind != "text" or not interpreting.is_translatable(said.text):
            return False
        preview = Assignment(
            id=f"preview:{said.chat_id}:{said.message_id}",
            task=Task.PREVIEW,
            conversation_id=c.id,
            epoch=c.epoch,
            operator_id=visit.user_id,
            place=place_of(visit),
            key=visit.key,
            source=Source(said.chat_id, said.message_id),
            source_language=pair.operator_language,
            target_language=pair.user_language,
        )
        assignments.put(visit.sql, preview, visit.at)
        visit.aftermath.commands = True
        self._acting.keep_lease(visit, c)
        return True

    def edited(self, visit: Visit, conversation_id: str, said: StoredMessage) -> None:
        """The user changed what they wrote: the holder gets a view of the new words."""
        known = conversations.peek(visit.sql, conversation_id)
        if said.author != "user" or known is None or known[0].state is not State.HUMAN_ACTIVE:
            return
        place = self._acting.place(visit, known[0])
        if interpreting.want_views(visit.sql, known[0], place, [said], visit.at):
            visit.aftermath.commands = True

    def answered(self, visit: Visit, press: MayTranslate) -> bool:
        """The user says whether their words may be translated. False: nobody asks any more."""
        name = visit.contact.conversation_id
        loaded = conversations.load(visit.sql, name)
        pair = translations.active(visit.sql, name)
        if loaded is None or pair is None or pair.consent is Consent.NONE:
            return False
        consent = Consent.GIVEN if press.allowed else Consent.REFUSED
        if translations.set_consent(visit.sql, name, consent):
            told = Notice.TRANSLATION_ALLOWED if press.allowed else Notice.TRANSLATION_REFUSED
            self._acting.tell_contact(visit, visit.contact, told)
            if loaded[0].state is State.HUMAN_ACTIVE:
                self._pass_on_the_answer(visit, loaded[0], pair, allowed=press.allowed)
        return True

    def _pass_on_the_answer(
        self, visit: Visit, c: Conversation, pair: Interpreting, *, allowed: bool
    ) -> None:
        told = Notice.OP_TRANSLATION_ALLOWED if allowed else Notice.OP_TRANSLATION_REFUSED
        self._acting.tell_holder(visit, c, told, name=visit.contact.user_name)
        if not allowed:
            return
        # What came in meanwhile was shown as written only.
        since = holder_of(c).since
        latest = messages.latest(visit.sql, c.id, 4 * interpreting.MOST_CAUGHT_UP)
        said = [m for m in latest if m.author == "user" and m.version and m.at >= since]
        newest = said[-interpreting.MOST_CAUGHT_UP :]
        wanted = interpreting.want_views(
            visit.sql, c, self._acting.place(visit, c), newest, visit.at
        )
        visit.aftermath.commands = visit.aftermath.commands or wanted
