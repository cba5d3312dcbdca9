"""What people do in a chat with the bot: write, edit, press, react, forward, block.

Every action returns what it made, and the bot hears of it by an update, as on Telegram.
People may act for a chat id that is their own user id; unknown users are introduced on the way.
"""

from collections.abc import Sequence
from typing import Any

from bot.lab.botapi import media
from bot.lab.botapi.records import Chat, Json, Member, Message, User
from bot.lab.botapi.text import MAX_CAPTION, Run, formatted, parse_entities, split_as_clients_do
from bot.lab.botapi.world import Press, World

ANONYMOUS_ADMIN = User(1087968824, "Group", username="GroupAnonymousBot", is_bot=True)


class Talk(World):
    # Who is there

    def add_user(
        self,
        user_id: int,
        first_name: str = "",
        *,
        last_name: str = "",
        username: str = "",
        language_code: str = "",
        started: bool = False,
    ) -> User:
        """Introduce or rename a person. `started`: they pressed Start long ago, silently."""
        user = User(user_id, first_name or f"User {user_id}", last_name, username, language_code)
        self.users[user_id] = user
        for chat in self.chats.values():
            if user_id in chat.members:
                chat.members[user_id].user = user
            if chat.id == user_id:
                chat.user = user
                chat.renamed()
        if started:
            self.private_chat(user_id)
        return user

    def person(self, user_id: int) -> User:
        return self.users.get(user_id) or self.add_user(user_id)

    def private_chat(self, user_id: int) -> Chat:
        """The person's chat with the bot, opened if need be without a word."""
        if user_id not in self.chats:
            user = self.person(user_id)
            members = {user.id: Member(user), self.bot.id: Member(self.bot)}
            instance = str(next(self.numbers) + 5_000_000_000)
            self.chats[user_id] = Chat(
                user_id, "private", user=user, members=members, instance=instance
            )
        return self.chats[user_id]

    def _place(self, chat_id: int, user_id: int | None) -> tuple[Chat, User]:
        if chat_id > 0:
            chat = self.private_chat(chat_id)
            if not chat.members[self.bot.id].present:
                raise ValueError(
                    "this person has blocked the bot: they cannot write before unblocking"
                )
            return chat, self.person(chat_id)
        chat = self.chats[chat_id]
        if user_id is None:
            raise ValueError("in a group say who acts: user_id")
        if user_id not in chat.members or not chat.members[user_id].present:
            raise ValueError(f"user {user_id} is not in this group")
        return chat, self.person(user_id)

    # Writing

    def user_sends(
        self,
        chat_id: int,
        text: str,
        *,
        user_id: int | None = None,
        reply_to: int = 0,
        thread_id: int = 0,
        entities: Sequence[Json] = (),
        anonymous: bool = False,
    ) -> list[Message]:
        """Type or paste a text; one over 4096 becomes several messages, an empty one none."""
        chat, user = self._place(chat_id, user_id)
        runs = parse_entities(list(entities))
        pieces = [text] if runs else split_as_clients_do(text)
        bodies = [body for piece in pieces if (body := formatted(piece, runs))[0]]
        return [
            self._said(chat, user, _body("text", *body), reply_to, thread_id, anonymous=anonymous)
            for body in bodies
        ]

    def user_starts(self, user_id: int, payload: str = "") -> Message:
        """Press Start, or open a t.me/…?start=payload link and press Start."""
        if user_id in self.chats and not self.bot_in(self.chats[user_id]).present:
            self.user_unblocks(user_id)
        return self.user_sends(user_id, f"/start {payload}".strip())[0]

    def user_sends_media(
        self,
        chat_id: int,
        kind: str,
        *,
        user_id: int | None = None,
        caption: str = "",
        data: bytes = b"",
        reply_to: int = 0,
        thread_id: int = 0,
        media_group_id: str = "",
        fields: Json | None = None,
    ) -> Message:
        """Send a photo, sticker, voice, poll, location, contact, document, video_note, dice, …"""
        chat, user = self._place(chat_id, user_id)
        folder = media.FOLDERS.get(kind)
        stored = self.store_file(data, folder, media.SUFFIXES[kind]) if folder and data else None
        content = media.content(self, kind, stored, **(fields or {}))
        content |= _body("caption", *formatted(caption, limit=MAX_CAPTION))
        extra = {"media_group_id": media_group_id} if media_group_id else None
        return self._said(chat, user, content, reply_to, thread_id, extra=extra)

    def user_sends_album(
        self,
        chat_id: int,
        kinds: Sequence[str] = ("photo", "photo"),
        *,
        user_id: int | None = None,
        caption: str = "",
        reply_to: int = 0,
        thread_id: int = 0,
    ) -> list[Message]:
        """Several media as one album: separate messages with one media_group_id."""
        group = str(next(self.numbers) + 13_000_000_000)
        return [
            self.user_sends_media(
                chat_id,
                kind,
                user_id=user_id,
                caption="" if number else caption,
                reply_to=reply_to,
                thread_id=thread_id,
                media_group_id=group,
            )
            for number, kind in enumerate(kinds)
        ]

    def user_forwards(
        self,
        chat_id: int,
        text: str,
        *,
        user_id: int | None = None,
        origin: User | None = None,
        hidden_name: str = "",
        thread_id: int = 0,
    ) -> Message:
        """Forward something from elsewhere, written by `origin` or by a hidden account."""
        chat, user = self._place(chat_id, user_id)
        source = origin or User(424242, "Somebody")
        extra = {"forward_origin": self._origin(source, hidden_name)}
        return self._said(chat, user, _body("text", *formatted(text)), 0, thread_id, extra=extra)

    def _origin(self, author: User, hidden_name: str = "") -> Json:
        if hidden_name or author.hides_forwards:
            name = hidden_name or author.first_name
            return {"type": "hidden_user", "date": self.now, "sender_user_name": name}
        return {"type": "user", "date": self.now, "sender_user": author.as_json()}

    def _said(
        self,
        chat: Chat,
        user: User,
        content: Json,
        reply_to: int,
        thread_id: int,
        *,
        extra: Json | None = None,
        anonymous: bool = False,
    ) -> Message:
        answered = chat.messages.get(reply_to)
        extra = dict(extra or {})
        if answered is not None and not thread_id:
            thread_id = self._thread_of_reply(chat, answered)
        if anonymous:
            user = ANONYMOUS_ADMIN
            extra["sender_chat"] = chat.as_json()
        message = self.post(
            chat, user, content, thread_id=thread_id, reply_to=answered, extra=extra
        )
        if self.bot_hears(chat, message):
            self.updates.put("message", message.data)
        return message

    @staticmethod
    def _thread_of_reply(chat: Chat, answered: Message) -> int:
        """Replies in a plain supergroup carry a thread id as well: that of the first message."""
        if chat.type != "supergroup":
            return 0
        thread = int(answered.data.get("message_thread_id", 0))
        return thread or (0 if chat.is_forum else answered.id)

    def bot_hears(self, chat: Chat, message: Message) -> bool:
        """Privacy mode: in a group a bot that is no admin hears what is meant for it."""
        member = self.bot_in(chat)
        if not member.present:
            return False
        if chat.type == "private" or member.is_admin or self.reads_all_group_messages:
            return True
        answered = message.data.get("reply_to_message", {}).get("from", {}).get("id")
        if message.service or answered == self.bot.id:
            return True
        words = message.text.lower().split()
        name = f"@{self.bot.username}".lower()
        command = words[0] if words and words[0].startswith("/") else ""
        return name in words or command.endswith(name) or ("@" not in command and bool(command))

    # Changing what was said

    def user_edits(self, chat_id: int, message_id: int, text: str | None = None) -> Message:
        """Edit one's own message. None: an edit that alters no text (a link preview came)."""
        chat = self.chats[chat_id]
        message = chat.messages[message_id]
        key = "text" if message.kind == "text" else "caption"
        if text is None:
            self.revise(message, {})
        else:
            marks = f"{'' if key == 'text' else 'caption_'}entities"
            self.revise(message, _body(key, *formatted(text)), gone=(key, marks))
        if self.bot_hears(chat, message):
            self.updates.put("edited_message", message.data)
        return message

    def user_deletes(self, chat_id: int, message_id: int) -> None:
        """Delete a message for both sides. Bots get no update for that."""
        self.remove(self.chats[chat_id], message_id)

    def user_reacts(
        self, chat_id: int, message_id: int, emoji: str = "", *, user_id: int | None = None
    ) -> None:
        """Put one reaction on a message; "" takes it away."""
        chat, user = self._place(chat_id, user_id)
        message = chat.messages[message_id]
        old = message.reactions.get(user.id, [])
        new = [{"type": "emoji", "emoji": emoji}] if emoji else []
        message.reactions[user.id] = new
        self.changed()
        if chat.type == "private" or self.bot_in(chat).is_admin:
            self.updates.put(
                "message_reaction",
                {
                    "chat": chat.as_json(),
                    "message_id": message_id,
                    "user": user.as_json(),
                    "date": self.now,
                    "old_reaction": old,
                    "new_reaction": new,
                },
            )

    # Buttons

    def user_presses(
        self, chat_id: int, message_id: int, button: str, *, user_id: int | None = None
    ) -> Press:
        """Press an inline button by its text or its data. Raises KeyError if there is none such."""
        markup = self.message(chat_id, message_id).data.get("reply_markup", {})
        for row in markup.get("inline_keyboard", ()):
            for key in row:
                if "callback_data" in key and button in (key["text"], key["callback_data"]):
                    return self.user_forges_press(
                        chat_id, message_id, key["callback_data"], user_id=user_id
                    )
        raise KeyError(f"no button {button!r} under message {message_id}")

    def user_forges_press(
        self, chat_id: int, message_id: int, data: str, *, user_id: int | None = None
    ) -> Press:
        """What an altered app or an old screen sends: any data, also under a gone message."""
        chat = self.chats[chat_id]
        user = self.person(chat_id if user_id is None else user_id)
        press = Press(
            str(next(self.numbers) + 4_000_000_000_000),
            user.id,
            chat_id,
            message_id,
            data,
            self.clock(),
        )
        self.presses[press.id] = press
        message = chat.messages.get(message_id)
        gone = {"chat": chat.as_json(), "message_id": message_id, "date": 0}
        self.updates.put(
            "callback_query",
            {
                "id": press.id,
                "from": user.as_json(),
                "message": message.data if message else gone,
                "chat_instance": chat.instance,
                "data": data,
            },
        )
        return press

    # Coming and going

    def user_blocks(self, user_id: int) -> None:
        self._stands(self.private_chat(user_id), self.bot, "kicked", self.person(user_id))

    def user_unblocks(self, user_id: int) -> None:
        self._stands(self.private_chat(user_id), self.bot, "member", self.person(user_id))

    def user_is_deactivated(self, user_id: int) -> None:
        """The account is deleted; the bot learns it from the next refusal."""
        self.private_chat(user_id)
        self.person(user_id).deactivated = True

    def _stands(
        self,
        chat: Chat,
        whom: User,
        status: str,
        by: User,
        rights: frozenset[str] = frozenset(),
    ) -> None:
        """Change a member's standing and let the bot hear of it."""
        old = chat.members.get(whom.id, Member(whom, "left"))
        new = Member(whom, status, rights)
        chat.members[whom.id] = new
        self.changed()
        kind = "my_chat_member" if whom is self.bot else "chat_member"
        if kind == "my_chat_member" or self.bot_in(chat).is_admin:
            change: dict[str, Any] = {
                "chat": chat.as_json(),
                "from": by.as_json(),
                "date": self.now,
                "old_chat_member": old.as_json(),
                "new_chat_member": new.as_json(),
            }
            self.updates.put(kind, change)


def _body(key: str, text: str, runs: list[Run]) -> Json:
    if not text:
        return {}
    if not runs:
        return {key: text}
    marks = "entities" if key == "text" else f"{key}_entities"
    return {key: text, marks: [run.as_json() for run in runs]}
