"""What texts, docs and docstrings name is there: files of this project, and its commands."""

import re
from pathlib import Path

from typer.main import get_command

from bot.cli.commands import app

ROOT = Path(__file__).parent.parent
FILE = re.compile(r"(?<![\w/.])(?:bot|memory|tests|docs)/[\w/.-]+\.(?:py|md|sql|toml|txt)\b")
COMMAND = re.compile(r"`(?:\.venv/bin/)?dabir ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
PLACES = ("README.md", "CHANGELOG.md", ".env.example", "bot", "memory", "tests", "docs")


def texts() -> dict[Path, str]:
    found: dict[Path, str] = {}
    for place in PLACES:
        path = ROOT / place
        files = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.md")]
        found |= {each: each.read_text() for each in files if each != Path(__file__)}
    return found


def below(command: object) -> dict[str, object]:
    """The commands of a group; none for a plain command."""
    return dict(getattr(command, "commands", {}))


def test_every_file_that_is_named_exists() -> None:
    missing = {
        f"{path.relative_to(ROOT)} names {name}"
        for path, text in texts().items()
        for name in FILE.findall(text)
        if not (ROOT / name).exists()
    }
    assert missing == set()


def test_every_command_that_is_named_exists() -> None:
    commands = below(get_command(app))
    assert commands
    named = 0
    for path, text in texts().items():
        for first, second in COMMAND.findall(text):
            named += 1
            where = f"{path.relative_to(ROOT)} names dabir {first} {second}"
            assert first in commands, where
            further = below(commands[first])
            assert not further or not second or second in further, where
    assert named > 10
