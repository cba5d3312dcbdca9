"""Another process that claims leases; see test_leases.py. Prints each round that it won."""

import asyncio
import sys

from bot.store import leases
from bot.store.url import open_database


async def claim_all(url: str, holder: str, rounds: int) -> None:
    database = await open_database(url)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for number in range(rounds):
        name = f"round:{number}"
        lease = await database.transact(
            lambda sql, name=name: leases.claim(sql, name, holder, now=10, until=70)  # type: ignore[misc]
        )
        if lease:
            print(number, flush=True)
    await database.close()


if __name__ == "__main__":
    asyncio.run(claim_all(sys.argv[1], sys.argv[2], int(sys.argv[3])))
