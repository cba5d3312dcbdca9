"""What the bot says by itself, in English. Translations: locales/<language>/LC_MESSAGES/dabir.po.

`N_` marks a sentence for the catalogues and changes nothing. After a change here, as a developer:

    pybabel extract -k N_ --no-location --omit-header -o dabir.pot bot/telegram
    pybabel update -D dabir -i dabir.pot -d bot/telegram/locales --no-fuzzy-matching
    pybabel compile -D dabir -d bot/telegram/locales
"""

from collections.abc import Mapping

from bot.core.notices import Notice
from bot.core.states import State
from bot.errors import ModelFailure


def N_(sentence: str) -> str:
    return sentence


# Buttons
START = N_("Start the AI assistant")
PERSON = N_("Talk to a person")
CANCEL = N_("Cancel")
UNREQUEST = N_("Cancel the request")
TAKE = N_("Take")
ARRIVED = N_("It arrived")
MISSING = N_("It did not")
SEND = N_("Send")
AS_WRITTEN = N_("Send as written")
DISCARD = N_("Discard")
ALLOW_TRANSLATION = N_("Allow translation")
REFUSE_TRANSLATION = N_("No, thank you")
DESTROY = N_("Destroy everything")
KEEP = N_("Keep everything")

# Added where a place in the queue is known
FIRST_IN_QUEUE = N_("You are first in the queue.")
PLACE_IN_QUEUE = N_("You are number {place} in the queue.")

NO_ANSWER = N_("I have no good answer to that.")

