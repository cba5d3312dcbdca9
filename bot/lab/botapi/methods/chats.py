"""Methods that ask about chats and their members, and leaving one."""

from collections.abc import Callable, Mapping
from typing import Any

from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.params import Args
from bot.lab.botapi.records import Json, Member
from bot.lab.botapi.refusals import bad_request


def get_chat(world: Telegram, args: Args) -> Json:
    chat = world.chat_for_bot(args.raw("chat_id"))
    answer: Json = {
        **chat.as_json(),
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": {
            "unlimited_gifts": False,
            "limited_gifts": False,
            "unique_gifts": False,
            "premium_subscription": False,
            "gifts_from_channels": False,
        },
    }
    if chat.type != "private":
        answer["permissions"] = {"can_send_messages": True}
    if chat.pinned:
        answer["pinned_message"] = chat.messages[chat.pinned[-1]].data
    return answer


def get_chat_member(world: Telegram, args: Args) -> Json:
    chat = world.chat_for_bot(args.raw("chat_id"))
    user_id = args.integer("user_id")
    if user_id not in world.users:
        raise bad_request("PARTICIPANT_ID_INVALID" if user_id else "invalid user_id specified")
    member = chat.members.get(user_id) or Member(world.users[user_id], "left")
    return member.as_json()


def get_chat_administrators(world: Telegram, args: Args) -> list[Json]:
    chat = world.chat_for_bot(args.raw("chat_id"))
    if chat.type == "private":
        raise bad_request("there are no administrators in the private chat")
    return [member.as_json() for member in chat.members.values() if member.is_admin]


def get_chat_member_count(world: Telegram, args: Args) -> int:
    chat = world.chat_for_bot(args.raw("chat_id"))
    return sum(member.present for member in chat.members.values())


def leave_chat(world: Telegram, args: Args) -> bool:
    chat = world.chat_for_bot(args.raw("chat_id"))
    if chat.type == "private":
        raise bad_request("chat member status can't be changed in private chats")
    chat.members[world.bot.id] = Member(world.bot, "left")
    world.changed()
    return True


def get_user_profile_photos(world: Telegram, args: Args) -> Json:
    if args.integer("user_id") not in world.users:
        raise bad_request("user not found")
    return {"total_count": 0, "photos": []}


METHODS: Mapping[str, Callable[[Telegram, Args], Any]] = {
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "getChatAdministrators": get_chat_administrators,
    "getChatMemberCount": get_chat_member_count,
    "leaveChat": leave_chat,
    "getUserProfilePhotos": get_user_profile_photos,
}
