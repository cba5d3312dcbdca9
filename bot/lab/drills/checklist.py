"""The release checklist: fourteen points, each with the tests and drills that stand behind it.

A test is named by its file and its function, a drill by its name. tests/flows/test_drills.py
asserts that each of them exists.
"""

from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Point:
    number: int
    claim: str
    tests: tuple[str, ...] = ()
    drills: tuple[str, ...] = ()
    waits_for: str = ""  # the part it is about, where that is not built yet


REDUCER = "tests/core/test_reducer_"
TRANSLATION = "tests/flows/test_translation.py::test_"
INVARIANTS = "tests/flows/test_invariants.py::test_"

POINTS = (
    Point(
        1,
        "the AI takes part only after an explicit opt-in",
        (
            "tests/core/test_context.py::test_a_turn_without_consent_is_never_sent",
            f"{INVARIANTS}i08_the_model_sees_what_was_consented_to_and_no_more_than_allowed",
        ),
        ("person-leaves", "killed-in-each-state"),
    ),
    Point(
        2,
        "a person can be asked for in every AI state",
        (f"{REDUCER}user.py::test_a_person_can_be_asked_for_whatever_the_ai_does",),
        ("human-in-mid-generation",),
    ),
    Point(
        3,
        "every asynchronous result carries epoch and turn id",
        (f"{REDUCER}turns.py::test_a_result_of_another_epoch_or_turn_is_stale",),
        ("human-in-mid-generation",),
    ),
    Point(
        4,
        "late results cause no moderation and no send",
        (
            f"{REDUCER}turns.py::test_a_verdict_after_a_new_message_is_stale",
            f"{INVARIANTS}i03_after_a_claim_no_part_of_the_reply_begins_and_one_on_the_wire_goes_first",
        ),
        ("human-in-mid-generation", "third-message", "paused-holder"),
    ),
    Point(
        5,
        "drafts are moderated before anyone sees them",
        (
            "tests/adapters/test_moderation.py::test_the_endpoint_is_asked_and_believed",
            "tests/flows/test_aid.py::test_a_draft_is_checked_before_anybody_sees_it",
        ),
        ("moderation-blocks", "moderation-times-out"),
    ),
    Point(
        6,
        "failing moderation has a defined path without AI",
        (
            f"{REDUCER}turns.py::test_a_check_out_of_reach_passes_the_conversation_to_a_person",
            "tests/adapters/test_moderation.py::test_an_endpoint_that_is_silent_is_unavailable",
        ),
        ("moderation-times-out",),
    ),
    Point(
        7,
        "AI and human messages carry distinct author metadata",
        (
            "tests/core/test_context.py::test_i8_what_may_not_be_shown_is_not_shown",
            "tests/flows/test_aid.py::test_a_draft_is_seen_by_the_operator_only_until_they_send_it",
        ),
        ("person-leaves",),
    ),
    Point(
        8,
        "human claims are serialised in the store, not in the interface",
        (
            f"{REDUCER}people.py::test_of_two_operators_who_claim_one_holds_it",
            f"{INVARIANTS}i01_of_two_operators_who_claim_at_once_one_speaks_and_the_ai_is_silent",
        ),
        ("two-operators",),
    ),
    Point(
        9,
        "outgoing AI messages have deterministic client ids",
        (),
        ("third-message", "send-times-out"),
    ),
    Point(
        10,
        "unknown delivery is reconciled before any retry",
        (
            "tests/flows/test_delivery.py"
            "::test_a_lost_answer_is_reconciled_and_nothing_is_sent_twice",
        ),
        ("send-times-out", "killed-in-each-state"),
    ),
    Point(
        11,
        "a person leaving leads to consent, not to silent AI",
        (f"{REDUCER}people.py::test_after_a_release_the_user_chooses_again",),
        ("person-leaves",),
    ),
    Point(
        12,
        "only consented, policy-approved messages enter model context",
        (
            "tests/core/test_context.py::test_i8_nothing_unreadable_is_ever_shown",
            f"{REDUCER}user.py::test_opting_in_after_a_person_left_does_not_hand_their_talk_to_the_ai",
        ),
        ("person-leaves",),
    ),
    Point(
        13,
        "translation stays a derived view tied to its source",
        (
            "tests/core/test_context.py::test_i8_nothing_unreadable_is_ever_shown",
            f"{TRANSLATION}the_users_words_are_shown_as_written_and_then_in_translation",
            f"{TRANSLATION}an_unsupported_language_fails_openly",
            f"{TRANSLATION}the_operators_words_are_sent_only_after_they_confirmed",
            f"{TRANSLATION}no_translation_ever_enters_a_prompt_of_the_ai",
        ),
        ("translation",),
    ),
    Point(
        14,
        "logs carry state ids without copying private text",
        (
            f"{INVARIANTS}i11_logs_and_journal_carry_no_text_token_or_key",
            "tests/test_logs.py::test_values_under_private_names_are_withheld",
            "tests/adapters/test_sender.py::test_a_broken_answer_is_not_logged",
        ),
    ),
)


def show(console: Console) -> None:
    table = Table("No.", "Point", "Stands on", show_lines=True)
    for point in POINTS:
        lines = [*(f"drill {name}" for name in point.drills), *point.tests]
        waits = f"\n[yellow]waits for {escape(point.waits_for)}[/yellow]" if point.waits_for else ""
        table.add_row(str(point.number), point.claim + waits, escape("\n".join(lines)))
    console.print(table)


def as_plain() -> list[dict[str, object]]:
    return [
        {
            "number": point.number,
            "claim": point.claim,
            "drills": list(point.drills),
            "tests": list(point.tests),
            "waits_for": point.waits_for,
        }
        for point in POINTS
    ]
