"""Lines on Walrus, through a Walrus Memory relayer: lines are accepted at once, shown much later.

The relayer has no list of texts: `recall` gives at most the 100 that are closest to some words,
and what is sealed is close to none. So a namespace is kept on *shelves*, relayer namespaces
`<namespace>.0`, `<namespace>.1` … of about SHELF_PAGES texts each: one recall of 100 shows a whole
shelf, whatever the words, and the exact list of namespaces says how many texts it must show.

    write     5 points for one text, 10 for up to 20          (a text holds many lines)
    visible   1 for the state of 20 jobs, then 1 for each shelf that has a finished one
    read      1 for the list of 500 shelves, then 1 for each shelf of the namespace
    count     as read; 1 if there is nothing

Rule 1: a job's state only says when to look; a line is visible when a recall shows it.
Rule 2: a text is sent again only when its job has ended: slow is not failed, and a repetition
        is stored, and paid for, twice. (It is read once: by id, the first that was sent.)
Rule 3: what a shelf should hold and a recall does not show is counted as dropped.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

import httpx
import structlog

from memory.backends.points import Points
from memory.backends.walrus_keys import Signer
from memory.backends.walrus_pages import Opened, Page, first_of_each, opened, pages, too_long
from memory.backends.walrus_wire import Json, Unacceptable, Wire, understood
from memory.line import Line
from memory.namespace import checked_namespace
from memory.port import (
    Address,
    Entry,
    LinesRefused,
    MemoryMisconfigured,
    MemoryThrottled,
    MemoryUnavailable,
    ReadResult,
)

log = structlog.get_logger(__name__)

BULK_TEXTS = 20  # in one call, of writing and of asking for jobs
RECALL_MOST = 100  # results of one recall
SHELF_PAGES = 60  # a shelf that shows so many is full …
SHELF_MOST = 90  # … and one that has been sent so many waits for its jobs
LIST_MOST = 500
REMEMBERED_LINES = 50_000  # lines on their way of which the job is known here
FULL_SHELF_WAIT_SECONDS = 15.0
WORDS = ("dabir1", "the first and the last line")  # any words do; two, as an index may err
UNDER_WAY = ("pending", "running", "uploaded")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A namespace of the relayer."""

    namespace: str
    number: int
    texts: int = 0  # that it showed when it was listed

    @property
    def name(self) -> str:
        return f"{self.namespace}.{self.number}"


@dataclass(frozen=True, slots=True)
class Shown:
    """What one or two recalls of a shelf gave."""

    opened: tuple[Opened, ...]
    lost: int  # texts that it should have shown, and lines that its texts should have held


@dataclass(frozen=True, slots=True)
class _Sent:
    job: str
    shelf: Shelf


@dataclass(frozen=True, slots=True)
class Lease:
    """How long Walrus keeps a text that the relayer stored."""

    blob_id: str
    ends: datetime


