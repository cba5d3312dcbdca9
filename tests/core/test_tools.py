"""Contract of bot/model/tools.py and toolbox.py: every call is answered, none writes or raises."""

import asyncio
import json
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.context import MemoryLine, OpenTask
from bot.model.port import ToolCall
from bot.model.toolbox import (
    MAX_LINES,
    MAX_RECALLED,
    Outcome,
    ProposedLine,
    Toolbox,
    ToolResult,
    event_time,
)
from bot.model.tools import (
    MAX_TEXT,
    TOOLS,
    AddTask,
    CompleteTask,
    LookUp,
    Malformed,
    RecommendHandoff,
    Remember,
    parse_call,
)
from memory.event_time import instant_of
from memory.line import Author, Kind, Line, format_line, parse_line, task_key
from tests.fakes import FakeRecall, called

TEHRAN = ZoneInfo("Asia/Tehran")
TEA = '{"text": "Likes tea.", "kind": "preference"}'


def toolbox(*tasks: OpenTask, recall: FakeRecall | None = None) -> Toolbox:
    return Toolbox(tasks, TEHRAN, recall or FakeRecall())


def run(box: Toolbox, name: str, **arguments: str) -> ToolResult:
    return asyncio.run(box.run(called(name, json.dumps(arguments))))


# --- reading a call -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "request_"),
    [
        ("remember", TEA, Remember("Likes tea.", Kind.PREFERENCE)),
        (
            "remember",
            '{"text": "Lives in Berlin.", "kind": "fact", "about": "home city"}',
            Remember("Lives in Berlin.", Kind.FACT, "home city"),
        ),
        ("add_task", '{"text": "نان بخر"}', AddTask("نان بخر")),
        ("add_task", '{"text": "x", "due": null}', AddTask("x")),
        ("add_task", '{"text": "x", "due": "2026-05-02"}', AddTask("x", "2026-05-02")),
        ("complete_task", '{"task": "7.1"}', CompleteTask("7.1")),
        ("recall", '{"query": " tea \\n cups\\u0000 "}', LookUp("tea cups")),
        ("recommend_handoff", '{"reason": "asked"}', RecommendHandoff("asked")),
        ("recall", '{"query": "a\\ud83d"}', LookUp("a\ufffd")),
    ],
)
def test_a_good_call_is_read(name: str, arguments: str, request_: object) -> None:
    assert parse_call(called(name, arguments)) == request_


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("run_shell", '{"command": "ls"}'),
        ("", "{}"),
        ("remember", ""),
        ("remember", "{"),
        ("remember", "null"),
        ("remember", "[]"),
        ("remember", '"text"'),
        ("remember", json.dumps(TEA)),  # JSON inside a JSON string
        ("remember", "NaN"),
        ("remember", "[" * 8_000),
        ("remember", "9" * 8_000),
        ("remember", '{"text": "Likes tea."}'),
        ("remember", '{"text": "Likes tea.", "kind": "secret"}'),
        ("remember", '{"text": "Likes tea.", "kind": ["fact"]}'),
        ("remember", '{"text": 5, "kind": "fact"}'),
        ("remember", '{"text": null, "kind": "fact"}'),
        ("remember", '{"text": " \\n\\u0000 ", "kind": "fact"}'),
        ("remember", '{"text": {"text": "x"}, "kind": "fact"}'),
        ("remember", '{"text": "a", "text": "b", "kind": "fact"}'),
        ("remember", '{"text": "a", "kind": "fact", "chat_id": 5}'),
        ("remember", json.dumps({"text": "x" * (MAX_TEXT + 1), "kind": "fact"})),
        ("remember", json.dumps({"text": "x" * 1_000_000, "kind": "fact"})),
        ("recall", '{"query": "tea"' + " " * 9_000 + "}"),
        ("add_task", '{"text": "x", "due": 5}'),
        ("add_task", '{"text": "x", "due": false}'),
        ("recall", "{}"),
    ],
)
def test_a_bad_call_is_told_in_one_sentence_that_repeats_nothing(name: str, arguments: str) -> None:
    malformed = parse_call(called(name, arguments))
    assert isinstance(malformed, Malformed)
    assert 10 < len(malformed.says) < 200
    assert "\n" not in malformed.says
    assert "Likes tea" not in malformed.says


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
ARGUMENTS = st.text() | JSON.map(json.dumps)
FITTING = st.fixed_dictionaries(
    {},
    optional={
        name: st.text() | JSON
        for name in ("text", "kind", "about", "due", "task", "query", "reason")
    },
).map(json.dumps)
NAMES = st.sampled_from([tool.name for tool in TOOLS]) | st.text()