NOTICES: Mapping[Notice, str] = {
    Notice.CONSENT: N_(
        "Hello! I can pass your message to an AI assistant, or to a person. Nobody has read it"
        " yet.\n\nIf you start the assistant, it reads your messages from here on, and those above"
        " that are still unanswered. You can stop it at any time with /stop_ai.\n\nPlease choose:"
    ),
    Notice.CONSENT_AGAIN: N_(
        "The AI assistant is off, so nobody answers at the moment. Whom would you like to talk to?"
    ),
    Notice.AI_ON: N_(
        "The AI assistant is on. Just write what you need.\n/stop_ai turns it off, /human brings a"
        " person."
    ),
    Notice.AI_OFF: N_(
        "The AI assistant is off and reads nothing any more. You can start it again or talk to a"
        " person:"
    ),
    Notice.HANDOFF_REQUESTED: N_(
        "You asked for a person; it is on record. Somebody will answer you here. The AI assistant"
        " stays silent meanwhile."
    ),
    Notice.HANDOFF_WAITING: N_(
        "Your request for a person is still on record, and your message is kept for them."
    ),
    Notice.HANDOFF_CANCELLED: N_(
        "Your request for a person is withdrawn. What would you like instead?"
    ),
    Notice.HUMAN_JOINED: N_(
        "{name} is here now and answers you personally. The AI assistant stays silent."
    ),
    Notice.HUMAN_CHANGED: N_("{name} has taken over and answers you from now on."),
    Notice.HUMAN_LEFT: N_(
        "{name} has left the conversation. The AI assistant does not come back by itself; you"
        " choose:"
    ),
    Notice.HUMAN_GONE: N_(
        "It looks as if the person you were talking to is away. You are back in the queue, and"
        " somebody will answer you here."
    ),
    Notice.ALREADY_HUMAN: N_(
        "You are talking to {name} already. Just write, and they will read it."
    ),
    Notice.ENDED: N_(
        "This conversation is closed. Write again whenever you like, and we start anew."
    ),
    Notice.STATUS: N_("I am working on it…"),
    Notice.CANCELLED: N_("Stopped. No answer will come to that."),
    Notice.NOTHING_TO_CANCEL: N_("There is nothing to cancel at the moment."),
    Notice.NEW_STARTED: N_(
        "A new start: the assistant does not see any more what was said before. What can I do for"
        " you?"
    ),
    Notice.HEALTH_DEGRADED: N_(
        "The AI assistant has trouble at the moment and is off for now. You can talk to a person,"
        " or start it again later:"
    ),
    Notice.NO_ANSWER: N_("You can put it another way, or talk to a person:"),
    Notice.NO_ANSWER_HANDOFF: N_(
        "I have passed our conversation to a person, who will answer you here."
    ),
    Notice.POLICY_HANDOFF: N_(
        "This is something for a person. I have passed it on; somebody will answer you here."
    ),
    Notice.CHECKING_DELIVERY: N_("I am checking whether my last message reached you…"),
    Notice.DID_IT_ARRIVE: N_(
        "The connection broke while I was answering. Did you get my answer to your last message?"
    ),
    Notice.DELIVERY_HANDOFF: N_(
        "I could not find out whether my last message reached you, so I have passed our"
        " conversation to a person, who will answer you here."
    ),
    Notice.DELIVERY_FAILED: N_(
        "I had an answer, but Telegram did not accept it. Please ask again in other words, or talk"
        " to a person:"
    ),
    Notice.NOT_PASSED_ON: N_(
        "I could not pass {thing} on. Please send it in another way, or say it in words."
    ),
    Notice.STRANGER: N_("Hello! This bot is private, so I cannot help you here. I am sorry."),
    Notice.BUTTON_EXPIRED: N_("This button is no longer in use."),
    Notice.UNKNOWN_COMMAND: N_("I do not know {command}. /help shows what I can do."),
    Notice.USAGE: N_("Please write it like this: {usage}"),
    Notice.HELP: N_(
        "Just write to me as you would to a person; several messages in a row are fine.\n\n/start –"
        " choose between the AI assistant and a person\n/human – talk to a person\n/stop_ai – turn"
        " the assistant off\n/cancel – stop the answer I am working on\n/new – start a new"
        " topic\n/remember – keep a note, as in: /remember I am vegetarian\n/memory – what I"
        " remember; /memory find words searches it\n/why – what my last answer rests on"
        "\n/tasks – your open tasks\n/done – tick a task"
        " off\n/export – my memory of you as a file\n/temporary – chat without leaving a line in my"
        " memory\n/forget_me – destroy everything about you\n/privacy – what happens to"
        " your messages\n/end – close the conversation"
    ),
    Notice.PRIVACY: N_(
        "Your messages and the answers are kept on the computer of whoever runs this bot.\n\nThe AI"
        " assistant sees nothing until you start it. Then your messages go to the language model"
        " that the host has chosen, so that it can answer.\n\nWhat you and a person write to each"
        " other is not shown to the assistant. A language model reads it only if you allow it to be"
        " translated.\n\n/stop_ai turns the assistant off; /new keeps what"
        " was said before from it; /memory shows what it remembers, /export gives you all of it,"
        " and /forget_me destroys it."
    ),
    Notice.OWNER_LEARNT: N_(
        "Welcome! This bot is yours now: you are its owner. Write something to try it; /help shows"
        " what else there is."
    ),
    Notice.MEMORY_EMPTY: N_("I do not remember anything yet. /remember keeps a note."),
    Notice.MEMORY_UNREADABLE: N_(
        "I cannot read my memory at the moment. Nothing is lost; please try again in a minute."
    ),
    Notice.MEMORY_SHOWN: N_("This is what I remember:\n{lines}"),
    Notice.MEMORY_FOUND: N_("This is what I keep about “{words}”:\n{lines}"),
    Notice.MEMORY_NOT_FOUND: N_("I keep nothing about “{words}”."),
    Notice.WHY_SHOWN: N_("For my last answer I was shown these lines of my memory:\n{lines}"),
    Notice.WHY_NO_LINES: N_(
        "My last answer used nothing from my memory, only what we wrote and what the model knows."
    ),
    Notice.WHY_NO_ANSWER: N_("There is no answer yet that I could explain."),
    Notice.TASKS_EMPTY: N_("You have no open tasks."),
    Notice.TASKS_SHOWN: N_("Your open tasks:\n{lines}"),
    Notice.TASK_DONE: N_("Done: {task}"),
    Notice.NO_SUCH_TASK: N_("I find no open task “{task}”. /tasks shows them all."),
    Notice.REMEMBERED: N_("I will remember: {text}"),
    Notice.MEMORY_STATUS: N_("Lines that I keep about you: {count}."),
    Notice.EXPORTED: N_(
        "Here is everything that I remember, as two files with the same content: one for programs"
        " and one for reading. Lines: {count}."
    ),
    Notice.EXPORTED_PARTLY: N_(
        "Here is what I can read of my memory at the moment; some of it is missing. Please try"
        " again later. Lines: {count}."
    ),
    Notice.EXPORT_TOO_LARGE: N_(
        "My memory of you has grown too large for a file in Telegram, so nothing was sent. /memory"
        " find shows the parts that you look for."
    ),
    Notice.TEMPORARY_ON: N_(
        "🕶 Temporary chat: from now on nothing that you or I write becomes part of my memory.\n"
        "/temporary or /end ends it, and what was said in it is taken off the record."
    ),
    Notice.TEMPORARY_OFF: N_(
        "The temporary chat is over. Nothing of it was kept. From now on I remember again."
    ),
    Notice.TEMPORARY_KEEPS_NOTHING: N_(
        "🕶 This is a temporary chat, so I keep nothing. /temporary ends it; then I can note that."
    ),
    Notice.FORGET_ASK: N_(
        "This destroys everything that this bot keeps about you: what I remember, your tasks and"
        " reminders, all our messages on record, and drafts. The key of your memory is destroyed"
        " as well, so that no backup or outside store of it can be read any more. A conversation"
        " under way ends.\n\nIt cannot be undone. /export gives you a copy first. Messages in this"
        " Telegram chat stay until you delete them yourself.\n\nThe buttons work for 10 minutes."
    ),
    Notice.FORGET_UNDER_WAY: N_(
        "I am destroying everything already. You get a receipt here as soon as it is done."
    ),
    Notice.FORGET_KEPT: N_("Everything stays as it is."),
    Notice.FORGOTTEN: N_(
        "It is done. Destroyed: the key of your memory with all its lines ({count}), your tasks and"
        " reminders, the text of our messages ({messages}), and drafts and whatever was made from"
        " them."
    ),
    Notice.OP_REQUESTED: N_("{name} asks for a person.\nConversation {conversation}"),
    Notice.OP_REMINDER: N_(
        "{name} has waited for a person for {minutes} min.\nConversation {conversation}"
    ),
    Notice.OP_POLICY: N_(
        "{name} needs a person, by the rule “{rule}”.\nConversation {conversation}"
    ),
    Notice.OP_MODERATION: N_(
        "{name} needs a person: the assistant's answer could not be checked, so it was not"
        " sent.\nConversation {conversation}"
    ),
    Notice.OP_DELIVERY: N_(
        "{name} needs a person: it is unclear whether the assistant's answer"
        " arrived.\nConversation {conversation}"
    ),
    Notice.OP_WITHDRAWN: N_("{name} no longer asks for a person.\nConversation {conversation}"),
    Notice.OP_CLAIMED: N_(
        "You are talking to {name} now: what you write here goes to them.\n/release gives the"
        " conversation back, /end closes it.\nConversation {conversation}"
    ),
    Notice.OP_TAKEN: N_("{holder} has held the conversation {conversation} since {since}."),
    Notice.OP_RELEASED: N_("You have given the conversation {conversation} back."),
    Notice.OP_LEASE_EXPIRED: N_(
        "Nothing has happened in the conversation with {name} for a while, so it is back in the"
        " queue.\nConversation {conversation}"
    ),
    Notice.OP_ENDED: N_("{name} closed the conversation.\nConversation {conversation}"),
    Notice.OP_BLOCKED: N_(
        "{name} blocked the bot and cannot be reached.\nConversation {conversation}"
    ),
    Notice.OP_NOT_DELIVERED: N_(
        "Your message did not reach the user: {reason}.\nConversation {conversation}"
    ),
    Notice.OP_NOT_RELAYED: N_(
        "{name} sent something that cannot be shown here ({thing}): {reason}. They have been told."
    ),
    Notice.OP_REACTED: N_("{name} reacted with {emoji}."),
    Notice.OP_NOTHING_HELD: N_("You hold no conversation. /queue shows who is waiting."),
    Notice.OP_HOLDS_ANOTHER: N_(
        "You hold the conversation {conversation}. Please /release it first."
    ),
    Notice.OP_NO_SUCH: N_("There is no open conversation {conversation}. /queue shows them."),
    Notice.OP_QUEUE: N_("Waiting for a person:\n{lines}"),
    Notice.OP_QUEUE_EMPTY: N_("Nobody is waiting for a person."),
    Notice.TRANSLATION_ASKED: N_(
        "{name} would like to read you in translation. If you agree, what you write here goes to"
        " the language model, only to be translated; the AI assistant stays silent. Your own words"
        " are always passed on, too."
    ),
    Notice.TRANSLATION_ALLOWED: N_(
        "Thank you. Your messages are passed on as you write them, with a translation beside them."
        " /stop_ai takes this back."
    ),
    Notice.TRANSLATION_REFUSED: N_(
        "All right, nothing you write is translated. Your messages are passed on as they are."
    ),
    Notice.TRANSLATED: N_("{lines}\n\n— Machine translation. In the original:\n{source}"),
    Notice.OP_DRAFT: N_(
        "A draft by the assistant, not sent:\n\n{lines}\n\nTo send something else, reply to this"
        " message or just write."
    ),
    Notice.OP_NO_DRAFT: N_("There is no draft:"),
    Notice.OP_SUMMARY: N_(
        "What the assistant may read of the conversation with {name}, in short:\n\n{lines}"
    ),
    Notice.OP_NO_SUMMARY: N_("There is no summary:"),
    Notice.OP_VIEW: N_("“{text}”\n\n{lines}\n\n— Machine translation, {from} → {to}, by {engine}"),
    Notice.OP_NO_VIEW: N_("“{text}”\n\nThere is no translation {from} → {to}:"),
    Notice.OP_PREVIEW: N_(
        "{lines}\n\n— Your words in {to}, translated by {engine}. Nothing is sent yet. You"
        " wrote:\n{source}"
    ),
    Notice.OP_NO_PREVIEW: N_(
        "{source}\n\nNothing is sent yet. There is no translation {from} → {to}:"
    ),
    Notice.OP_SUGGESTION_SENT: N_("Sent by {name}:\n\n{lines}"),
    Notice.OP_SUGGESTION_DISCARDED: N_("Discarded, not sent:\n\n{lines}"),
    Notice.OP_SUGGESTION_OUTDATED: N_("Out of date, not sent:\n\n{lines}"),
    Notice.OP_SUGGESTION_STALE: N_(
        "The conversation has changed hands since this was asked for, so nothing was sent."
    ),
    Notice.OP_ALREADY_SENT: N_("An answer was sent already. Nothing is sent twice."),
    Notice.OP_DISCARDED_BEFORE: N_("This was discarded before."),
    Notice.OP_NOT_YOURS: N_("Only whoever holds the conversation can do that. Take it first."),
    Notice.OP_TRANSLATION_ON: N_(
        "Translation is on. You read {theirs} with a translation into {ours} beside it; what you"
        " write is shown to you in {theirs} before it is sent. /translate turns it off."
    ),
    Notice.OP_TRANSLATION_ASKED: N_(
        "Translation is on, {theirs} ↔ {ours}: what you write is shown to you in {theirs} before it"
        " is sent. {name} is asked whether their words may be translated; until they agree, you"
        " read them only as they were written. /translate turns it off."
    ),
    Notice.OP_TRANSLATION_ALLOWED: N_("{name} agrees: what they write is translated from now on."),
    Notice.OP_TRANSLATION_REFUSED: N_(
        "{name} does not want their words to be translated. You read them as they were written."
    ),
    Notice.OP_TRANSLATION_NOT_ALLOWED: N_(
        "The user has not agreed to have that translated. /translate asks them."
    ),
    Notice.OP_TRANSLATION_OFF: N_("Translation is off."),
    Notice.OP_NOTHING_TO_TRANSLATE: N_(
        "I find no text to translate there. Reply with /translate to a message of this"
        " conversation."
    ),
    Notice.OP_NO_LANGUAGE: N_(
        "I do not know the language “{language}”. Use a code such as en, fa or de."
    ),
    Notice.OP_ONLY: N_("This command is for operators only. /help shows yours."),
}

