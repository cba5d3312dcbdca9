"""The bot's own affairs: who it is, its commands, its webhook, files, logging out."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.params import Args
from bot.lab.botapi.records import Json
from bot.lab.botapi.refusals import bad_request
from bot.lab.botapi.webhook import Webhook

_COMMAND = re.compile(r"/?[a-z0-9_]{1,32}")
MAX_COMMANDS: Final = 100
MAX_DESCRIPTION: Final = 256
_SCOPES: Final = frozenset(
    {
        "default",
        "all_private_chats",
        "all_group_chats",
        "all_chat_administrators",
        "chat",
        "chat_administrators",
        "chat_member",
    }
)
_PROFILE_LIMITS: Final = {"name": 64, "description": 512, "short_description": 120}
_SECRET = re.compile(r"[A-Za-z0-9_-]{0,256}")


def get_me(world: Telegram, args: Args) -> Json:
    return {
        **world.bot.as_json(),
        "can_join_groups": True,
        "can_read_all_group_messages": world.reads_all_group_messages,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


# Commands


def _scope(world: Telegram, args: Args) -> tuple[str, str]:
    raw = args.raw("scope") or {"type": "default"}
    kind = raw.get("type") if isinstance(raw, dict) else None
    if kind not in _SCOPES:
        raise bad_request("can't parse BotCommandScope: Unsupported type specified")
    language = args.text("language_code")
    if language and not re.fullmatch(r"[a-z]{2,3}", language):
        raise bad_request("invalid language code specified")
    key = [str(kind)]
    if str(kind).startswith("chat"):
        key.append(str(world.chat_for_bot(raw.get("chat_id")).id))
    if kind == "chat_member":
        key.append(str(raw.get("user_id")))
    return ":".join(key), language


def set_my_commands(world: Telegram, args: Args) -> bool:
    given = args.raw("commands")
    if not isinstance(given, list) or len(given) > MAX_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH" if given else "expected an Array of BotCommand")
    scope = _scope(world, args)
    commands = [_command(entry) for entry in given]
    if commands:
        world.commands[scope] = commands
    else:
        world.commands.pop(scope, None)
    world.changed()
    return True


def _command(entry: Any) -> Json:
    name = str(entry.get("command", "")) if isinstance(entry, dict) else ""
    if not _COMMAND.fullmatch(name):
        raise bad_request("BOT_COMMAND_INVALID")
    description = str(entry.get("description", "")).strip()
    if not 1 <= len(description) <= MAX_DESCRIPTION:
        raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    return {"command": name.removeprefix("/"), "description": description}


def get_my_commands(world: Telegram, args: Args) -> list[Json]:
    return world.commands.get(_scope(world, args), [])


def delete_my_commands(world: Telegram, args: Args) -> bool:
    world.commands.pop(_scope(world, args), None)
    world.changed()
    return True


# Profile texts


def _setter(name: str) -> Callable[[Telegram, Args], bool]:
    def set_text(world: Telegram, args: Args) -> bool:
        text = args.text(name)
        if len(text) > _PROFILE_LIMITS[name]:
            raise bad_request(f"{name.upper()}_TOO_LONG")
        world.profile[f"{name}:{args.text('language_code')}"] = text
        return True

    return set_text


def _getter(name: str) -> Callable[[Telegram, Args], Json]:
    def get_text(world: Telegram, args: Args) -> Json:
        default = world.bot.first_name if name == "name" else ""
        return {name: world.profile.get(f"{name}:{args.text('language_code')}", default)}

    return get_text


def set_chat_menu_button(world: Telegram, args: Args) -> bool:
    return True


def get_chat_menu_button(world: Telegram, args: Args) -> Json:
    return {"type": "commands"}


# Webhook and files


def set_webhook(world: Telegram, args: Args) -> bool:
    url = args.text("url")
    if not url:
        return delete_webhook(world, args)
    if not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    secret = args.text("secret_token")
    if not _SECRET.fullmatch(secret):
        raise bad_request("secret token contains unallowed characters")
    remember_allowed(world, args)
    if args.flag("drop_pending_updates"):
        world.updates.forget()
    world.updates.end_poll_for_webhook()
    world.webhook = Webhook(url, secret, args.integer("max_connections", 40))
    world.courier.start(world.webhook)
    world.changed()
    return True


def delete_webhook(world: Telegram, args: Args) -> bool:
    if args.flag("drop_pending_updates"):
        world.updates.forget()
    world.courier.stop()
    world.webhook = Webhook()
    world.changed()
    return True


def get_webhook_info(world: Telegram, args: Args) -> Json:
    return world.webhook.as_json(world.updates)


def remember_allowed(world: Telegram, args: Args) -> None:
    """allowed_updates stays as it was when it is left out."""
    kinds = args.raw("allowed_updates")
    if isinstance(kinds, list):
        world.updates.allow(str(kind) for kind in kinds)


def get_file(world: Telegram, args: Args) -> Json:
    file_id = args.text("file_id").removesuffix("-s")
    stored = world.files.get(file_id)
    if stored is None:
        raise bad_request("invalid file_id" if file_id else "file_id not specified")
    return {
        "file_id": stored.file_id,
        "file_unique_id": stored.unique_id,
        "file_size": len(stored.data),
        "file_path": stored.path,
    }


def log_out(world: Telegram, args: Args) -> bool:
    return True


METHODS: Mapping[str, Callable[[Telegram, Args], Any]] = {
    "getMe": get_me,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "deleteMyCommands": delete_my_commands,
    "setMyName": _setter("name"),
    "setMyDescription": _setter("description"),
    "setMyShortDescription": _setter("short_description"),
    "getMyName": _getter("name"),
    "getMyDescription": _getter("description"),
    "getMyShortDescription": _getter("short_description"),
    "setChatMenuButton": set_chat_menu_button,
    "getChatMenuButton": get_chat_menu_button,
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": get_webhook_info,
    "getFile": get_file,
    "logOut": log_out,
    "close": log_out,
}
