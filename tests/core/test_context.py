"""Contract of bot/core/context.py: what the model is shown, and what it never is (I8, I10)."""

from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.context import (
    LEAST_TOKENS,
    MESSAGE_TOKENS,
    Author,
    Budget,
    Context,
    ContextMessage,
    History,
    MemoryLine,
    NothingToAnswer,
    OpenTask,
    Question,
    Said,
    Stretch,
    compile_context,
)
from bot.core.excerpts import cut_in_the_middle, estimate_tokens, whole

TEHRAN = ZoneInfo("Asia/Tehran")
NOW = 1_780_000_000.0  # 2026-05-28 20:26:40 UTC
UNREADABLE = "☠"  # marks, in generated texts, what no prompt may contain


def user(version: int, text: str = "", **changes: object) -> Said:
    said = Said("a", Author.USER, text or f"u{version}", NOW - 1000 + version, version)
    return replace(said, **({"consented": True} | changes))  # type: ignore[arg-type]


def ai(version: int, text: str = "", **changes: object) -> Said:
    return user(version, text or f"a{version}", **({"author": Author.AI} | changes))


def human(text: str, at: float) -> Said:
    return Said("a", Author.HUMAN, text, at, consented=True)


def question(*said: Said, turn: tuple[int, int] = (9, 9), **changes: object) -> Question:
    asked = Question(History("a", said), *turn, now=NOW, zone=TEHRAN)
    return replace(asked, **changes)  # type: ignore[arg-type]


def shown(context: Context) -> str:
    memory = [line.text for line in context.memory] + [task.text for task in context.tasks]
    earlier = [message.text for message in context.earlier]
    return "\n".join((*earlier, context.unanswered, *context.stretches, *memory, context.turn))


# --- whatever is stored -------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_characters=UNREADABLE), max_size=60)
LONG = st.integers(1, 4000).flatmap(lambda n: st.sampled_from(["x" * n, "سلام " * n, "好" * n]))


@dataclass(frozen=True)
class Case:
    question: Question
    turn_texts: tuple[str, ...]