MEMORY_WAITING = N_("On their way to the store, the oldest since {since}: {waiting}.")
MEMORY_DAMAGED = N_("Damaged, so that they cannot be read: {damaged}. Please tell the host.")
MEMORY_NOT_ALL_READ = N_("Not all could be read at the moment.")
MEMORY_TEMPORARY = N_("🕶 This is a temporary chat: nothing of it is kept.")
# What a store still holds after /forget_me
NOTHING_LEFT = N_("Nothing of it is left in the store.")
LINES_LEFT = N_("An outside store keeps {left} lines as bytes that nobody can read any more.")
SOME_LEFT = N_(
    "An outside store may keep lines as bytes that nobody can read any more; it does not say how"
    " many."
)
FORGOTTEN_END = N_(
    "If you write again, we start anew, and I know nothing of before. Messages in this Telegram"
    " chat are yours to delete."
)

# What the user reads when the model gave no answer; none of them can mend it but by waiting,
# asking otherwise or talking to a person.
MODEL_FAILED: Mapping[ModelFailure, str] = {
    ModelFailure.WRONG_KEY: N_(
        "The assistant is not set up correctly, so I cannot answer. The host has been told; until"
        " then you can talk to a person."
    ),
    ModelFailure.UNKNOWN_MODEL: N_(
        "The assistant I should use does not exist, so I cannot answer. The host has been told;"
        " until then you can talk to a person."
    ),
    ModelFailure.NO_BALANCE: N_(
        "The assistant is out of credit, so I cannot answer. The host has been told; until then"
        " you can talk to a person."
    ),
    ModelFailure.RATE_LIMITED: N_(
        "The assistant has too many requests at once. Please ask again in a minute."
    ),
    ModelFailure.CONTEXT_TOO_LONG: N_(
        "That was too long for the assistant. Please send a shorter message, or start afresh with"
        " /new."
    ),
    ModelFailure.CONTENT_FILTER: N_(
        "The assistant may not answer that. You can put it another way, or talk to a person."
    ),
    ModelFailure.EMPTY_ANSWER: N_(
        "The assistant had nothing to say to that. Please put it another way."
    ),
    ModelFailure.MALFORMED_ARGUMENTS: N_(
        "The assistant got muddled over that. Please ask again, perhaps in other words."
    ),
    ModelFailure.CUT_OFF: N_(
        "The answer broke off in the middle, so I did not send it. Please ask again."
    ),
    ModelFailure.TIMED_OUT: N_(
        "The assistant took too long. Please ask again, perhaps with a shorter question."
    ),
    ModelFailure.UNREACHABLE: N_(
        "I cannot reach the assistant at the moment. Please ask again in a few minutes."
    ),
    ModelFailure.BAD_REPLY: N_(
        "The assistant gave an answer that I cannot read. Please ask again in a minute."
    ),
}
MODEL_FAILED_OTHERWISE = N_("That did not work. Please ask again in a minute, or talk to a person.")

