"""Moving memory between backends: whole, proven, and begun again after it was killed."""

from pathlib import Path

import pytest

from bot.lab.relayer import Relayer
from memory import Entry
from memory.backends.file import FileBackend
from memory.backends.sql import SqlBackend
from memory.moving import Mover, Step
from memory.port import MemoryUnavailable
from tests.lying_backend import Killed
from tests.memory_database import SqliteDatabase
from tests.memory_lines import a_line
from tests.relayer import UNLIMITED, HandClock, walrus_backend

MANY = [Entry(f"{n % 3:032x}", a_line(id=f"l{n}", turn=n)) for n in range(90)]


async def test_from_files_over_walrus_into_a_database(tmp_path: Path) -> None:
    clock = HandClock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    files = FileBackend(tmp_path / "memory")
    await files.write(MANY)
    world = Relayer(clock=clock)
    world.faults.fail_next, world.faults.drop_next, world.faults.cut_next = 1, 2, 1
    walrus = walrus_backend(world, points=UNLIMITED)
    steps: list[Step] = []
    moved = await Mover(files, walrus, told=steps.append, sleep=sleep).move()
    assert (moved.whole, moved.lines, moved.namespaces) == (True, 90, 3)
    assert steps[-1] == Step(3, 3, 90)
    database = SqliteDatabase()
    sql = SqlBackend(database)
    assert (await Mover(walrus, sql, sleep=sleep).move()).whole
    for name in {entry.namespace for entry in MANY}:
        assert set((await sql.read(name)).lines) == set((await files.read(name)).lines)
    again = await Mover(walrus, sql, sleep=sleep).move()
    assert (again.copied, again.lines) == (0, 90)
    await database.close()


async def test_killed_at_any_batch_it_goes_on_where_it_was(tmp_path: Path) -> None:
    files, target = FileBackend(tmp_path / "a"), FileBackend(tmp_path / "b")
    await files.write(MANY)

    def killed(step: Step) -> None:
        if step.lines_proven == 30:
            raise Killed

    with pytest.raises(Killed):
        await Mover(files, target, told=killed).move()
    assert (await Mover(files, target).move()).copied == 60


async def test_another_content_at_the_new_place_is_told(tmp_path: Path) -> None:
    files, target = FileBackend(tmp_path / "a"), FileBackend(tmp_path / "b")
    await files.write(MANY[:2])
    await target.write([Entry(MANY[0].namespace, a_line(id="l0", text="other"))])
    moved = await Mover(files, target).move()
    assert (moved.different, moved.whole) == (1, False)


async def test_a_place_that_stays_away_ends_the_move(tmp_path: Path) -> None:
    world = Relayer()
    world.faults.down = True
    files = FileBackend(tmp_path / "a")
    await files.write(MANY[:1])

    async def sleep(seconds: float) -> None:
        """No time passes."""

    with pytest.raises(MemoryUnavailable):
        await Mover(files, walrus_backend(world), sleep=sleep).move()
