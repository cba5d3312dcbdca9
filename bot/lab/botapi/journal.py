"""Every request the bot made, what was answered, and whether the answer arrived."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = dict[str, Any]


class Fate(StrEnum):
    PENDING = "pending"  # still being worked on (an open long poll, a delay)
    ANSWERED = "answered"  # the whole answer was written to an open connection
    NEVER_PROCESSED = "never_processed"  # cut or stalled before anything happened
    LOST = "lost"  # processed, but the answer was withheld
    CLIENT_LEFT = "client_left"  # processed or not, the client hung up first


@dataclass(slots=True)
class Call:
    number: int  # 1, 2, 3 … in order of arrival
    method: str
    params: Json
    at: float
    status: int = 0  # HTTP status of the answer, also of one that was lost
    answer: Json = field(default_factory=dict)
    fate: Fate = Fate.PENDING

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def result(self) -> Any:
        return self.answer.get("result")

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


class Journal:
    """Keeps the last `cap` calls (all of them if None)."""

    def __init__(self, clock: Callable[[], float], cap: int | None = None) -> None:
        self._clock = clock
        self._calls: deque[Call] = deque(maxlen=cap)
        self.count = 0

    def open(self, method: str, params: Json) -> Call:
        self.count += 1
        call = Call(self.count, method, params, self._clock())
        self._calls.append(call)
        return call

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)

    def calls(self, method: str = "", *, chat_id: int | None = None, after: int = 0) -> list[Call]:
        """Calls of one method (all of them if ""), to one chat, with a number above `after`."""
        return [
            call
            for call in self._calls
            if call.number > after
            and method.lower() in ("", call.method.lower())
            and (chat_id is None or str(call.params.get("chat_id")) == str(chat_id))
        ]
