"""`dabir setup` with somebody who types: over pipes, against servers that answer."""

import os
import re
import stat
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from bot.cli import owner_code, setup
from bot.cli.env_file import changed, quoted
from bot.cli.setup import guess_zone
from bot.cli.terminal import Terminal
from bot.errors import Misconfigured
from bot.settings import load
from tests.surroundings import KEY, TOKEN, SmallServer, forget_settings, small_server

OTHER = "5"  # the menu's entry for any other endpoint


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallServer]:
    forget_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    with small_server() as server:
        monkeypatch.setenv("TELEGRAM_API_URL", server.url)
        yield server


def run(*answers: str) -> tuple[int, str]:
    output = StringIO()
    typed = "".join(f"{answer}\n" for answer in answers)
    return setup.run(Terminal(StringIO(typed), output)), output.getvalue()


def usual(server: SmallServer) -> tuple[str, ...]:
    return TOKEN, OTHER, f"{server.url}/v1", "some-model", KEY, "Asia/Tehran"


def test_a_first_setup_writes_a_private_file_that_the_bot_can_start_with(
    server: SmallServer,
) -> None:
    code, said = run(*usual(server))
    settings = load()
    assert code == 0
    assert "@test_bot" in said
    assert settings.telegram_bot_token.get_secret_value() == TOKEN
    assert settings.model_api_key.get_secret_value() == KEY
    assert (settings.model_name, settings.timezone.key) == ("some-model", "Asia/Tehran")
    assert len(settings.memory_secret.get_secret_value()) >= 32
    assert stat.S_IMODE(Path(".env").stat().st_mode) == 0o600
    assert [name for name in os.listdir() if name.startswith(".env")] == [".env"]


def test_the_link_makes_one_owner_once(server: SmallServer) -> None:
    _, said = run(*usual(server))
    link = re.search(r"https://t\.me/test_bot\?start=([A-Za-z0-9_-]{1,64})\s", said)
    assert link
    assert not owner_code.check_and_consume(Path("data"), "guessed")
    assert owner_code.check_and_consume(Path("data"), link[1])
    assert not owner_code.check_and_consume(Path("data"), link[1])


def test_with_a_known_owner_there_is_no_link(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWNER_ID", "42")
    _, said = run(*usual(server))
    assert "t.me" not in said
    assert not Path("data").exists()


def test_secrets_are_never_shown(server: SmallServer) -> None:
    _, first = run(*usual(server))
    _, again = run("", "", "", "", "", "")
    memory_secret = load().memory_secret.get_secret_value()
    assert all(secret not in first + again for secret in (TOKEN, KEY, memory_secret))


def test_a_wrong_token_is_asked_for_again(server: SmallServer) -> None:
    code, said = run("123:wrong", *usual(server))
    assert code == 0
    assert "does not know this token" in said


def test_enter_everywhere_keeps_what_is_there(server: SmallServer) -> None:
    run(*usual(server))
    before = Path(".env").read_text()
    code, _ = run("", "", "", "", "", "")
    assert code == 0
    assert Path(".env").read_text() == before


def test_unrelated_lines_stay_and_a_replacement_is_asked_for(server: SmallServer) -> None:
    Path(".env").write_text("# mine\nMODEL_NAME=older # for now\nDEBOUNCE_QUIET=2\n\nOTHER='x y'\n")
    code, said = run(*usual(server), "y")
    text = Path(".env").read_text()
    assert code == 0
    assert "Replace MODEL_NAME in .env?" in said
    assert text.startswith("# mine\nMODEL_NAME=some-model\nDEBOUNCE_QUIET=2\n\nOTHER='x y'\n")


def test_a_refused_replacement_changes_nothing(server: SmallServer) -> None:
    Path(".env").write_text("MODEL_NAME=older\n")
    code, _ = run(*usual(server), "n")
    assert code == 1
    assert Path(".env").read_text() == "MODEL_NAME=older\n"
    assert not Path("data").exists()


def test_input_that_ends_early_changes_nothing(server: SmallServer) -> None:
    with pytest.raises(Misconfigured, match="Model name"):
        run(TOKEN, OTHER, f"{server.url}/v1")
    assert not Path(".env").exists()


def test_a_model_that_refuses_the_key_is_asked_for_again_or_kept(server: SmallServer) -> None:
    server.model_status = 401
    model = (OTHER, f"{server.url}/v1", "some-model", KEY)
    code, said = run(TOKEN, *model, "y", *model, "n", "UTC")
    assert code == 0
    assert said.count("check MODEL_API_KEY") == 2
    assert load().model_name == "some-model"


def test_telegram_out_of_reach_can_be_given_up(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_API_URL", "http://127.0.0.1:9")
    code, said = run(TOKEN, "n")
    assert code == 1
    assert "cannot be reached" in said
    assert not Path(".env").exists()


def test_a_key_goes_to_no_other_endpoint_than_its_own(server: SmallServer) -> None:
    run(*usual(server))
    with small_server() as other:
        run("", OTHER, f"{other.url}/v1", "local", "", "", "y")
        assert load().model_api_key.get_secret_value() == ""


def test_nonsense_answers_are_asked_again(server: SmallServer) -> None:
    token, menu, url, model, key, zone = usual(server)
    code, _ = run("", token, "9", "x", menu, "nowhere", url, model, key, "Mars/Base", zone)
    assert code == 0


def test_an_environment_that_wins_is_pointed_out(
    server: SmallServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_NAME", "from-outside")
    _, said = run(*usual(server))
    assert "MODEL_NAME is also set in the environment" in said


def test_a_folder_that_cannot_be_written_is_one_sentence(server: SmallServer) -> None:
    Path(".env").mkdir()
    with pytest.raises(Misconfigured, match="cannot be read"):
        run(*usual(server))


def test_a_linked_env_file_stays_a_link(server: SmallServer, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(".env").symlink_to(tmp_path / "elsewhere" / "env")
    run(*usual(server))
    assert Path(".env").is_symlink()
    assert "MODEL_NAME=some-model" in (tmp_path / "elsewhere" / "env").read_text()


@pytest.mark.parametrize(
    ("zone", "guess"), [("Asia/Tehran", "Asia/Tehran"), ("", "UTC"), ("no/such", "UTC")]
)
def test_the_zone_is_guessed_from_the_machine(zone: str, guess: str, tmp_path: Path) -> None:
    assert guess_zone({"TZ": zone}, tmp_path / "localtime") == guess


def test_the_zone_is_guessed_from_the_clock_link(tmp_path: Path) -> None:
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    assert guess_zone({}, tmp_path / "localtime") == "Europe/Berlin"


VALUES = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="$\x85\u2028\u2029")
)


@given(VALUES)
def test_any_value_is_read_back_as_written(value: str) -> None:
    text = changed("# first\nNAME=old\nOTHER=1\n", {"NAME": value, "NEW": value})
    seen = dotenv_values(stream=StringIO(text))
    assert seen == {"NAME": value, "OTHER": "1", "NEW": value}


def test_a_value_that_would_be_expanded_is_refused() -> None:
    with pytest.raises(Misconfigured, match="NAME"):
        changed("", {"NAME": "${HOME}"})


def test_the_last_of_several_lines_is_the_one_that_stays() -> None:
    assert changed("A=1\nB=2\nA=3\n", {"A": "4"}) == "B=2\nA=4\n"
    assert changed("A=1", {"B": "2"}) == "A=1\nB=2\n"
    assert quoted("it's") == r"'it\'s'"
