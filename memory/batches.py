"""Many rows in one statement, in pieces that every database takes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

ROWS_PER_STATEMENT = 64  # with nine columns still under SQLite's old limit of 999 parameters

Rows: TypeAlias = tuple[str, Mapping[str, Any]]


def tuples(rows: Sequence[tuple[Any, ...]]) -> Iterator[Rows]:
    """For each piece: "(:r0c0, :r0c1), (:r1c0, :r1c1)" and the values of these parameters.

    The text is made of numbers only; what is stored travels as parameters.
    """
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        piece = rows[start : start + ROWS_PER_STATEMENT]
        names = [[f"r{r}c{c}" for c in range(len(row))] for r, row in enumerate(piece)]
        text = ", ".join("(" + ", ".join(f":{name}" for name in row) + ")" for row in names)
        pairs = zip(names, piece, strict=True)
        yield text, {n: v for row, values in pairs for n, v in zip(row, values, strict=True)}
