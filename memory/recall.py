"""Finds lines by their words, here on this machine. Lexical, any script, Persian normalised."""

from collections import Counter
from collections.abc import Iterable
from math import log

from memory.line import Line
from memory.normalise import tokens
from memory.order import order_of

K1, B = 1.2, 0.75  # the usual constants of BM25 (Robertson and Zaragoza, 2009)


def search(lines: Iterable[Line], words: str, limit: int = 10) -> tuple[Line, ...]:
    """The lines that share a word with `words`: best score first, then newest first.

    Leave out what no longer holds (`Folded.void`) before calling.
    """
    wanted = set(tokens(words))
    documents = [(line, Counter(tokens(f"{line.text} {line.key}"))) for line in lines]
    if not wanted or not documents:
        return ()
    weights = {word: _rarity(word, documents) for word in wanted}
    average = sum(bag.total() for _, bag in documents) / len(documents)
    scored = [(_score(bag, weights, average), line) for line, bag in documents]
    found = [(score, order_of(line), line) for score, line in scored if score > 0]
    found.sort(key=lambda hit: hit[:2], reverse=True)
    return tuple(line for _, _, line in found[:limit])


def _rarity(word: str, documents: list[tuple[Line, Counter[str]]]) -> float:
    holding = sum(1 for _, bag in documents if word in bag)
    return log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))


def _score(bag: Counter[str], weights: dict[str, float], average: float) -> float:
    length = bag.total() / average if average else 1.0
    return round(
        sum(
            weight * bag[word] * (K1 + 1) / (bag[word] + K1 * (1 - B + B * length))
            for word, weight in sorted(weights.items())
            if bag[word]
        ),
        9,  # sums of floats in one order and cut, so that equal scores are equal
    )
