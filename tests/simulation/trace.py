"""Who did what when. Kept as it comes, written out only when somebody has to read it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Entry: TypeAlias = tuple[float, str, int, str]  # when, who, which chat (0: all), what


@dataclass(slots=True)
class Trace:
    clock: Callable[[], float] = lambda: 0.0
    entries: list[Entry] = field(default_factory=list)

    def note(self, who: str, what: str, chat_id: int = 0) -> None:
        self.entries.append((self.clock(), who, chat_id, what))

    def lines(self, chats: frozenset[int] = frozenset()) -> Iterator[str]:
        """Those that concern everybody or one of `chats`; all of them if none is named."""
        for at, who, chat_id, what in self.entries:
            if not chats or not chat_id or chat_id in chats:
                where = f"[{chat_id}] " if chat_id else ""
                yield f"{at - 1000:9.3f}  {who:<12} {where}{what}"
