"""The official client against the lab's relayer: what it accepts is how the real one speaks."""

from collections.abc import AsyncIterator

import pytest
from memwal import MemWal
from memwal.client import MemWalCompatibilityError, MemWalRateLimited, MemWalRememberJobFailed
from memwal.types import RememberBulkItem

from bot.lab.relayer import LAB_ACCOUNT, LAB_KEY, Relayer, Timing, serve_relayer

AT_ONCE = Timing(running_seconds=0, uploaded_seconds=0, index_seconds=0)


@pytest.fixture
def world() -> Relayer:
    return Relayer(timing=AT_ONCE)


@pytest.fixture
async def client(world: Relayer) -> AsyncIterator[MemWal]:
    async with (
        serve_relayer(world) as url,
        MemWal.create(LAB_KEY, LAB_ACCOUNT, server_url=url, namespace="notes") as client,
    ):
        yield client


async def test_it_remembers_and_recalls(client: MemWal) -> None:
    stored = await client.remember_and_wait("Sam likes tea")
    assert len(stored.blob_id) == 43
    found = await client.recall("what does Sam like?", limit=5)
    assert [each.text for each in found.results] == ["Sam likes tea"]
    page = await client.list_namespaces()
    assert [(each.name, each.memory_count) for each in page.namespaces] == [("notes", 1)]


async def test_it_remembers_in_bulk(client: MemWal) -> None:
    accepted = await client.remember_bulk([RememberBulkItem(text=f"note {n}") for n in range(20)])
    states = await client.get_remember_bulk_status(accepted.job_ids)
    assert {each.status for each in states.results} == {"done"}
    assert (await client.recall("note", limit=100)).total == 20


async def test_the_same_text_at_once_is_one_job(client: MemWal, world: Relayer) -> None:
    assert (await client.remember("x")).job_id == (await client.remember("x")).job_id
    assert len(world.jobs) == 1


async def test_it_sees_what_is_dropped(client: MemWal, world: Relayer) -> None:
    await client.remember_and_wait("x")
    world.faults.drop_next = 1
    found = await client.recall("x")
    assert (found.results, found.dropped_count) == ([], 1)


async def test_it_sees_a_job_that_failed_after_its_202(client: MemWal, world: Relayer) -> None:
    world.faults.fail_next = 1
    with pytest.raises(MemWalRememberJobFailed):
        await client.remember_and_wait("x")


async def test_it_is_told_to_update(client: MemWal, world: Relayer) -> None:
    world.faults.upgrade = True
    with pytest.raises(MemWalCompatibilityError):
        await client.recall("x")


async def test_a_revoked_key_is_a_bare_401(client: MemWal, world: Relayer) -> None:
    world.revoke(LAB_ACCOUNT)
    with pytest.raises(Exception, match="401"):
        await client.recall("x")


def test_the_names_used_here_exist() -> None:
    assert issubclass(MemWalRateLimited, Exception)
