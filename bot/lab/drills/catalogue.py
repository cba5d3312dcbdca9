"""All drills by number, and what is not built yet."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.lab.drills import checking, delivery, people, processes, remembering, translating, turns
from bot.lab.drills.record import DrillStage

Play = Callable[[DrillStage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Drill:
    number: int
    name: str
    title: str
    play: Play | None = None  # None: the part it needs is not built yet
    waits_for: str = ""  # which part that is


DRILLS = (
    Drill(
        1,
        "human-in-mid-generation",
        "a person is requested while the reply is being generated",
        people.human_in_mid_generation,
    ),
    Drill(2, "moderation-times-out", "moderation times out", checking.moderation_times_out),
    Drill(3, "moderation-blocks", "moderation blocks", checking.moderation_blocks),
    Drill(
        4,
        "send-times-out",
        "no answer comes to a send that the server received, and to one that it did not",
        delivery.send_times_out,
    ),
    Drill(
        5,
        "two-operators",
        "two operators claim at once (two processes, one database)",
        people.two_operators,
    ),
    Drill(6, "person-leaves", "the person leaves", people.person_leaves),
    Drill(
        7,
        "translation",
        "a translation is shown beside its source; an unsupported language fails openly",
        translating.translation,
    ),
    Drill(8, "third-message", "a third message arrives in mid-generation", turns.third_message),
    Drill(
        9,
        "killed-in-each-state",
        "the process is killed (kill -9) in each state, bot_sending included",
        processes.killed_in_each_state,
    ),
    Drill(
        10,
        "paused-holder",
        "a lease holder pauses, wakes late and tries to write",
        turns.paused_holder,
    ),
    Drill(
        11,
        "memory-answers-empty",
        "the memory store answers empty, then right",
        remembering.answers_empty,
    ),
    Drill(
        12, "memory-job-fails", "a memory job fails after it was accepted", remembering.job_fails
    ),
    Drill(13, "user-blocks", "the user blocks the bot", delivery.user_blocks),
    Drill(14, "flood-wait", "flood wait in one chat while others go on", delivery.flood_wait),
    Drill(15, "two-bots-one-token", "two bots on one token", processes.two_bots_one_token),
)


def chosen(only: Sequence[str]) -> tuple[Drill, ...]:
    """The drills of these numbers or names, in their order; all of them for none.

    Raises KeyError with the first word that names no drill.
    """
    known = {drill.name: drill for drill in DRILLS} | {str(drill.number): drill for drill in DRILLS}
    wanted = [known[word.strip().lower()] for word in only]
    return tuple(drill for drill in DRILLS if not only or drill in wanted)
