"""Who may talk to the bot, who is the owner, who is an operator.

Everybody else gets one polite line, once, and nothing of what they write is kept.
"""

from collections.abc import Callable
from typing import Literal

from bot.core.notices import Notice
from bot.desk.staffing import Desk
from bot.scribe import Scribe
from bot.store import meta
from bot.store.port import Sql
from bot.visit import Visit

TURN_AWAY = """
INSERT INTO strangers (chat_id, told_at) VALUES (:chat_id, :at) ON CONFLICT (chat_id) DO NOTHING
"""


class Access:
    def __init__(
        self,
        allowed: Literal["owner", "public"] | frozenset[int],
        desk: Desk,
        scribe: Scribe,
        *,
        redeem: Callable[[str], bool],
    ) -> None:
        self._allowed = allowed
        self._desk = desk
        self._scribe = scribe
        self._redeem = redeem

    def redeem(self, code: str) -> bool:
        """Use up the one-time code of setup. True: whoever sent it is the owner."""
        return self._redeem(code)

    def admits(self, sql: Sql, user_id: int) -> bool:
        if self._allowed == "public":
            return True
        if isinstance(self._allowed, frozenset) and user_id in self._allowed:
            return True
        return self.is_operator(sql, user_id)

    def is_operator(self, sql: Sql, user_id: int) -> bool:
        return user_id in self._desk.operators(sql)

    def is_owner(self, sql: Sql, user_id: int) -> bool:
        return user_id == meta.owner_id(sql)

    def turn_away(self, visit: Visit) -> None:
        """Say once that this bot is not public."""
        values = {"chat_id": visit.contact.chat_id, "at": visit.at}
        if visit.sql.run(TURN_AWAY, values) == 1:
            self._scribe.tell(
                visit.sql,
                visit.contact,
                Notice.STRANGER,
                {},
                key="stranger",
                at=visit.at,
                aftermath=visit.aftermath,
            )
