"""A doubtful delivery among lines of ours that are on no record: one reply stays, and only it."""

from pathlib import Path

from bot.lab.botapi import Fault, Harm
from tests.crash.ledger import Ledger
from tests.crash.scene import scene
from tests.crash.test_stops import lost

USER = 71


async def test_a_line_that_took_on_the_words_leaves_them_in_the_chat_once(
    tmp_path: Path,
) -> None:
    """The status line's id was never learnt; the search turns it into a copy it cannot remove."""
    async with scene(tmp_path) as stage:
        bot = await stage.start()
        await stage.opt_in(USER)
        faults = stage.telegram.faults
        faults.add(Fault(Harm.STALL_AFTER, method="sendMessage", chat_id=USER))
        faults.add(Fault(Harm.CUT_AFTER, method="sendMessage", chat_id=USER))
        faults.add(Fault(Harm.CUT_BEFORE, method="deleteMessage", chat_id=USER))
        stage.model.hold()
        stage.writes(USER)
        await stage.until(lambda: lost(stage, "sendMessage"))
        stage.model.release()
        await stage.state(USER, "delivery_unknown")
        await stage.looks(lambda: confirmed(stage.ledger))
        assert await bot.stop() == 0
        again = await stage.start()
        await stage.settled()
        assert await again.stop() == 0
        stage.verify()


def confirmed(ledger: Ledger) -> bool | None:
    rows = ledger.rows("SELECT 1 FROM outbox WHERE author = 'ai' AND status = 'sent'")
    return bool(rows) or None
