"""The one-time code: hashed at rest, used once, also when many try at the same moment."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bot.cli.owner_code import CODES_KEPT, FILE_NAME, check_and_consume, issue


def test_only_a_hash_is_kept_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    code = issue(tmp_path / "new")
    path = tmp_path / "new" / FILE_NAME
    assert code not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_link_of_setup_is_still_good_after_the_start_printed_another(tmp_path: Path) -> None:
    of_setup, of_start = issue(tmp_path), issue(tmp_path)
    assert check_and_consume(tmp_path, of_setup)
    assert not check_and_consume(tmp_path, of_start)


def test_old_links_fade(tmp_path: Path) -> None:
    first, *others = [issue(tmp_path) for _ in range(CODES_KEPT + 1)]
    assert not check_and_consume(tmp_path, first)
    assert check_and_consume(tmp_path, others[0])


def test_without_an_issued_code_nothing_fits(tmp_path: Path) -> None:
    assert not check_and_consume(tmp_path / "nowhere", "")
    assert not check_and_consume(tmp_path, "a code")


def test_strange_codes_and_files_are_just_wrong(tmp_path: Path) -> None:
    issue(tmp_path)
    assert not check_and_consume(tmp_path, "\ud800 سلام")
    (tmp_path / FILE_NAME).write_bytes(b"\xff\xfe")
    assert not check_and_consume(tmp_path, "a code")


def test_of_many_at_once_one_is_right(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(30):
            code = issue(tmp_path)
            results = list(pool.map(lambda c: check_and_consume(tmp_path, c), [code] * 8))
            assert sum(results) == 1
