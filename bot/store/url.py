"""What DATABASE_URL may say, and the database that it names."""

from pathlib import Path

from bot.errors import Misconfigured
from bot.store.port import Database
from bot.store.sqlite import SqliteDatabase

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


async def open_database(url: str) -> Database:
    """Open the database at `url`.

    `sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://user:password@host/name`.
    Raises Misconfigured with one sentence that never holds the password.
    """
    if url.startswith(_POSTGRES):
        return await _open_postgres(url)
    path = sqlite_path(url)
    if path is None:
        raise _wrong("DATABASE_URL must begin with sqlite:/// or postgresql://.")
    return await SqliteDatabase.open(path)


def sqlite_path(url: str) -> Path | None:
    """The file that `url` names; None if it is not an SQLite URL."""
    if not url.startswith("sqlite:"):
        return None
    path = url.removeprefix(_SQLITE)
    if path == url:
        raise _wrong("DATABASE_URL needs three slashes: sqlite:///data/dabir.db.")
    if not path.strip() or path == ":memory:" or "?" in path:
        raise _wrong("DATABASE_URL must name a file, as in sqlite:///data/dabir.db.")
    return Path(path).expanduser()


async def _open_postgres(url: str) -> Database:
    try:
        from bot.store.postgres import PostgresDatabase
    except ImportError as error:  # psycopg, or the libpq that it needs
        raise _wrong("PostgreSQL needs one more package: pip install 'dabir[postgres]'.") from error
    return await PostgresDatabase.open(url)


def _wrong(sentence: str) -> Misconfigured:
    return Misconfigured(sentence, setting="DATABASE_URL")