# What the host has to do.
MODEL_TROUBLE: Mapping[ModelFailure, str] = {
    ModelFailure.WRONG_KEY: N_(
        "The model endpoint refuses the key. Check MODEL_API_KEY, then restart the bot."
    ),
    ModelFailure.UNKNOWN_MODEL: N_(
        "The model endpoint does not know the model. Check MODEL_NAME and MODEL_BASE_URL, then"
        " restart the bot."
    ),
    ModelFailure.NO_BALANCE: N_(
        "The account at the model provider is empty. Top up its balance; nothing has to be"
        " restarted."
    ),
    ModelFailure.RATE_LIMITED: N_(
        "The model endpoint limits the number of requests. Raise the limit at the provider, or"
        " wait; nothing has to be restarted."
    ),
    ModelFailure.CONTEXT_TOO_LONG: N_(
        "A prompt does not fit the model, even shortened. Set a smaller MODEL_MAX_MESSAGES or"
        " shorten MODEL_SYSTEM_PROMPT."
    ),
    ModelFailure.CONTENT_FILTER: N_(
        "The model provider's filter refuses what is asked. If that is wrong, change its filter"
        " or MODEL_NAME."
    ),
    ModelFailure.EMPTY_ANSWER: N_(
        "The model returns empty answers. Check MODEL_SYSTEM_PROMPT, or try another MODEL_NAME."
    ),
    ModelFailure.MALFORMED_ARGUMENTS: N_(
        "The model uses its tools wrongly. Another MODEL_NAME may be better with tools."
    ),
    ModelFailure.CUT_OFF: N_(
        "Answers of the model break off in the middle. Check the connection to MODEL_BASE_URL."
    ),
    ModelFailure.TIMED_OUT: N_(
        "The model is too slow. Raise MODEL_TIMEOUT, or choose a faster MODEL_NAME."
    ),
    ModelFailure.UNREACHABLE: N_(
        "The model endpoint cannot be reached. Check MODEL_BASE_URL and the network."
    ),
    ModelFailure.BAD_REPLY: N_(
        "MODEL_BASE_URL does not answer like an OpenAI-compatible endpoint. Check the address;"
        " often /v1 is missing at its end."
    ),
}
MODEL_TROUBLE_OTHERWISE = N_(
    "The assistant fails again and again. `dabir doctor` on the bot's machine says why."
)

