"""The seeds that failed once, with a word on each: known.txt."""

from pathlib import Path

FILE = Path(__file__).with_name("known.txt")


def known_seeds() -> list[tuple[int, str]]:
    """Each line: the seed, then what it found."""
    lines = (line.strip() for line in FILE.read_text(encoding="utf-8").splitlines())
    parted = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return [(int(seed), word) for seed, _, word in parted]
