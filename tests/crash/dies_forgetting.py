"""The bot, killed by SIGKILL at the step of a forgetting that the argument names."""

import os
import signal
import sys
from functools import partial

from bot import assembly
from bot.__main__ import main
from bot.forgetting import Forgetter


def die_at(wanted: str, step: str) -> None:
    if step == wanted:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    setattr(assembly, "Forgetter", partial(Forgetter, between_steps=partial(die_at, sys.argv[1])))  # noqa: B010
    sys.exit(main([]))
