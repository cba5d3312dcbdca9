"""A writing process is killed again and again: what was acknowledged is there, and nothing half."""

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from bot.store.url import open_database
from tests.crash.store_writer import ROWS

KILLS = 10
TABLE = """
CREATE TABLE units (unit BIGINT NOT NULL, part BIGINT NOT NULL, body TEXT, PRIMARY KEY (unit, part))
"""


def write_until_killed(url: str, first: int, acknowledgements: int) -> list[int]:
    """Kill the writer after so many acknowledgements; return all that it had given by then."""
    arguments = [sys.executable, "-m", "tests.crash.store_writer", url, str(first)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        read = [writer.stdout.readline() for _ in range(acknowledgements)]
        writer.kill()
        read += writer.stdout.readlines()
    return [int(line) for line in read if line.endswith("\n")]


async def test_after_kill_9_every_acknowledged_unit_is_there_and_none_is_half(
    tmp_path: Path,
) -> None:
    url, path = f"sqlite:///{tmp_path}/kill.db", tmp_path / "kill.db"
    database = await open_database(url)
    await database.transact(lambda sql: sql.run(TABLE))
    await database.close()
    acknowledged: set[int] = set()
    seeded = random.Random(7)
    for kill in range(KILLS):
        acknowledged |= set(write_until_killed(url, kill * 1_000_000, seeded.randint(1, 300)))
        with closing(sqlite3.connect(path)) as plain:
            rows = dict(plain.execute("SELECT unit, count(*) FROM units GROUP BY unit"))
            assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert set(rows.values()) == {ROWS}
        assert acknowledged <= set(rows)
    assert len(acknowledged) > KILLS
