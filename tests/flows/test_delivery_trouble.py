"""Replies that are long, many, or unwelcome."""

import json
import re

from bot.lab.botapi import Fault, Harm
from bot.lab.practice.scripts import Reply
from tests.stage import OWNER, USER, Stage

FIRST = 5000


async def test_a_user_who_blocks_the_bot_between_two_parts_gets_no_more(live: Stage) -> None:
    live.telegram.add_user(OWNER, started=True)
    await live.start_ai()
    await live.shows(USER, "is on")
    blocked = "Forbidden: bot was blocked by the user"
    second = Fault(
        Harm.REFUSE, method="sendMessage", chat_id=USER, status=403, description=blocked, skip=1
    )
    live.telegram.faults.add(second)
    live.model.script(Reply(text="alpha " * 600 + "\n\n" + "beta " * 800 + "\n\n" + "gamma " * 600))
    live.telegram.user_sends(USER, "Tell me all")
    conversation = await live.state(USER, "ended")
    assert conversation.blocked
    assert conversation.covered == conversation.version
    await live.shows(OWNER, "blocked")
    calls = live.telegram.journal.calls("sendMessage", chat_id=USER)
    assert len(calls) == 3, "that the AI is on, the first part, and the refused one"


async def test_a_user_who_comes_back_is_welcome(live: Stage) -> None:
    await live.start_ai()
    live.telegram.user_blocks(USER)
    await live.state(USER, "ended")
    live.telegram.user_starts(USER)
    await live.shows(USER, "Nobody has read it yet")
    assert not (await live.conversation()).blocked


async def test_a_chat_that_is_gone_settles_its_messages_and_stops_no_other(live: Stage) -> None:
    other = 77
    for chat_id in (USER, other):
        await live.start_ai(chat_id)
        await live.shows(chat_id, "is on")
    gone = Fault(
        Harm.REFUSE,
        method="sendMessage",
        chat_id=USER,
        status=400,
        description="Bad Request: chat not found",
        times=None,
    )
    live.telegram.faults.add(gone)
    live.telegram.user_sends(USER, "Hello?")
    await live.covered(1)
    live.telegram.user_sends(other, "Hello")
    await live.covered(1, other)
    failed = "SELECT count(*) FROM outbox WHERE status IN ('pending', 'sending', 'unknown')"
    await live.until_rows(f"SELECT 1 WHERE ({failed}) = 0")


async def test_a_deleted_account_is_like_one_that_blocked(live: Stage) -> None:
    await live.start_ai()
    await live.shows(USER, "is on")
    live.model.hold()
    live.telegram.user_sends(USER, "Hello")
    await live.model.until_asked(1)
    live.telegram.user_is_deactivated(USER)
    live.model.release()
    assert (await live.state(USER, "ended")).blocked


async def test_long_code_is_split_into_blocks_that_are_whole_each(live: Stage) -> None:
    lines = [f"print({number})  # a line of a long program" for number in range(300)]
    code = "\n".join(lines)
    await live.start_ai()
    live.model.script(Reply(text=f"Here it is:\n\n```python\n{code}\n```\n\nThat was **all**."))
    live.telegram.user_sends(USER, "Write a program")
    await live.shows(USER, "That was all.", timeout=20)
    parts = [seen for seen in live.from_bot(USER) if "is on" not in seen.text]
    assert len(parts) > 2
    assert all(len(part.text) <= 4096 for part in parts)
    assert "```" not in "".join(part.text for part in parts)
    blocks = [
        part.text[entity["offset"] : entity["offset"] + entity["length"]]
        for part in parts
        for entity in part.entities
        if entity["type"] == "pre"
    ]
    assert "\n".join(blocks).split("\n") == lines
    assert {e.get("language") for p in parts for e in p.entities if e["type"] == "pre"} == {
        "python"
    }


async def test_a_long_persian_answer_with_emoji_arrives_whole(live: Stage) -> None:
    words = [f"واژه‌ی{number}😀" for number in range(900)]
    await live.start_ai()
    live.model.script(Reply(text=" ".join(words)))
    live.telegram.user_sends(USER, "بنویس")
    await live.shows(USER, words[-1], timeout=20)
    parts = [seen.text for seen in live.from_bot(USER) if "واژه" in seen.text]
    said = re.sub("[\u2066-\u2069]", "", " ".join(parts))
    assert said.split() == words


async def test_twenty_chats_at_once_each_get_their_own_answer(live: Stage) -> None:
    chats = range(FIRST, FIRST + 20)
    for chat_id in chats:
        await live.start_ai(chat_id)
    for chat_id in chats:
        live.telegram.user_sends(chat_id, f"say words-of-{chat_id}")
    for chat_id in chats:
        await live.shows(chat_id, f"words-of-{chat_id}", timeout=20)
        await live.covered(1, chat_id)
    for chat_id in chats:
        seen = " ".join(each.text for each in live.from_bot(chat_id))
        assert re.findall(r"words-of-\d+", seen) == [f"words-of-{chat_id}"]
    assert len(live.model.requests) == len(chats)
    for request in live.model.requests:
        assert len(set(re.findall(r"words-of-\d+", json.dumps(request.body)))) == 1


async def test_what_the_operator_wrote_and_telegram_refused_is_reported_to_them(
    live: Stage,
) -> None:
    live.telegram.user_sends(USER, "/human")
    await live.state(USER, "handoff_pending")
    live.telegram.user_sends(OWNER, "/claim")
    await live.shows(USER, "is here now")
    odd = Fault(Harm.REFUSE, method="sendMessage", chat_id=USER, description="Bad Request: odd")
    live.telegram.faults.add(odd)
    live.telegram.user_sends(OWNER, "Did you get this?")
    await live.shows(OWNER, "did not reach", timeout=20)
