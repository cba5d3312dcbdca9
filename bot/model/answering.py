"""From a question to a draft: asks the model, runs its tools, and ends after a few calls.

Rule 1: at most `MAX_CALLS` calls of the model a turn; the last one is made without tools.
Rule 2: words together with tools that only note something are the answer: no second call.
Rule 3: every call stays within the question's budget. What the tools said takes the place of the
        oldest messages.
Rule 4: a prompt that is too long is compiled tighter, once a turn. The size that was too much is
        kept in mind, so that the next turn does not run into the same wall.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import structlog

from bot.core.context import (
    LEAST_TOKENS,
    MESSAGE_TOKENS,
    Budget,
    Question,
    compile_context,
)
from bot.core.excerpts import cut_in_the_middle, estimate_tokens, whole
from bot.errors import ModelFailed, ModelFailure
from bot.model.port import ChatMessage, ChatModel, Completion, ToolCall, ToolSpec, Usage
from bot.model.prompts import messages, system_text, without_notes
from bot.model.toolbox import Outcome, ProposedLine, Recall, Toolbox, ToolResult
from bot.model.tools import TOOLS, TOOLS_OF_A_TEMPORARY_CHAT

log = structlog.get_logger(__name__)

NO_USAGE = Usage()
MAX_CALLS = 4
MAX_TOOL_CALLS = 16  # of one completion; further ones are passed over
MESSAGES_OF_AN_EXCHANGE = 3  # the turn, the call of one tool, what the tool said
TIGHT_RESULT_TOKENS = 150
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID = re.compile(r"[!-~]{1,128}")


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model wants to say and to note. Nothing of it has been shown or written."""

    text: str  # "" only with `lines` or `recommends_person`: the caller words a confirmation
    lines: tuple[ProposedLine, ...] = ()
    recommends_person: bool = False
    person_reason: str = ""
    memory_ids: tuple[str, ...] = ()  # of the memory lines that the model was shown
    usage: Usage = NO_USAGE  # of all calls
    model_calls: int = 1  # tried, the refused ones included
    finish_reason: str = "stop"


@dataclass(slots=True)
class _Turn:
    """How far one answer has come."""

    question: Question
    toolbox: Toolbox
    exchange: list[ChatMessage] = field(default_factory=list)  # tool calls and their results
    calls: int = 0
    usage: Usage = NO_USAGE
    words: str = ""  # said beside tool calls
    memory_ids: tuple[str, ...] = ()
    tokens: int | None = None  # for the compiled context, once it was too much
    tightened: bool = False
    malformed: bool = False
    without_tools: bool = False

    @property
    def messages_left(self) -> int:
        return self.question.budget.max_messages - len(self.exchange)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """None when the answer to a call could not be sent back any more."""
        last = self.calls >= MAX_CALLS - 1
        crowded = self.messages_left < MESSAGES_OF_AN_EXCHANGE
        if last or crowded or self.without_tools:
            return ()
        return TOOLS if self.question.remembers else TOOLS_OF_A_TEMPORARY_CHAT


