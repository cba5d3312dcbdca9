"""One reply of the practice model, with everything that can be made to go wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Fault(StrEnum):
    """What happens to a reply on its way. All but HTML strike after `after_tokens` tokens."""

    NONE = "none"
    STALL = "stall"  # nothing more comes, the connection stays open
    DISCONNECT = "disconnect"  # the connection is cut
    TRUNCATE = "truncate"  # the stream ends properly, but without finish_reason and [DONE]
    MALFORMED = "malformed"  # a chunk, or the whole body, that is no JSON
    HTML = "html"  # 200 with a web page
    ERROR = "error"  # an error object inside the stream, or with status 200


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `arguments` may be broken JSON on purpose."""

    name: str
    arguments: str = "{}"
    id: str = ""  # made up if empty


@dataclass(frozen=True, slots=True)
class Reply:
    text: str = ""
    tool_calls: tuple[Call, ...] = ()
    reasoning: str = ""
    finish_reason: str = ""  # empty: "stop", or "tool_calls" where there are calls
    status: int = 200
    body: Any = None  # instead of a completion: JSON, or text sent as it is
    headers: Mapping[str, str] = field(default_factory=dict)
    first_token_seconds: float = 0.0
    token_seconds: float = 0.0
    fault: Fault = Fault.NONE
    after_tokens: int = 1

    @property
    def finish(self) -> str:
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")


def reply_from_json(value: Mapping[str, Any]) -> Reply:
    """Read a reply sent to /lab/script. Raises ValueError or TypeError with the wrong field."""
    told = dict(value)
    calls = tuple(Call(**call) for call in told.pop("tool_calls", ()))
    fault = Fault(told.pop("fault", Fault.NONE))
    return Reply(tool_calls=calls, fault=fault, **told)
