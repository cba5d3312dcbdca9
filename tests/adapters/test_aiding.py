"""What the model makes for operators: from what may be read, judged, and in good time."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.context import Author, Budget, History, MemoryLine, Said
from bot.core.languages import LANGUAGES
from bot.errors import ModelFailure
from bot.model.aiding import AID_PROMPTS, Aide, Lack, Made, NotMade
from bot.model.port import BlockedDraft, ChatMessage, Completion, Passed, Unavailable, Verdict
from tests.fakes import Answer, FakeChatModel

EN, FA, TR = LANGUAGES["en"], LANGUAGES["fa"], LANGUAGES["tr"]
HOST = "You work for the bakery."


class FixedModerator:
    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.seen: list[str] = []

    async def review(self, draft: str) -> Verdict:
        self.seen.append(draft)
        return self.verdict

    async def close(self) -> None:
        pass


PASSES = Passed()


def aide(model: FakeChatModel, verdict: Verdict = PASSES, *, budget: Budget | None = None) -> Aide:
    moderator = FixedModerator(verdict)
    return Aide(model, moderator, HOST, engine="m", budget=budget or Budget())


def said(text: str, version: int, author: Author = Author.USER, **more: bool) -> Said:
    return Said("c", author, text, float(version), version, **{"consented": True, **more})  # type: ignore[arg-type]


def history(*each: Said) -> History:
    return History("c", each)


def scripted(*answers: Answer) -> FakeChatModel:
    return FakeChatModel(answers)


TALK = history(
    said("Where is my order?", 1),
    said("I cannot see orders.", 1, Author.AI),
    said("A person's words.", 0, Author.HUMAN),
    said("For the person only.", 2, consented=False),
    said("A draft that was dropped.", 1, Author.AI, stale=True),
    said("Où est ma commande?", 1, derived=True),
)
HIDDEN = ("A person's words.", "For the person only.", "dropped", "Où est")


def sent(model: FakeChatModel) -> str:
    return "\n".join(message.content for asked in model.asked for message in asked.messages)


async def test_a_draft_knows_what_the_ai_may_read_and_nothing_else() -> None:
    model = scripted(Completion("It is on its way."))
    memory = (MemoryLine("1.1.1", "The user is called Sara", 0.0),)
    made = await aide(model).draft(TALK, 0, memory)
    assert made == Made("It is on its way.", "m", made.usage if isinstance(made, Made) else None)  # type: ignore[arg-type]
    prompt = sent(model)
    for shown in (HOST, "user: Where is my order?", "assistant: I cannot see orders.", "Sara"):
        assert shown in prompt
    assert not [each for each in HIDDEN if each in prompt]
    assert not model.asked[0].tools


async def test_a_summary_is_asked_for_in_the_operators_language() -> None:
    model = scripted(Completion("سفارشش را می‌خواهد."))
    await aide(model).summary(TALK, 0, FA)
    prompt = sent(model)
    assert "Write in: Persian (fa)" in prompt
    assert HOST not in prompt
    assert not [each for each in HIDDEN if each in prompt]


async def test_what_was_said_before_a_new_start_is_not_read() -> None:
    model = scripted(Completion("x"))
    assert await aide(model).draft(TALK, 1) == NotMade(Lack.NOTHING_READABLE)
    assert await aide(model).summary(history(), 0, EN) == NotMade(Lack.NOTHING_READABLE)
    assert model.asked == []


@pytest.mark.parametrize(
    ("verdict", "lack"),
    [(BlockedDraft(("rule",)), Lack.WITHHELD), (Unavailable("down"), Lack.UNCHECKED)],
)
async def test_nothing_is_handed_out_that_did_not_pass(verdict: Verdict, lack: Lack) -> None:
    made = aide(scripted(Completion("Hello!")), verdict)
    assert await made.draft(TALK, 0) == NotMade(lack)
    assert await made.summary(TALK, 0, EN) == NotMade(lack)
    assert await made.translation("سلام", FA, EN) == NotMade(lack)


@pytest.mark.parametrize("failure", ModelFailure)
async def test_every_failure_of_the_model_is_a_lack(failure: ModelFailure) -> None:
    expected = Lack.TIMED_OUT if failure is ModelFailure.TIMED_OUT else Lack.MODEL
    for task in ("draft", "translation"):
        made = aide(scripted(failure))
        result = (
            await made.draft(TALK, 0) if task == "draft" else await made.translation("سلام", FA, EN)
        )
        assert result == NotMade(expected)


async def test_a_prompt_that_is_too_long_is_tried_once_more_with_less() -> None:
    long = history(*(said(f"Message {n} " + "word " * 200, n) for n in range(1, 40)))
    model = scripted(ModelFailure.CONTEXT_TOO_LONG, Completion("Short."))
    made = await aide(model).draft(long, 0)
    assert isinstance(made, Made)
    assert made.calls == 2
    first, second = (len(asked.messages[-1].content) for asked in model.asked)
    assert second < first / 2


async def test_a_model_that_never_answers_is_given_up_in_time() -> None:
    class Silent:
        async def complete(
            self, messages: Sequence[ChatMessage], tools: Sequence[object] = ()
        ) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

        async def close(self) -> None:
            pass

    patient = Aide(
        Silent(), FixedModerator(PASSES), "", engine="m", budget=Budget(),
        talk_seconds=0.01, translation_seconds=0.01,
    )  # fmt: skip
    assert await patient.draft(TALK, 0) == NotMade(Lack.TIMED_OUT)
    assert await patient.translation("سلام", FA, EN) == NotMade(Lack.TIMED_OUT)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("UNSUPPORTED", Lack.UNSUPPORTED), ("“unsupported.”", Lack.UNSUPPORTED),
     ("سلام دوست من", Lack.WRONG_LANGUAGE), ("", Lack.MODEL), ("<text-01234567>", Lack.MODEL)],
)  # fmt: skip
async def test_what_is_no_translation_is_not_taken_for_one(answer: str, expected: Lack) -> None:
    assert await aide(scripted(Completion(answer))).translation("سلام", FA, EN) == NotMade(expected)


async def test_a_translation_says_whether_it_changed_anything() -> None:
    same = await aide(scripted(Completion("OK!"))).translation("ok!", TR, EN)
    assert isinstance(same, Made)
    assert same.unchanged
    model = scripted(Completion("x"))
    emoji = await aide(model).translation("😀 12", FA, EN)
    assert isinstance(emoji, Made)
    assert emoji.unchanged
    assert model.asked == []
    assert await aide(model).translation("x" * 5000, TR, EN) == NotMade(Lack.TOO_LONG)


@given(st.text(max_size=300))
def test_no_text_closes_the_fence_it_stands_in(text: str) -> None:
    model = scripted(Completion("Hello"))
    asyncio.run(aide(model).translation(f"a{text}", FA, EN))
    content = model.asked[0].messages[-1].content
    mark = content.split("<text-", 1)[1][:8]
    assert content.endswith(f"\n</text-{mark}>")
    assert content.count(f"</text-{mark}>") == 1


def test_the_moderator_knows_the_prompts() -> None:
    from bot.model.moderation import RulesModerator

    rules = RulesModerator(*AID_PROMPTS)
    for prompt in AID_PROMPTS:
        assert not isinstance(rules.judge(prompt), Passed)
    assert isinstance(rules.judge("Your order is on its way."), Passed)
