"""One chat completion from any OpenAI-compatible endpoint, or the reason why there is none.

Rule 1: one deadline over everything: connecting, waiting between attempts, and a body that drips.
        The library's own time-outs count from byte to byte and would never end such a body.
Rule 2: an attempt is repeated only before the first token, and only where the endpoint is
        likely to answer a moment later: no connection, 429, 5xx. A completion changes nothing
        out there, so a repetition costs tokens at most.
Rule 3: nothing that a provider says reaches a log or an exception: it may quote prompt or key.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import structlog
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)
from tenacity.stop import stop_base

from bot.errors import ModelFailed, ModelFailure
from bot.model.attempt import AttemptFailed, Limits, ask
from bot.model.dialect import Dialect
from bot.model.failures import Diagnosis
from bot.model.port import ChatMessage, Completion, ToolSpec
from bot.model.streaming import Assembly

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

log = structlog.get_logger(__name__)

MAX_ATTEMPTS = 4
MAX_ADAPTATIONS = 4  # one per field that an endpoint may refuse
CHECK_QUESTION = (ChatMessage("user", "Answer with the one word: ok"),)

WAIT_WITHOUT_ADVICE = wait_random_exponential(multiplier=0.5, max=8)


class OpenAICompatibleModel:
    """A `ChatModel` (bot/model/port.py). Contract: tests/adapters/test_model_client.py.

    `http_client` is the test seam: a client of the caller's own transport, closed by `close`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout_seconds: float = 120.0,
        first_token_seconds: float = 60.0,
        connect_seconds: float = 10.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        http_client: "httpx2.AsyncClient | None" = None,
    ) -> None:
        self._base_url = base_url.strip().rstrip("/").removesuffix("/chat/completions")
        self._api_key = api_key.strip()
        self._model = model.strip()
        self._timeout_seconds = timeout_seconds
        self._first_token_seconds = first_token_seconds
        self._connect_seconds = connect_seconds
        self._sleep = sleep
        self._clock = clock
        self._http_client = http_client
        self._client: AsyncOpenAI | None = None
        self._dialect = Dialect()

    async def complete(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec] = ()
    ) -> Completion:
        try:
            return (await self._ask(messages, tools, attempts=MAX_ATTEMPTS)).completion()
        except ModelFailed as error:
            log.warning("model_failed", failure=error.failure.value, detail=error.detail)
            raise

    async def check(self) -> None:
        """Ask one tiny question, once, and hang up at the first token. Raises ModelFailed."""
        answer = await self._ask(CHECK_QUESTION, (), attempts=1, only_first_token=True)
        if not answer.started and not answer.finished:
            raise ModelFailed(ModelFailure.CUT_OFF, "no token")

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        elif self._http_client is not None:
            await self._http_client.aclose()

    async def _ask(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec],
        *,
        attempts: int,
        only_first_token: bool = False,
    ) -> Assembly:
        deadline = self._clock() + self._timeout_seconds
        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=stop_after_attempt(attempts) | _StopBefore(deadline, self._clock),
            wait=_wait,
            retry=retry_if_exception(_is_repeatable),
            before_sleep=_log_repetition,
            reraise=True,
        )
        try:
            return await retrying(self._adapting, messages, tools, deadline, only_first_token)
        except AttemptFailed as error:
            found = error.diagnosis
        # Raised out here so that no traceback leads to the provider's words (rule 3).
        raise ModelFailed(found.failure, found.detail)

    async def _adapting(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec],
        deadline: float,
        only_first_token: bool,
    ) -> Assembly:
        """One attempt, put differently at once where the endpoint refuses a field of it."""
        client = await self._opened()
        for adaptation in range(MAX_ADAPTATIONS + 1):
            dialect = self._dialect
            body = dialect.request(self._model, messages, tools)
            try:
                return await ask(
                    client, body, self._limits(deadline), only_first_token=only_first_token
                )
            except AttemptFailed as error:
                if error.refusal is None or adaptation == MAX_ADAPTATIONS:
                    raise
                adapted = dialect.after(error.refusal, sent_tools="tools" in body)
                if adapted == dialect:
                    raise
                self._dialect = adapted
                log.info("model_dialect_learned", status=error.refusal.status)
        raise AssertionError("the last adaptation returns or raises")

    def _limits(self, deadline: float) -> Limits:
        return Limits(max(0.0, deadline - self._clock()), self._first_token_seconds)

    async def _opened(self) -> "AsyncOpenAI":
        if not self._api_key.isascii() or not self._api_key.isprintable():
            raise AttemptFailed(Diagnosis(ModelFailure.WRONG_KEY, "key has odd characters"))
        if not self._base_url.startswith(("http://", "https://")):  # openai.com to the package
            raise AttemptFailed(Diagnosis(ModelFailure.UNREACHABLE, "no http address"))
        if self._client is None:
            await asyncio.to_thread(__import__, "openai")  # 0.5 s and 26 MB, not at start-up
            self._client = self._client or self._new_client()
        return self._client

    def _new_client(self) -> "AsyncOpenAI":
        import httpx2  # see _opened
        import openai

        for name in ("openai", "httpx2"):  # at DEBUG they write whole requests
            logging.getLogger(name).setLevel(logging.WARNING)
        try:
            client = openai.AsyncOpenAI(
                base_url=self._base_url,
                api_key=self._api_key or "none",  # local endpoints ask for no key, the package does
                max_retries=0,
                timeout=openai.Timeout(self._timeout_seconds, connect=self._connect_seconds),
                http_client=self._http_client,
            )
        except httpx2.InvalidURL:
            raise AttemptFailed(Diagnosis(ModelFailure.UNREACHABLE, "InvalidURL")) from None
        # Read from OPENAI_ORG_ID and OPENAI_PROJECT_ID, which are no business of other providers.
        client.organization = client.project = None
        return client


class _StopBefore(stop_base):
    """Stops where the next wait would outlast the deadline."""

    def __init__(self, deadline: float, clock: Callable[[], float]) -> None:
        self._deadline = deadline
        self._clock = clock

    def __call__(self, state: RetryCallState) -> bool:
        return self._clock() + state.upcoming_sleep >= self._deadline


def _diagnosis(state: RetryCallState) -> Diagnosis | None:
    error = state.outcome.exception() if state.outcome else None
    return error.diagnosis if isinstance(error, AttemptFailed) else None


def _wait(state: RetryCallState) -> float:
    found = _diagnosis(state)
    if found is not None and found.retry_after_seconds is not None:
        return found.retry_after_seconds
    return WAIT_WITHOUT_ADVICE(state)


def _is_repeatable(error: BaseException) -> bool:
    return isinstance(error, AttemptFailed) and error.diagnosis.repeatable


def _log_repetition(state: RetryCallState) -> None:
    found = _diagnosis(state)
    log.info(
        "model_attempt_repeated",
        failure=found.failure.value if found else "",
        attempt=state.attempt_number,
        wait_seconds=round(state.upcoming_sleep, 3),
    )