# Kinds of messages that are not read yet; the rest is "something".
UNREADABLE = N_(
    "Thank you! I can only read text so far and could not take in {thing}. Please tell me in words."
)
UNREADABLE_EMPTY = N_("Your message looks empty to me. Please write a few words.")
SOMETHING = N_("what you sent")
KIND_UNKNOWN = N_("something")
KINDS: Mapping[str, str] = {
    "animation": N_("your animation"),
    "audio": N_("your audio file"),
    "checklist": N_("your checklist"),
    "contact": N_("your contact"),
    "dice": N_("your dice"),
    "document": N_("your file"),
    "game": N_("your game"),
    "live_photo": N_("your photo"),
    "location": N_("your location"),
    "photo": N_("your photo"),
    "poll": N_("your poll"),
    "sticker": N_("your sticker"),
    "story": N_("your story"),
    "venue": N_("your place"),
    "video": N_("your video"),
    "video_note": N_("your video message"),
    "voice": N_("your voice message"),
}

# Why the model's help is missing; continues OP_NO_DRAFT and the like.
LACKS: Mapping[str, str] = {
    "nothing_readable": N_("the user has let the assistant read nothing of this conversation."),
    "model": N_("the model gives no usable answer at the moment. Please try again in a minute."),
    "timed_out": N_("the model took too long. Please try again in a minute."),
    "withheld": N_("what the model wrote did not pass the check."),
    "unchecked": N_("what the model wrote could not be checked. Please try again in a minute."),
    "unsupported": N_("the model does not translate between these languages."),
    "wrong_language": N_("what the model wrote is in another language."),
    "too_long": N_("the text is too long to be translated in one message."),
    "not_allowed": N_("the user does not want their words to be translated."),
}
LACKS_OTHERWISE = N_("it did not work. Please try again in a minute.")