class Answerer:
    """Contract: tests/adapters/test_answering.py."""

    def __init__(self, model: ChatModel, host_prompt: str) -> None:
        self._model = model
        self._host_prompt = host_prompt
        self._most_tokens: int | None = None  # of a whole prompt, once one was too long

    async def answer(self, question: Question, recall: Recall) -> Draft:
        """Ask the model; `recall` searches the memory of this conversation and no other.

        Raises ModelFailed with the reason, and NothingToAnswer if no message of the turn may be
        read. Stopping it half-way leaves nothing behind.
        """
        turn = _Turn(question, Toolbox(question.tasks, question.zone, recall))
        while True:
            tools = turn.tools
            completion = await self._ask(turn, tools)
            if completion is None:
                continue
            completion = replace(completion, text=without_notes(completion.text))
            turn.usage = _sum(turn.usage, completion.usage)
            calls = completion.tool_calls[:MAX_TOOL_CALLS] if tools else ()
            results = [await turn.toolbox.run(call) for call in calls]
            if _is_final(completion, results):
                return _draft(turn, completion)
            _go_on(turn, completion, calls, results)

    async def _ask(self, turn: _Turn, tools: tuple[ToolSpec, ...]) -> Completion | None:
        """One call; None if it is to be tried again in another way."""
        prompt = self._prompt(turn, tools)
        turn.calls += 1
        try:
            return await self._model.complete(prompt, tools)
        except ModelFailed as error:
            again = turn.calls < MAX_CALLS
            match error.failure:
                case ModelFailure.CONTEXT_TOO_LONG:
                    if self._tighten(turn, prompt, tools) and again:
                        return None
                case ModelFailure.MALFORMED_ARGUMENTS if tools and again:
                    turn.without_tools = True
                    return None
                case ModelFailure.EMPTY_ANSWER if turn.exchange:
                    return Completion("")
                case _:
                    pass
            raise

    def _prompt(self, turn: _Turn, tools: Sequence[ToolSpec]) -> tuple[ChatMessage, ...]:
        question = turn.question
        most = min(question.budget.max_tokens, self._most_tokens or question.budget.max_tokens)
        system = ChatMessage("system", system_text(self._host_prompt))
        fixed = _tokens((system, *turn.exchange)) + _tool_tokens(tools)
        left = min(most - fixed, turn.tokens or most)
        context = compile_context(
            question, Budget(max(1, turn.messages_left), max(LEAST_TOKENS, left))
        )
        turn.memory_ids = tuple(line.id for line in context.memory)
        return (system, *messages(context), *turn.exchange)

    def _tighten(
        self, turn: _Turn, prompt: Sequence[ChatMessage], tools: Sequence[ToolSpec]
    ) -> bool:
        """Halve what can be made smaller; False if that was done already."""
        compiled = _tokens(prompt[1 : len(prompt) - len(turn.exchange)])
        fixed = _tokens(prompt) - compiled + _tool_tokens(tools)
        self._most_tokens = fixed + max(LEAST_TOKENS, compiled // 2)
        log.warning("prompt_too_long", tokens=fixed + compiled, next_tokens=self._most_tokens)
        if turn.tightened:
            return False
        turn.tightened = True
        turn.tokens = compiled // 2
        turn.without_tools = turn.without_tools or compiled <= LEAST_TOKENS
        turn.exchange = [_shortened(message) for message in turn.exchange]
        return True


def _is_final(completion: Completion, results: Sequence[ToolResult]) -> bool:
    if not results:
        return True
    noted = all(result.outcome is Outcome.DONE for result in results)
    return noted and bool(completion.text)


def _go_on(
    turn: _Turn,
    completion: Completion,
    calls: Sequence[ToolCall],
    results: Sequence[ToolResult],
) -> None:
    """Put the calls and their results into the exchange, as far as there is room for them."""
    outcomes = {result.outcome for result in results}
    # Words beside a call that was refused may claim that it was done.
    kept_promises = outcomes <= {Outcome.DONE, Outcome.ANSWERED}
    turn.words = (completion.text or turn.words) if kept_promises else ""
    if Outcome.MALFORMED in outcomes:
        turn.without_tools = turn.without_tools or turn.malformed
        turn.malformed = True
    taken = {message.tool_call_id for message in turn.exchange}
    told: list[ToolCall] = []
    for call, result in zip(calls, results, strict=True):
        told.append(_echo(call, result, f"call_{turn.calls}_{len(told)}", taken))
        taken.add(told[-1].id)
    told = told[: turn.messages_left - 2]
    turn.exchange.append(
        ChatMessage(
            "assistant",
            completion.text,
            tool_calls=tuple(told),
            reasoning=whole(completion.reasoning),
        )
    )
    turn.exchange += [
        ChatMessage("tool", result.says, tool_call_id=call.id)
        for call, result in zip(told, results, strict=False)
    ]


def _echo(call: ToolCall, result: ToolResult, spare_id: str, taken: set[str]) -> ToolCall:
    """The call as it can be sent back: endpoints refuse broken JSON, odd names and equal ids."""
    usable = bool(_ID.fullmatch(call.id)) and call.id not in taken
    return ToolCall(
        id=call.id if usable else spare_id,
        name=call.name if _NAME.fullmatch(call.name) else "unknown",
        arguments="{}" if result.outcome is Outcome.MALFORMED else whole(call.arguments),
    )


def _draft(turn: _Turn, completion: Completion) -> Draft:
    toolbox = turn.toolbox
    text = completion.text
    if text and completion.finish_reason == "length":
        text += "…"
    text = text or turn.words
    if not (text or toolbox.lines or toolbox.person_reason):
        raise ModelFailed(ModelFailure.EMPTY_ANSWER)
    return Draft(
        text=text,
        lines=toolbox.lines,
        recommends_person=bool(toolbox.person_reason),
        person_reason=toolbox.person_reason,
        memory_ids=tuple(dict.fromkeys(turn.memory_ids + toolbox.memory_ids)),
        usage=turn.usage,
        model_calls=turn.calls,
        finish_reason=completion.finish_reason,
    )


def _shortened(message: ChatMessage) -> ChatMessage:
    if message.role != "tool":
        return message
    return replace(message, content=cut_in_the_middle(message.content, TIGHT_RESULT_TOKENS))


def _tokens(prompt: Sequence[ChatMessage]) -> int:
    return sum(
        MESSAGE_TOKENS
        + estimate_tokens(message.content)
        + estimate_tokens(message.reasoning)
        + sum(estimate_tokens(call.name + call.arguments) for call in message.tool_calls)
        for message in prompt
    )


def _tool_tokens(tools: Sequence[ToolSpec]) -> int:
    described = [(tool.name, tool.description, dict(tool.parameters)) for tool in tools]
    return estimate_tokens(json.dumps(described)) if tools else 0


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        one.cached_tokens + other.cached_tokens,
    )
