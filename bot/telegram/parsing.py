"""Reads a Telegram update as one of the values of incoming.py. Never acts; never raises."""

import re
from enum import Enum

import telegram
from telegram import Message, MessageEntity, ReactionTypeEmoji, Update, User

from bot.telegram.characters import has_visible, storable
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
    TopicEvent,
)
from bot.telegram.port import Entity

UNITS = "utf-16-le"
# Order matters where a message carries two: an animation carries a document, a venue a location.
MEDIA = (
    "animation",
    "audio",
    "document",
    "live_photo",
    "photo",
    "sticker",
    "story",
    "video_note",
    "video",
    "voice",
    "paid_media",
    "checklist",
    "contact",
    "dice",
    "game",
    "poll",
    "venue",
    "location",
    "invoice",
    "giveaway",
)
SERVICE = (
    "new_chat_members",
    "left_chat_member",
    "new_chat_title",
    "new_chat_photo",
    "delete_chat_photo",
    "group_chat_created",
    "supergroup_chat_created",
    "channel_chat_created",
    "message_auto_delete_timer_changed",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "pinned_message",
    "successful_payment",
    "refunded_payment",
    "users_shared",
    "chat_shared",
    "connected_website",
    "write_access_allowed",
    "passport_data",
    "proximity_alert_triggered",
    "boost_added",
    "chat_background_set",
    "forum_topic_created",
    "forum_topic_edited",
    "forum_topic_closed",
    "forum_topic_reopened",
    "general_forum_topic_hidden",
    "general_forum_topic_unhidden",
    "giveaway_created",
    "giveaway_completed",
    "giveaway_winners",
    "video_chat_scheduled",
    "video_chat_started",
    "video_chat_ended",
    "video_chat_participants_invited",
    "web_app_data",
    "chat_owner_changed",
    "chat_owner_left",
    "checklist_tasks_added",
    "checklist_tasks_done",
    "poll_option_added",
    "poll_option_deleted",
    "gift",
    "unique_gift",
    "gift_upgrade_sent",
    "managed_bot_created",
    "paid_message_price_changed",
    "direct_message_price_changed",
)
GONE = frozenset({"kicked", "left"})
GROUPS = frozenset({"group", "supergroup"})
# What a bot may send itself; the others Telegram finds in the text by itself.
FORMATS = frozenset(
    {
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "text_link",
        "custom_emoji",
    }
)
COMMAND = re.compile(r"/([A-Za-z0-9_]{1,64})(?:@([A-Za-z0-9_]{1,64}))?", re.ASCII)


def parse(update: Update, bot_username: str) -> Incoming:
    """Return what the update is for us. `bot_username` without @, in any case."""
    for message, is_edit in ((update.message, False), (update.edited_message, True)):
        if message is not None:
            return _message(update.update_id, message, is_edit, bot_username)
    if update.callback_query is not None:
        return _press(update.update_id, update.callback_query)
    changed = update.my_chat_member
    if changed is not None and changed.chat.type == "private":
        blocked = changed.new_chat_member.status in GONE
        return IncomingBlock(update.update_id, changed.chat.id, changed.from_user.id, blocked)
    if changed is not None and changed.chat.type in GROUPS:
        return _standing(update.update_id, changed)
    if update.message_reaction is not None:
        return _reaction(update.update_id, update.message_reaction)
    return IncomingOther(update.update_id, _what(update))


def _what(update: Update) -> str:
    """The name of the field that carries the update; "unknown" for one newer than the library."""
    if UNREADABLE in update.api_kwargs:
        return UNREADABLE
    present = (name for name in Update.__slots__ if getattr(update, name, None) is not None)
    return next((name for name in present if name[0] != "_" and name != "update_id"), "unknown")


def _message(update_id: int, message: Message, is_edit: bool, bot_username: str) -> Incoming:
    if message.chat.type == "channel":
        return IncomingOther(update_id, "channel_post")
    text = message.text or message.caption or ""
    kind, detail = _kind(message)
    user_id, user_name, username, language_code = _person(message.from_user)
    # An anonymous admin or a linked channel speaks through a placeholder account.
    as_chat = message.sender_chat is not None
    command, argument = ("", "") if kind != "text" else _command(message, bot_username)
    return IncomingMessage(
        update_id=update_id,
        chat_id=message.chat.id,
        chat_type=message.chat.type,
        message_id=message.message_id,
        user_id=0 if as_chat else user_id,
        user_name=storable((message.sender_chat.title or "") if message.sender_chat else user_name),
        username="" if as_chat else username,
        language_code=language_code,
        text=storable(text),
        kind=kind,
        detail=storable(detail),
        command=command,
        argument=argument,
        reply_to=_reply_to(message),
        media_group_id=message.media_group_id or "",
        date=message.date.timestamp(),
        is_edit=is_edit,
        forwarded=message.forward_origin is not None,
        thread_id=_thread(message),
        is_forum=bool(message.chat.is_forum),
        as_chat_id=message.sender_chat.id if message.sender_chat else 0,
        entities=_entities(message),
        topic_event=_topic_event(message),
        from_us=_is_us(message.from_user, bot_username),
        migrated_to=message.migrate_to_chat_id or 0,
    )


