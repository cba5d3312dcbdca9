"""What turns cost in calls and tokens."""

from dataclasses import dataclass

from bot.store.port import Sql


@dataclass(frozen=True, slots=True)
class Usage:
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


RECORD = """
INSERT INTO usage (conversation_id, turn_id, at, model_calls, prompt_tokens, cached_tokens,
 completion_tokens)
VALUES (:conversation_id, :turn_id, :at, :model_calls, :prompt_tokens, :cached_tokens,
 :completion_tokens)
ON CONFLICT (conversation_id, turn_id, at) DO NOTHING
"""


def record(sql: Sql, conversation_id: str, turn_id: str, usage: Usage, at: float) -> None:
    values = {
        "conversation_id": conversation_id,
        "turn_id": turn_id,
        "at": at,
        "model_calls": usage.model_calls,
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
    }
    sql.run(RECORD, values)
