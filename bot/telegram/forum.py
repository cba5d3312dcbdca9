"""Topics of the operators' group through python-telegram-bot. See port.Forum."""

import telegram
from telegram.error import BadRequest, TelegramError

from bot.errors import TopicGone
from bot.telegram.answers import asked, repeatably, says, translate

NOT_MODIFIED = ("topic_not_modified",)


class TelegramForum:
    def __init__(self, bot: telegram.Bot) -> None:
        self._bot = bot

    async def open_topic(self, chat_id: int, name: str) -> int:
        return (await asked(self._bot.create_forum_topic(chat_id, name))).message_thread_id

    async def rename_topic(self, chat_id: int, thread_id: int, name: str) -> bool:
        return await self._edited(chat_id, thread_id, name)

    async def has_topic(self, chat_id: int, thread_id: int) -> bool:
        try:
            await self._edited(
                chat_id, thread_id, None
            )  # an edit that says nothing changes nothing
        except TopicGone:
            return False
        return True

    async def reopen_topic(self, chat_id: int, thread_id: int) -> None:
        try:
            await self._bot.reopen_forum_topic(chat_id, thread_id)
        except TelegramError as error:
            if not _changed_nothing(error):
                raise translate(error, repeatable=True) from error

    async def delete_topic(self, chat_id: int, thread_id: int) -> None:
        try:
            await repeatably(self._bot.delete_forum_topic(chat_id, thread_id))
        except TopicGone:
            return

    async def _edited(self, chat_id: int, thread_id: int, name: str | None) -> bool:
        try:
            await self._bot.edit_forum_topic(chat_id, thread_id, name)
        except TelegramError as error:
            if _changed_nothing(error):
                return False
            raise translate(error, repeatable=True) from error
        return True


def _changed_nothing(error: TelegramError) -> bool:
    return isinstance(error, BadRequest) and says(error, NOT_MODIFIED)