@st.composite
def said(draw: st.DrawFn) -> Said:
    author = draw(st.sampled_from([*Author, Author.USER, Author.AI]))
    flags = [(True, False, False)] * 4 + [(False, False, False), (True, True, False)]
    consented, stale, derived = draw(st.sampled_from([*flags, (True, False, True)]))
    readable = author in (Author.USER, Author.AI) and consented and not stale and not derived
    text = draw(st.one_of(TEXTS, LONG))
    return Said(
        "a",
        author,
        text if readable else UNREADABLE + text,
        at=NOW - draw(st.integers(0, 10_000)),
        version=draw(st.integers(0, 9)),
        kind=draw(st.sampled_from(["text", "text", "sticker", "photo", "note"])),
        consented=consented,
        stale=stale,
        derived=derived,
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    first = draw(st.integers(8, 9))
    turn = [user(version, draw(TEXTS | LONG) or "?") for version in range(first, 10)]
    before = [each for each in draw(st.lists(said(), max_size=25)) if each.version < first]
    memory = st.builds(MemoryLine, st.just("L"), st.one_of(TEXTS, LONG), st.just(NOW))
    tasks = st.builds(OpenTask, st.just("T"), st.one_of(TEXTS, LONG))
    stretches = st.builds(
        lambda since, length: Stretch(since, since + length),
        st.floats(NOW - 10_000, NOW),
        st.floats(0, 1000),
    )
    asked = question(
        turn=(first, 9),
        history=History("a", (*before, *turn), tuple(draw(st.lists(stretches, max_size=5)))),
        context_from=draw(st.sampled_from([0, 0, 0, 3, first - 1])),
        memory=tuple(draw(st.lists(memory, max_size=12))),
        tasks=tuple(draw(st.lists(tasks, max_size=12))),
        budget=Budget(draw(st.integers(1, 12)), draw(st.integers(LEAST_TOKENS, 3000))),
    )
    return Case(asked, tuple(each.text for each in turn))


@given(cases())
def test_i8_nothing_unreadable_is_ever_shown(case: Case) -> None:
    assert UNREADABLE not in shown(compile_context(case.question))


@given(cases())
def test_i8_there_are_never_more_messages_than_the_limit(case: Case) -> None:
    context = compile_context(case.question)
    assert len(context.earlier) + 1 <= case.question.budget.max_messages


@given(cases())
def test_the_tokens_stay_within_the_budget(case: Case) -> None:
    context = compile_context(case.question)
    everything = [
        *(message.text for message in context.earlier),
        shown(replace(context, earlier=())),
    ]
    tokens = sum(MESSAGE_TOKENS + estimate_tokens(text) for text in everything)
    assert tokens <= case.question.budget.max_tokens


@given(cases())
def test_the_turn_is_always_there(case: Case) -> None:
    turn = compile_context(case.question).turn
    assert turn
    if "characters left out" not in turn:
        assert all(whole(text).strip() in turn for text in case.turn_texts)


@given(cases())
def test_authors_alternate_and_the_user_comes_first(case: Case) -> None:
    authors = [message.author for message in compile_context(case.question).earlier]
    assert authors == [Author.USER, Author.AI] * (len(authors) // 2)


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_store_does_not_matter(case: Case, random: object) -> None:
    shuffled = list(case.question.history.said)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    history = replace(case.question.history, said=tuple(shuffled))
    again = replace(case.question, history=history)
    assert compile_context(again) == compile_context(case.question)


@given(cases())
def test_nothing_from_before_a_new_start_is_shown(case: Case) -> None:
    before = [
        replace(each, text=UNREADABLE)
        if 0 < each.version <= case.question.context_from or each.version == 0
        else each
        for each in case.question.history.said
    ]
    history = replace(case.question.history, said=tuple(before))
    assert UNREADABLE not in shown(compile_context(replace(case.question, history=history)))


@given(st.text() | LONG, st.integers(40, 800))
def test_a_cut_text_fits_and_keeps_both_ends(text: str, most: int) -> None:
    cut = cut_in_the_middle(text, most)
    assert estimate_tokens(cut) <= most
    if estimate_tokens(text) > most:
        head, mark, tail = cut.partition("\n[… ")
        left_out, _, tail = tail.partition(" characters left out …]\n")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert mark
        assert int(left_out) == len(text) - len(head) - len(tail)


@given(st.text(), st.text())
def test_the_estimate_grows_with_the_text(one: str, other: str) -> None:
    assert estimate_tokens(one) <= estimate_tokens(one + other)
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


# --- by example ---------------------------------------------------------------------------------


def test_a_message_of_another_conversation_is_refused() -> None:
    with pytest.raises(ValueError, match="another conversation"):
        History("a", (user(1), user(2, conversation_id="b")))


def test_the_messages_of_a_turn_become_one() -> None:
    context = compile_context(question(user(8, "one"), user(9, "two"), turn=(8, 9)))
    assert context.turn == "one\ntwo"
    assert context.earlier == ()


def test_what_came_after_the_turn_waits_for_the_next() -> None:
    assert compile_context(question(user(9), user(10), ai(9))).turn == "u9"


def test_an_answer_follows_what_it_covers_even_if_it_was_sent_later() -> None:
    late = ai(2, at=NOW - 1)
    context = compile_context(question(user(3), late, user(1), ai(3), user(2), user(9)))
    assert [message.text for message in context.earlier] == ["u1\nu2", "a2", "u3", "a3"]


def test_what_nobody_answered_stands_apart_from_the_turn() -> None:
    context = compile_context(question(user(6), ai(6), user(7), user(8), user(9)))
    assert (context.unanswered, context.turn) == ("u7\nu8", "u9")


def test_an_answer_whose_question_is_not_shown_is_left_out() -> None:
    context = compile_context(question(user(8, consented=False), ai(8), user(9)))
    assert context.earlier == ()


@pytest.mark.parametrize(
    "said",
    [
        user(7, UNREADABLE, consented=False),
        ai(7, UNREADABLE, consented=False),
        user(7, UNREADABLE, author=Author.HUMAN),
        user(7, UNREADABLE, author=Author.HUMAN, kind="note"),
        user(7, UNREADABLE, author=Author.SYSTEM),
        ai(7, UNREADABLE, stale=True),
        user(7, UNREADABLE, derived=True),
        user(6, UNREADABLE),
        ai(6, UNREADABLE),
        ai(9, UNREADABLE),
    ],
)
def test_i8_what_may_not_be_shown_is_not_shown(said: Said) -> None:
    asked = question(user(6), said, user(7), ai(7), user(8), ai(8), user(9), context_from=6)
    context = compile_context(asked)
    assert UNREADABLE not in shown(context)
    assert [message.text for message in context.earlier] == ["u7", "a7", "u8", "a8"]


@pytest.mark.parametrize(
    ("limit", "kept"),
    [(1, []), (2, []), (3, ["u8", "a8"]), (4, ["u8", "a8"]), (5, ["u7", "a7", "u8", "a8"])],
)
def test_the_newest_messages_are_kept(limit: int, kept: list[str]) -> None:
    said = [each for version in range(1, 9) for each in (user(version), ai(version))]
    context = compile_context(question(*said, user(9), budget=Budget(max_messages=limit)))
    assert [message.text for message in context.earlier] == kept


def test_what_came_at_the_same_moment_has_one_order() -> None:
    one, two = user(8, "one", at=NOW), user(8, "two", at=NOW)
    contexts = [compile_context(question(*said, user(9))) for said in ((one, two), (two, one))]
    assert contexts[0] == contexts[1]


def test_many_short_lines_are_counted_with_what_stands_around_them() -> None:
    lines = tuple(MemoryLine("x", "y", NOW) for _ in range(500))
    context = compile_context(question(user(9), memory=lines, budget=Budget(max_tokens=1000)))
    assert len(context.memory) == 1000 // 4 // 25


def test_a_huge_earlier_message_is_cut_rather_than_the_whole_past_lost() -> None:
    asked = question(user(8, "ab" * 50_000), ai(8), user(9), budget=Budget(max_tokens=1000))
    pasted, answer = compile_context(asked).earlier
    assert "characters left out" in pasted.text
    assert answer == ContextMessage(Author.AI, "a8")


def test_a_turn_that_is_too_long_alone_is_cut_in_the_middle() -> None:
    asked = question(user(9, "begin" + "x" * 100_000 + "end?"), budget=Budget(max_tokens=600))
    turn = compile_context(asked).turn
    assert turn.startswith("begin")
    assert turn.endswith("end?")
    assert "characters left out" in turn


def test_the_turn_goes_before_memory_and_memory_before_the_past() -> None:
    memory = tuple(MemoryLine(f"L{n}", "m" * 300, NOW) for n in range(9))
    past = [each for version in range(1, 9) for each in (user(version, "p" * 900), ai(version))]
    asked = question(*past, user(9), memory=memory, budget=Budget(max_tokens=1500))
    context = compile_context(asked)
    assert 0 < len(context.memory) < 9
    assert 0 < len(context.earlier) < 16
    long = question(user(9, "t" * 4000), memory=memory, budget=Budget(max_tokens=1500))
    assert compile_context(long).memory == ()


def test_a_stretch_of_a_person_is_stated_without_their_words() -> None:
    stretch = Stretch(NOW - 600, NOW - 300)
    said = (user(8, at=NOW - 900), ai(8), human("secret", NOW - 500), user(9, at=NOW))
    asked = question(history=History("a", said, (stretch,)))
    (note,) = compile_context(asked).stretches
    assert note.startswith("a person helped from 2026-05-28 23:46 to 2026-05-28 23:51")
    assert "secret" not in shown(compile_context(asked))


def test_an_older_stretch_is_stated_where_it_was() -> None:
    said = (user(7, at=NOW - 900), ai(7), user(8, at=NOW - 200), ai(8, at=NOW - 190), user(9))
    asked = question(history=History("a", said, (Stretch(NOW - 600, NOW - 300),)))
    context = compile_context(asked)
    assert context.stretches == ()
    assert context.earlier[2].text.startswith("[a person helped from ")
    assert context.earlier[2].text.endswith("]\nu8")


def test_stretches_from_before_the_history_and_all_but_the_last_three_are_left_out() -> None:
    older = Stretch(NOW - 5000, NOW - 4000)
    known = tuple(Stretch(NOW - 60 * n, NOW - 60 * n + 30) for n in range(1, 6))
    asked = question(history=History("a", (user(8, at=NOW - 3000), user(9, at=NOW - 1)), known))
    assert len(compile_context(asked).stretches) == 3
    early = replace(asked, history=replace(asked.history, stretches=(older,)))
    assert "a person" not in shown(compile_context(early))


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("sticker", "😀", "[sticker 😀]"),
        ("sticker", "", "[sticker]"),
        ("photo", "", "[photo]"),
        ("photo", "my cat", "[photo] my cat"),
        ("text", "  hello ", "hello"),
        ("text", "\ud83d half", "� half"),
    ],
)
def test_what_has_no_text_is_marked(kind: str, text: str, expected: str) -> None:
    said = replace(user(9), text=text, kind=kind)
    assert compile_context(question(said)).turn.strip() == expected


def test_an_empty_turn_still_says_something() -> None:
    assert compile_context(question(replace(user(9), text=" \n"))).turn == "[an empty message]"


def test_a_turn_without_consent_is_never_sent() -> None:
    with pytest.raises(NothingToAnswer):
        compile_context(question(user(9, consented=False), user(8)))


def test_the_date_is_the_users() -> None:
    now = compile_context(question(user(9), language="fa")).now
    assert now.isoformat() == "2026-05-28T23:56:40+03:30"


def test_a_tighter_budget_is_half_and_never_nothing() -> None:
    assert Budget(40, 16_000).tighter() == Budget(20, 8_000)
    assert Budget(1, LEAST_TOKENS).tighter() == Budget(1, LEAST_TOKENS)


@pytest.mark.parametrize("limits", [(0, 1000), (5, LEAST_TOKENS - 1)])
def test_a_budget_for_nothing_is_refused(limits: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="a budget needs"):
        Budget(*limits)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcdef", 2), ("سلام", 4), ("你好", 3), ("😀", 2)]
)
def test_other_scripts_cost_more_than_english(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
