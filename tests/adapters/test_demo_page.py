"""What the page of the demo may ask for over HTTP, and what it is told; no browser needed."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from bot.core.events import Event
from bot.core.states import State
from bot.errors import Misconfigured
from bot.lab.page import people
from bot.lab.page.forgetful import LAG_SECONDS, ForgetfulBackend
from bot.lab.page.records import Records
from bot.lab.page.server import FILES, Demo, build_app
from bot.lab.page.show import opened
from bot.lab.serve import serve
from memory.line import Author, Kind, Line
from memory.port import Entry
from tests.lying_backend import LyingBackend
from tests.surroundings import forget_settings

Json = dict[str, Any]
SAM, STRANGER = 101, 103


class Caller:
    """Asks the demo over HTTP, as the page does."""

    def __init__(self, client: httpx.AsyncClient, demo: Demo) -> None:
        self.client = client
        self.demo = demo

    async def do(self, action: str, /, **body: Any) -> httpx.Response:
        return await self.client.post(f"/do/{action}", json=body)

    async def told(self, name: str, wanted: str = "") -> Json:
        """The first event of this name whose data contain `wanted`."""
        async with asyncio.timeout(15), self.client.stream("GET", "/events") as answer:
            kind = ""
            async for line in answer.aiter_lines():
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                elif line.startswith("data: ") and kind == name and wanted in line:
                    return dict(json.loads(line.removeprefix("data: ")))
        raise AssertionError("the feed ended")


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with (
        opened() as demo,
        serve(build_app(demo)) as address,
        httpx.AsyncClient(base_url=address, timeout=15) as client,
    ):
        yield Caller(client, demo)


async def test_a_conversation_can_be_had(caller: Caller) -> None:
    phone = await caller.told("phone", "Start the AI assistant")
    offer = next(each for each in phone["messages"] if each["keyboard"])
    pressed = {"message_id": offer["message_id"], "data": offer["keyboard"][0][0]["callback_data"]}
    assert (await caller.do("press", person=SAM, **pressed)).status_code == 200
    await caller.told("phone", "The AI assistant is on")
    assert (await caller.do("send", person=SAM, text="Who are you?")).status_code == 200
    await caller.told("phone", "I am the practice model")
    answered = await caller.told("phone", "ai:tg:101:turn:msg-1")  # once it is known to be there
    reply = answered["messages"][-1]
    assert (reply["by"], reply["client_id"]) == ("ai", "ai:tg:101:turn:msg-1")
    journal = await caller.told("journal", "Delivered")
    assert [each["event"] for each in journal["entries"]][-1] == "Delivered"
    memory = await caller.told("memory", "Who are you?")
    assert {line["text"] for line in memory["lines"]} >= {"Who are you?"}
    heads = await caller.told("heads", "tg:101")
    assert heads["tg:101"]["state"] == "ai_ready"


async def test_what_cannot_be_done_is_refused_with_a_reason(caller: Caller) -> None:
    refusals = {
        409: [
            await caller.do("press", person=SAM, message_id=999, data="v1:start"),
            await caller.do("edit", person=SAM, message_id=999, text="x"),
            await caller.do("send", person=SAM, text="x" * 20_001),
        ],
        400: [
            await caller.do("send", person=7, text="x"),
            await caller.do("send", person=SAM, text=5),
            await caller.do("send", person=SAM),
            await caller.do("switch", name="nonsense", on=True, person=SAM),
            await caller.do("bot", action="nonsense"),
            await caller.client.post(
                "/do/send", content=b"[", headers={"content-type": "application/json"}
            ),
        ],
    }
    for status, answers in refusals.items():
        assert [each.status_code for each in answers] == [status] * len(answers)
        assert all(each.json()["error"] for each in answers)


async def test_other_sites_cannot_act_here(caller: Caller) -> None:
    body = json.dumps({"person": SAM, "text": "from elsewhere"})
    form = await caller.client.post(
        "/do/send", content=body, headers={"content-type": "text/plain"}
    )
    assert form.status_code == 415
    renamed = await caller.client.get("/events", headers={"host": "evil.example"})
    assert renamed.status_code == 400
    assert "from elsewhere" not in str(caller.demo.telegram.messages(SAM))


async def test_only_the_files_of_the_page_are_served(caller: Caller) -> None:
    page = await caller.client.get("/")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for path in FILES.iterdir():
        served = await caller.client.get(f"/files/{path.name}")
        assert served.content == path.read_bytes()
    assert (await caller.client.get("/files/..%2Fserver.py")).status_code == 404
    assert (await caller.client.get("/files/server.py")).status_code == 404


def test_the_page_names_no_address_elsewhere() -> None:
    allowed = {"http://www.w3.org/2000/svg"}
    for path in FILES.iterdir():
        words = path.read_text(encoding="utf-8").replace('"', " ").replace("`", " ").split()
        addresses = {word for word in words if "://" in word and "${" not in word}
        assert addresses <= allowed, path.name


def test_the_timeline_has_words_for_every_event_and_a_colour_for_every_state() -> None:
    said = (FILES / "timeline.js").read_text(encoding="utf-8")
    assert [each.__name__ for each in get_args(Event) if f"  {each.__name__}: (" not in said] == []
    drawn = (FILES / "timeline.css").read_text(encoding="utf-8")
    assert [state for state in State if f".{state}" not in drawn] == []


async def test_switches_act_and_are_shown(caller: Caller) -> None:
    await caller.do("switch", name="network_cut", on=True, person=SAM)
    assert network(caller) == "cut"
    await caller.do("switch", name="flood", on=True, person=SAM)
    await caller.do("switch", name="flood", on=True, person=SAM)  # twice is once
    assert len(caller.demo.telegram.faults.armed()) == 1
    shown = {each["name"]: each["on"] for each in (await caller.told("demo"))["switches"]}
    assert shown["flood"] == [SAM]
    assert len(shown["network_cut"]) == len(people.PEOPLE)
    for name in ("network_cut", "flood"):
        await caller.do("switch", name=name, on=False, person=SAM)
    assert network(caller) == "up"
    assert not caller.demo.telegram.faults.armed()


async def test_the_bot_is_killed_and_started_as_a_process(caller: Caller) -> None:
    first = caller.demo.bot.pid
    await caller.do("bot", action="kill")
    assert caller.demo.bot.pid is None
    told = await caller.told("demo", "killed")
    assert [each["what"] for each in told["bot"]["moments"]] == ["started", "killed"]
    await asyncio.gather(caller.do("bot", action="start"), caller.do("bot", action="start"))
    assert caller.demo.bot.pid not in (None, first)
    assert [each.what for each in caller.demo.bot.moments].count("started") == 2


async def test_a_stranger_is_not_admitted(caller: Caller) -> None:
    await caller.do("send", person=STRANGER, text="Hello?")
    told = await caller.told("phone", '"person": 103, "messages": [{"message_id"')
    assert told["person"] == STRANGER
    heads = await caller.told("heads", "tg:101")
    assert "tg:103" not in heads


def network(caller: Caller) -> str:
    return str(caller.demo.telegram.faults.network)


# --- parts of it --------------------------------------------------------------------------------


async def test_the_forgetful_memory_is_late_and_lies_while_told_to(tmp_path: Path) -> None:
    now = [1000.0]
    lie = tmp_path / "lie"
    backend = ForgetfulBackend(LyingBackend(honest=True), lie, lambda: now[0])
    line = Line("1.1.0", 1_000_000_000, 1, 0, Kind.FACT, Author.USER, "x")
    entry = Entry("name", line)
    await backend.write([entry])
    assert not await backend.visible([entry])
    assert not (await backend.read("name")).lines
    now[0] += LAG_SECONDS
    assert await backend.visible([entry]) == {entry.address}
    assert (await backend.read("name")).lines == (line,)
    lie.touch()
    assert not await backend.visible([entry])
    assert not (await backend.read("name")).lines
    assert await backend.count("name") is None
    lie.unlink()
    assert (await backend.read("name")).lines == (line,)


def test_a_database_that_is_not_there_reads_as_empty(tmp_path: Path) -> None:
    records = Records(tmp_path / "none.db", "s" * 16)
    records.look()
    assert (records.entries(0), records.heads(), records.memory(SAM)) == ([], {}, [])
    assert not (tmp_path / "none.db").exists()


def test_without_a_model_of_ones_own_the_practice_model_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forget_settings(monkeypatch)
    assert people.real_model(tmp_path / ".env") is None


def test_a_model_of_ones_own_is_used_and_nothing_else_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forget_settings(monkeypatch)
    monkeypatch.setenv("TELEGRAM_PROXY", "http://proxy.example:1")
    monkeypatch.setenv("model_api_key", "sk-mine")
    monkeypatch.setenv("MODEL_BASE_URL", "https://model.example/v1")
    model = people.real_model(tmp_path / ".env")
    assert model is not None
    places = people.Addresses("http://t", "http://m", "http://j")
    given = people.environment(places, tmp_path / "x.db", "s" * 16, model)
    assert given["MODEL_BASE_URL"] == "https://model.example/v1"
    assert given["MODEL_API_KEY"] == "sk-mine"
    assert given["TELEGRAM_API_URL"] == "http://t"
    assert "TELEGRAM_PROXY" not in given


def test_a_model_without_its_key_stops_the_start_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forget_settings(monkeypatch)
    monkeypatch.setenv("MODEL_BASE_URL", "https://model.example/v1")
    with pytest.raises(Misconfigured, match="MODEL_API_KEY is missing"):
        people.real_model(tmp_path / ".env")
