"""The tables of memory, as SQL text for whoever runs the migrations."""

from pathlib import Path

FOLDER = Path(__file__).parent  # holds NNN_name.sql, numbered from 1


def scripts() -> tuple[tuple[str, str], ...]:
    """(file name, SQL text), in order. Statements end with ";", which is used for nothing else."""
    paths = sorted(FOLDER.glob("*.sql"))
    return tuple((path.name, path.read_text(encoding="utf-8")) for path in paths)
