"""The pace keeps Telegram's limits, delays nobody more than needed and forgets."""

from hypothesis import given
from hypothesis import strategies as st

from bot.telegram.pacing import Pace


def most_within(times: list[float], window: float) -> int:
    """The most sends in any span shorter than `window`."""
    slack = 1e-6
    return max(sum(1 for t in times if start <= t < start + window - slack) for start in times)


@given(st.lists(st.tuples(st.integers(-3, 3), st.floats(0, 2)), min_size=1, max_size=150))
def test_no_window_holds_more_than_allowed(wishes: list[tuple[int, float]]) -> None:
    pace = Pace(overall_per_second=5, per_group_minute=6)
    now = 1000.0
    sent: dict[int, list[float]] = {}
    for chat, gap in wishes:
        now += gap
        now += pace.wait(chat, now, is_group=chat < 0)
        assert pace.wait(chat, now, is_group=chat < 0) < 1e-6
        pace.sent(chat, now)
        sent.setdefault(chat, []).append(now)
    everything = sorted(t for times in sent.values() for t in times)
    assert most_within(everything, 1.0) <= 5
    for chat, times in sent.items():
        assert most_within(times, 1.0) <= 3
        assert most_within(times, 10.0) <= 3 + 10
        if chat < 0:
            assert most_within(times, 60.0) <= 6


def test_a_lone_message_never_waits() -> None:
    assert Pace().wait(1, 0.0, is_group=False) == 0.0


def test_a_short_burst_goes_out_at_once_and_the_next_waits() -> None:
    pace = Pace()
    for _ in range(3):
        assert pace.wait(1, 10.0, is_group=False) == 0.0
        pace.sent(1, 10.0)
    assert pace.wait(1, 10.0, is_group=False) == 1.0
    assert pace.wait(2, 10.0, is_group=False) == 0.0
    assert pace.wait(1, 11.0, is_group=False) == 0.0


def test_a_flood_wait_closes_one_chat_only() -> None:
    pace = Pace()
    pace.flood(1, 0.0, 10_072)
    pace.flood(1, 1.0, 5)
    assert pace.wait(1, 1.0, is_group=False) == 10_071
    assert pace.wait(2, 1.0, is_group=False) == 0.0
    assert pace.wait(1, 10_072.0, is_group=False) == 0.0


def test_a_group_takes_twenty_a_minute() -> None:
    pace = Pace()
    now = 0.0
    for _ in range(21):
        now += pace.wait(-1, now, is_group=True)
        pace.sent(-1, now)
    assert now == 60.0


def test_idle_chats_are_forgotten_and_flooded_ones_are_not() -> None:
    pace = Pace()
    pace.flood(-7, 0.0, 1e9)
    for chat in range(100_000):
        pace.sent(chat, chat * 1.0)
    assert len(pace._chats) < 3000
    assert pace.wait(-7, 100_000.0, is_group=True) > 1e8
