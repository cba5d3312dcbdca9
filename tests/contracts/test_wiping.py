"""/forget_me: no column of any table keeps a word of the chat, on both databases.

Each column that could hold a text is named here, as wiped or as harmless and why. A new one makes
the first test fail until it is.
"""

from typing import Any

import pytest

from bot.store import wiping
from bot.store.migrations import BOT_SCHEMA, migrate
from bot.store.port import Database, Sql

CHAT, NAME = 42, "tg:42"
OTHER_CHAT, OTHER = 77, "tg:77"
WORD = "kanarienvogel"

WIPED = {
    "answer_sources.line_ids",
    "conversations.user_name",
    "drafts.lines",
    "drafts.text",
    "effects.payload",
    "inbox.raw",
    "messages.detail",
    "messages.entities",
    "messages.text",
    "outbox.payload",
    "suggestions.source",
    "suggestions.text",
    "topics.name",
    "translations.text",
}
IDS_AND_STATES = {
    "answer_sources": {"conversation_id", "turn_id"},
    "conversations": {"id", "language", "state"},
    "copies": {"conversation_id"},
    "debounces": {"conversation_id"},
    "drafts": {"conversation_id", "turn_id"},
    "effects": {"id", "conversation_id", "kind", "turn_id"},
    "forgettings": {"conversation_id", "token", "status", "stored_as"},
    "inbox": {"outcome"},
    "interpreting": {"conversation_id", "user_language", "operator_language", "consent"},
    "journal": {
        "conversation_id", "actor", "event", "outcome", "state_before", "state_after", "turn_id",
        "client_message_id", "note",
    },
    "leases": {"name", "holder"},
    "messages": {
        "conversation_id", "author", "kind", "turn_id", "covered_by", "media_group",
    },
    "offers": {"conversation_id"},
    "operator_actions": {"id", "action", "conversation_id", "outcome", "note"},
    "outbox": {"id", "conversation_id", "author", "turn_id", "status", "topic"},
    "ratings": {"conversation_id"},
    "suggestions": {"id", "conversation_id", "kind", "status"},
    "temporary_chats": {"conversation_id"},
    "timers": {"conversation_id", "timer"},
    "topics": {"conversation_id", "card_shown"},
    "translations": {"language", "conversation_id", "source_language", "engine"},
    "usage": {"conversation_id", "turn_id"},
}  # fmt: skip
OF_THE_HOST = {  # what operators are called and what they keep is not the user's
    "conversations.holder_name",
    "meta.key",
    "meta.value",
    "migrations.name",
    "operator_actions.operator_name",
    "snippets.name",
    "snippets.text",
    "staff.name",
    "staff.role",
    "staff.source",
    "staff.username",
}
HARMLESS = {f"{table}.{name}" for table, names in IDS_AND_STATES.items() for name in names}
COLUMNS = """
SELECT m.name, p.name, p.type FROM sqlite_master m, pragma_table_info(m.name) p
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, p.cid
"""
COLUMNS_OF_POSTGRES = """
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' ORDER BY table_name, ordinal_position
"""


@pytest.fixture(autouse=True)
async def schema(database: Database) -> None:
    await migrate(database, [BOT_SCHEMA], now=0.0)


async def columns(database: Database, url: str) -> dict[str, dict[str, bool]]:
    """table → column → whether it is a text."""
    query = COLUMNS if url.startswith("sqlite") else COLUMNS_OF_POSTGRES
    found: dict[str, dict[str, bool]] = {}
    for table, name, kind in await database.read(lambda sql: sql.rows(query)):
        found.setdefault(table, {})[name] = kind.lower() == "text"
    return found


async def test_every_column_that_can_hold_a_text_is_wiped_or_known_to_be_harmless(
    database: Database, database_url: str
) -> None:
    tables = await columns(database, database_url)
    texts = {f"{table}.{name}" for table, names in tables.items() for name in names if names[name]}
    bookkeeping = {each for each in texts if each.split(".")[0] in {"schema_steps", "migrations"}}
    assert texts - WIPED - HARMLESS - OF_THE_HOST - bookkeeping == set()
    assert (WIPED | HARMLESS) - texts == set(), "named here, but not there any more"


def row(table: str, names: dict[str, bool], chat_id: int, number: int) -> dict[str, Any]:
    """One row about a chat, with the word wherever a word could be."""
    conversation = f"tg:{chat_id}"
    values: dict[str, Any] = {}
    for name, is_text in names.items():
        key = f"{table}.{name}"
        if name == "conversation_id" or key == "conversations.id":
            values[name] = conversation
        elif name == "chat_id":
            values[name] = chat_id
        elif key == "inbox.raw":
            values[name] = f'{{"message": {{"chat": {{"id": {chat_id}}}, "text": "{WORD}"}}}}'
        elif key in WIPED:
            values[name] = f"{WORD} {chat_id}"
        elif key == "outbox.status":
            values[name] = "sent"
        else:
            values[name] = f"x{number}" if is_text else number
    return values


async def fill(database: Database, tables: dict[str, dict[str, bool]]) -> None:
    def put(sql: Sql) -> None:
        for table in sorted({each.split(".")[0] for each in WIPED}):
            for chat_id in (CHAT, OTHER_CHAT):
                names = tables[table]
                marks = ", ".join(f":{name}" for name in names)
                text = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
                sql.run(text, row(table, names, chat_id, chat_id))

    await database.transact(put)


async def test_no_word_of_the_chat_is_left_and_others_keep_theirs(
    database: Database, database_url: str
) -> None:
    tables = await columns(database, database_url)
    await fill(database, tables)
    await database.transact(lambda sql: wiping.wipe(sql, NAME, CHAT, 1e9))
    for column in sorted(WIPED):
        table, _, name = column.partition(".")
        query = f"SELECT {name} FROM {table}"
        kept = [each[0] for each in await database.read(lambda sql, q=query: sql.rows(q))]  # type: ignore[misc]
        mine = [text for text in kept if WORD in text and str(CHAT) in text]
        theirs = [text for text in kept if WORD in text and str(OTHER_CHAT) in text]
        assert mine == [], column
        assert len(theirs) == 1, column


async def test_what_operators_were_told_about_the_chat_is_wiped_as_well(
    database: Database,
) -> None:
    """A notice in the operators' private chat, a relay, a suggestion: their rows name the chat."""
    ids = [
        f"system:tg:1000:{NAME}:7.1:op_requested",
        f"relay:{NAME}:3:1000:2",
        f"human:{NAME}:1000:55",
    ]
    put = """
    INSERT INTO outbox (id, conversation_id, chat_id, seq, author, epoch, turn_id, topic, payload,
     status, attempts, probes, not_before, claimed_until, claim, low_id, message_id, created_at,
     settled_at)
    VALUES (:id, :conversation_id, 1000, :seq, 'system', 0, '', '', :payload, 'sent', 1, 0, 0, 0, 1,
     0, :seq, 1, 1)
    """

    def fill_outbox(sql: Sql) -> None:
        for seq, id in enumerate([*ids, f"system:tg:1000:{OTHER}:7.1:op_requested"], 1):
            about = "tg:1000" if id.startswith("system") else NAME
            sql.run(put, {"id": id, "conversation_id": about, "seq": seq, "payload": WORD})

    await database.transact(fill_outbox)
    await database.transact(lambda sql: wiping.wipe(sql, NAME, CHAT, 1e9))
    kept = await database.read(lambda sql: sql.rows("SELECT id, payload FROM outbox"))
    assert {id for id, payload in kept if payload} == {f"system:tg:1000:{OTHER}:7.1:op_requested"}
