"""Kills the bot at random moments while people write, then lets everything settle.

One seed is one choice of moments and texts. The moments are events of the servers the bot talks
to (a request came in, an answer is about to leave), a few milliseconds apart at most, so that
kills fall between all the steps of a turn and not only into its long pauses.
"""

import asyncio
import random
import signal
from contextlib import suppress

from bot.lab.botapi.journal import Call
from tests.crash.process import BotProcess
from tests.crash.scene import OWNER, Scene

USERS = (11, 12, 13, 14)
ATTENDED = 15  # talks to the owner
SPREAD_SECONDS = 0.6  # over which the users of a round write
LONGEST_DELAY = 0.03
ROUND_SECONDS = 4.0  # the kill comes then at the latest
WORDS = ("", "", "", "remember that I like", "I think", "/remember")


class Killer:
    """Kills one bot at the n-th event of the servers."""

    def __init__(self, scene: Scene, bot: BotProcess, chance: random.Random) -> None:
        self._bot = bot
        self._left = chance.randint(1, 30)
        self._at_answer = chance.random() < 0.5
        self._delay = chance.choice((0.0, 0.0, chance.uniform(0.0, LONGEST_DELAY)))
        self._hooks = scene.telegram.hooks
        self._hooks.on_request.append(self._on_request)
        self._hooks.on_answer.append(self._on_answer)

    async def finish(self) -> None:
        with suppress(AssertionError):
            await self._bot.ended(ROUND_SECONDS)
        await self._bot.kill()
        self._hooks.on_request.remove(self._on_request)
        self._hooks.on_answer.remove(self._on_answer)

    def _on_request(self, method: str, params: dict[str, object]) -> None:
        self._count(at_answer=False)

    def _on_answer(self, call: Call) -> None:
        self._count(at_answer=True)

    def _count(self, *, at_answer: bool) -> None:
        if at_answer is not self._at_answer:
            return
        self._left -= 1
        if self._left == 0 and not self._delay:
            self._bot.send(signal.SIGKILL)
        elif self._left == 0:
            asyncio.get_running_loop().call_later(self._delay, self._bot.send, signal.SIGKILL)


async def kill_again_and_again(
    scene: Scene, seed: int, kills: int, *, bots: int = 1, patience: float = 60
) -> None:
    """Run the whole: opt in, `kills` rounds, settle within `patience` seconds, verify.

    With several bots (PostgreSQL) one of them is killed each time.
    """
    chance = random.Random(seed)
    running = [await scene.start() for _ in range(bots)]
    await scene.opt_in(*USERS, ATTENDED)
    await scene.attend(ATTENDED)
    for _ in range(kills):
        victim = chance.randrange(bots)
        killer = Killer(scene, running[victim], chance)
        writing = asyncio.create_task(_write(scene, chance))
        await killer.finish()
        await writing
        running[victim] = await scene.launch()
    await scene.settled(patience)
    for bot in running:
        await bot.says("running")
    codes = [await bot.stop() for bot in running]
    assert codes == [0] * bots, f"exit codes {codes}\n{scene.last_words()}"
    scene.verify()


async def _write(scene: Scene, chance: random.Random) -> None:
    """Some users write, up to three messages somewhere in the round."""
    moments = sorted(
        (chance.uniform(0, SPREAD_SECONDS), user, chance.choice(WORDS) if user in USERS else "")
        for user in (*USERS, ATTENDED, OWNER)
        for _ in range(chance.choice((0, 0, 1, 1, 3) if user in USERS else (0, 0, 0, 1)))
    )
    begun = 0.0
    for moment, user, words in moments:
        await asyncio.sleep(moment - begun)  # people's own pace, nothing that is waited for
        begun = moment
        scene.writes(user, words)
