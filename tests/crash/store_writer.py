"""Writes until it is killed; see test_store_kill.py. Prints each acknowledged unit."""

import asyncio
import itertools
import sys
from functools import partial

from bot.store.port import Sql
from bot.store.url import open_database

CHATS = 20
ROWS = 4  # a unit


def write_unit(unit: int, sql: Sql) -> None:
    for row in range(ROWS):
        sql.run(
            "INSERT INTO units (unit, part, body) VALUES (:unit, :part, :body)",
            {"unit": unit, "part": row, "body": "x" * 500},
        )


async def main(url: str, first: int) -> None:
    database = await open_database(url)
    numbers = itertools.count(first)

    async def chat() -> None:
        for unit in numbers:
            await database.transact(partial(write_unit, unit))
            print(unit, flush=True)

    await asyncio.gather(*(chat() for _ in range(CHATS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
