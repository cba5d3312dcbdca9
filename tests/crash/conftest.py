from collections.abc import Iterator

import pytest

from tests.postgres_server import PostgresServer, postgres_server

__all__ = ["postgres_server"]


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """An empty database of the test's own."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)
