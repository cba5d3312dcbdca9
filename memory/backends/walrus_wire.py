"""One signed call to a Walrus Memory relayer, and what its answer means for the caller.

| The relayer says | The caller gets | because |
| --- | --- | --- |
| 429 | MemoryThrottled, with the wait it names | the same call works later |
| 401, time is off | nothing: the time is corrected from its Date, once | our clock is wrong |
| 401, 403 | MemoryMisconfigured | the key was revoked, or is not of this account |
| 402 | MemoryMisconfigured | the account is full or unpaid |
| 426, or an API of another generation | MemoryMisconfigured | this program is too old |
| 400, 413 | Unacceptable | something in this very call; smaller calls find out what |
| 409 | MemoryUnavailable | the key of this call was used before; the next call has another |
| 404, 5xx, nothing, no JSON | MemoryUnavailable, with its Retry-After | it may have happened |

Rule 1: nothing here waits or repeats by itself, but for the one correction of the clock.
Rule 2: no text of a line and no key gets into an exception or a log line.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias
from uuid import uuid4

import httpx
import structlog

from memory.backends.points import Points
from memory.backends.walrus_keys import SESSION_MINUTES, Signer
from memory.port import MemoryMisconfigured, MemoryThrottled, MemoryUnavailable

log = structlog.get_logger(__name__)

Json: TypeAlias = dict[str, Any]
TIMEOUT = httpx.Timeout(30.0, connect=5.0)  # seconds; a recall takes 1 to 2, accepting 0.5
API_GENERATION = "1"
SESSION_SECONDS = SESSION_MINUTES * 60 - 30.0
HOST_CHANGES_SECONDS = 300.0  # before a call is tried again that a person has to make possible
LEAST_DRIFT_SECONDS = 2.0  # a Date has whole seconds, and the answer was on its way


class Unacceptable(MemoryUnavailable):
    """The relayer will not take what this call holds (400, 413)."""


class Wire:
    """`clock`: seconds since 1970. `transport`: for a relayer in the same process."""

    def __init__(
        self,
        url: str,
        signer: Signer,
        *,
        clock: Callable[[], float],
        points: Points,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"), timeout=TIMEOUT, transport=transport
        )
        self._signer = signer
        self._clock = clock
        self._points = points
        self._drift = 0.0  # seconds to add to our clock
        self._greeted = False
        self._package = ""
        self._session: tuple[str, float] = ("", 0.0)
        self.requests = 0

    @property
    def points(self) -> Points:
        return self._points

    def now(self) -> float:
        """The relayer's time, as far as it is known."""
        return self._clock() + self._drift

    async def call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        cost: int,
        writing: bool = False,
        session: bool = False,
    ) -> Json:
        """`session`: the relayer is to decrypt. Raises MemoryUnavailable or one of its kinds."""
        self._points.take(cost, self._clock(), writing=writing)
        await self._greet()
        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        extra = {"x-seal-session": await self._sealed_session()} if session else {}
        answer = await self._signed(method, path, content, extra)
        if _clock_is_off(answer) and self._correct_clock(answer):
            self._session = ("", 0.0)
            extra = {"x-seal-session": await self._sealed_session()} if session else {}
            answer = await self._signed(method, path, content, extra)
        return self._understood(answer)

    async def close(self) -> None:
        await self._client.aclose()

    async def _signed(
        self, method: str, path: str, content: bytes, extra: Mapping[str, str]
    ) -> httpx.Response:
        signed = self._signer.headers(method, path, content, at=self.now(), nonce=uuid4())
        return await self._send(method, path, content, {**signed, **extra})

    async def _send(
        self, method: str, path: str, content: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        self.requests += 1
        try:
            return await self._client.request(
                method, path, content=content or None, headers=headers
            )
        except httpx.TransportError as error:
            raise MemoryUnavailable(
                f"the memory relayer does not answer ({type(error).__name__})"
            ) from error

    async def _greet(self) -> None:
        """Learn whether the relayer speaks our generation of the API, and its time."""
        if self._greeted:
            return
        answer = await self._send("GET", "/version")
        if answer.status_code in (404, 405):
            answer = await self._send("GET", "/health")
        with understood():
            generation = str(self._understood(answer)["apiVersion"]).partition(".")[0]
        if generation != API_GENERATION:
            raise MemoryMisconfigured(
                "the memory relayer speaks another generation of its API; update Dabir",
                retry_after_seconds=HOST_CHANGES_SECONDS,
            )
        self._correct_clock(answer)
        self._greeted = True

    async def _sealed_session(self) -> str:
        """The header that lets the relayer decrypt, made anew every few minutes."""
        made, until = self._session
        if made and self.now() < until:
            return made
        if not self._package:
            with understood():
                self._package = str(
                    self._understood(await self._send("GET", "/config"))["packageId"]
                )
        at = self.now()
        made = self._signer.session(self._package, at=at, seed=secrets.token_bytes(32))
        self._session = (made, at + SESSION_SECONDS)
        return made

    def _correct_clock(self, answer: httpx.Response) -> bool:
        """Take over the relayer's time if ours is off; say whether it was."""
        there = _date_of(answer)
        if there is None or abs(there - self.now()) < LEAST_DRIFT_SECONDS:
            return False
        self._drift = there - self._clock()
        log.warning("memory_clock_corrected", seconds=round(self._drift))
        return True

    def _understood(self, answer: httpx.Response) -> Json:
        if answer.status_code >= 300:
            failure = failure_of(answer)
            if isinstance(failure, MemoryThrottled):
                self._points.refused(self._clock(), failure.retry_after_seconds)
            raise failure
        with understood():
            said = answer.json()
            if not isinstance(said, dict):
                raise ValueError("no object")
            return said


@contextmanager
def understood() -> Iterator[None]:
    """For reading an answer: whatever is missing or misshapen makes it unusable."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise MemoryUnavailable("the memory relayer gave an answer that makes no sense") from error


def failure_of(answer: httpx.Response) -> MemoryUnavailable:
    """What an answer that is none means for the caller; see the table at the top."""
    match answer.status_code:
        case 429:
            wait = max(1.0, _wait_of(answer))
            return MemoryThrottled("the memory relayer wants a pause", retry_after_seconds=wait)
        case 400 | 413:
            return Unacceptable("the memory relayer does not accept a call as it is")
        case 401 if _clock_is_off(answer):
            return _for_the_host(
                "the memory relayer finds the clock of this machine wrong; set it right"
            )
        case 401 | 403:
            return _for_the_host(
                "the memory relayer does not accept MEMORY_KEY for MEMORY_ACCOUNT; was the key "
                "revoked? Nothing is lost: lines wait here until a valid key is set"
            )
        case 402:
            return _for_the_host(
                "the storage of MEMORY_ACCOUNT is full or unpaid; lines wait here until it is not"
            )
        case 426:
            return _for_the_host("the memory relayer wants a newer client; update Dabir")
        case 409:
            return MemoryUnavailable("the memory relayer took a call for another one")
        case status:
            return MemoryUnavailable(
                f"the memory relayer answered {status}", retry_after_seconds=_wait_of(answer)
            )


def _for_the_host(sentence: str) -> MemoryMisconfigured:
    return MemoryMisconfigured(sentence, retry_after_seconds=HOST_CHANGES_SECONDS)


def _clock_is_off(answer: httpx.Response) -> bool:
    reason = answer.headers.get("x-auth-error", "")
    return answer.status_code == 401 and reason == "ERR_TIMESTAMP_OUT_OF_BOUNDS"


def _date_of(answer: httpx.Response) -> float | None:
    try:
        return parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
    except ValueError:
        return None


def _wait_of(answer: httpx.Response) -> float:
    """Seconds, from Retry-After or else from the body; 0.0 where neither says anything sane."""
    for said in (
        lambda: answer.headers["retry-after"],
        lambda: answer.json()["retry_after_seconds"],
    ):
        try:
            wait = float(said())
        except (KeyError, TypeError, ValueError):
            continue
        if 0 < wait < 86_400:
            return wait
    return 0.0
