"""The command menu that Telegram shows beside the input field, in each language."""

from contextlib import suppress

import structlog
import telegram
from telegram.error import BadRequest, TelegramError

from bot.telegram.texts import command_menu

log = structlog.get_logger(__name__)

LANGUAGES = ("en", "fa")


async def set_menu(bot: telegram.Bot, owner_id: int) -> None:
    """Set the menu for everybody, and the owner's longer one. Best effort."""
    try:
        for language in LANGUAGES:
            code = None if language == "en" else language
            await bot.set_my_commands(command_menu(language, owner=False), language_code=code)
            if owner_id:
                await _set_for_owner(bot, owner_id, language, code)
    except TelegramError as error:
        log.warning("command_menu_not_set", cause=type(error).__name__)


async def _set_for_owner(bot: telegram.Bot, owner_id: int, language: str, code: str | None) -> None:
    scope = telegram.BotCommandScopeChat(owner_id)
    menu = command_menu(language, owner=True)
    with suppress(BadRequest):  # the owner has not written to the bot yet
        await bot.set_my_commands(menu, scope=scope, language_code=code)
