"""The tools that a model may call, and the strict reading of what it calls them with.

Rule 1: whatever a model sends is read into a request or into a `Malformed` that says in one
        sentence what is wrong; nothing raises, and no sentence repeats what was sent.
Rule 2: the table below is both what the model is told and what its arguments are checked against.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bot.model.port import ToolCall, ToolSpec
from bot.model.prompts import one_line
from memory.line import Kind

MAX_TEXT = 500  # characters of one memory line
MAX_ARGUMENTS = 8_192  # characters of raw JSON that are looked at
CLAIMS = {"fact": Kind.FACT, "preference": Kind.PREFERENCE}


@dataclass(frozen=True, slots=True)
class Remember:
    text: str
    kind: Kind  # FACT or PREFERENCE
    about: str = ""


@dataclass(frozen=True, slots=True)
class AddTask:
    text: str
    due: str = ""  # as the model wrote it


@dataclass(frozen=True, slots=True)
class CompleteTask:
    task: str


@dataclass(frozen=True, slots=True)
class LookUp:
    query: str


@dataclass(frozen=True, slots=True)
class RecommendHandoff:
    reason: str


Request: TypeAlias = Remember | AddTask | CompleteTask | LookUp | RecommendHandoff


@dataclass(frozen=True, slots=True)
class Malformed:
    says: str


@dataclass(frozen=True, slots=True)
class _Parameter:
    description: str
    required: bool = True
    allowed: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "description": self.description}
        return schema | ({"enum": list(self.allowed)} if self.allowed else {})


_Parameters: TypeAlias = Mapping[str, _Parameter]

_TABLE: Mapping[str, tuple[str, _Parameters]] = {
    "remember": (
        "Keep something about the user for later conversations: a fact about them or a preference"
        " of theirs. One short sentence a call, in the user's language.",
        {
            "text": _Parameter(f"The sentence, at most {MAX_TEXT} characters."),
            "kind": _Parameter("What it is.", allowed=tuple(CLAIMS)),
            "about": _Parameter(
                "Only for what has one value at a time, such as 'home city' or 'name': what the"
                " sentence is about. It then replaces what was kept about the same.",
                required=False,
            ),
        },
    ),
    "add_task": (
        "Put something that the user has to do on their task list.",
        {
            "text": _Parameter(f"What is to be done, at most {MAX_TEXT} characters."),
            "due": _Parameter(
                "When it is due, in the user's time zone: 2026-05-02 or 2026-05-02T09:00. Leave it"
                " out if no date was said.",
                required=False,
            ),
        },
    ),
    "complete_task": (
        "Mark a task as done.",
        {"task": _Parameter("The id of the open task, or its text.")},
    ),
    "recall": (
        "Search what is kept about this user. Use it when the answer may depend on something they"
        " said long ago.",
        {"query": _Parameter("A few words to search for, in the user's language.")},
    ),
    "recommend_handoff": (
        "Offer the user to talk to a person, because they want one or you cannot help.",
        {"reason": _Parameter("Why, in one short sentence.")},
    ),
}

TOOLS: tuple[ToolSpec, ...] = tuple(
    ToolSpec(
        name,
        description,
        {
            "type": "object",
            "properties": {key: each.schema() for key, each in parameters.items()},
            "required": [key for key, each in parameters.items() if each.required],
            "additionalProperties": False,
        },
    )
    for name, (description, parameters) in _TABLE.items()
)

_KEEPING = ("remember", "add_task", "complete_task")
TOOLS_OF_A_TEMPORARY_CHAT = tuple(tool for tool in TOOLS if tool.name not in _KEEPING)


def parse_call(call: ToolCall) -> Request | Malformed:
    """Read a call strictly: no other tool, no missing, extra or wrongly typed argument."""
    if call.name not in _TABLE:
        return Malformed(f"There is no such tool. The tools are: {', '.join(_TABLE)}.")
    _, parameters = _TABLE[call.name]
    values = _values(call.arguments)
    if isinstance(values, Malformed):
        return values
    problem = _problem(values, parameters)
    if problem:
        return Malformed(f"{call.name} was not called: {problem}.")
    return _request(call.name, {key: one_line(value or "") for key, value in values.items()})


def _values(arguments: str) -> dict[str, Any] | Malformed:
    if len(arguments) > MAX_ARGUMENTS:
        return Malformed(f"The arguments are longer than {MAX_ARGUMENTS} characters; shorten them.")
    try:
        values = json.loads(arguments, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError):
        return Malformed("The arguments are not valid JSON; send one JSON object.")
    if not isinstance(values, dict):
        return Malformed("The arguments are not a JSON object; send one JSON object.")
    return values


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name is there twice")
    return values


def _problem(values: Mapping[str, Any], parameters: _Parameters) -> str:
    if not values.keys() <= parameters.keys():
        return f"it takes only {' and '.join(parameters)}"
    for name, parameter in parameters.items():
        value = values.get(name)
        if not parameter.required and value in (None, ""):
            continue
        if not isinstance(value, str) or not one_line(value):
            return f"{name} must be a text that is not empty"
        if parameter.allowed and one_line(value) not in parameter.allowed:
            return f"{name} must be one of {', '.join(parameter.allowed)}"
        if len(one_line(value)) > MAX_TEXT:
            return f"{name} is longer than {MAX_TEXT} characters; shorten it"
    return ""


def _request(name: str, values: Mapping[str, str]) -> Request:
    match name:
        case "remember":
            return Remember(values["text"], CLAIMS[values["kind"]], values.get("about", ""))
        case "add_task":
            return AddTask(values["text"], values.get("due", ""))
        case "complete_task":
            return CompleteTask(values["task"])
        case "recall":
            return LookUp(values["query"])
        case _:
            return RecommendHandoff(values["reason"])
