"""The system messages by name. Their sentences live in bot/telegram/texts.py, one per language.

Each member's comment says who sees it, its buttons, and the values it needs.
Buttons: START = *Start the AI assistant*, PERSON = *Talk to a person*, CANCEL = *Cancel*,
UNREQUEST = *Cancel the request*, TAKE = *Take* (operators).
"""

from enum import StrEnum


class Notice(StrEnum):
    # fmt: off
    # to the user: who may reply
    CONSENT = "consent"  # START PERSON; first contact. Says: if started, it also reads what is above and unanswered
    CONSENT_AGAIN = "consent_again"  # START PERSON; the user may choose again (AI off, request withdrawn)
    AI_ON = "ai_on"  # the assistant is on; write your message; /stop_ai, /human
    AI_OFF = "ai_off"  # START PERSON; after /stop_ai
    HANDOFF_REQUESTED = "handoff_requested"  # UNREQUEST; on record; {place} in the queue
    HANDOFF_WAITING = "handoff_waiting"  # UNREQUEST; still on record; {place}
    HANDOFF_CANCELLED = "handoff_cancelled"  # START PERSON; the request is withdrawn
    HUMAN_JOINED = "human_joined"  # {name} is here now; the assistant stays silent
    HUMAN_CHANGED = "human_changed"  # {name} has taken over
    HUMAN_LEFT = "human_left"  # START PERSON; {name} has left; the AI does not come back by itself
    HUMAN_GONE = "human_gone"  # UNREQUEST; the person seems away; you are in the queue again {place}
    ALREADY_HUMAN = "already_human"  # you are talking to {name}
    ENDED = "ended"  # closed; write again to start anew
    # to the user: while the AI works
    STATUS = "status"  # CANCEL PERSON; "working on it…"
    CANCELLED = "cancelled"  # stopped; no answer will come to that
    NOTHING_TO_CANCEL = "nothing_to_cancel"
    NEW_STARTED = "new_started"  # what was said before is not shown to the assistant any more
    MODEL_FAILED = "model_failed"  # PERSON; {failure}: a ModelFailure value, one plain sentence each
    HEALTH_DEGRADED = "health_degraded"  # START PERSON; repeated failures: the assistant is off for now
    NO_ANSWER = "no_answer"  # PERSON; neutral words for a blocked draft
    NO_ANSWER_HANDOFF = "no_answer_handoff"  # UNREQUEST; begins with the same words; passed to a person {place}
    POLICY_HANDOFF = "policy_handoff"  # UNREQUEST; this goes to a person {place}
    # to the user: delivery
    CHECKING_DELIVERY = "checking_delivery"  # "checking whether my last message reached you…"
    DID_IT_ARRIVE = "did_it_arrive"  # buttons *It arrived* / *It did not*; {turn_id} in the data
    DELIVERY_HANDOFF = "delivery_handoff"  # UNREQUEST; could not find out; passed to a person {place}
    DELIVERY_FAILED = "delivery_failed"  # PERSON; Telegram refused my answer
    # to the user: input
    # to the user: a person who reads and writes in translation
    TRANSLATION_ASKED = "translation_asked"  # ALLOW REFUSE; {name} would like to read in translation
    TRANSLATION_ALLOWED = "translation_allowed"
    TRANSLATION_REFUSED = "translation_refused"
    TRANSLATED = "translated"  # {lines}: what the operator confirmed; {source}: what they wrote
    UNREADABLE = "unreadable"  # {kind}: sticker, photo, voice, video, location, poll, contact, empty, …
    NOT_PASSED_ON = "not_passed_on"  # {kind}: it could not be passed on to the person
    STRANGER = "stranger"  # one polite line, once
    BUTTON_EXPIRED = "button_expired"  # as the answer to a press
    UNKNOWN_COMMAND = "unknown_command"  # {command}
    USAGE = "usage"  # {usage}: how a command with a wrong argument is meant
    HELP = "help"  # {owner}: "1" adds the owner's commands
    PRIVACY = "privacy"
    OWNER_LEARNT = "owner_learnt"  # you are the owner of this bot now
    # to the user: memory
    MEMORY_EMPTY = "memory_empty"
    MEMORY_UNREADABLE = "memory_unreadable"  # the store could not be read; nothing is lost; try again
    MEMORY_SHOWN = "memory_shown"  # {lines}
    MEMORY_FOUND = "memory_found"  # {words} {lines}; /memory find
    MEMORY_NOT_FOUND = "memory_not_found"  # {words}
    WHY_SHOWN = "why_shown"  # {lines} of memory behind the last answer
    WHY_NO_LINES = "why_no_lines"  # the last answer used none
    WHY_NO_ANSWER = "why_no_answer"  # there is no answer yet
    TASKS_EMPTY = "tasks_empty"
    TASKS_SHOWN = "tasks_shown"  # {lines}
    TASK_DONE = "task_done"  # {task}
    NO_SUCH_TASK = "no_such_task"  # {task}
    REMEMBERED = "remembered"  # {text}
    MEMORY_STATUS = "memory_status"  # {count} {waiting} {since} {damaged} {temporary}
    EXPORTED = "exported"  # {count} lines follow as two files
    EXPORTED_PARTLY = "exported_partly"  # the same; {count}, but not all could be read
    EXPORT_TOO_LARGE = "export_too_large"  # the host has to do it
    TEMPORARY_ON = "temporary_on"
    TEMPORARY_OFF = "temporary_off"
    TEMPORARY_KEEPS_NOTHING = "temporary_keeps_nothing"  # /remember and /done while it is on
    FORGET_ASK = "forget_ask"  # what is destroyed; *Destroy everything* / *Keep everything* {token}
    FORGET_UNDER_WAY = "forget_under_way"
    FORGET_KEPT = "forget_kept"
    FORGOTTEN = "forgotten"  # the receipt: {messages} {count} {left}: "0", a number or "?"
    # to operators
    OP_REQUESTED = "op_requested"  # TAKE; {conversation} {name} asks for a person
    OP_REMINDER = "op_reminder"  # TAKE; {conversation} {name} has waited {minutes} minutes
    OP_POLICY = "op_policy"  # TAKE; {conversation} {name} {rule}
    OP_MODERATION = "op_moderation"  # TAKE; {conversation} {name}: the check was out of reach
    OP_DELIVERY = "op_delivery"  # TAKE; {conversation} {name}: unclear whether a reply arrived
    OP_WITHDRAWN = "op_withdrawn"  # {conversation} {name} no longer asks
    OP_CLAIMED = "op_claimed"  # {conversation} {name}: you hold it; what you write goes there; /release /end
    OP_TAKEN = "op_taken"  # {conversation} is held by {holder} since {since}
    OP_RELEASED = "op_released"  # {conversation}
    OP_LEASE_EXPIRED = "op_lease_expired"  # TAKE; {conversation} {name}: no activity, back in the queue
    OP_ENDED = "op_ended"  # {conversation} {name}: the user closed it
    OP_BLOCKED = "op_blocked"  # {conversation} {name} blocked the bot
    OP_MODEL_TROUBLE = "op_model_trouble"  # {failure}: what the host has to do
    OP_NOT_DELIVERED = "op_not_delivered"  # {conversation} {reason}: your message did not reach the user
    OP_NOT_RELAYED = "op_not_relayed"  # {name} {kind} {reason}: something of theirs cannot be shown here
    OP_REACTED = "op_reacted"  # {name} {emoji}: a reaction that a bot cannot put
    OP_NOTHING_HELD = "op_nothing_held"  # you hold no conversation; /queue
    OP_HOLDS_ANOTHER = "op_holds_another"  # release {conversation} first
    OP_NO_SUCH = "op_no_such"  # {conversation}: no such conversation, or it is closed
    OP_QUEUE = "op_queue"  # {lines}
    OP_QUEUE_EMPTY = "op_queue_empty"
    # to operators: what the AI does for them; {lack}: a bot.model.aiding.Lack value
    OP_DRAFT = "op_draft"  # SEND DISCARD; {lines} {suggestion}; not sent
    OP_NO_DRAFT = "op_no_draft"  # {lack}
    OP_SUMMARY = "op_summary"  # {name} {conversation} {lines}
    OP_NO_SUMMARY = "op_no_summary"  # {lack}
    OP_VIEW = "op_view"  # {text} {lines} {from} {to} {engine}: a message and its translation
    OP_NO_VIEW = "op_no_view"  # {text} {from} {to} {lack}
    OP_PREVIEW = "op_preview"  # SEND AS_WRITTEN DISCARD; {lines} {source} {to} {engine} {suggestion}
    OP_NO_PREVIEW = "op_no_preview"  # AS_WRITTEN DISCARD; {source} {from} {to} {lack} {suggestion}
    OP_SUGGESTION_SENT = "op_suggestion_sent"  # {name} {lines}; in place of the suggestion
    OP_SUGGESTION_DISCARDED = "op_suggestion_discarded"  # {lines}; in place of the suggestion
    OP_SUGGESTION_OUTDATED = "op_suggestion_outdated"  # {lines}; in place of the suggestion
    OP_SUGGESTION_STALE = "op_suggestion_stale"  # the conversation changed hands meanwhile
    OP_ALREADY_SENT = "op_already_sent"
    OP_DISCARDED_BEFORE = "op_discarded_before"
    OP_NOT_YOURS = "op_not_yours"  # only whoever holds the conversation may do that
    OP_TRANSLATION_ON = "op_translation_on"  # {theirs} {ours}
    OP_TRANSLATION_ASKED = "op_translation_asked"  # {theirs} {ours} {name}; the user is asked first
    OP_TRANSLATION_ALLOWED = "op_translation_allowed"  # {name}
    OP_TRANSLATION_REFUSED = "op_translation_refused"  # {name}
    OP_TRANSLATION_NOT_ALLOWED = "op_translation_not_allowed"
    OP_TRANSLATION_OFF = "op_translation_off"
    OP_NOTHING_TO_TRANSLATE = "op_nothing_to_translate"
    OP_NO_LANGUAGE = "op_no_language"  # {language}: no code or name that is known
    OP_ONLY = "op_only"  # this command is for operators


class Covering(StrEnum):
    """What settled a user message; exactly one in the end (I4)."""

    AI = "ai"
    HUMAN = "human"
    NOTICE = "notice"