@given(st.lists(st.builds(ToolCall, st.text(), NAMES, ARGUMENTS | FITTING), max_size=30))
def test_no_call_raises_and_what_comes_of_it_fits_a_memory_line(calls: list[ToolCall]) -> None:
    box = toolbox()
    results = [asyncio.run(box.run(call)) for call in calls]
    assert all(result.says for result in results)
    assert len(box.lines) <= MAX_LINES
    for number, proposed in enumerate(box.lines):
        assert 0 < len(proposed.text) <= MAX_TEXT
        line = Line(
            id=f"x{number}",
            at_us=0,
            turn=1,
            ordinal=number,
            kind=proposed.kind,
            author=Author.AI,
            text=proposed.text,
            key=proposed.key,
            event_time=proposed.due or None,
        )
        assert parse_line(format_line(line)) == line


def test_what_the_model_is_told_of_the_tools_is_what_is_checked() -> None:
    for tool in TOOLS:
        required = dict.fromkeys(tool.parameters["required"], "x")
        if "kind" in required:
            required["kind"] = "fact"
        assert not isinstance(parse_call(called(tool.name, json.dumps(required))), Malformed)
        assert tool.parameters["additionalProperties"] is False


# --- running it ---------------------------------------------------------------------------------


def test_a_remembered_line_is_proposed_once() -> None:
    box = toolbox()
    assert run(box, "remember", text="Likes tea.", kind="preference").outcome is Outcome.DONE
    assert run(box, "remember", text="likes  TEA", kind="preference").outcome is Outcome.DONE
    assert box.lines == (ProposedLine(Kind.PREFERENCE, "Likes tea."),)


def test_what_has_one_value_carries_a_key_so_that_the_newer_replaces_it() -> None:
    box = toolbox()
    run(box, "remember", text="Lives in Berlin.", kind="fact", about="home city")
    assert [line.key for line in box.lines] == ["fact:home-city"]


def test_more_lines_than_the_limit_are_refused() -> None:
    box = toolbox()
    results = [run(box, "remember", text=f"fact {n}", kind="fact") for n in range(MAX_LINES + 1)]
    assert [each.outcome for each in results] == [Outcome.DONE] * MAX_LINES + [Outcome.REFUSED]
    assert len(box.lines) == MAX_LINES
    assert run(box, "remember", text="fact 0", kind="fact").outcome is Outcome.DONE


def test_a_task_with_a_date_becomes_one_in_the_users_zone() -> None:
    box = toolbox()
    run(box, "add_task", text="Call Sam", due="2026-05-02T09:00")
    due = "2026-05-02T09:00:00+03:30[Asia/Tehran]"
    assert box.lines == (ProposedLine(Kind.TASK, "Call Sam", task_key("Call Sam", due), due),)


def test_a_task_that_is_on_the_list_is_not_added_again() -> None:
    box = toolbox(OpenTask("7.1", "Buy bread", key=task_key("Buy bread")))
    assert run(box, "add_task", text="buy bread!") == ToolResult(
        Outcome.DONE, "It is on the list already."
    )
    assert box.lines == ()


def test_an_unreadable_date_is_told_and_nothing_is_added() -> None:
    box = toolbox()
    assert run(box, "add_task", text="x", due="next Friday").outcome is Outcome.MALFORMED
    assert box.lines == ()


@pytest.mark.parametrize("named", ["7.1", "[7.1]", "Buy bread", "buy  BREAD!", "bread"])
def test_a_task_is_completed_by_id_or_words(named: str) -> None:
    tasks = OpenTask("7.1", "Buy bread", key="task:buy-bread"), OpenTask("7.2", "Call Sam")
    box = toolbox(*tasks)
    assert run(box, "complete_task", task=named).outcome is Outcome.DONE
    assert box.lines == (ProposedLine(Kind.DONE, "Buy bread", "task:buy-bread"),)


