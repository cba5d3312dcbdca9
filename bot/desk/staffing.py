"""The operators: who they are and whom a notice to them concerns.

They answer from their private chats with the bot; the owner is one of them.
"""

from collections.abc import Sequence

from bot.core.notices import Notice
from bot.core.states import Conversation
from bot.store import conversations, meta
from bot.store.conversations import Contact
from bot.store.port import Sql


class Desk:
    """Who the operators are, as long as they answer from their private chats with the bot."""

    def __init__(self, operator_ids: Sequence[int], language: str) -> None:
        self._operator_ids = tuple(operator_ids)
        self._language = language

    @property
    def language(self) -> str:
        """What is said in the operators' group is said in this language."""
        return self._language

    def operators(self, sql: Sql) -> tuple[int, ...]:
        """The owner first, then the other operators."""
        owner = meta.owner_id(sql)
        others = tuple(each for each in self._operator_ids if each != owner)
        return (owner, *others) if owner else others

    def anyone_for(self, sql: Sql, chat_id: int) -> bool:
        """Whether there is an operator other than the user themself."""
        return any(operator != chat_id for operator in self.operators(sql))

    def recipients(
        self, sql: Sql, notice: Notice, after: Conversation, before: Conversation, user_id: int
    ) -> list[Contact]:
        """Whom a notice to operators concerns: the holder, or everybody who could take it.

        Not the operator who is the user in question, except where there is something to repair.
        """
        personal = {Notice.OP_CLAIMED: after.holder}
        parting = {Notice.OP_RELEASED: before.holder}
        holder = (personal | parting).get(notice)
        if notice in personal or notice in parting:
            ids: tuple[int, ...] = (holder.operator_id,) if holder else ()
        else:
            ids = self.operators(sql)
        to_repair = notice is Notice.OP_MODEL_TROUBLE
        return [self.contact(sql, each) for each in ids if to_repair or each != user_id]

    def contact(self, sql: Sql, operator_id: int) -> Contact:
        """An operator's private chat with the bot."""
        known = conversations.peek(sql, conversations.conversation_id(operator_id))
        if known is not None:
            return known[1]
        name = conversations.conversation_id(operator_id)
        return Contact(name, operator_id, "", self._language)
