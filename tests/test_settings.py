"""Every setting: documented where it is promised, checked once, secret where it must be."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from bot.errors import Misconfigured
from bot.forms import Address
from bot.settings import Settings, load, on_own_network, read
from tests.surroundings import KEY, TOKEN, forget_settings

ROOT = Path(__file__).parent.parent
SETTING_LINE = re.compile(r"^#? ?([A-Z][A-Z_]+)=(.*)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _only_what_the_test_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)


def settings_page() -> str:
    """What docs/settings.md says, made from Settings. `python -m tests.test_settings` writes it."""
    rows = [
        "# Settings",
        "",
        "Set in the environment or in a file `.env` where `dabir` starts. The environment wins;",
        "an empty value counts as unset. `dabir doctor` says what is wrong.",
        "Start from `.env.example`, or let `dabir setup` write the file.",
        "",
        "| Setting | Default | Allowed | What it does |",
        "| --- | --- | --- | --- |",
    ]
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        assert isinstance(extra, dict)
        cells = [f"`{name.upper()}`", shown_default(field.default), extra["allowed"]]
        rows.append("| " + " | ".join(map(str, [*cells, field.description])) + " |")
    return "\n".join(rows) + "\n"


def shown_default(value: Any) -> str:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if text is None or text == "" or text in ((), frozenset()):
        return ""
    if isinstance(text, Address):
        return f"`{text.host}:{text.port}`"
    return f"`{text:g}`" if isinstance(text, int | float) else f"`{text}`"


def test_env_example_names_every_setting_once_and_in_order() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    names = [name for name, _ in SETTING_LINE.findall(example)]
    assert names == [name.upper() for name in Settings.model_fields]


def test_env_example_shows_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    Path("all-on").write_text(re.sub(r"^# (?=[A-Z_]+=)", "", example, flags=re.MULTILINE))
    settings, problems = read(Path("all-on"))
    assert problems == ()
    assert settings == Settings()


def test_env_example_as_it_is_lacks_only_what_everybody_must_set() -> None:
    Path(".env").write_text((ROOT / ".env.example").read_text(encoding="utf-8"))
    with pytest.raises(Misconfigured) as caught:
        load()
    names = [line.split()[0] for line in str(caught.value).splitlines()]
    assert names == ["TELEGRAM_BOT_TOKEN", "MODEL_API_KEY"]


def test_the_settings_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(), "run: python -m tests.test_settings"


def test_the_environment_wins_over_the_file_and_empty_means_unset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text("MODEL_NAME=from-file\nMAX_RESTARTS=7\nDEBOUNCE_CAP=\n")
    monkeypatch.setenv("MODEL_NAME", "from-environment")
    monkeypatch.setenv("MAX_RESTARTS", "")
    settings, problems = read()
    assert problems == ()
    assert settings.model_name == "from-environment"
    assert (settings.max_restarts, settings.debounce_cap) == (7, 8)


WRONG = {
    "TELEGRAM_BOT_TOKEN": "not a token",
    "TELEGRAM_API_URL": "api.telegram.org",
    "TELEGRAM_WEBHOOK_URL": "http://",
    "TELEGRAM_WEBHOOK_SECRET": "with space",
    "TELEGRAM_WEBHOOK_LISTEN": "localhost",
    "TELEGRAM_PROXY": "proxy:3128",
    "TELEGRAM_MESSAGES_PER_SECOND": "0",
    "TELEGRAM_LATE_SECONDS": "-1",
    "MODEL_BASE_URL": "ftp://example.org",
    "MODEL_API_KEY": "key with spaces",
    "MODEL_NAME": "two words",
    "MODEL_TIMEOUT": "nan",
    "MODEL_MAX_MESSAGES": "2.5",
    "MODEL_CONTEXT_TOKENS": "10",
    "MODEL_SYSTEM_PROMPT": "@missing.txt",
    "MODERATION": "on",
    "MODERATION_BASE_URL": "http://a b/",
    "MODERATION_TIMEOUT": "-1",
    "MODERATION_WORDS": "@missing.txt",
    "MODERATION_PATTERNS": "a+",
    "OWNER_ID": "@me",
    "OPERATOR_CHAT_ID": "my group",
    "OPERATORS": "1,two",
    "ACCESS": "everyone",
    "DATABASE_URL": "mysql://me:hush@host/db",
    "MEMORY_URL": "s3://bucket",
    "MEMORY_KEY": "ab12",
    "MEMORY_ACCOUNT": "my account",
    "MEMORY_SECRET": "fifteen-letters",
    "DEBOUNCE_QUIET": "1,5",
    "DEBOUNCE_CAP": "inf",
    "MAX_RESTARTS": "-1",
    "MAX_TURN_SECONDS": "0",
    "SESSION_LEASE_SECONDS": "0",
    "HUMAN_LEASE_SECONDS": "forever",
    "HANDOFF_REMINDER_SECONDS": "1e9",
    "TIMEZONE": "Tehran",
    "LANGUAGE": "English",
    "LOG_LEVEL": "LOUD",
    "LOG_FORMAT": "xml",
    "METRICS_LISTEN": "127.0.0.1:99999",
}


def test_there_is_a_wrong_value_for_every_setting() -> None:
    assert list(WRONG) == [name.upper() for name in Settings.model_fields]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_one_sentence_that_names_it_and_what_is_allowed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, WRONG[name])
    settings, problems = read()
    assert [problem.setting for problem in problems] == [name]
    sentence = problems[0].sentence
    assert sentence.startswith(f"{name} is ")
    assert "; use " in sentence
    assert "\n" not in sentence
    field = Settings.model_fields[name.lower()]
    assert isinstance(field.default, SecretStr) == (WRONG[name] not in sentence)
    assert getattr(settings, name.lower()) == field.default


def test_all_that_is_wrong_or_missing_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("MAX_RESTARTS=many\nthis is no setting\n")
    monkeypatch.setenv("DEBOUNCE_QUIET", "20")
    with pytest.raises(Misconfigured) as caught:
        load()
    first_words = [line.split(" is ")[0] for line in str(caught.value).splitlines()]
    assert first_words == [
        ".env line 2",
        "MAX_RESTARTS",
        "TELEGRAM_BOT_TOKEN",
        "MODEL_API_KEY",
        "DEBOUNCE_CAP",
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"MODEL_NAME=caf\xe9\n"])
def test_an_env_file_that_is_no_text_is_named(content: bytes) -> None:
    Path(".env").write_bytes(content)
    _, problems = read()
    assert [p.sentence for p in problems] == [
        ".env cannot be read (UnicodeDecodeError); make it a UTF-8 text file."
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    Path(".env").write_bytes("MODEL_NAME=fine\n".encode("utf-8-sig"))
    settings, problems = read()
    assert (settings.model_name, problems) == ("fine", ())


def test_secrets_stay_out_of_repr_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "TELEGRAM_BOT_TOKEN": TOKEN,
        "MODEL_API_KEY": KEY,
        "MEMORY_SECRET": "m" * 20,
        "DATABASE_URL": "postgresql://me:hush@host/db",
        "TELEGRAM_PROXY": "http://me:psst@proxy:3128",
        "TELEGRAM_WEBHOOK_SECRET": "hook-secret",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings, problems = read()
    assert problems == ()
    assert settings.secrets == {TOKEN, KEY, "m" * 20, "hush", "psst", "hook-secret"}
    assert not any(value in repr(settings) + str(settings) for value in values.values())


def test_an_address_with_a_password_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_BASE_URL", "ftp://me:hush@host/v1")
    assert "hush" not in read()[1][0].sentence


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Settings().max_restarts = 9


@pytest.mark.parametrize(
    ("text", "access"),
    [("owner", "owner"), (" Public ", "public"), ("1, 22,", frozenset({1, 22}))],
)
def test_access_is_a_word_or_ids(
    text: str, access: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCESS", text)
    assert read()[0].access == access


def test_long_settings_may_live_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("prompt.txt").write_text("You are a parrot.\n", encoding="utf-8")
    Path("words.txt").write_text("# not these\nbad, worse\n\nزشت\n", encoding="utf-8")
    Path("patterns.txt").write_text("\\bIBAN\\b\n# a comment\n[0-9]{16}\n", encoding="utf-8")
    monkeypatch.setenv("MODEL_SYSTEM_PROMPT", "@prompt.txt")
    monkeypatch.setenv("MODERATION_WORDS", "@words.txt")
    monkeypatch.setenv("MODERATION_PATTERNS", "@patterns.txt")
    settings, problems = read()
    assert problems == ()
    assert settings.model_system_prompt == "You are a parrot."
    assert settings.moderation_words == ("bad", "worse", "زشت")
    assert [p.pattern for p in settings.moderation_patterns] == ["\\bIBAN\\b", "[0-9]{16}"]


def test_a_wrong_pattern_is_found_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("patterns.txt").write_text("fine\n(not closed\n")
    monkeypatch.setenv("MODERATION_PATTERNS", "@patterns.txt")
    assert "line 2 is no regular expression" in read()[1][0].sentence


@pytest.mark.parametrize(
    ("url", "path", "directory"),
    [
        ("sqlite:///data/dabir.db", "data/dabir.db", "data"),
        ("sqlite:////srv/d/x.db", "/srv/d/x.db", "/srv/d"),
        ("postgresql://host/db", None, "data"),
    ],
)
def test_files_of_its_own_lie_beside_the_database(
    url: str, path: str | None, directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    settings, _ = read()
    assert settings.sqlite_path == (Path(path) if path else None)
    assert settings.data_directory == Path(directory)


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080", True),
        ("http://[::1]:8080", True),
        ("http://192.168.1.7/v1", True),
        ("http://ollama:11434/v1", True),
        ("http://host.docker.internal:11434", True),
        ("https://api.deepseek.com", False),
        ("https://8.8.8.8/v1", False),
        ("https://local.example.org", False),
    ],
)
def test_a_key_is_needed_only_outside_the_own_network(
    url: str, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_BASE_URL", url)
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    assert on_own_network(url) is own
    if own:
        assert load().model_base_url == url
    else:
        with pytest.raises(Misconfigured, match="MODEL_API_KEY"):
            load()


def test_a_webhook_needs_its_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_WEBHOOK_URL", "https://bot.example.org/hook")
    with pytest.raises(Misconfigured, match="TELEGRAM_WEBHOOK_SECRET is missing"):
        load()


def test_the_desktops_language_list_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("LANGUAGE=fa\n")
    monkeypatch.setenv("LANGUAGE", "en_US:en")
    assert read()[0].language == "fa"
    monkeypatch.setenv("LANGUAGE", "de")
    assert read()[0].language == "de"


if __name__ == "__main__":
    (ROOT / "docs" / "settings.md").write_text(settings_page(), encoding="utf-8")
    sys.exit(0)
