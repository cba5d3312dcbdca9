"""The whole bot with its memory behind a relayer: late at first, down, and back."""

from pathlib import Path

from bot.lab.relayer import LAB_ACCOUNT, LAB_KEY, Relayer, Timing, serve_relayer
from tests.stage import USER, stage

NOTE = "I am vegetarian"
EMPTY = "SELECT 1 WHERE (SELECT count(*) FROM memory_outbox) = 0"


async def test_a_note_is_readable_while_the_relayer_is_down_and_kept_by_it_later(
    tmp_path: Path,
) -> None:
    world = Relayer(timing=Timing(0.2, 0.2, 0.1))
    world.faults.down = True
    async with serve_relayer(world) as url:
        settings = {
            "memory_url": f"walrus+{url}",
            "memory_key": LAB_KEY,
            "memory_account": LAB_ACCOUNT,
        }
        async with stage(tmp_path, **settings) as scene, scene.bot():
            scene.telegram.user_starts(USER)
            scene.telegram.user_sends(USER, f"/remember {NOTE}")
            await scene.shows(USER, "I will remember")
            world.faults.down = False
            await scene.until_rows(EMPTY, timeout=30)
            scene.telegram.user_sends(USER, "/memory")
            assert NOTE in (await scene.shows(USER, "what I remember")).text
    assert world.jobs, "it was handed over"
    assert all(NOTE not in job.text for job in world.jobs.values()), "sealed"
    assert str(USER) not in "".join(job.namespace for job in world.jobs.values())
