"""One request to the endpoint, read to its end, with every way it can go wrong named.

The openai package leaves these to its caller: a truncated stream raises nothing, a malformed
chunk raises a bare `JSONDecodeError`, a web page with status 200 is a `str`, an error with status
200 has no choices, and an endpoint that ignores `stream` yields an empty stream.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.errors import ModelFailed, ModelFailure
from bot.model.failures import Diagnosis, Refusal, diagnose, refusal
from bot.model.streaming import Assembly

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

USAGE_GRACE_SECONDS = 2.0  # for the usage chunk, once the answer itself is complete


class AttemptFailed(Exception):
    """This attempt gave no answer. `refusal` is what the endpoint said, if it said anything."""

    def __init__(self, diagnosis: Diagnosis, what: Refusal | None = None) -> None:
        super().__init__(diagnosis.failure.value)
        self.diagnosis = diagnosis
        self.refusal = what


@dataclass(frozen=True, slots=True)
class Limits:
    total_seconds: float
    first_token_seconds: float


async def ask(
    client: "AsyncOpenAI", body: Mapping[str, Any], limits: Limits, *, only_first_token: bool
) -> Assembly:
    """Return what came, finished or cut off. Raises AttemptFailed. Cancelling closes the line."""
    assembly = Assembly()
    reading = _Reading(client, body, assembly, limits, only_first_token)
    failed = await reading.run()
    if failed is not None and not assembly.finished:
        raise failed
    return assembly


def _arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """The package's arguments for this body.

    What goes through `extra_body` is sent as it is. Named arguments are first walked through by
    the package, which takes 2 ms for our tools and changes nothing.
    """
    named = {name: body[name] for name in ("model", "stream")}
    return {**named, "messages": [], "extra_body": dict(body)}


class _Reading:
    def __init__(
        self,
        client: "AsyncOpenAI",
        body: Mapping[str, Any],
        assembly: Assembly,
        limits: Limits,
        only_first_token: bool,
    ) -> None:
        self._client = client
        self._body = dict(body)
        self._assembly = assembly
        self._only_first_token = only_first_token
        now = asyncio.get_running_loop().time()
        self._end = now + limits.total_seconds
        first_token = min(limits.first_token_seconds, limits.total_seconds)
        self._first_limit = now + first_token if self._body["stream"] else self._end

    async def run(self) -> AttemptFailed | None:
        import httpx2  # loaded with openai, see client.py
        import openai

        try:
            async with asyncio.timeout_at(self._first_limit) as self._scope:
                await self._read()
        except TimeoutError:
            waited_for = "answer" if self._assembly.started else "first token"
            return AttemptFailed(Diagnosis(ModelFailure.TIMED_OUT, waited_for))
        except ModelFailed as error:
            return AttemptFailed(Diagnosis(error.failure, error.detail))
        except AttemptFailed as error:
            return error
        except (ValueError, RecursionError):  # broken JSON, broken UTF-8, JSON nested too deep
            return AttemptFailed(Diagnosis(ModelFailure.BAD_REPLY, "unreadable reply"))
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return read_exception(error, started=self._assembly.started)
        return None

    async def _read(self) -> None:
        if not self._body["stream"]:
            raw = await self._client.chat.completions.with_raw_response.create(
                **_arguments(self._body)
            )
            await self._read_whole(raw.http_response)
            return
        stream: AsyncStream[ChatCompletionChunk]
        stream = await self._client.chat.completions.create(**_arguments(self._body))
        async with stream:
            kind = stream.response.headers.get("content-type", "")
            if "event-stream" in kind or await self._looks_like_events(stream.response, kind):
                await self._read_stream(stream)
            else:
                await self._read_whole(stream.response)

    async def _read_stream(self, stream: "AsyncStream[ChatCompletionChunk]") -> None:
        async for chunk in stream:
            was_finished = self._assembly.finished
            dumped = chunk.model_dump(warnings=False) if hasattr(chunk, "model_dump") else chunk
            self._assembly.add_chunk(dumped)
            if self._assembly.started and self._only_first_token:
                return
            if self._assembly.finished and not was_finished:
                grace = asyncio.get_running_loop().time() + USAGE_GRACE_SECONDS
                self._scope.reschedule(min(self._end, grace))
            elif self._assembly.started and not was_finished:
                self._scope.reschedule(self._end)

    async def _read_whole(self, response: "httpx2.Response") -> None:
        self._scope.reschedule(self._end)
        await response.aread()
        body = json.loads(response.text)
        if isinstance(body, Mapping) and body.get("error"):
            what = refusal(response.status_code, body, response.headers)
            raise AttemptFailed(diagnose(what), what)
        self._assembly.add_whole(body)

    async def _looks_like_events(self, response: "httpx2.Response", kind: str) -> bool:
        """Whether a body of no telling content type is an event stream after all."""
        if "json" in kind or "html" in kind:
            return False
        await response.aread()
        return response.text.lstrip().startswith(("data:", "event:", ":"))


def read_exception(error: Exception, *, started: bool) -> AttemptFailed:
    """Translate whatever the openai package or its transport raised.

    `started`: the first token had come, so the attempt must not be repeated.
    """
    import openai

    match error:
        case openai.APIStatusError():
            what = refusal(error.status_code, error.body, error.response.headers)
            return AttemptFailed(diagnose(what), what)
        case openai.APIConnectionError():
            return AttemptFailed(_transport(error.__cause__ or error, started))
        case openai.APIResponseValidationError():
            return AttemptFailed(Diagnosis(ModelFailure.BAD_REPLY, "unreadable reply"))
        case openai.APIError():
            return _error_in_stream(error.body, started)
        case openai.OpenAIError():
            return AttemptFailed(Diagnosis(ModelFailure.BAD_REPLY, type(error).__name__))
        case _:
            return AttemptFailed(_transport(error, started))


def _error_in_stream(body: object, started: bool) -> AttemptFailed:
    what = refusal(200, body)
    found = diagnose(what)
    if not started:
        return AttemptFailed(found, what)
    vague = found.failure in {ModelFailure.BAD_REPLY, ModelFailure.UNREACHABLE}
    failure = ModelFailure.CUT_OFF if vague else found.failure
    return AttemptFailed(Diagnosis(failure, f"in stream {found.detail}"))


def _transport(error: BaseException, started: bool) -> Diagnosis:
    import httpx2

    name = type(error).__name__
    match error:
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL() | httpx2.LocalProtocolError():
            return Diagnosis(ModelFailure.UNREACHABLE, name)
        case httpx2.DecodingError() | httpx2.TooManyRedirects():
            return Diagnosis(ModelFailure.BAD_REPLY, name)
        case httpx2.ReadTimeout() | httpx2.WriteTimeout():
            return Diagnosis(ModelFailure.TIMED_OUT, name)
        case _ if started:
            return Diagnosis(ModelFailure.CUT_OFF, name)
        case _:
            return Diagnosis(ModelFailure.UNREACHABLE, name, repeatable=True)
