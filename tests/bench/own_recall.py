"""Recall on our own lines: python -m tests.bench.own_recall

All lines are one memory. Each line is asked for in its own language and in the other one; recall@k
is the share of questions whose line is among the first k.
"""

from memory.index import Index
from memory.ranking import Query, rank
from tests.bench.own_lines import PAIRS, is_persian

DEPTHS = (1, 3, 5)
APART_US = 86_400_000_000  # every line is said on another day, so that neighbours say nothing


def report() -> None:
    print(f"{len(PAIRS)} lines, {2 * len(PAIRS)} questions; recall in percent @1 @3 @5")
    for name, figures in groups().items():
        print(f"{name:28}" + "".join(f"{figure:7.1f}" for figure in figures))


def groups() -> dict[str, tuple[float, ...]]:
    index = Index()
    for number, (line, _, _) in enumerate(PAIRS):
        index.add(line, at_us=number * APART_US)
    places: dict[str, list[int]] = {}
    for number, (line, english, persian) in enumerate(PAIRS):
        for asked, question in (("English", english), ("Persian", persian)):
            said = "Persian" if is_persian(line) else "English"
            found = [hit.number for hit in rank(index, Query(question), max(DEPTHS))]
            place = found.index(number) if number in found else max(DEPTHS)
            places.setdefault(f"{asked} about {said}", []).append(place)
    return {
        name: tuple(100 * sum(p < depth for p in each) / len(each) for depth in DEPTHS)
        for name, each in sorted(places.items())
    }


if __name__ == "__main__":
    report()
