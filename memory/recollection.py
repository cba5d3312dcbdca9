"""What one process has in mind of the namespaces it was asked about lately.

A namespace is read once, in full and with patience (Memory.read). From then on a turn costs what
was written since, not what was ever written: `Memory.newer` brings the lines of later turns, the
index takes them up, and the fold is done again only if one of them decides something.

Rule 1: only a complete reading is kept. A partial one is answered from and thrown away.
Rule 2: after FRESH_SECONDS it is read in full again, for lines that came some other way (an
        import, another bot on the same store).
Rule 3: nothing of it is ever written to a disk. Destroying a namespace drops it (DerivedCopy), and
        what was being read meanwhile is not kept.
Rule 4: at most `most_lines` lines are kept, of the namespaces used last.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime

from memory.fold import Folded, fold
from memory.index import Index
from memory.line import Author, Kind, Line, Place, format_line, parse_line
from memory.order import arranged
from memory.ranking import Query
from memory.reader import Reach, Reading
from memory.recall import Overtaken, indexed, overtaken, recollect
from memory.service import Memory, Seen
from memory.timespans import span_of

FRESH_SECONDS = 600.0
MOST_LINES = 200_000
TURNS_BACK = 8
LARGE = 2000  # lines; a larger log is taken up beside the event loop
SPEAKERS = {author: number for number, author in enumerate(Author, 1)}


class Recollection:
    """One namespace. Lines are kept as they are written, in one buffer, and read when found."""

    def __init__(self, reading: Reading) -> None:
        self.reach = reading.reach
        self.damaged = reading.damaged
        self.folded = Folded()
        self.turn = -1  # the newest
        self.places: set[Place] = set()  # of the last turns
        self._written: list[bytes] = []
        self._index = Index()
        self._claims: list[Line] = []
        self._past = Overtaken()
        self.take(reading.lines)
        self._index.settle()

    def __len__(self) -> int:
        return len(self._written)

    @property
    def complete(self) -> bool:
        return self.reach is Reach.COMPLETE

    @property
    def lines(self) -> tuple[Line, ...]:
        """All of them: costs as much as there are."""
        return tuple(self._line(number) for number in range(len(self)))

    @property
    def sure_of(self) -> int:
        """Every line up to this turn is here. Of the turns after it a full reading may have seen
        a part only, because they were being written."""
        return self.turn - TURNS_BACK

    def take(self, lines: Iterable[Line]) -> None:
        """Add those of later turns than `sure_of` that are not here yet."""
        sure = self.sure_of if self._written else -1
        new = [
            line for line in arranged(lines) if line.turn > sure and line.place not in self.places
        ]
        if not new:
            return
        for line in new:
            speaker = SPEAKERS[line.author] if line.kind is Kind.SAID else 0
            self._index.add(indexed(line), at_us=line.at_us, speaker=speaker)
            self._written.append(format_line(line).encode())
        self.turn = max(self.turn, *(line.turn for line in new))
        places = self.places.union(line.place for line in new)
        self.places = {place for place in places if place.turn > self.sure_of}
        deciding = [line for line in new if line.kind is not Kind.SAID]
        if deciding:
            self._claims += deciding
            self.folded = fold(self._claims)
            self._past = overtaken(self._claims, self.folded)

    def recall(
        self,
        question: str,
        now: datetime,
        *,
        limit: int,
        said_since: float | None = None,
    ) -> tuple[Line, ...]:
        """See memory/recall.py. `now` is aware, in the user's zone.

        `said_since`: of words that were said only those from after this time (seconds since 1970);
        None: none of them.
        """
        index, since_us = self._index, round((said_since or 0.0) * 1_000_000)

        def allowed(number: int) -> bool:
            if not index.speakers[number]:
                return True
            return said_since is not None and index.times[number] > since_us

        query = Query(question, span_of(question, now))
        return recollect(index, self._line, query, self._past, limit=limit, allowed=allowed)

    def _line(self, number: int) -> Line:
        return parse_line(self._written[number].decode())


class Recollections:
    """Joins Memory's derived copies by itself."""

    def __init__(self, memory: Memory, *, most_lines: int = MOST_LINES) -> None:
        self._memory = memory
        self._most_lines = most_lines
        self._kept: OrderedDict[str, tuple[Seen, Recollection]] = OrderedDict()
        self._destroyed: dict[str, int] = {}  # how often, while a reading was under way
        self._reading: dict[str, int] = {}
        memory.derive(self)

    async def of(self, namespace: str, now: float) -> Recollection:
        """What is in mind of a namespace, up to date. `now` is seconds since 1970."""
        kept = self._kept.get(namespace)
        if kept is not None and 0 <= now - kept[0].read_at < FRESH_SECONDS:
            seen, recollection = kept
            newer = await self._memory.newer(
                namespace, seen.stored_as, recollection.sure_of, recollection.places
            )
            if newer is not None:
                recollection.take(newer)
                if self._kept.get(namespace) is kept:
                    self._kept.move_to_end(namespace)
                    self._shrink()
                return recollection
        # Read anew, and keep nothing of what may have been destroyed elsewhere.
        self._kept.pop(namespace, None)
        return await self._read(namespace, now)

    async def destroy(self, namespace: str) -> None:
        self._kept.pop(namespace, None)
        if namespace in self._reading:
            self._destroyed[namespace] = self._destroyed.get(namespace, 0) + 1

    def __len__(self) -> int:
        """Lines in mind, of all namespaces."""
        return sum(len(recollection) for _, recollection in self._kept.values())

    async def _read(self, namespace: str, now: float) -> Recollection:
        self._reading[namespace] = self._reading.get(namespace, 0) + 1
        before = self._destroyed.get(namespace, 0)
        try:
            stored_as, reading = await self._memory.read_named(namespace)
            if len(reading.lines) > LARGE:
                recollection = await asyncio.to_thread(Recollection, reading)
            else:
                recollection = Recollection(reading)
            same = self._destroyed.get(namespace, 0) == before
        finally:
            self._reading[namespace] -= 1
            if not self._reading[namespace]:
                del self._reading[namespace]
                self._destroyed.pop(namespace, None)
        if same and stored_as and recollection.complete:
            self._kept[namespace] = (Seen(stored_as, now), recollection)
            self._kept.move_to_end(namespace)
            self._shrink()
        return recollection

    def _shrink(self) -> None:
        while len(self._kept) > 1 and len(self) > self._most_lines:
            self._kept.popitem(last=False)
