"""Lines that stand in a chat only for a while: the status line, the notice of a doubtful delivery.

Rule 1: each is on record for as long as it may be there. What a crash or a dead network left
        behind is removed later, by whichever process looks (`tidy`).
Rule 2: a line whose id was never learnt is looked for like a lost message, by edits, between ids
        that are known. It is the only message of ours there that is not on record.
Rule 3: nothing here ever holds a stop or a turn up.
"""

from collections.abc import Callable, Sequence

import structlog

from bot.errors import DabirError, FloodWait, RetryLater, Unknown
from bot.store import outbox
from bot.store.port import Database, Row, Sql
from bot.telegram.port import EditOutcome, Messenger, Part
from bot.telegram.probing import candidate_ids

log = structlog.get_logger(__name__)

POST_SECONDS = 60.0  # longer than the request that posts a line can take
GRACE_SECONDS = 3.0  # for whoever posted a line to remove it
GONE = Part("…")  # what a line says between being found and being removed
# Before the id is known, the row holds the newest id known in the chat, negative. One that is there
# already was left by a post that never learnt its id, and stays.
EXPECT = """
INSERT INTO status_lines (chat_id, message_id, posted_at)
SELECT :chat_id, -coalesce(max(last_message_id), 0), :at FROM chats WHERE chat_id = :chat_id
ON CONFLICT (chat_id, message_id) DO NOTHING
RETURNING message_id
"""
ADD = """
INSERT INTO status_lines (chat_id, message_id, posted_at) VALUES (:chat_id, :message_id, :at)
ON CONFLICT (chat_id, message_id) DO NOTHING
"""
REMOVE = "DELETE FROM status_lines WHERE chat_id = :chat_id AND message_id = :message_id"
# Not where somebody is at work, and not where another message is being found out. One of unknown
# id is not looked for where others could be met whose ids are not known either.
LEFT = """
SELECT s.chat_id, s.message_id, s.posted_at FROM status_lines s
LEFT JOIN conversations c ON c.chat_id = s.chat_id
LEFT JOIN leases l ON l.name = c.id AND l.expires_at > :now
WHERE s.posted_at < CASE WHEN s.message_id > 0 THEN :known_before ELSE :before END
 AND l.name IS NULL AND NOT EXISTS (
  SELECT 1 FROM outbox o WHERE o.chat_id = s.chat_id AND (o.status IN ('sending', 'unknown')
    OR s.message_id <= 0 AND (o.status = 'unresolved' OR o.status = 'sent' AND o.message_id = 0)))
ORDER BY s.posted_at LIMIT 100
"""
# Queued after the line was posted, so it has a higher id.
NEXT_ID = """
SELECT min(message_id) FROM outbox
WHERE chat_id = :chat_id AND created_at > :posted_at AND message_id > 0
"""


class Fleeting:
    def __init__(
        self,
        messenger: Messenger,
        database: Database,
        *,
        clock: Callable[[], float],
        alone_since: float = 0.0,
    ) -> None:
        self._messenger = messenger
        self._database = database
        self._clock = clock
        self._alone_since = alone_since  # whoever posted a line before is dead; 0.0: not known

    async def post(self, chat_id: int, part: Part) -> int:
        """Send a line and return its id. Raises what the messenger raises."""
        at = self._clock()
        row = await self._database.transact(
            lambda sql: sql.row(EXPECT, {"chat_id": chat_id, "at": at})
        )
        expected = row[0] if row else None
        try:
            message_id = await self._messenger.send(chat_id, part)
        except Unknown:
            raise  # it may be there
        except DabirError:
            if expected is not None:
                await self._forget(chat_id, expected)
            raise
        await self.note(chat_id, message_id, instead_of=expected)
        return message_id

    async def note(self, chat_id: int, message_id: int, *, instead_of: int | None = None) -> None:
        """Put on record that this message of ours is to be removed."""

        def write(sql: Sql) -> None:
            if instead_of is not None:
                sql.run(REMOVE, {"chat_id": chat_id, "message_id": instead_of})
            self.put_down(sql, chat_id, message_id)

        await self._database.transact(write)

    def put_down(self, sql: Sql, chat_id: int, message_id: int) -> None:
        """`note` inside a transaction."""
        values = {"chat_id": chat_id, "message_id": message_id, "at": self._clock()}
        sql.run(ADD, values)
        outbox.know_id(sql, chat_id, message_id)

    async def remove(self, chat_id: int, message_id: int) -> None:
        """Remove a line. If Telegram is not reached, `tidy` does it later."""
        try:
            await self._messenger.delete(chat_id, message_id)
        except (RetryLater, FloodWait, Unknown) as error:
            log.info("line_stays_for_now", chat_id=chat_id, cause=type(error).__name__)
            return
        except DabirError as error:
            log.info("line_not_removed", chat_id=chat_id, cause=type(error).__name__)
        await self._forget(chat_id, message_id)

    async def sweep(self, chat_id: int, ids: Sequence[int]) -> None:
        """Remove what is ours among `ids`, none of which is on record."""
        for message_id in ids:
            outcome = await self._messenger.edit(chat_id, message_id, GONE)
            if outcome in (EditOutcome.EDITED, EditOutcome.NOT_MODIFIED):
                await self._messenger.delete(chat_id, message_id)

    async def tidy(self) -> None:
        """Remove the lines that nobody will remove any more."""
        now = self._clock()
        values = {
            "now": now,
            "known_before": max(now - GRACE_SECONDS, self._alone_since),
            "before": max(now - POST_SECONDS, self._alone_since),
        }
        left = await self._database.read(lambda sql: sql.rows(LEFT, values))
        for row in left:
            if row[1] > 0:
                await self.remove(row[0], row[1])
            else:
                await self._look_for(row)

    async def _look_for(self, row: Row) -> None:
        chat_id, negative_low, posted_at = row

        def between(sql: Sql) -> tuple[int, frozenset[int]]:
            found = sql.row(NEXT_ID, {"chat_id": chat_id, "posted_at": posted_at})
            high = int(found[0] or 0) if found else 0
            return high, outbox.known_ids(sql, chat_id, -negative_low, high)

        high, known = await self._database.read(between)
        if not high:  # nothing was sent since: later there will be
            return
        try:
            await self.sweep(chat_id, candidate_ids(-negative_low, high, known) or ())
        except (RetryLater, FloodWait, Unknown):
            return
        except DabirError as error:
            log.info("line_not_removed", chat_id=chat_id, cause=type(error).__name__)
        await self._forget(chat_id, negative_low)

    async def _forget(self, chat_id: int, message_id: int) -> None:
        values = {"chat_id": chat_id, "message_id": message_id}
        await self._database.transact(lambda sql: sql.run(REMOVE, values))
