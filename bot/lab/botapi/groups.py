"""What people do with groups: make them, invite the bot, give it rights, open topics, upgrade."""

from collections.abc import Iterable

from bot.lab.botapi.records import RIGHTS, SUPERGROUP_OFFSET, Chat, Member, Topic, User
from bot.lab.botapi.talk import Talk

ALL_RIGHTS = frozenset(RIGHTS) - {"is_anonymous", "can_be_edited"}


class Groups(Talk):
    def create_group(
        self,
        title: str,
        owner_id: int,
        member_ids: Iterable[int] = (),
        *,
        kind: str = "supergroup",
        forum: bool = False,
        chat_id: int | None = None,
        username: str = "",
    ) -> Chat:
        """A group without the bot. `kind` is "supergroup" or "group"; a forum is a supergroup."""
        number = next(self.numbers)
        large = kind == "supergroup"
        chat_id = chat_id or (
            SUPERGROUP_OFFSET - 2_000_000 - number if large else -4_000_000 - number
        )
        owner = self.person(owner_id)
        members = {owner_id: Member(owner, "creator")}
        members |= {member: Member(self.person(member)) for member in member_ids}
        chat = Chat(
            chat_id,
            kind,
            title,
            username=username,
            is_forum=forum,
            members=members,
            last_id=1 if forum else 0,  # 1 is the General topic
            instance=str(number + 6_000_000_000),
        )
        self.chats[chat_id] = chat
        return chat

    def add_bot(self, chat_id: int, by: int, *, rights: Iterable[str] | None = None) -> None:
        """Bring the bot in; with `rights` as an administrator, see ALL_RIGHTS."""
        chat, inviter = self.chats[chat_id], self.person(by)
        status = "member" if rights is None else "administrator"
        self._stands(chat, self.bot, status, inviter, frozenset(rights or ()))
        self.post_service(chat, inviter, {"new_chat_members": [self.bot.as_json()]})

    def set_bot_rights(self, chat_id: int, by: int, rights: Iterable[str] | None) -> None:
        """Promote the bot, change its rights, or (None) make it a plain member."""
        status = "member" if rights is None else "administrator"
        self._stands(
            self.chats[chat_id], self.bot, status, self.person(by), frozenset(rights or ())
        )

    def remove_bot(self, chat_id: int, by: int) -> None:
        """Throw the bot out."""
        self._stands(self.chats[chat_id], self.bot, "kicked", self.person(by))

    def user_joins(self, chat_id: int, user_id: int) -> None:
        chat, user = self.chats[chat_id], self.person(user_id)
        self._stands(chat, user, "member", user)
        self.post_service(chat, user, {"new_chat_members": [user.as_json()]})

    def user_leaves(self, chat_id: int, user_id: int) -> None:
        chat, user = self.chats[chat_id], self.person(user_id)
        self._stands(chat, user, "left", user)
        self.post_service(chat, user, {"left_chat_member": user.as_json()})

    def set_user_rights(
        self, chat_id: int, user_id: int, by: int, rights: Iterable[str] | None
    ) -> None:
        """Make somebody an administrator, or (None) a plain member."""
        status = "member" if rights is None else "administrator"
        chat = self.chats[chat_id]
        self._stands(chat, self.person(user_id), status, self.person(by), frozenset(rights or ()))

    def upgrade_group(self, chat_id: int, by: int) -> Chat:
        """Turn a basic group into a supergroup with a new id; the old id answers with it."""
        old, user = self.chats[chat_id], self.person(by)
        new = self.create_group(old.title, by, kind="supergroup")
        new.members = dict(old.members)
        self.post_service(old, user, {"migrate_to_chat_id": new.id})
        old.migrated_to = new.id
        self.post_service(new, user, {"migrate_from_chat_id": old.id})
        return new

    def make_forum(self, chat_id: int) -> None:
        """Switch topics on in a supergroup."""
        chat = self.chats[chat_id]
        chat.is_forum = True
        chat.last_id = max(chat.last_id, 1)
        chat.renamed()

    def user_opens_topic(self, chat_id: int, user_id: int, name: str) -> Topic:
        return self.open_topic(self.chats[chat_id], self.person(user_id), name)

    def user_closes_topic(self, chat_id: int, user_id: int, thread_id: int) -> None:
        self.set_topic_closed(self.chats[chat_id], self.person(user_id), thread_id, closed=True)

    def user_reopens_topic(self, chat_id: int, user_id: int, thread_id: int) -> None:
        self.set_topic_closed(self.chats[chat_id], self.person(user_id), thread_id, closed=False)

    def user_deletes_topic(self, chat_id: int, thread_id: int) -> None:
        """Delete a topic and all that was said in it. Bots get no update for that."""
        self.delete_topic(self.chats[chat_id], thread_id)

    def set_topic_closed(self, chat: Chat, by: User, thread_id: int, *, closed: bool) -> None:
        chat.topics[thread_id].closed = closed
        line = "forum_topic_closed" if closed else "forum_topic_reopened"
        self.post_service(chat, by, {line: {}}, thread_id=thread_id)

    def delete_topic(self, chat: Chat, thread_id: int) -> None:
        chat.topics[thread_id].deleted = True
        for message in list(chat.messages.values()):
            if message.data.get("message_thread_id") == thread_id:
                self.remove(chat, message.id)


class Telegram(Groups):
    """The lab's Telegram: state, people's actions, faults, journal. Serve it with app.build_app."""