def _thread(message: Message) -> int:
    """Replies in a plain supergroup carry a thread id as well; those are no topics."""
    return (message.message_thread_id or 0) if message.is_topic_message else 0


def _reply_to(message: Message) -> int:
    """What a message answers. In a topic every message answers its first line, which is none."""
    answered = message.reply_to_message
    if answered is None or (_thread(message) and answered.message_id == _thread(message)):
        return 0
    return answered.message_id


def _entities(message: Message) -> tuple[Entity, ...]:
    return tuple(
        Entity(
            str(each.type.value if isinstance(each.type, Enum) else each.type),
            each.offset,
            each.length,
            url=storable(each.url or ""),
            language=storable(each.language or ""),
            custom_emoji_id=each.custom_emoji_id or "",
        )
        for each in message.entities or message.caption_entities or ()
        if each.type in FORMATS
    )


def _topic_event(message: Message) -> TopicEvent | None:
    if message.forum_topic_created is not None:
        return TopicEvent(TopicChange.CREATED, storable(message.forum_topic_created.name))
    if message.forum_topic_edited is not None:
        return TopicEvent(TopicChange.EDITED, storable(message.forum_topic_edited.name or ""))
    if message.forum_topic_closed is not None:
        return TopicEvent(TopicChange.CLOSED)
    if message.forum_topic_reopened is not None:
        return TopicEvent(TopicChange.REOPENED)
    return None


def _is_us(user: User | None, bot_username: str) -> bool:
    name = (user.username or "").lower() if user is not None and user.is_bot else ""
    return bool(name) and name == bot_username.lower()


def _reaction(update_id: int, changed: telegram.MessageReactionUpdated) -> IncomingReaction:
    user_id, user_name, username, language_code = _person(changed.user)
    plain = [each for each in changed.new_reaction if isinstance(each, ReactionTypeEmoji)]
    return IncomingReaction(
        update_id=update_id,
        chat_id=changed.chat.id,
        chat_type=changed.chat.type,
        message_id=changed.message_id,
        user_id=user_id,
        user_name=user_name,
        username=username,
        language_code=language_code,
        emoji=storable(str(plain[0].emoji)) if plain else "",
        odd=len(plain) < len(changed.new_reaction),
    )


def _standing(update_id: int, changed: telegram.ChatMemberUpdated) -> IncomingStanding:
    member = changed.new_chat_member
    user_id, user_name, _, _ = _person(changed.from_user)
    return IncomingStanding(
        update_id=update_id,
        chat_id=changed.chat.id,
        chat_type=changed.chat.type,
        title=storable(changed.chat.title or ""),
        is_forum=bool(changed.chat.is_forum),
        by_user_id=user_id,
        by_name=user_name,
        status=str(member.status),
        rights=frozenset(
            name
            for name in member.__slots__
            if name.startswith("can_") and getattr(member, name, None)
        ),
    )


def _press(update_id: int, query: telegram.CallbackQuery) -> IncomingPress:
    # The message may be inaccessible (too old); its chat and id are there all the same.
    message = query.message
    user_id, user_name, username, language_code = _person(query.from_user)
    return IncomingPress(
        update_id=update_id,
        callback_id=query.id,
        chat_id=message.chat.id if message else 0,
        chat_type=message.chat.type if message else "",
        message_id=message.message_id if message else 0,
        user_id=user_id,
        user_name=user_name,
        username=username,
        language_code=language_code,
        data=storable(query.data or ""),
    )


def _person(user: User | None) -> tuple[int, str, str, str]:
    if user is None:
        return 0, "", "", ""
    name = storable(" ".join(filter(None, (user.first_name, user.last_name))))
    return user.id, name, user.username or "", user.language_code or ""


def _kind(message: Message) -> tuple[str, str]:
    if message.text is not None:
        return ("text" if has_visible(message.text) else "empty"), ""
    for name in MEDIA:
        if getattr(message, name, None):
            return name, _detail(message, name)
    if any(getattr(message, name, None) for name in SERVICE):
        return "service", ""
    # A message without any field that we know: of a kind newer than this program.
    return "other", ""


def _detail(message: Message, kind: str) -> str:
    match kind:
        case "sticker":
            return (message.sticker and message.sticker.emoji) or ""
        case "dice":
            return message.dice.emoji if message.dice else ""
        case "poll":
            return message.poll.question if message.poll else ""
        case "venue":
            return message.venue.title if message.venue else ""
        case "contact":
            return message.contact.first_name if message.contact else ""
        case "document" | "audio" | "video" | "animation":
            return getattr(getattr(message, kind), "file_name", None) or ""
    return ""


def _command(message: Message, bot_username: str) -> tuple[str, str]:
    """Return the command and its argument if the text begins with a command that is for us."""
    first = next((e for e in message.entities if e.offset == 0), None)
    if message.text is None or first is None or first.type != MessageEntity.BOT_COMMAND:
        return "", ""
    written = message.text.encode(UNITS, "surrogatepass")
    cut = 2 * first.length
    match = COMMAND.fullmatch(written[:cut].decode(UNITS, "replace"))
    if match is None or (match[2] and match[2].lower() != bot_username.lower()):
        return "", ""
    argument = written[cut:].decode(UNITS, "replace").strip()
    return match[1].lower(), storable(argument)
