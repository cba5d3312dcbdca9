"""A start that cannot work ends at once, with exit code 2 and a sentence for each reason."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot import __main__ as command
from bot.errors import Misconfigured, StoreUnavailable
from bot.settings import Settings
from tests.surroundings import KEY, TOKEN, forget_settings

QUIET = {k: v for k, v in os.environ.items() if k.lower() not in Settings.model_fields}


def dabir(*words: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the real command with nothing on its standard input."""
    return subprocess.run(
        [sys.executable, "-m", "bot", *words],
        cwd=folder,
        env=QUIET | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_nothing_configured_names_what_is_missing(tmp_path: Path) -> None:
    done = dabir(folder=tmp_path)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert [line.split(" is missing")[0] for line in lines] == [
        "TELEGRAM_BOT_TOKEN",
        "MODEL_API_KEY",
    ]
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_model_on_this_machine_needs_no_key(tmp_path: Path) -> None:
    done = dabir(folder=tmp_path, MODEL_BASE_URL="http://localhost:11434/v1")
    assert done.returncode == 2
    assert "MODEL_API_KEY" not in done.stderr


def test_a_wrong_env_file_is_one_sentence_a_setting(tmp_path: Path) -> None:
    lines = f"TELEGRAM_BOT_TOKEN={TOKEN}\nMODEL_API_KEY={KEY}\nDEBOUNCE_QUIET=soon\nACCESS=all\n"
    (tmp_path / ".env").write_text(lines)
    done = dabir(folder=tmp_path)
    assert done.returncode == 2
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["ACCESS", "DEBOUNCE_QUIET"]
    assert "Traceback" not in done.stderr
    assert TOKEN not in done.stderr


def test_without_an_answer_setup_says_which_one_it_lacks(tmp_path: Path) -> None:
    done = dabir("setup", folder=tmp_path)
    assert done.returncode == 2
    assert "no answer to “Bot token”" in done.stderr
    assert not (tmp_path / ".env").exists()


@pytest.mark.parametrize("chat", ["42", "-1001234567890"])
def test_a_command_that_needs_no_token_still_refuses_wrong_settings(
    chat: str, tmp_path: Path
) -> None:
    done = dabir("timeline", chat, folder=tmp_path, DATABASE_URL="nonsense://")
    assert done.returncode == 2
    assert done.stderr.startswith("DATABASE_URL is wrong")


def test_unknown_words_are_usage_errors(tmp_path: Path) -> None:
    assert dabir("fly", folder=tmp_path).returncode == 2
    assert dabir("timeline", "not-a-chat", folder=tmp_path).returncode == 2


def test_the_version_is_told(tmp_path: Path) -> None:
    done = dabir("--version", folder=tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (0, "dabir")


def test_on_a_terminal_an_unconfigured_start_becomes_setup(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bot"],
        cwd=tmp_path,
        env=QUIET,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    while b"Bot token:" not in said:
        said += os.read(ours, 4096)
    process.terminate()
    assert process.wait(timeout=20) == 0  # a stop that was asked for is no error
    os.close(ours)
    assert b"Setting up Dabir" in said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Misconfigured("A is wrong; use B."), "A is wrong; use B.\n"),
        (StoreUnavailable("The disk is full."), "The disk is full.\n"),
        (
            ZeroDivisionError("private words"),
            "dabir stopped on an unexpected ZeroDivisionError; "
            "start it with LOG_LEVEL=DEBUG to see where.\n",
        ),
        (
            Misconfigured(f"https://x/bot{TOKEN}/getMe fails"),
            "https://x/bot[withheld]/getMe fails\n",
        ),
    ],
)
def test_an_error_becomes_one_sentence(
    error: Exception, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> int:
        raise error

    with capture_logs():
        assert command.guarded(fails) == 2
    captured = capsys.readouterr()
    assert captured.err == said
    assert captured.out == ""


def test_ctrl_c_ends_a_bot_well_and_an_unfinished_command_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)

    def interrupted() -> int:
        raise KeyboardInterrupt

    assert command.guarded(interrupted, interrupted=0) == 0
    assert command.guarded(interrupted) == 130


def test_with_debug_an_unexpected_error_shows_where(tmp_path: Path) -> None:
    script = (
        "import sys, bot.__main__ as c, bot.logs as l; l.configure('DEBUG');"
        "sys.exit(c.guarded(lambda: 1 // 0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=QUIET,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr
