"""Checks reply_markup as Telegram does. Pure."""

from dataclasses import dataclass
from typing import Any, Final

from bot.lab.botapi.records import Json
from bot.lab.botapi.refusals import bad_request

MAX_DATA_BYTES: Final = 64
MAX_BUTTONS: Final = 100
ACTIONS: Final = (
    "url",
    "callback_data",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "callback_game",
    "pay",
)
_LOOKS: Final = ("text", "icon_custom_emoji_id", "style")


@dataclass(frozen=True, slots=True)
class Markup:
    inline: Json | None = None  # part of the message; can be pressed
    other: Json | None = None  # a reply keyboard, its removal, or a forced reply

    @property
    def editable(self) -> bool:
        return self.other is None


def parse_markup(raw: Any) -> Markup:
    """Raises Refusal for a markup that Telegram would not take."""
    if raw is None:
        return Markup()
    if not isinstance(raw, dict):
        raise bad_request("object expected as reply markup")
    if "inline_keyboard" in raw:
        return _inline(raw["inline_keyboard"])
    if "keyboard" in raw:
        return Markup(other=_reply_keyboard(raw))
    if raw.get("remove_keyboard") or raw.get("force_reply"):
        return Markup(other=raw)
    return Markup()


def _inline(rows: Any) -> Markup:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request(
            'can\'t parse reply keyboard markup: field "inline_keyboard" must be of type Array'
        )
    checked = [[_button(key) for key in row] for row in rows if row]
    if sum(map(len, checked)) > MAX_BUTTONS:
        raise bad_request("reply markup is too long")
    return Markup(inline={"inline_keyboard": checked} if checked else None)


def _button(key: Any) -> Json:
    if not isinstance(key, dict):
        raise bad_request(
            "can't parse inline keyboard button: InlineKeyboardButton must be an Object"
        )
    if not str(key.get("text", "")).strip():
        raise bad_request("can't parse inline keyboard button: Text must be non-empty")
    used = [name for name in ACTIONS if key.get(name) is not None]
    if not used:
        raise bad_request(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
        )
    if len(used) > 1:
        raise bad_request(
            "can't parse inline keyboard button: exactly one of the optional fields must be used"
        )
    _check_action(used[0], key[used[0]])
    return {name: key[name] for name in (*_LOOKS, used[0]) if key.get(name) is not None}


def _check_action(name: str, value: Any) -> None:
    if name == "callback_data" and not 1 <= len(str(value).encode()) <= MAX_DATA_BYTES:
        raise bad_request("BUTTON_DATA_INVALID")
    if name == "url":
        address = str(value)
        if not address.startswith(("http://", "https://", "tg://")) and "." not in address:
            raise bad_request(f"inline keyboard button URL '{address}' is invalid: Wrong HTTP URL")


def _reply_keyboard(raw: Json) -> Json:
    rows = raw["keyboard"]
    if not isinstance(rows, list):
        raise bad_request(
            'can\'t parse reply keyboard markup: field "keyboard" must be of type Array'
        )
    keys = [[{"text": key} if isinstance(key, str) else key for key in row] for row in rows if row]
    return {**raw, "keyboard": keys}
