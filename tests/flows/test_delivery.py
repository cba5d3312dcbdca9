"""A reply arrives once, also when nobody can say at first whether it did."""

from bot.lab.botapi import Fault, Harm
from bot.lab.practice.scripts import Reply
from tests.stage import OWNER, USER, Stage


def copies(stage: Stage, text: str) -> int:
    return sum(text in seen.text for seen in stage.from_bot(USER))


async def test_a_lost_answer_is_reconciled_and_nothing_is_sent_twice(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Exactly once."))
    await live.shows(USER, "is on")
    live.telegram.faults.add(Fault(Harm.CUT_AFTER, method="sendMessage", chat_id=USER))
    live.telegram.user_sends(USER, "Say it")
    await live.state(USER, "delivery_unknown")
    await live.state(USER, "ai_ready", timeout=20)
    assert copies(live, "Exactly once.") == 1
    assert len(live.model.requests) == 1
    assert copies(live, "hecking") == 0, "the notice is removed"


async def test_a_send_that_never_arrived_is_sent_again_without_the_model(live: Stage) -> None:
    await live.opt_in()
    live.model.script(Reply(text="Exactly once."))
    await live.shows(USER, "is on")
    live.telegram.faults.add(Fault(Harm.CUT_BEFORE, method="sendMessage", chat_id=USER))
    live.telegram.user_sends(USER, "Say it")
    await live.state(USER, "delivery_unknown")
    await live.shows(USER, "Exactly once.", timeout=20)
    await live.state(USER, "ai_ready")
    assert copies(live, "Exactly once.") == 1
    assert len(live.model.requests) == 1


async def test_a_flood_wait_in_one_chat_leaves_the_others_alone(live: Stage) -> None:
    other = 77
    await live.opt_in()
    await live.opt_in(other)
    await live.shows(USER, "is on")
    live.telegram.faults.add(Fault(Harm.REFUSE, method="sendMessage", chat_id=USER, retry_after=2))
    live.model.script(Reply(text="Patience."), Reply(text="At once."))
    live.telegram.user_sends(USER, "first")
    await live.state(USER, "bot_sending")
    live.telegram.user_sends(other, "second")
    await live.shows(other, "At once.")
    assert copies(live, "Patience.") == 0
    await live.shows(USER, "Patience.")
    assert copies(live, "Patience.") == 1


async def test_a_user_who_blocks_the_bot_is_recorded_and_left_alone(live: Stage) -> None:
    live.telegram.user_starts(OWNER)
    await live.opt_in()
    live.model.hold()
    live.telegram.user_sends(USER, "Hello")
    await live.model.until_asked(1)
    live.telegram.user_blocks(USER)
    conversation = await live.state(USER, "ended")
    assert conversation.blocked
    live.model.release()
    await live.shows(OWNER, "blocked")


async def test_a_long_reply_arrives_in_order_and_whole(live: Stage) -> None:
    await live.opt_in()
    words = " ".join(f"word{number}" for number in range(1500))
    live.model.script(Reply(text=words))
    live.telegram.user_sends(USER, "Tell me everything")
    await live.state(USER, "ai_ready")
    await live.until(lambda: copies(live, "word1499") or None)
    parts = [seen.text for seen in live.from_bot(USER) if "word" in seen.text]
    assert " ".join(parts).split() == words.split()


async def test_formatting_that_telegram_refuses_is_sent_plain(live: Stage) -> None:
    await live.opt_in()
    await live.shows(USER, "is on")
    live.telegram.faults.add(
        Fault(
            Harm.REFUSE,
            method="sendMessage",
            chat_id=USER,
            description="Bad Request: can't parse entities: unexpected end",
        )
    )
    live.model.script(Reply(text="**bold** words"))
    live.telegram.user_sends(USER, "Format something")
    await live.shows(USER, "bold words")


async def test_a_refused_reply_is_replaced_by_a_plain_word(live: Stage) -> None:
    await live.opt_in()
    await live.shows(USER, "is on")
    live.telegram.faults.add(
        Fault(Harm.REFUSE, method="sendMessage", chat_id=USER, description="Bad Request: odd")
    )
    live.model.script(Reply(text="Refused."))
    live.telegram.user_sends(USER, "Go")
    await live.covered(1)
    assert copies(live, "Refused.") == 0