# The same kinds where an operator reads of them.
KINDS_SENT: Mapping[str, str] = {
    "animation": N_("an animation"),
    "audio": N_("an audio file"),
    "checklist": N_("a checklist"),
    "contact": N_("a contact"),
    "dice": N_("a die"),
    "document": N_("a file"),
    "game": N_("a game"),
    "live_photo": N_("a photo"),
    "location": N_("a location"),
    "photo": N_("a photo"),
    "poll": N_("a poll"),
    "sticker": N_("a sticker"),
    "story": N_("a story"),
    "text": N_("a message"),
    "venue": N_("a place"),
    "video": N_("a video"),
    "video_note": N_("a video message"),
    "voice": N_("a voice message"),
}

# The pinned card of a topic
CARD_STATES: Mapping[State, str] = {
    State.CONSENT_REQUIRED: N_("nobody answers yet: the user has not chosen"),
    State.AI_READY: N_("the assistant answers"),
    State.AI_GENERATING: N_("the assistant is writing"),
    State.MODERATING: N_("the assistant's answer is being checked"),
    State.BOT_SENDING: N_("the assistant's answer is leaving"),
    State.DELIVERY_UNKNOWN: N_("it is unclear whether the assistant's answer arrived"),
    State.HANDOFF_PENDING: N_("waits for a person"),
    State.HUMAN_ACTIVE: N_("a person answers"),
    State.ENDED: N_("closed"),
}
CARD_WAITS = N_("Waits since {since}")
CARD_HELD = N_("With {holder} since {since}")
CARD_NOBODY = N_("With nobody")
CARD_EPOCH = N_("Conversation {conversation}, epoch {epoch}")
CARD_BLOCKED = N_("The user blocked the bot.")
CARD_FAILURE = N_("Last failure: {since}, something did not arrive")
CARD_MUTED = N_("Muted: what arrives here makes no sound.")
# Buttons of the card
RELEASE = N_("Release")
PASS = N_("Pass")
DRAFT = N_("Draft")
SUMMARY = N_("Summary")
END = N_("End")
MUTE = N_("Mute")
UNMUTE = N_("Unmute")
TAKE_OVER = N_("Take over")

