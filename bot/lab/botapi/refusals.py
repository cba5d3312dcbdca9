"""What Telegram says when it refuses, in its own words.

Source of the words: the descriptions the public Bot API gives; clients match on them, so a
changed comma here is a bug.
"""

from typing import Any


class Refusal(Exception):
    """An answer with ok=false. `code` is both the HTTP status and error_code."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def as_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "ok": False,
            "error_code": self.code,
            "description": self.description,
        }
        if self.parameters:
            answer["parameters"] = self.parameters
        return answer


def bad_request(reason: str, **parameters: int) -> Refusal:
    return Refusal(400, f"Bad Request: {reason}", **parameters)


def forbidden(reason: str) -> Refusal:
    return Refusal(403, f"Forbidden: {reason}")


def conflict(reason: str) -> Refusal:
    return Refusal(409, f"Conflict: {reason}")


def too_many_requests(retry_after: int) -> Refusal:
    return Refusal(429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)


UNAUTHORIZED = Refusal(401, "Unauthorized")
NOT_FOUND = Refusal(404, "Not Found")

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)
STALE_QUERY = "query is too old and response timeout expired or query ID is invalid"
OTHER_POLLER = (
    "terminated by other getUpdates request; make sure that only one bot instance is running"
)
POLLER_REPLACED_BY_WEBHOOK = "terminated by setWebhook request"
WEBHOOK_ACTIVE = (
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook "
    "first"
)