class WalrusBackend:
    """Implements MemoryBackend and NamespaceLister. `clock`: seconds since 1970."""

    def __init__(
        self,
        url: str,
        signer: Signer,
        *,
        clock: Callable[[], float],
        points: Points | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._wire = Wire(url, signer, clock=clock, points=points or Points(), transport=transport)
        self._owner = ""
        self._on_shelf: dict[str, tuple[Shelf, int]] = {}  # the last shelf; texts sent to it since
        self._sent: OrderedDict[Address, _Sent] = OrderedDict()
        self._sent_us = 0  # strictly rising, whatever the clock does: the first content stays

    @property
    def wire(self) -> Wire:
        return self._wire

    async def write(self, entries: Sequence[Entry]) -> None:
        """Lines whose job is still under way are taken as accepted; the others are sent."""
        wanted = {entry.address: entry for entry in reversed(entries)}
        _refuse_long(wanted.values())
        under_way = await self._under_way(wanted.keys())
        grouped: dict[str, list[Line]] = defaultdict(list)
        for entry in reversed(wanted.values()):
            checked_namespace(entry.namespace)
            if entry.address not in under_way:
                grouped[entry.namespace].append(entry.line)
        self._sent_us = max(self._sent_us + 1, int(self._wire.now() * 1_000_000))
        sent_us = self._sent_us
        texts = [page for name, lines in grouped.items() for page in pages(name, lines, sent_us)]
        for start in range(0, len(texts), BULK_TEXTS):
            await self._send(texts[start : start + BULK_TEXTS])

    async def visible(self, entries: Sequence[Entry]) -> frozenset[Address]:
        """What was shown before trouble began is still the truth, so it is returned."""
        wanted = {entry.address for entry in entries}
        shown: set[Address] = set()
        try:
            waiting = await self._under_way(wanted)
            for namespace in sorted({each.namespace for each in wanted - waiting}):
                asked = {each for each in wanted - waiting if each.namespace == namespace}
                shown |= await self._look_for(namespace, asked)
        except MemoryUnavailable:
            if not shown:
                raise
        for address in shown:
            self._sent.pop(address, None)
        return frozenset(shown)

    async def read(self, namespace: str) -> ReadResult:
        shelves = (await self._list(namespace)).get(checked_namespace(namespace), [])
        found = [await self._shown(shelf) for shelf in shelves]
        lines = first_of_each(text for shown in found for text in shown.opened)
        return ReadResult(lines, sum(shown.lost for shown in found))

    async def count(self, namespace: str) -> int | None:
        """None while lines are on their way: an empty answer would then prove nothing."""
        answer = await self.read(namespace)
        shown = {Address(namespace, line.id) for line in answer.lines}
        awaited = {each for each in self._sent if each.namespace == namespace}
        return None if answer.dropped or awaited - shown else len(shown)

    async def namespaces(self) -> frozenset[str]:
        return frozenset(await self._list())

    async def leases(self) -> tuple[Lease, ...]:
        """When Walrus lets go of what, soonest first. 1 point for 500 texts."""
        found, cursor = [], ""
        while True:
            answer = await self._page("memories", "cursor", cursor)
            with understood():
                for each in answer["memories"]:
                    if each.get("expires_at"):
                        ends = datetime.fromisoformat(each["expires_at"])
                        found.append(Lease(str(each["blob_id"]), ends.astimezone(UTC)))
                cursor = str(answer.get("next_cursor") or "")
                if not answer["has_more"] or not cursor:
                    return tuple(sorted(found, key=lambda lease: lease.ends))

    async def close(self) -> None:
        await self._wire.close()

    # Writing

    async def _send(self, texts: Sequence[Page]) -> None:
        """One call. Where it breaks off, none, some or all of them may be on their way."""
        shelves = [await self._shelf_for(page.namespace) for page in texts]
        named = list(zip(texts, shelves, strict=True))
        try:
            jobs = await (self._remember(*named[0]) if len(named) == 1 else self._bulk(named))
        except Unacceptable as error:
            if len(texts) == 1 and len(texts[0].lines) == 1:
                entry = Entry(texts[0].namespace, texts[0].lines[0])
                raise LinesRefused(str(error), refused=frozenset({entry.address})) from error
            raise
        for (page, shelf), job in zip(named, jobs, strict=True):
            for line in page.lines:
                self._sent[Address(page.namespace, line.id)] = _Sent(job, shelf)
        while len(self._sent) > REMEMBERED_LINES:
            self._sent.popitem(last=False)

    async def _remember(self, page: Page, shelf: Shelf) -> list[str]:
        body = {
            "text": page.text,
            "namespace": shelf.name,
            "idempotency_key": f"{page.sent_us}-{page.text.split(' ', 5)[4][:16]}",
        }
        answer = await self._wire.call(
            "POST", "/api/remember", body, cost=5, writing=True, session=True
        )
        with understood():
            return [str(answer["job_id"])]

    async def _bulk(self, named: Sequence[tuple[Page, Shelf]]) -> list[str]:
        items = [{"text": page.text, "namespace": shelf.name} for page, shelf in named]
        answer = await self._wire.call(
            "POST", "/api/remember/bulk", {"items": items}, cost=10, writing=True, session=True
        )
        with understood():
            jobs = [str(job) for job in answer["job_ids"]]
            if len(jobs) != len(named):
                raise ValueError("as many jobs as texts")
            return jobs

    async def _shelf_for(self, namespace: str) -> Shelf:
        """The shelf that the next text goes to; counts the text."""
        if namespace not in self._on_shelf:
            self._on_shelf[namespace] = (await self._last_shelf(namespace), 0)
        shelf, sent = self._on_shelf[namespace]
        if shelf.texts + sent >= SHELF_PAGES:
            listed = await self._last_shelf(namespace)
            if listed.texts >= SHELF_PAGES:
                shelf, sent = Shelf(namespace, listed.number + 1), 0
            elif shelf.texts + sent >= SHELF_MOST:
                raise MemoryThrottled(
                    "many lines of one chat are on their way to Walrus",
                    retry_after_seconds=FULL_SHELF_WAIT_SECONDS,
                )
        self._on_shelf[namespace] = (shelf, sent + 1)
        return shelf

    async def _last_shelf(self, namespace: str) -> Shelf:
        shelves = (await self._list(namespace)).get(namespace)
        return shelves[-1] if shelves else Shelf(namespace, 0)

    async def _under_way(self, addresses: Iterable[Address]) -> frozenset[Address]:
        """Those whose job has not ended; a job that ended badly is forgotten."""
        sent = {each: self._sent[each] for each in addresses if each in self._sent}
        states = await self._states(sorted({each.job for each in sent.values()}))
        for address, each in sent.items():
            if states[each.job] not in (*UNDER_WAY, "done"):
                self._sent.pop(address, None)
        return frozenset(each for each in sent if states[sent[each].job] in UNDER_WAY)

    async def _states(self, jobs: Sequence[str]) -> Mapping[str, str]:
        states = dict.fromkeys(jobs, "not_found")
        for start in range(0, len(jobs), BULK_TEXTS):
            body = {"job_ids": jobs[start : start + BULK_TEXTS]}
            answer = await self._wire.call(
                "POST", "/api/remember/bulk/status", body, cost=1, session=True
            )
            with understood():
                states |= {str(each["job_id"]): str(each["status"]) for each in answer["results"]}
        failed = sum(state == "failed" for state in states.values())
        if failed:
            log.warning("memory_jobs_failed", jobs=failed)
        return states

    # Reading

    async def _look_for(self, namespace: str, wanted: set[Address]) -> set[Address]:
        """On the shelves they were sent to; where that is not known, on all, the newest first."""
        known = {self._sent[each].shelf.number for each in wanted if each in self._sent}
        if all(each in self._sent for each in wanted):
            shelves = [Shelf(namespace, number) for number in sorted(known)]
        else:
            shelves = list(reversed((await self._list(namespace)).get(namespace, [])))
        found: set[Address] = set()
        for shelf in shelves:
            lines = first_of_each((await self._shown(shelf)).opened)
            found |= wanted & {Address(namespace, line.id) for line in lines}
            if found == wanted:
                break
        return found

    async def _shown(self, shelf: Shelf) -> Shown:
        """All that a shelf shows; a second recall with other words where the first was short."""
        texts: dict[str, str] = {}
        dropped = 0
        for words in WORDS:
            body = {"query": words, "limit": RECALL_MOST, "namespace": shelf.name}
            answer = await self._wire.call("POST", "/api/recall", body, cost=1, session=True)
            with understood():
                texts |= {str(each["blob_id"]): str(each["text"]) for each in answer["results"]}
                dropped = int(answer.get("dropped_count") or 0)
            if dropped or len(texts) >= shelf.texts:
                break
        found = tuple(opened(text, shelf.namespace) for text in texts.values())
        if foreign := sum(each.foreign for each in found):
            log.warning("memory_texts_not_ours", texts=foreign)
        missing = max(dropped, shelf.texts - len(texts))
        return Shown(found, missing + sum(each.lost for each in found))

    async def _list(self, namespace: str = "") -> dict[str, list[Shelf]]:
        """The shelves that show anything, in order, of one namespace or of all."""
        found: dict[str, list[Shelf]] = defaultdict(list)
        cursor = ""
        while True:
            answer = await self._page("namespaces", "updated_after", cursor)
            with understood():
                for each in answer["namespaces"]:
                    shelf = _shelf_of(str(each["name"]), int(each["memory_count"]))
                    if shelf and shelf.texts and namespace in ("", shelf.namespace):
                        found[shelf.namespace].append(shelf)
                cursor = str(answer.get("next_cursor") or "")
                if not answer["has_more"] or not cursor:
                    break
        return {name: sorted(each, key=lambda s: s.number) for name, each in found.items()}

    async def _page(self, what: str, cursor_name: str, cursor: str) -> Json:
        query = {"limit": str(LIST_MOST)} | ({cursor_name: cursor} if cursor else {})
        path = f"/v1/owners/{quote(await self._owner_address())}/{what}?{urlencode(query)}"
        return await self._wire.call("GET", path, cost=1)

    async def _owner_address(self) -> str:
        """Whose account it is; the relayer knows it from the key."""
        if not self._owner:
            answer = await self._wire.call("POST", "/api/stats", {"namespace": "dabir"}, cost=1)
            with understood():
                if answer["namespace"] != "dabir":
                    raise MemoryMisconfigured(
                        "the memory relayer answers for another namespace than was asked for"
                    )
                self._owner = str(answer["owner"])
        return self._owner


def _shelf_of(name: str, texts: int) -> Shelf | None:
    namespace, dot, number = name.rpartition(".")
    if not dot or not number.isascii() or not number.isdecimal() or len(number) > 9:
        return None
    return Shelf(namespace, int(number), texts)


def _refuse_long(entries: Iterable[Entry]) -> None:
    long = frozenset(entry.address for entry in entries if too_long(entry.line))
    if long:
        raise LinesRefused("longer than the relayer's 64 KiB", refused=long)