OWNER_HELP = N_(
    "For you as the owner:\n/queue – who is waiting for a person\n/claim – take a conversation"
    " over\n/release – give it back\n/draft – have an answer drafted\n/summary – what it is"
    " about\n/translate – read and write in another language"
)
COMMANDS: Mapping[str, str] = {
    "start": N_("choose who answers: the assistant or a person"),
    "help": N_("what I can do"),
    "human": N_("talk to a person"),
    "stop_ai": N_("turn the assistant off"),
    "cancel": N_("stop the answer I am working on"),
    "new": N_("start a new topic"),
    "privacy": N_("what happens to your messages"),
    "end": N_("close the conversation"),
    "memory": N_("what I remember"),
    "why": N_("what my last answer rests on"),
    "tasks": N_("your open tasks"),
    "done": N_("tick a task off"),
    "remember": N_("keep a note"),
    "export": N_("my memory of you as a file"),
    "temporary": N_("chat without leaving a line in my memory"),
    "forget_me": N_("destroy everything about you"),
}
OWNER_COMMANDS: Mapping[str, str] = {
    "queue": N_("who is waiting for a person"),
    "claim": N_("take a conversation over"),
    "release": N_("give a conversation back"),
    "draft": N_("have an answer drafted"),
    "summary": N_("what the conversation is about"),
    "translate": N_("read and write in another language"),
}
