"""What lines mean together. See the rules in memory/fold.py."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import Author, Folded, Kind, Line, fold, task_key
from memory.order import arranged, order_of
from tests.memory_lines import a_line, lines_close

LINES = st.lists(lines_close(), max_size=14)
HOME = "fact:home"


def story(*steps: Line) -> list[Line]:
    """Give lines the order in which they are told."""
    return [replace(s, id=f"l{n}", at_us=n, turn=n) for n, s in enumerate(steps)]


def fact(text: str, author: Author = Author.AI, key: str = HOME) -> Line:
    return a_line(kind=Kind.FACT, key=key, text=text, author=author)


def of(kind: Kind, text: str = "", key: str = HOME, **changes: object) -> Line:
    return a_line(kind=kind, key=key, text=text, **changes)


def facts(lines: list[Line]) -> list[str]:
    return [line.text for line in fold(lines).facts]


@given(LINES, st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_i9_the_fold_is_the_same_in_any_order_and_with_repetitions(
    lines: list[Line], random: Random
) -> None:
    shuffled = lines + lines[: len(lines) // 2]
    random.shuffle(shuffled)
    assert fold(shuffled) == fold(lines)
    assert arranged(shuffled) == arranged(lines)


@given(LINES, st.data())
def test_a_partial_read_folds_without_an_error(lines: list[Line], data: st.DataObject) -> None:
    kept = [line for line in lines if data.draw(st.booleans())]
    folded = fold(kept)
    assert {f.id for f in folded.facts} <= {line.id for line in kept}


def standing(folded: Folded) -> set[str]:
    claims = {*folded.facts, *folded.preferences, *folded.summaries}
    opened = {task.line for task in folded.tasks} | {r.line for r in folded.reminders}
    return {line.id for line in claims | opened}


@given(LINES, lines_close())
@settings(max_examples=300)
def test_a_newer_line_never_revives_an_older_one(lines: list[Line], newest: Line) -> None:
    before = fold(lines)
    newest = replace(newest, id="newest", at_us=99)
    after = fold([*lines, newest])
    assert standing(after) <= standing(before) | {"newest"}


@given(LINES)
def test_a_key_stands_on_one_line_only(lines: list[Line]) -> None:
    folded = fold(lines)
    claims = [line.subject for line in (*folded.facts, *folded.preferences, *folded.summaries)]
    assert len(claims) == len(set(claims))
    assert len({task.key for task in folded.tasks}) == len(folded.tasks)


@given(LINES)
def test_what_stands_is_not_void_and_what_is_void_does_not_stand(lines: list[Line]) -> None:
    folded = fold(lines)
    claims = {line.id for line in (*folded.facts, *folded.preferences, *folded.summaries)}
    assert not claims & folded.void


def test_equal_times_are_settled_by_turn_ordinal_kind_and_words() -> None:
    base = a_line(key=HOME, at_us=5)
    ascending = [
        replace(base, turn=1, ordinal=9, text="z"),
        replace(base, turn=2, ordinal=0, text="z"),
        replace(base, turn=2, ordinal=1, text="a", kind=Kind.FACT),
        replace(base, turn=2, ordinal=1, text="a", kind=Kind.CORRECTION),
        replace(base, turn=2, ordinal=1, text="B!", kind=Kind.CORRECTION),
        replace(base, turn=2, ordinal=1, text="b", kind=Kind.CORRECTION),
    ]
    lines = [replace(line, id=f"x{9 - n}") for n, line in enumerate(ascending)]
    lines.reverse()
    assert sorted(lines, key=order_of) == lines[::-1]
    assert facts(lines) == ["b"]


def test_one_id_with_two_contents_is_one_line_and_the_earlier_stands() -> None:
    first = a_line(id="same", at_us=1, text="as it was")
    again = a_line(id="same", at_us=2, text="as it was repeated after a crash")
    assert arranged([again, first]) == (first,)


def test_the_newest_line_of_a_key_stands() -> None:
    assert facts(story(fact("Berlin"), fact("Paris"))) == ["Paris"]


def test_the_same_sentence_twice_is_one_fact() -> None:
    twice = story(fact("I like tea.", key=""), fact("i like  TEA", key=""))
    assert facts(twice) == ["i like  TEA"]


def test_unrelated_facts_never_retire_each_other() -> None:
    lines = story(
        fact("Berlin"),
        fact("Berlin", key="fact:birthplace"),
        of(Kind.CORRECTION, "Paris"),
        of(Kind.RETRACTION, "Paris"),
        fact("Paris", key="fact:work"),
    )
    assert [(line.key, line.text) for line in fold(lines).facts] == [
        ("fact:birthplace", "Berlin"),
        ("fact:work", "Paris"),
    ]


def test_a_correction_survives_relearning_of_what_it_corrected() -> None:
    lines = story(fact("Berlin"), of(Kind.CORRECTION, "Paris"), fact("berlin."))
    assert facts(lines) == ["Paris"]
    assert fold(lines).void == {"l0", "l2"}


def test_a_correction_may_be_corrected_back() -> None:
    there_and_back = (fact("Berlin"), of(Kind.CORRECTION, "Paris"), of(Kind.CORRECTION, "Berlin"))
    assert facts(story(*there_and_back)) == ["Berlin"]
    assert facts(story(*there_and_back, fact("Paris"))) == ["Berlin"]


@pytest.mark.parametrize("author", [Author.AI, Author.SYSTEM])
@pytest.mark.parametrize("kind", [Kind.FACT, Kind.PREFERENCE, Kind.CORRECTION])
def test_a_retraction_survives_relearning(author: Author, kind: Kind) -> None:
    lines = story(fact("Berlin"), of(Kind.RETRACTION), of(kind, "BERLIN", author=author))
    assert standing(fold(lines)) == set()


def test_a_retracted_sentence_does_not_come_back_under_another_key() -> None:
    lines = story(
        fact("I have diabetes type two"),
        fact("I have diabetes type two", key="fact:illness"),
        of(Kind.RETRACTION),
        fact("i have diabetes, type two", key="fact:health"),
    )
    assert facts(lines) == []


def test_a_retraction_holds_although_the_line_it_takes_back_was_not_read() -> None:
    lines = story(of(Kind.RETRACTION, "Berlin"), fact("Berlin"))
    assert facts(lines) == []


def test_a_retraction_does_not_hide_something_new_under_the_same_key() -> None:
    assert facts(story(fact("Berlin"), of(Kind.RETRACTION), fact("Paris"))) == ["Paris"]


@pytest.mark.parametrize("author", [Author.USER, Author.HUMAN])
def test_a_person_may_say_a_retracted_thing_again(author: Author) -> None:
    again = (fact("Berlin"), of(Kind.RETRACTION), fact("Berlin", author))
    assert facts(story(*again)) == ["Berlin"]
    assert facts(story(*again, fact("Berlin"))) == ["Berlin"]


def test_a_preference_and_a_summary_are_kept_apart_from_facts() -> None:
    lines = story(
        of(Kind.PREFERENCE, "short answers", key="preference:length"),
        of(Kind.SUMMARY, "A week of plans", key="summary:w49"),
        of(Kind.CORRECTION, "long answers", key="preference:length"),
    )
    folded = fold(lines)
    assert [line.text for line in folded.preferences] == ["long answers"]
    assert [line.text for line in folded.summaries] == ["A week of plans"]
    assert not folded.facts


DUE = "2026-12-04T09:00:00+03:30[Asia/Tehran]"
CALL = task_key("Call Sam", DUE)


def task(author: Author = Author.AI, due: str | None = DUE, key: str = "") -> Line:
    return a_line(kind=Kind.TASK, key=key, text="Call Sam", author=author, event_time=due)


def test_one_deadline_worded_twice_is_one_task() -> None:
    again = replace(task(), text=" call SAM!", event_time="2026-12-04T05:30:00Z")
    assert [t.text for t in fold(story(task(), again)).tasks] == [" call SAM!"]


def test_done_closes_by_a_line_and_a_late_wording_does_not_open_it_again() -> None:
    lines = story(task(), of(Kind.DONE, key=CALL), task())
    folded = fold(lines)
    assert folded.tasks == ()
    assert [(t.key, t.closed_by and t.closed_by.id) for t in folded.done] == [(CALL, "l1")]


def test_a_person_opens_a_closed_task_again() -> None:
    folded = fold(story(task(), of(Kind.DONE, key=CALL), task(Author.USER)))
    assert [t.line.id for t in folded.tasks] == ["l2"]
    assert folded.done == ()


def test_a_task_without_a_deadline_may_be_set_again() -> None:
    milk = task(due=None, key="task:milk")
    folded = fold(story(milk, of(Kind.DONE, key="task:milk"), milk))
    assert [t.line.id for t in folded.tasks] == ["l2"]


def test_a_cancelled_or_retracted_task_is_neither_open_nor_done() -> None:
    for closing in (Kind.CANCELLED, Kind.RETRACTION):
        folded = fold(story(task(), of(closing, key=CALL)))
        assert folded.tasks == folded.done == ()


def test_a_correction_of_a_task_keeps_it_open_with_new_words_or_time() -> None:
    folded = fold(story(task(), of(Kind.CORRECTION, "Call Samira", key=CALL)))
    assert [(t.text, t.due) for t in folded.tasks] == [("Call Samira", DUE)]
    assert folded.facts == ()


def test_a_correction_does_not_open_a_closed_task() -> None:
    lines = story(task(), of(Kind.DONE, key=CALL), of(Kind.CORRECTION, "Call Samira", key=CALL))
    assert fold(lines).tasks == ()


def test_tasks_come_by_deadline_and_those_without_one_last() -> None:
    lines = story(
        task(due=None, key="task:a"),
        task(due="2026-12-05[Asia/Tehran]", key="task:b"),
        task(due="2026-12-04T20:00:00Z", key="task:c"),
    )
    assert [t.key for t in fold(lines).tasks] == ["task:c", "task:b", "task:a"]


PILL = "reminder:pill"
NINE, TEN = "2026-12-04T09:00:00Z", "2026-12-04T10:00:00Z"


def reminder(when: str | None, kind: Kind = Kind.REMINDER, author: Author = Author.AI) -> Line:
    return a_line(kind=kind, key=PILL, text="Take the pill", event_time=when, author=author)


def test_a_reminder_is_due_from_its_moment_on() -> None:
    folded = fold(story(reminder(NINE)))
    assert folded.due(datetime(2026, 12, 4, 8, 59, 59, tzinfo=UTC)) == ()
    assert [r.key for r in folded.due(datetime(2026, 12, 4, 9, tzinfo=UTC))] == [PILL]


def test_a_fired_reminder_never_fires_again_for_that_moment() -> None:
    for author in Author:
        again = reminder("2026-12-04T12:30:00+03:30[Asia/Tehran]", author=author)
        assert fold(story(reminder(NINE), reminder(NINE, Kind.FIRED), again)).reminders == ()


def test_a_snoozed_reminder_is_pending_for_the_new_moment_only() -> None:
    lines = story(reminder(NINE), reminder(NINE, Kind.FIRED), reminder(TEN))
    assert [r.when for r in fold(lines).reminders] == [TEN]
    late = story(reminder(NINE), reminder(TEN), reminder(NINE, Kind.FIRED))
    assert [r.when for r in fold(late).reminders] == [TEN]


def test_a_fired_line_without_a_moment_ends_what_is_pending() -> None:
    assert fold(story(reminder(NINE), reminder(None, Kind.FIRED), reminder(NINE))).reminders == ()


def test_a_cancelled_reminder_comes_back_by_a_person_only() -> None:
    cancelled = (reminder(NINE), of(Kind.CANCELLED, key=PILL))
    assert fold(story(*cancelled, reminder(NINE))).reminders == ()
    assert fold(story(*cancelled, reminder(NINE, author=Author.USER))).reminders != ()


def test_a_corrected_reminder_moves() -> None:
    moved = of(Kind.CORRECTION, "Take both pills", key=PILL, event_time=TEN)
    folded = fold(story(reminder(NINE), moved))
    assert [(r.text, r.when) for r in folded.reminders] == [("Take both pills", TEN)]
