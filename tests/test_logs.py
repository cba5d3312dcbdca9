"""No secret and no text in a log line, whoever wrote it."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from bot import logs
from bot.logs import WITHHELD, Redaction
from tests.surroundings import KEY, TOKEN


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    names = [*logs.OURS, "httpx", "httpcore", "httpx2", "httpcore2", "openai", "telegram"]
    loggers = [root, *map(logging.getLogger, [*names, "aiosqlite", "dotenv"])]
    before = [(each, each.level) for each in loggers]
    handlers = list(root.handlers)
    yield
    root.handlers[:] = handlers
    for each, level in before:
        each.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_looks_like_a_secret_is_withheld(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("INFO", form)
    log = structlog.get_logger("bot.somewhere")
    log.warning("call_failed", address=f"https://api.telegram.org/bot{TOKEN}/getMe", note=KEY)
    log.warning("proxy_failed", address="http://user:hunter2@proxy:3128/")
    said = capsys.readouterr().err
    assert said.count(WITHHELD) == 3
    assert "call_failed" in said
    assert all(secret not in said for secret in (TOKEN, KEY, "hunter2"))


def test_known_secrets_are_withheld_in_tracebacks_too(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("INFO", "text", {"plain-looking words"})
    try:
        raise ValueError("plain-looking words")
    except ValueError:
        structlog.get_logger("bot.somewhere").exception("failed")
    said = capsys.readouterr().err
    assert "ValueError" in said
    assert "plain-looking words" not in said


def test_values_under_private_names_are_withheld(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("INFO", "json")
    structlog.get_logger("bot.somewhere").info("drafted", draft="Dear diary", turn_id="turn:msg-1")
    line = json.loads(capsys.readouterr().err)
    assert (line["draft"], line["turn_id"]) == (WITHHELD, "turn:msg-1")


def test_libraries_speak_only_when_they_warn(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("DEBUG", "text")
    for name in ("httpx", "httpx2", "openai", "telegram.ext", "aiosqlite", "anything"):
        logging.getLogger(name).setLevel(logging.DEBUG)  # as OPENAI_LOG=debug makes openai do
        logging.getLogger(name).info("private chatter")
    logging.getLogger("telegram").warning("worth knowing")
    structlog.get_logger("bot.somewhere").debug("ours")
    said = capsys.readouterr().err
    assert "private chatter" not in said
    assert "worth knowing" in said
    assert "ours" in said


def test_the_level_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("WARNING", "text")
    structlog.get_logger("bot.somewhere").info("too_quiet")
    structlog.get_logger("memory.outbox").warning("loud_enough")
    said = capsys.readouterr().err
    assert "too_quiet" not in said
    assert "loud_enough" in said


@given(st.text(), st.text(min_size=6), st.text())
def test_no_known_secret_survives(before: str, secret: str, after: str) -> None:
    if secret in WITHHELD:
        return
    assert secret not in Redaction({secret})(before + secret + after).replace(WITHHELD, "\0")


def test_plain_events_are_left_alone() -> None:
    line = "2026-01-02T03:04:05Z [info] turn_due chat=-1001234567890 turn=turn:msg-17 took=12:30"
    assert Redaction({"abc"})(line) == line
