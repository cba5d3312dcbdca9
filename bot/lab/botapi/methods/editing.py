"""Methods that change, remove, react to or pin a message that is there."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.keyboards import parse_markup
from bot.lab.botapi.media import CAPTIONED
from bot.lab.botapi.methods.sending import required_text, text_content
from bot.lab.botapi.params import Args
from bot.lab.botapi.records import Chat, Json, Message
from bot.lab.botapi.refusals import NOT_MODIFIED, STALE_QUERY, bad_request
from bot.lab.botapi.text import units
from bot.lab.botapi.world import CALLBACK_SECONDS

DELETABLE_SECONDS: Final = 48 * 3600
MAX_CALLBACK_TEXT: Final = 200
_EMOJI = """
❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌
🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓
🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡
🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀
😡
"""
REACTIONS: Final = frozenset(_EMOJI.split())


# Edits


def editable(world: Telegram, args: Args) -> Message:
    """The message of an edit. Raises Refusal if it is missing or not the bot's to change."""
    if args.text("inline_message_id"):
        raise bad_request("MESSAGE_ID_INVALID")
    chat = world.chat_to_write(args.raw("chat_id"))
    message_id = args.integer("message_id")
    if message_id <= 0:
        raise bad_request("message identifier is not specified")
    message = chat.messages.get(message_id)
    if message is None:
        raise bad_request("message to edit not found")
    not_ours = message.author_id != world.bot.id or "forward_origin" in message.data
    if not_ours or message.service or message.reply_keyboard is not None:
        raise bad_request("message can't be edited")
    return message


def edit_message_text(world: Telegram, args: Args) -> Json:
    content = required_text(args)
    message = editable(world, args)
    if message.kind != "text":
        raise bad_request("there is no text in the message to edit")
    return _apply(world, args, message, content, ("text", "entities"))


def edit_message_caption(world: Telegram, args: Args) -> Json:
    content = text_content(args, "caption")
    message = editable(world, args)
    if message.kind not in CAPTIONED:
        raise bad_request("there is no caption in the message to edit")
    return _apply(world, args, message, content, ("caption", "caption_entities"))


def edit_message_reply_markup(world: Telegram, args: Args) -> Json:
    return _apply(world, args, editable(world, args), {}, ())


def _apply(
    world: Telegram, args: Args, message: Message, content: Json, fields: tuple[str, ...]
) -> Json:
    """Without reply_markup in the request the keyboard is taken away."""
    markup = parse_markup(args.raw("reply_markup")).inline
    old = {name: message.data[name] for name in fields if name in message.data}
    if content == old and markup == message.data.get("reply_markup"):
        raise bad_request(NOT_MODIFIED)
    changes = {**content, "reply_markup": markup} if markup else content
    world.revise(message, changes, gone=(*fields, "reply_markup"))
    return message.data


# Deletions


def _check_deletable(world: Telegram, chat: Chat, message: Message) -> None:
    own = message.author_id == world.bot.id
    if world.now - int(message.data["date"]) > DELETABLE_SECONDS:
        raise bad_request("message can't be deleted for everyone")
    if not own and chat.type != "private" and not world.bot_in(chat).can("can_delete_messages"):
        raise bad_request("message can't be deleted")


def delete_message(world: Telegram, args: Args) -> bool:
    chat = world.chat_for_bot(args.raw("chat_id"))
    message_id = args.integer("message_id")
    if message_id <= 0:
        raise bad_request("message identifier is not specified")
    message = chat.messages.get(message_id)
    if message is None:
        raise bad_request("message to delete not found")
    _check_deletable(world, chat, message)
    world.remove(chat, message_id)
    return True


def delete_messages(world: Telegram, args: Args) -> bool:
    """Those that are not there are skipped."""
    chat = world.chat_for_bot(args.raw("chat_id"))
    found = [chat.messages[n] for n in args.message_ids() if n in chat.messages]
    for message in found:
        _check_deletable(world, chat, message)
    for message in found:
        world.remove(chat, message.id)
    return True


# Reactions and pins


def set_message_reaction(world: Telegram, args: Args) -> bool:
    chat = world.chat_to_write(args.raw("chat_id"))
    message = chat.messages.get(args.integer("message_id"))
    if message is None:
        raise bad_request("message to react not found")
    wanted = args.raw("reaction") or []
    if not isinstance(wanted, list) or not all(isinstance(entry, dict) for entry in wanted):
        raise bad_request("can't parse reaction types JSON object")
    if len(wanted) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    for reaction in wanted:
        if reaction.get("type") == "emoji" and reaction.get("emoji") not in REACTIONS:
            raise bad_request("REACTION_INVALID")
    message.reactions[world.bot.id] = list(wanted)
    world.changed()
    return True


def _may_pin(world: Telegram, args: Args) -> Chat:
    chat = world.chat_to_write(args.raw("chat_id"))
    if chat.type != "private" and not world.bot_in(chat).can("can_pin_messages"):
        raise bad_request("not enough rights to manage pinned messages in the chat")
    return chat


def pin_chat_message(world: Telegram, args: Args) -> bool:
    chat = _may_pin(world, args)
    message = chat.messages.get(args.integer("message_id"))
    if message is None or message.service:
        raise bad_request("message to pin not found")
    if message.id in chat.pinned:
        chat.pinned.remove(message.id)
    chat.pinned.append(message.id)
    pinned = {k: v for k, v in message.data.items() if k != "reply_to_message"}
    thread_id = int(message.data.get("message_thread_id", 0)) if chat.is_forum else 0
    world.post_service(chat, world.bot, {"pinned_message": pinned}, thread_id=thread_id)
    return True


def unpin_chat_message(world: Telegram, args: Args) -> bool:
    chat = _may_pin(world, args)
    wanted = args.integer("message_id")
    if wanted and wanted not in chat.messages:
        raise bad_request("message to unpin not found")
    gone = wanted or (chat.pinned[-1] if chat.pinned else 0)
    if gone in chat.pinned:
        chat.pinned.remove(gone)
    world.changed()
    return True


def unpin_all_chat_messages(world: Telegram, args: Args) -> bool:
    _may_pin(world, args).pinned.clear()
    world.changed()
    return True


# Buttons


def answer_callback_query(world: Telegram, args: Args) -> bool:
    text = args.text("text")
    if units(text) > MAX_CALLBACK_TEXT:
        raise bad_request("MESSAGE_TOO_LONG")
    press = world.presses.get(args.text("callback_query_id"))
    if press is None or press.answered or world.clock() - press.at > CALLBACK_SECONDS:
        raise bad_request(STALE_QUERY)
    press.answered = True
    press.text, press.alert = text, args.flag("show_alert")
    world.changed()
    return True


METHODS: Mapping[str, Callable[[Telegram, Args], Any]] = {
    "editMessageText": edit_message_text,
    "editMessageCaption": edit_message_caption,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
    "deleteMessages": delete_messages,
    "setMessageReaction": set_message_reaction,
    "pinChatMessage": pin_chat_message,
    "unpinChatMessage": unpin_chat_message,
    "unpinAllChatMessages": unpin_all_chat_messages,
    "answerCallbackQuery": answer_callback_query,
}
