"""The operators' group as the page draws it: its topics, and what was said in each."""

from typing import Any

from bot.lab.botapi import Telegram
from bot.lab.botapi.groups import ALL_RIGHTS
from bot.lab.page.people import GROUP_ID, OPERATORS, OWNER
from bot.lab.page.records import Records

Json = dict[str, Any]

GENERAL = 0
TITLE = "Operators"
MOST_MESSAGES = 150


class Group:
    def __init__(self, telegram: Telegram, records: Records) -> None:
        self._telegram = telegram
        self._records = records
        others = [each.id for each in OPERATORS if each is not OWNER]
        telegram.create_group(TITLE, OWNER.id, others, forum=True, chat_id=GROUP_ID)
        telegram.add_bot(GROUP_ID, OWNER.id, rights=ALL_RIGHTS)

    def shown(self) -> Json:
        """The list of topics, in the order in which they were opened; General comes first."""
        chat = self._telegram.chats[GROUP_ID]
        whose = self._records.topics(GROUP_ID)
        general = {"thread": GENERAL, "name": "General", "closed": False, "conversation": ""}
        topics = [
            {
                "thread": topic.id,
                "name": topic.name,
                "closed": topic.closed,
                "conversation": whose.get(topic.id, ""),
            }
            for topic in chat.topics.values()
            if not topic.deleted
        ]
        return {"chat": GROUP_ID, "title": chat.title, "topics": [general, *topics]}

    def threads(self) -> list[int]:
        topics = self._telegram.chats[GROUP_ID].topics.values()
        return [GENERAL, *(topic.id for topic in topics if not topic.deleted)]

    def room(self, thread: int) -> Json:
        """One topic: its messages, and which of them are pinned."""
        authors = self._records.authors(GROUP_ID)
        messages = self._telegram.messages(GROUP_ID, thread_id=thread)[-MOST_MESSAGES:]
        pinned = set(self._telegram.chats[GROUP_ID].pinned)
        return {
            "thread": thread,
            "messages": [
                {**seen.as_json(), **authors.get(seen.message_id, {})} for seen in messages
            ],
            "pinned": [seen.message_id for seen in messages if seen.message_id in pinned],
        }
