"""What the practice model answers. Deterministic: the same request gets the same answer.

Every part of what the user said is answered, so that a reader sees what a reply covers. Tools that
keep something are called in the same reply; only `recall` has to be waited for, in a first round.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.lab.practice.meanings import LOOKUP, Intent, quote, understand
from bot.lab.practice.phrases import say
from bot.lab.practice.prompt import Prompt
from bot.lab.practice.scripts import Call, Reply

PREFERENCE = re.compile(
    r"\b(?:like|love|prefer|hate|favou?rite)\b|دوست دار|ترجیح|متنفر", re.IGNORECASE
)


def answer(prompt: Prompt) -> Reply:
    intents = [(part, understand(prompt, part)) for part in prompt.parts]
    used = {result.name for result in prompt.results}
    wanted = [one for _, one in intents if one.tool in prompt.tools and one.tool not in used]
    if lookups := [one for one in wanted if one.tool == LOOKUP]:
        calls = tuple(_call(prompt, one) for one in lookups)
        return Reply(tool_calls=calls, reasoning="The answer may be in what was kept.")
    return Reply(_spoken(prompt, intents), tuple(_call(prompt, one) for one in wanted))


def _spoken(prompt: Prompt, intents: list[tuple[str, Intent]]) -> str:
    if not intents:
        return say(" ".join(prompt.earlier), "silent")
    waiting = list(prompt.results)
    answers: list[str] = []
    for part, intent in intents:
        result = next((one for one in waiting if one.name == intent.tool), None)
        if result is not None:
            waiting.remove(result)
        answers.append(intent.say(prompt, part, result.content if result else ""))
    if len(answers) == 1:
        return answers[0]
    told = [
        f"{n}. {quote(part)}\n{text}"
        for n, ((part, _), text) in enumerate(zip(intents, answers, strict=True), 1)
    ]
    return "\n\n".join([say(intents[0][0], "several", len(answers)), *told])


def _call(prompt: Prompt, intent: Intent) -> Call:
    arguments = _arguments(intent, prompt.tools[intent.tool])
    return Call(intent.tool, json.dumps(arguments, ensure_ascii=False))


def _arguments(intent: Intent, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in a tool's arguments by what their names say; text goes to the first plain string."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = set(schema.get("required") or properties)
    filled: dict[str, Any] = {}
    told = False
    for name, shape in properties.items():
        kind = shape.get("type", "string") if isinstance(shape, Mapping) else "string"
        if re.search(r"due|when|time|date|deadline|(?:^|_)at$", name):
            if intent.due or name in required:
                filled[name] = intent.due
        elif isinstance(shape, Mapping) and shape.get("enum"):
            if name in required:
                filled[name] = _chosen(shape["enum"], intent.about)
        elif name == "about" and told:
            if intent.topic:
                filled[name] = intent.topic
        elif _has_kind(kind, "string") and not told:
            filled[name], told = intent.about, True
        elif name in required:
            filled[name] = _anything(kind, intent)
    return filled


def _chosen(allowed: Sequence[Any], about: str) -> Any:
    return "preference" if "preference" in allowed and PREFERENCE.search(about) else allowed[0]


def _has_kind(kind: object, wanted: str) -> bool:
    return kind == wanted or (isinstance(kind, list) and wanted in kind)


def _anything(kind: object, intent: Intent) -> Any:
    plain: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return plain.get(kind, intent.about) if isinstance(kind, str) else intent.about
