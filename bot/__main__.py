"""The `dabir` command: reads the settings, sets up logging, and turns errors into sentences.

Rule 1: nothing slow is imported here. A bot that starts must not pay for the wizard, the
        tables or the model client of another command.
Rule 2: a start-up error is one sentence a setting on standard error and exit code 2. A
        traceback is written only with LOG_LEVEL=DEBUG.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from bot import logs
from bot.errors import DabirError
from bot.settings import Settings, load, read

log = logging.getLogger(__name__)  # passes through structlog like everything else

OK = 0
START_ERROR = 2
INTERRUPTED = 130  # what shells expect of a command that Ctrl-C ended before its work was done


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `dabir` with these arguments (by default the process's own); return its exit code."""
    logs.configure(_first_level())
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words:
        return guarded(lambda: _run_command(words))
    signal.signal(signal.SIGTERM, interrupt)
    return guarded(run_bot, interrupted=OK)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Until the bot runs and handles SIGTERM itself, the signal works like Ctrl-C."""
    raise KeyboardInterrupt


def guarded(command: Callable[[], int], *, interrupted: int = INTERRUPTED) -> int:
    """Run a command; whatever it raises becomes one sentence and an exit code."""
    try:
        return command()
    except KeyboardInterrupt:
        return interrupted
    except DabirError as error:
        say(str(error))
    except Exception as error:  # the command's edge: nobody above could say it
        log.debug("unexpected_error", exc_info=True)
        say(
            f"dabir stopped on an unexpected {type(error).__name__}; "
            "start it with LOG_LEVEL=DEBUG to see where."
        )
    return START_ERROR


def say(sentence: str) -> None:
    """Write to standard error. An error's text may hold an address with the token in it."""
    print(logs.Redaction()(sentence), file=sys.stderr, flush=True)  # noqa: T201


def run_bot() -> int:
    """Run the bot until it is told to stop. Nothing configured yet: begin with setup."""
    if _nothing_configured() and sys.stdin.isatty() and sys.stdout.isatty():
        from bot.cli import setup

        done = setup.run(starts_bot=True)
        if done != OK:
            return done
    settings = configured(load())
    with logs.out_of_reach("click", "pygments", "rich"):
        from bot import app

    return app.run(settings)


def configured(settings: Settings) -> Settings:
    """Log as these settings say, from here on."""
    logs.configure(settings.log_level, settings.log_format, settings.secrets)
    return settings


def _first_level() -> str:
    """How much to log while the settings are read, which could be what fails."""
    level = os.environ.get("LOG_LEVEL", "").upper()
    return level if level in ("DEBUG", "INFO", "WARNING", "ERROR") else "INFO"


def _nothing_configured() -> bool:
    settings, problems = read()
    return not problems and not settings.telegram_bot_token


def _run_command(words: Sequence[str]) -> int:
    from bot.cli import commands

    return commands.run(words)


if __name__ == "__main__":
    sys.exit(main())
