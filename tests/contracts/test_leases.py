"""The contract of bot.store.leases, on every database."""

import asyncio
import sys
from functools import partial

import pytest

from bot.store.leases import Lease, claim, expire_others, holds, release, renew
from bot.store.migrations import BOT_SCHEMA, migrate
from bot.store.port import Database, Sql
from tests.contracts.conftest import Connect

ROUNDS = 150


class Leases:
    """The functions under test, each in a transaction of its own, for one holder."""

    def __init__(self, database: Database, holder: str) -> None:
        self.database = database
        self.holder = holder

    async def claim(self, name: str, *, now: float, until: float) -> Lease | None:
        work = partial(claim, name=name, holder=self.holder, now=now, until=until)
        return await self.database.transact(work)

    async def renew(self, lease: Lease, *, now: float, until: float) -> bool:
        return await self.database.transact(partial(renew, lease=lease, now=now, until=until))

    async def release(self, lease: Lease) -> bool:
        return await self.database.transact(partial(release, lease=lease))

    async def holds(self, lease: Lease) -> bool:
        return await self.database.transact(partial(holds, lease=lease))


@pytest.fixture
async def leases(database: Database) -> Leases:
    await migrate(database, [BOT_SCHEMA], now=0)
    return Leases(database, "a")


async def test_a_held_lease_cannot_be_claimed(leases: Leases) -> None:
    assert await leases.claim("chat:1", now=1, until=30)
    assert await leases.claim("chat:1", now=29.9, until=60) is None
    assert await leases.claim("chat:2", now=29.9, until=60)


async def test_an_expired_lease_goes_to_the_next_claim(leases: Leases, connect: Connect) -> None:
    first = await leases.claim("chat:1", now=1, until=30)
    second = await Leases(await connect(), "b").claim("chat:1", now=30, until=60)
    assert first == Lease("chat:1", "a", 1)
    assert second == Lease("chat:1", "b", 2)


async def test_a_late_release_does_not_free_the_next_owner(leases: Leases) -> None:
    first = await leases.claim("chat:1", now=1, until=30)
    second = await leases.claim("chat:1", now=31, until=60)
    assert first
    assert second
    assert await leases.release(first) is False
    assert await leases.claim("chat:1", now=40, until=70) is None
    assert await leases.release(second) is True


async def test_a_lease_is_released_once(leases: Leases) -> None:
    lease = await leases.claim("chat:1", now=1, until=30)
    assert lease
    assert [await leases.release(lease) for _ in range(2)] == [True, False]


async def test_tokens_keep_growing_after_a_release(leases: Leases) -> None:
    first = await leases.claim("chat:1", now=1, until=30)
    assert first
    assert await leases.release(first)
    second = await leases.claim("chat:1", now=1, until=30)
    assert second
    assert second.token == first.token + 1


async def test_a_renewed_lease_is_held_longer(leases: Leases) -> None:
    lease = await leases.claim("chat:1", now=1, until=30)
    assert lease
    assert await leases.renew(lease, now=29, until=60) is True
    assert await leases.claim("chat:1", now=59, until=90) is None
    assert await leases.claim("chat:1", now=60, until=90)


async def test_a_lease_that_is_lost_cannot_be_renewed(leases: Leases) -> None:
    expired = await leases.claim("chat:1", now=1, until=30)
    assert expired
    assert await leases.renew(expired, now=30, until=60) is False
    taken = await leases.claim("chat:1", now=30, until=60)
    assert taken
    assert await leases.renew(expired, now=31, until=99) is False
    assert await leases.release(taken)
    assert await leases.renew(taken, now=31, until=99) is False
    assert await leases.claim("chat:1", now=32, until=60)


async def test_only_the_latest_owner_holds_the_lease(leases: Leases) -> None:
    first = await leases.claim("chat:1", now=1, until=30)
    assert first
    assert await leases.holds(first) is True
    second = await leases.claim("chat:1", now=31, until=60)
    assert second
    assert await leases.holds(first) is False
    assert await leases.holds(second) is True
    assert await leases.release(second)
    assert await leases.holds(second) is False


async def test_nobody_claims_between_the_check_and_the_commit(
    leases: Leases, connect: Connect
) -> None:
    """The paused process: it checks, is overtaken by a claim, and then writes."""
    other = Leases(await connect(), "b")
    await leases.database.transact(lambda sql: sql.run("CREATE TABLE log (entry TEXT)"))
    lease = await leases.claim("chat:1", now=1, until=30)
    assert lease
    loop, overtaking = asyncio.get_running_loop(), asyncio.Event()

    def check_then_write(sql: Sql) -> bool:
        held = holds(sql, lease)
        loop.call_soon_threadsafe(overtaking.set)
        for number in range(200):  # gives the other claim time to slip in, if it can
            sql.run("INSERT INTO log (entry) VALUES (:entry)", {"entry": str(number)})
        return held

    def claim_then_count(sql: Sql) -> tuple[Lease | None, int]:
        claimed = claim(sql, "chat:1", "b", now=31, until=60)
        row = sql.row("SELECT count(*) FROM log")
        assert row
        return claimed, row[0]

    writing = asyncio.create_task(leases.database.transact(check_then_write))
    await overtaking.wait()
    claimed, seen = await other.database.transact(claim_then_count)
    assert await writing is True
    assert claimed == Lease("chat:1", "b", 2)
    assert seen == 200


async def test_expire_others_frees_what_dead_holders_left(leases: Leases, connect: Connect) -> None:
    dead = Leases(await connect(), "dead")
    left = await dead.claim("chat:1", now=1, until=1000)
    mine = await leases.claim("chat:2", now=1, until=1000)
    assert left
    assert mine
    work = partial(expire_others, holder="a")
    assert [await leases.database.transact(work) for _ in range(2)] == [1, 0]
    assert await leases.claim("chat:1", now=2, until=30) == Lease("chat:1", "a", 2)
    assert await leases.holds(mine)
    assert not await dead.holds(left)


async def test_of_many_claims_at_once_one_wins(leases: Leases, connect: Connect) -> None:
    rivals = [Leases(await connect(), f"rival {n}") for n in range(16)]
    for round_ in range(20):
        claims = await asyncio.gather(
            *(rival.claim(f"chat:{round_}", now=1, until=30) for rival in rivals)
        )
        assert sum(c is not None for c in claims) == 1
    claims = await asyncio.gather(*(rival.claim("chat:0", now=31, until=60) for rival in rivals))
    assert [c.token for c in claims if c] == [2]


async def test_of_two_processes_exactly_one_wins_each_lease(
    leases: Leases, database_url: str
) -> None:
    arguments = (sys.executable, "-m", "tests.contracts.claimer", database_url)
    processes = [
        await asyncio.create_subprocess_exec(
            *arguments,
            holder,
            str(ROUNDS),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for holder in ("b", "c")
    ]
    for process in processes:
        assert process.stdout
        assert await process.stdout.readline() == b"ready\n"
    outputs = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    won = [[int(number) for number in output.split()] for output, _ in outputs]
    assert sorted(won[0] + won[1]) == list(range(ROUNDS))
    assert [process.returncode for process in processes] == [0, 0]
    row = await leases.database.read(lambda sql: sql.row("SELECT max(token) FROM leases"))
    assert row == (1,)
