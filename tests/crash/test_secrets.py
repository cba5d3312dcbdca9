"""I11: whatever goes wrong, no text, token or key gets into a log line or the list of processes.

The other tests of this folder look for the same in all that their bots write.
"""

from pathlib import Path

import pytest

from bot.lab.botapi import LAB_TOKEN, Fault, Harm
from bot.lab.practice import scripts
from bot.lab.practice.scripts import Call, Reply
from tests.crash.scene import CANARY, KEY, OWNER, scene

USER = 51
PAGE = f"<html>502 {CANARY} bot{LAB_TOKEN}/sendMessage {KEY}</html>"
WRONG_ANSWERS = (
    Reply(text=f"{CANARY} half", fault=scripts.Fault.MALFORMED),
    Reply(text=f"{CANARY} half", fault=scripts.Fault.HTML),
    Reply(text=f"{CANARY} half", fault=scripts.Fault.DISCONNECT),
    Reply(status=400, body={"error": {"message": f"{CANARY} Bearer {KEY}", "code": CANARY}}),
    Reply(status=401, body={"error": {"message": f"wrong key {KEY}", "type": CANARY}}),
    Reply(status=500, body=PAGE),
    Reply(tool_calls=(Call("remember", f'{{"fact": "{CANARY}'),)),
    Reply(tool_calls=(Call(CANARY, f'{{"x": "{CANARY}"}}'),)),
    Reply(text=f"{CANARY} {KEY}"),  # the rules block it
)
ODD_TEXTS = (
    f"{CANARY} \x00 \x07 \u202e \u200b",
    f"{CANARY} " * 400,
    f"/remember {CANARY}",
    f"/done {CANARY}",
    f"/{CANARY} now",
    f"/start {CANARY}",
)
MET = (
    "generation_failed",
    "draft_blocked",
    "send_refused",
    "moderation_unavailable",
    "polling_failed",
)


@pytest.mark.timeout(180)
async def test_whatever_goes_wrong_the_log_holds_no_text_and_no_secret(tmp_path: Path) -> None:
    async with scene(tmp_path, MODERATION="endpoint") as stage:
        bot = await stage.start()
        assert not {LAB_TOKEN, KEY} & set(bot.arguments.split())
        await stage.opt_in(USER)
        others = range(60, 60 + len(WRONG_ANSWERS))
        await stage.opt_in(*others)
        stage.model.script(*WRONG_ANSWERS, *WRONG_ANSWERS)
        for user in others:
            stage.writes(user)
        await stage.settled()
        stage.model.reset()
        for text in ODD_TEXTS:
            stage.telegram.user_sends(USER, text)
        await stage.settled()
        for harm, more in (
            (Harm.REFUSE, {"description": f"Bad Request: {CANARY} {KEY}"}),
            (Harm.REFUSE, {"status": 502, "body": PAGE}),
            (Harm.REFUSE, {"status": 403, "body": PAGE}),
            (Harm.CUT_DURING, {}),
        ):
            stage.telegram.faults.add(Fault(harm, method="sendMessage", chat_id=USER, **more))
            stage.writes(USER)
            await stage.settled()
        stage.telegram.faults.add(Fault(Harm.REFUSE, method="getUpdates", status=500, body=PAGE))
        stage.model.moderate(down=True)
        stage.writes(USER)
        await stage.state(USER, "handoff_pending")
        stage.telegram.user_starts(OWNER)
        await stage.settled()
        for kind in ("photo", "sticker", "poll"):
            stage.telegram.user_sends_media(USER, kind)
        await bot.kill()
        again = await stage.start()
        await stage.settled()
        assert await again.stop() == 0
        said = "".join(each.said for each in stage.bots)
        for event in MET:
            assert event in said, "the trouble did not come about"
        assert stage.leaks() == []
        assert "Traceback" not in said
