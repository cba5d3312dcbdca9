"""Sealed lines and the keys that open them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Line
from memory import keys as vaults
from memory.keys import Destroyed, Vault, WrongSecret
from memory.line import format_line, parse_line
from memory.port import Sql
from memory.seal import KEY_BYTES, Seal, is_sealed
from tests.memory_database import SqliteDatabase
from tests.memory_lines import a_line, lines_any

ALICE, BOB = "a1" * 16, "b2" * 16
SECRET = b"a secret of the host"
SEAL = Seal(ALICE, b"k" * KEY_BYTES)
A_LINE = a_line(text="kanarienvogel sings")


@given(lines_any())
def test_what_is_sealed_opens_to_what_it_was_and_is_a_line_that_can_be_written(line: Line) -> None:
    sealed = SEAL.seal(line)
    assert is_sealed(sealed)
    assert SEAL.open(parse_line(format_line(sealed))) == line
    assert SEAL.seal(line) == sealed, "written again it must be the same bytes"


def test_no_word_stands_in_a_sealed_line() -> None:
    assert "kanarienvogel" not in format_line(SEAL.seal(A_LINE))


@given(st.data())
def test_whatever_is_changed_in_a_sealed_line_it_does_not_open(data: st.DataObject) -> None:
    written = format_line(SEAL.seal(A_LINE))
    at = data.draw(st.integers(0, len(written) - 1))
    other = data.draw(st.characters(min_codepoint=32, max_codepoint=126))
    changed = written[:at] + other + written[at + 1 :]
    try:
        line = parse_line(changed)
    except ValueError:
        return
    assert SEAL.open(line) == (A_LINE if line == SEAL.seal(A_LINE) else None)


@pytest.mark.parametrize(
    "change",
    [{"id": "other"}, {"at_us": 5}, {"turn": 99}, {"ordinal": 99}, {"text": ""}, {"text": "YQ=="}],
)
def test_a_line_in_another_place_does_not_open(change: dict[str, object]) -> None:
    assert SEAL.open(replace(SEAL.seal(A_LINE), **change)) is None  # type: ignore[arg-type]


def test_a_line_of_another_namespace_or_key_does_not_open() -> None:
    sealed = SEAL.seal(A_LINE)
    assert Seal(BOB, b"k" * KEY_BYTES).open(sealed) is None
    assert Seal(ALICE, b"l" * KEY_BYTES).open(sealed) is None


def test_a_line_in_the_clear_is_believed_only_while_old_lines_are_sealed_up() -> None:
    assert SEAL.open(A_LINE) is None
    assert Seal(ALICE, b"k" * KEY_BYTES, takes_plain=True).open(A_LINE) == A_LINE


# The vault


async def vault_of(database: SqliteDatabase, secret: bytes = SECRET) -> Vault:
    return await database.transact(lambda sql: vaults.found(sql, secret))


async def entered(database: SqliteDatabase, vault: Vault, name: str = ALICE) -> Seal:
    return await database.transact(lambda sql: vault.enter(sql, name, 1.0))


async def test_the_key_of_a_namespace_is_the_same_after_a_restart() -> None:
    database = SqliteDatabase()
    sealed = (await entered(database, await vault_of(database))).seal(A_LINE)
    assert (await entered(database, await vault_of(database))).open(sealed) == A_LINE


async def test_two_namespaces_have_two_keys() -> None:
    database = SqliteDatabase()
    vault = await vault_of(database)
    sealed = (await entered(database, vault)).seal(A_LINE)
    assert (await entered(database, vault, BOB)).open(sealed) is None


async def test_another_secret_opens_nothing_and_writes_nothing() -> None:
    database = SqliteDatabase()
    await entered(database, await vault_of(database))
    before = database.all("SELECT * FROM memory_vault UNION ALL SELECT 1, 2, 3 FROM memory_keys")
    with pytest.raises(WrongSecret):
        await vault_of(database, b"another secret")
    after = database.all("SELECT * FROM memory_vault UNION ALL SELECT 1, 2, 3 FROM memory_keys")
    assert after == before


async def test_a_destroyed_key_never_comes_back_and_the_next_has_another_name() -> None:
    database = SqliteDatabase()
    vault = await vault_of(database)
    old = await entered(database, vault)
    sealed = old.seal(A_LINE)
    assert await database.transact(lambda sql: vault.destroy(sql, ALICE)) == old.namespace
    assert await database.read(lambda sql: vault.find(sql, ALICE)) == Destroyed()
    fresh = await entered(database, vault)
    assert fresh.namespace != old.namespace
    assert fresh.open(sealed) is None


async def test_after_rekey_only_the_new_secret_opens_and_lines_stay_readable() -> None:
    database = SqliteDatabase()
    vault = await vault_of(database)
    sealed = (await entered(database, vault)).seal(A_LINE)
    moved, count = await database.transact(lambda sql: vault.rekey(sql, b"a new secret"))
    assert count == 1
    with pytest.raises(WrongSecret):
        await vault_of(database)
    again = await vault_of(database, b"a new secret")
    assert again.naming == moved.naming == vault.naming, "chats are still found"
    assert (await entered(database, again)).open(sealed) == A_LINE


async def test_keys_that_were_swapped_or_changed_are_named() -> None:
    database = SqliteDatabase()
    vault = await vault_of(database)
    for name in (ALICE, BOB):
        await entered(database, vault, name)

    def swap(sql: Sql) -> None:
        mine = sql.rows("SELECT wrapped FROM memory_keys WHERE namespace = :n", {"n": BOB})[0][0]
        text = "UPDATE memory_keys SET wrapped = :w WHERE namespace = :n"
        sql.run(text, {"w": mine, "n": ALICE})

    await database.transact(swap)
    assert await database.read(vault.check) == (ALICE,)