def test_a_task_is_completed_once() -> None:
    box = toolbox(OpenTask("7.1", "Buy bread"))
    results = [run(box, "complete_task", task="7.1") for _ in range(2)]
    assert [each.outcome for each in results] == [Outcome.DONE, Outcome.REFUSED]


@pytest.mark.parametrize("named", ["milk", "a", "😀", "7.9"])
def test_an_unclear_task_is_refused(named: str) -> None:
    box = toolbox(OpenTask("7.1", "Bread for Anna"), OpenTask("7.2", "Call Anna"))
    assert run(box, "complete_task", task=named).outcome is Outcome.REFUSED
    assert box.lines == ()


def test_a_task_added_and_done_in_one_turn_closes_by_the_same_key() -> None:
    box = toolbox()
    run(box, "add_task", text="Buy bread", due="2026-05-02")
    run(box, "complete_task", task="Buy bread")
    added, done = box.lines
    assert (added.kind, done.kind) == (Kind.TASK, Kind.DONE)
    assert added.key == done.key


def test_recalled_lines_come_with_their_ids_and_only_so_many() -> None:
    lines = tuple(
        MemoryLine(f"7.{n}", f"line\n{n}", 1_780_000_000) for n in range(MAX_RECALLED + 5)
    )
    box = toolbox(recall=FakeRecall(lines))
    result = run(box, "recall", query="anything")
    assert result.outcome is Outcome.ANSWERED
    assert result.says.splitlines()[1] == "[7.0, 2026-05-28] line 0"
    assert len(result.says.splitlines()) == MAX_RECALLED + 1
    assert box.memory_ids == tuple(line.id for line in lines[:MAX_RECALLED])


def test_words_of_a_conversation_say_whose_they_were() -> None:
    line = MemoryLine("7.1", "Paris, I think.", 1_780_000_000, said_by="ai")
    result = run(toolbox(recall=FakeRecall((line,))), "recall", query="city")
    assert result.says.endswith("\n[7.1, 2026-05-28, said by ai] Paris, I think.")


def test_a_memory_that_cannot_be_read_is_not_an_empty_one() -> None:
    nothing = run(toolbox(recall=FakeRecall()), "recall", query="tea")
    unread = run(toolbox(recall=FakeRecall(readable=False)), "recall", query="tea")
    assert "Nothing is kept" in nothing.says
    assert "could not be read" in unread.says


def test_a_recommended_person_is_noted_with_the_reason() -> None:
    box = toolbox()
    assert run(box, "recommend_handoff", reason="asked for it").outcome is Outcome.DONE
    assert box.person_reason == "asked for it"


@pytest.mark.parametrize(
    ("due", "zone", "expected"),
    [
        ("", "Asia/Tehran", ""),
        ("2026-05-02", "Asia/Tehran", "2026-05-02[Asia/Tehran]"),
        ("2026-05-02 09:00", "Asia/Tehran", "2026-05-02T09:00:00+03:30[Asia/Tehran]"),
        ("2026-05-02T09:00:30Z", "Asia/Tehran", "2026-05-02T12:30:30+03:30[Asia/Tehran]"),
        ("2026-05-02T09:00+0200", "UTC", "2026-05-02T07:00:00+00:00[UTC]"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T03:30:00+02:00[Europe/Berlin]"),
        ("2026-02-30", "UTC", None),
        ("2026-05-02T25:00", "UTC", None),
        ("0001-01-01T00:00", "Asia/Tehran", None),
        ("tomorrow", "UTC", None),
        ("۲۰۲۶-۰۵-۰۲", "UTC", None),
    ],
)
def test_a_date_is_read_in_the_users_zone(due: str, zone: str, expected: str | None) -> None:
    assert event_time(due, ZoneInfo(zone)) == expected


@given(st.datetimes(), st.sampled_from(["Asia/Tehran", "Europe/Berlin", "UTC", "America/New_York"]))
def test_every_date_that_is_taken_can_stand_in_a_line(moment: object, zone: str) -> None:
    written = event_time(str(moment)[:19], ZoneInfo(zone))
    assert written is None or instant_of(written)
