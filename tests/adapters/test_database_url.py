"""DATABASE_URL: what it may say, and one sentence for what it may not."""

import sys
from pathlib import Path

import pytest

from bot.errors import Misconfigured
from bot.store.sqlite import SqliteDatabase
from bot.store.url import open_database, sqlite_path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///data/dabir.db", Path("data/dabir.db")),
        ("sqlite:////var/lib/dabir/my bot.db", Path("/var/lib/dabir/my bot.db")),
        ("sqlite:///~/dabir.db", Path.home() / "dabir.db"),
        ("postgresql://host/name", None),
    ],
)
def test_an_sqlite_url_names_a_file(url: str, path: Path | None) -> None:
    assert sqlite_path(url) == path


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "must begin with"),
        ("data/dabir.db", "must begin with"),
        ("mysql://me:hunter2@host/name", "must begin with"),
        ("sqlite:data/dabir.db", "three slashes"),
        ("sqlite://data/dabir.db", "three slashes"),
        ("sqlite:///", "must name a file"),
        ("sqlite:///:memory:", "must name a file"),
        ("sqlite:///data/dabir.db?mode=ro", "must name a file"),
    ],
)
async def test_a_wrong_url_is_told_in_one_sentence(url: str, sentence: str) -> None:
    with pytest.raises(Misconfigured, match=sentence) as caught:
        await open_database(url)
    assert caught.value.setting == "DATABASE_URL"
    assert "DATABASE_URL" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_a_relative_path_starts_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    database = await open_database("sqlite:///data/dabir.db")
    assert isinstance(database, SqliteDatabase)
    await database.close()
    assert (tmp_path / "data" / "dabir.db").is_file()


async def test_postgresql_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "bot.store.postgres", raising=False)
    with pytest.raises(Misconfigured, match=r"pip install 'dabir\[postgres\]'"):
        await open_database("postgresql://host/name")
