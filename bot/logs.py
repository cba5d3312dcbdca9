"""Sets up logging, once, for the command. Everything goes to standard error.

Rule 1: a library speaks only when it warns: httpx's INFO line holds the bot token, and
        aiosqlite's DEBUG line holds message text.
Rule 2: whatever is written passes `Redaction` last, so that a secret which slipped into a
        line (an error's text, an address) is not seen. A second line of defence: events
        carry ids and states in the first place.
"""

import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def out_of_reach(*packages: str) -> Iterator[None]:
    """Let imports inside go without packages that they use only where they find them.

    structlog would import rich for tracebacks, httpx would import rich, click and pygments for
    a command: half a second and 12 MB for what we never use. Both are made to do without.
    """
    absent = [name for name in packages if name not in sys.modules]
    for name in absent:
        sys.modules[name] = None  # type: ignore[assignment]  # what makes an import fail
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


with out_of_reach("rich"):
    import structlog
    from structlog.typing import EventDict, Processor, WrappedLogger

OURS = ("bot", "memory", "__main__")
WITHHELD = "[withheld]"
# Names under which text or secrets would travel; an event has no business with them.
PRIVATE_KEYS = frozenset(
    {"text", "content", "draft", "prompt", "caption", "reply", "arguments"}
    | {"token", "api_key", "secret", "password"}
)
SECRET_FORMS = re.compile(
    r"""
      (?<![0-9])[0-9]{5,}:[A-Za-z0-9_-]{20,}     # a bot token, also inside an address
    | \b(?:sk|pk|rk|gsk|hf|xai|key)[-_][A-Za-z0-9_-]{16,}   # keys of model providers
    | \bAIza[A-Za-z0-9_-]{20,}
    | (?<=Bearer\ )[^\s"',]+
    | (?<=://)[^\s/@:]*:[^\s/@]+(?=@)           # user:password@ in an address
    """,
    re.VERBOSE,
)


class Redaction:
    """Replaces known secrets, and whatever has the form of one, in a finished line."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Longest first: a secret may contain another one. Very short ones would hit plain words.
        long_enough = {each for each in secrets if len(each) >= 6}
        spellings = long_enough | {json.dumps(each)[1:-1] for each in long_enough}
        worth = sorted(spellings, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, worth))) if worth else None

    def __call__(self, line: str) -> str:
        if self._known:
            line = self._known.sub(WITHHELD, line)
        return SECRET_FORMS.sub(WITHHELD, line)


class RedactingFormatter(logging.Formatter):
    def __init__(self, inner: logging.Formatter, redaction: Redaction) -> None:
        super().__init__()
        self._inner = inner
        self._redaction = redaction

    def format(self, record: logging.LogRecord) -> str:
        return self._redaction(self._inner.format(record))


def ours_or_serious(record: logging.LogRecord) -> bool:
    """Rule 1, also against libraries that set their own level later, as openai does."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in OURS


def withhold_private_keys(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for key in PRIVATE_KEYS.intersection(event):
        event[key] = WITHHELD
    return event


def configure(level: str = "INFO", form: str = "text", secrets: Iterable[str] = ()) -> None:
    """Send log lines of at least `level` to standard error, as `text` or `json`.

    May be called again, when the settings are known.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        withhold_private_keys,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(form)],
        foreign_pre_chain=shared,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(formatter, Redaction(secrets)))
    handler.addFilter(ours_or_serious)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    for name in ("httpx", "httpcore", "httpx2", "httpcore2", "openai", "telegram", "aiosqlite"):
        logging.getLogger(name).setLevel(root.level)
    # Settings names the unreadable line of a `.env` itself.
    logging.getLogger("dotenv").setLevel(logging.ERROR)


def _renderers(form: str) -> list[Processor]:
    if form == "json":
        return [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    return [console]
