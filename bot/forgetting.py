"""/forget_me: asks, and then destroys whatever is kept of a chat, to the end, whatever happens.

Rule 1: the yes, the end of the conversation (its epoch is raised, so a draft under way is refused)
        and the destruction of all that this database holds are one transaction. From its commit
        on no line of memory can be read any more: its key is gone.
Rule 2: what cannot be in that transaction follows in steps. Each is safe to repeat, and what was
        begun stands in the database: a process that dies goes on with it at its next start.
Rule 3: the receipt is queued with the last step, once, and says what is left and where.
"""

import secrets
from collections.abc import Callable, Sequence

import structlog

from bot.coordinator import Coordinator
from bot.core.events import Ended
from bot.core.notices import Notice
from bot.remembering import Remembering
from bot.scribe import Aftermath, Scribe
from bot.store import conversations, forgettings, wiping
from bot.store.forgettings import Forgetting, Stage
from bot.store.port import Database, Sql
from bot.visit import Visit
from memory.port import MemoryUnavailable

log = structlog.get_logger(__name__)

ANSWER_SECONDS = 600.0  # so long the question may be answered
AGAIN_SECONDS = 2.0  # after a step that something was in the way of


class Forgetter:
    """`databases`: those that must leave no trace in their files."""

    def __init__(
        self,
        *,
        databases: Sequence[Database],
        coordinator: Coordinator,
        scribe: Scribe,
        remembering: Remembering,
        clock: Callable[[], float],
        between_steps: Callable[[str], None] = lambda step: None,
    ) -> None:
        self._database = databases[0]
        self._databases = tuple(databases)
        self._coordinator = coordinator
        self._scribe = scribe
        self._remembering = remembering
        self._clock = clock
        self._between_steps = between_steps  # where a test lets a process die

    # --- in the transaction of an update ----------------------------------------------------------

    def ask(self, visit: Visit) -> None:
        """/forget_me: say what will be destroyed, with a button that counts for ten minutes."""
        forgettings.drop_questions(visit.sql, visit.at - ANSWER_SECONDS)
        token = secrets.token_urlsafe(12)
        if forgettings.ask(visit.sql, visit.contact.conversation_id, token, visit.at):
            self._tell(visit, Notice.FORGET_ASK, token=token)
        else:
            self._tell(visit, Notice.FORGET_UNDER_WAY)

    def keep(self, visit: Visit, token: str) -> bool:
        """*Keep everything*. False: the press is forged, old, or somebody else's."""
        name, limit = visit.contact.conversation_id, visit.at - ANSWER_SECONDS
        if not forgettings.keep(visit.sql, name, token, limit):
            return False
        self._tell(visit, Notice.FORGET_KEPT)
        return True

    def confirm(self, visit: Visit, token: str) -> bool:
        """*Destroy everything*: from the commit of this transaction on there is no way back."""
        sql, at = visit.sql, visit.at
        name, chat_id = visit.contact.conversation_id, visit.contact.chat_id
        if not forgettings.begin(sql, name, token, at, at - ANSWER_SECONDS):
            return False
        self._coordinator.step(sql, name, Ended(at), visit.aftermath)
        destroyed = self._remembering.destroy(sql, chat_id)
        messages = wiping.wipe(sql, name, chat_id, at)
        forgettings.note(sql, name, destroyed.stored_as, messages, destroyed.waiting)
        visit.aftermath.forgetting = True
        log.info("forgetting_begun", conversation_id=name)
        return True

    # --- afterwards -------------------------------------------------------------------------------

    async def go_on(self) -> float | None:
        """Do what is left of everything that was begun; return when to come again, if at all.

        Raises StoreUnavailable.
        """
        begun = await self._database.read(forgettings.begun)
        left = [each for each in begun if not await self._finish(each)]
        return self._clock() + AGAIN_SECONDS if left else None

    async def _finish(self, forgetting: Forgetting) -> bool:
        """All remaining steps of one. False: something is in the way for the moment."""
        name = forgetting.conversation_id
        chat_id = await self._chat(name)
        try:
            if forgetting.stage is Stage.BEGUN:
                self._between_steps("count")
                held = await self._remembering.held(forgetting.stored_as)
                await self._database.transact(lambda sql: forgettings.counted(sql, name, held))
            if forgetting.stage is not Stage.SWEPT and not await self._sweep(forgetting, chat_id):
                return False
        except MemoryUnavailable as error:
            log.warning("forgetting_put_off", conversation_id=name, cause=str(error))
            return False
        self._between_steps("scrub")
        for database in self._databases:
            if not await database.scrub():
                log.info("forgetting_put_off", conversation_id=name, cause="somebody reads")
                return False
        self._between_steps("receipt")
        await self._coordinator.transact(lambda sql, after: self._receipt(sql, name, after))
        return True

    async def _sweep(self, forgetting: Forgetting, chat_id: int) -> bool:
        name = forgetting.conversation_id
        self._between_steps("sweep")
        unreadable = await self._remembering.sweep(chat_id, forgetting.stored_as)
        self._between_steps("settle")

        def settle(sql: Sql) -> bool:
            if not wiping.settled(sql, name, chat_id, forgetting.at):
                return False
            forgettings.swept(sql, name, -1 if unreadable is None else unreadable)
            return True

        return await self._database.transact(settle)

    async def _chat(self, conversation_id: str) -> int:
        known = await self._database.read(lambda sql: conversations.peek(sql, conversation_id))
        assert known is not None, "a forgetting comes from a conversation, whose row stays"
        return known[1].chat_id

    def _receipt(self, sql: Sql, conversation_id: str, aftermath: Aftermath) -> None:
        begun = {each.conversation_id: each for each in forgettings.begun(sql)}
        known = conversations.peek(sql, conversation_id)
        if known is None or not forgettings.finish(sql, conversation_id):
            return
        done = begun[conversation_id]
        left = {-1: "?"}.get(done.unreadable, str(done.unreadable))
        self._scribe.tell(
            sql,
            known[1],
            Notice.FORGOTTEN,
            {"messages": str(done.messages), "count": str(done.lines), "left": left},
            key=f"forgotten:{done.at:.6f}",
            at=self._clock(),
            aftermath=aftermath,
        )
        log.info("forgetting_done", conversation_id=conversation_id)

    def _tell(self, visit: Visit, notice: Notice, **values: str) -> None:
        self._scribe.tell(
            visit.sql,
            visit.contact,
            notice,
            values,
            key=visit.key,
            at=visit.at,
            aftermath=visit.aftermath,
        )
