"""What one seed stands for: how many there are, how long it takes, what goes wrong and how often.

Each part of the world draws from a stream of its own, so that leaving one kind of trouble out
disturbs the others as little as possible: that is how a failure is made small.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from random import Random


class Trouble(StrEnum):
    CRASHES = "crashes"  # a process is gone at any await; what it sent may still take effect
    STOPS = "stops"  # it is told to stop and does so in order
    PAUSES = "pauses"  # it sleeps for longer than its leases and wakes late
    CLOCKS = "clocks"  # clocks differ and jump
    STORE = "store"  # slow, unavailable, commits whose outcome is unknown, units run twice
    SENDS = "sends"  # no answer: lost before, lost after, processed late
    FLOODS = "floods"  # 429, connection refused, refused for good
    UPDATES = "updates"  # twice, out of order between chats, under a new update_id
    MODEL = "model"  # slow, failing, out of order
    MODERATION = "moderation"  # blocking, out of reach
    MEMORY = "memory"  # late, short, empty, down
    BLOCKS = "blocks"  # users block the bot and come back
    PEOPLE = "people"  # operators claim, speak, release


ALL = frozenset(Trouble)


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    workers: int
    users: tuple[int, ...]
    operators: tuple[int, ...]  # the owner first
    seconds: float  # of trouble; afterwards everything may settle
    intensity: float
    separate_moderation: bool
    remote_memory: bool
    max_messages: int
    write_weight: int  # how often users write, against pressing buttons and giving commands
    troubles: frozenset[Trouble] = field(default=ALL)

    def has(self, trouble: Trouble) -> bool:
        return trouble in self.troubles

    def stream(self, name: str) -> Random:
        return Random(f"{self.seed}:{name}")


def plan_for(seed: int, troubles: frozenset[Trouble] = ALL) -> Plan:
    random = Random(f"{seed}:plan")
    workers = random.choice((1, 2, 2, 2))
    users = tuple(range(11, 11 + random.choice((1, 1, 2, 3))))
    operators = tuple(range(1001, 1001 + random.choice((0, 1, 2, 2, 2))))
    return Plan(
        seed=seed,
        workers=workers,
        users=users,
        operators=operators,
        seconds=random.choice((40.0, 90.0, 90.0, 180.0)),
        intensity=random.choice((0.3, 1.0, 1.0, 2.5)),
        separate_moderation=random.random() < 0.6,
        remote_memory=random.random() < 0.4,
        max_messages=random.choice((3, 6, 40)),
        write_weight=random.choice((50, 50, 12)),
        troubles=frozenset(each for each in Trouble if random.random() < 0.8) & troubles,
    )
