"""What each person sees on their phone, and what they do with it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.lab.botapi import Telegram
from bot.lab.botapi.journal import Call
from bot.lab.page.people import PEOPLE
from bot.lab.page.records import Records

Json = dict[str, Any]

TYPING_SECONDS = 5.0  # how long Telegram shows it
MOST_MESSAGES = 150
LONGEST_TEXT = 20_000


class Impossible(ValueError):
    """What a person wanted to do cannot be done, as on a phone; the text says why."""


@dataclass(frozen=True, slots=True)
class Where:
    """A chat, and a thread in it where it has topics."""

    chat_id: int
    thread_id: int = 0


class Phones:
    def __init__(self, telegram: Telegram, records: Records) -> None:
        self._telegram = telegram
        self._records = records
        self._typing: dict[int, float] = {}  # chat → until when
        telegram.hooks.on_answer.append(self._answered)
        for person in PEOPLE.values():
            telegram.add_user(person.id, person.name, language_code=person.language, started=True)

    def shown(self, person: int) -> Json:
        """One phone as the page draws it."""
        authors = self._records.authors(person)
        messages = [
            {**seen.as_json(), **authors.get(seen.message_id, {})}
            for seen in self._telegram.messages(person)[-MOST_MESSAGES:]
        ]
        chat = self._telegram.chats.get(person)
        return {
            "person": person,
            "messages": messages,
            "typing": self._typing.get(person, 0.0) > self._telegram.clock(),
            "blocked": chat is not None and not self._telegram.bot_in(chat).present,
            "answers": [
                {"id": press.id, "text": press.text}
                for press in list(self._telegram.presses.values())[-20:]
                if press.user_id == person and press.answered and press.text
            ],
            "commands": self._commands(person),
        }

    def send(self, person: int, text: str, where: "Where", reply_to: int = 0) -> None:
        if len(text) > LONGEST_TEXT:
            raise Impossible(f"a message has at most {LONGEST_TEXT} characters here")
        with self._refusals():
            self._telegram.user_sends(
                where.chat_id,
                text,
                user_id=person,
                thread_id=where.thread_id,
                reply_to=reply_to,
            )

    def edit(self, person: int, message_id: int, text: str, where: "Where") -> None:
        with self._refusals():
            if self._telegram.message(where.chat_id, message_id).author_id != person:
                raise Impossible("only your own messages can be edited")
            self._telegram.user_edits(where.chat_id, message_id, text)

    def press(self, person: int, message_id: int, data: str, where: "Where") -> None:
        with self._refusals():
            self._telegram.user_presses(where.chat_id, message_id, data, user_id=person)

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except KeyError:
            raise Impossible("that is not there any more") from None
        except Impossible:
            raise
        except ValueError as error:
            raise Impossible(str(error)) from None

    def _commands(self, person: int) -> list[Json]:
        """The menu beside the input field: the most particular one that the bot has set."""
        language = PEOPLE[person].language
        for scope in (f"chat:{person}", "default"):
            for code in (language, ""):
                if menu := self._telegram.commands.get((scope, code)):
                    return menu
        return []

    def _answered(self, call: Call) -> None:
        chat = call.params.get("chat_id")
        if not call.ok or not str(chat).isdecimal():
            return
        if call.method.lower() == "sendchataction":
            self._typing[int(str(chat))] = call.at + TYPING_SECONDS
        elif call.method.lower() in ("sendmessage", "copymessage"):
            self._typing.pop(int(str(chat)), None)
