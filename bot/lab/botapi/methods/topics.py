"""Forum topics of supergroups."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.params import Args
from bot.lab.botapi.records import Chat, Json, Topic
from bot.lab.botapi.refusals import bad_request

COLORS: Final = (0x6FB9F0, 0xFFD67E, 0xCB86DB, 0x8EEE98, 0xFF93B2, 0xFB6F5F)
MAX_NAME: Final = 128


def _forum(world: Telegram, args: Args, deed: str, right: str = "can_manage_topics") -> Chat:
    chat = world.chat_for_bot(args.raw("chat_id"))
    if not chat.is_forum:
        raise bad_request("the chat is not a forum")
    if not world.bot_in(chat).can(right):
        raise bad_request(f"not enough rights to {deed}")
    return chat


def _topic(chat: Chat, args: Args) -> Topic:
    topic = chat.topics.get(args.integer("message_thread_id"))
    if topic is None:
        raise bad_request("TOPIC_ID_INVALID")
    if topic.deleted:
        raise bad_request("TOPIC_DELETED")
    return topic


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise bad_request("topic title is empty")
    return name[:MAX_NAME]


def create_forum_topic(world: Telegram, args: Args) -> Json:
    name = _checked_name(args.text("name"))
    color = args.integer("icon_color", COLORS[0])
    if color not in COLORS:
        raise bad_request("invalid icon color specified")
    chat = _forum(world, args, "create a topic")
    icon = args.text("icon_custom_emoji_id")
    topic = world.open_topic(chat, world.bot, name, color, icon)
    answer: Json = {"message_thread_id": topic.id, "name": topic.name, "icon_color": color}
    return {**answer, "icon_custom_emoji_id": icon} if icon else answer


def edit_forum_topic(world: Telegram, args: Args) -> bool:
    chat = _forum(world, args, "edit the topic")
    topic = _topic(chat, args)
    name = _checked_name(args.text("name")) if args.text("name") else topic.name
    icon = args.raw("icon_custom_emoji_id")
    icon = topic.icon_custom_emoji_id if icon is None else str(icon)
    if (name, icon) == (topic.name, topic.icon_custom_emoji_id):
        raise bad_request("TOPIC_NOT_MODIFIED")
    changed: Json = {"name": name} if name != topic.name else {}
    if icon != topic.icon_custom_emoji_id:
        changed["icon_custom_emoji_id"] = icon
    topic.name, topic.icon_custom_emoji_id = name, icon
    world.post_service(chat, world.bot, {"forum_topic_edited": changed}, thread_id=topic.id)
    return True


def _set_closed(world: Telegram, args: Args, closed: bool) -> bool:
    chat = _forum(world, args, "close the topic" if closed else "reopen the topic")
    topic = _topic(chat, args)
    if topic.closed is closed:
        raise bad_request("TOPIC_NOT_MODIFIED")
    world.set_topic_closed(chat, world.bot, topic.id, closed=closed)
    return True


def close_forum_topic(world: Telegram, args: Args) -> bool:
    return _set_closed(world, args, closed=True)


def reopen_forum_topic(world: Telegram, args: Args) -> bool:
    return _set_closed(world, args, closed=False)


def delete_forum_topic(world: Telegram, args: Args) -> bool:
    chat = _forum(world, args, "delete the topic", "can_delete_messages")
    world.delete_topic(chat, _topic(chat, args).id)
    return True


def unpin_all_forum_topic_messages(world: Telegram, args: Args) -> bool:
    chat = _forum(world, args, "unpin messages", "can_pin_messages")
    topic = _topic(chat, args)
    chat.pinned = [
        number
        for number in chat.pinned
        if chat.messages[number].data.get("message_thread_id") != topic.id
    ]
    world.changed()
    return True


def get_forum_topic_icon_stickers(world: Telegram, args: Args) -> list[Json]:
    return []


METHODS: Mapping[str, Callable[[Telegram, Args], Any]] = {
    "createForumTopic": create_forum_topic,
    "editForumTopic": edit_forum_topic,
    "closeForumTopic": close_forum_topic,
    "reopenForumTopic": reopen_forum_topic,
    "deleteForumTopic": delete_forum_topic,
    "unpinAllForumTopicMessages": unpin_all_forum_topic_messages,
    "getForumTopicIconStickers": get_forum_topic_icon_stickers,
}
