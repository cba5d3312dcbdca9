"""Answers that are none."""

from collections.abc import Mapping
from typing import Any


class Refused(Exception):
    """One HTTP refusal. Authentication failures have no body."""

    def __init__(
        self,
        status: int,
        error: str = "",
        *,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.body = dict(body or ({"error": error} if error else {}))
        self.headers = dict(headers or {})

    @classmethod
    def limited(cls, layer: str, limit: int, seconds: int) -> "Refused":
        body = {
            "error": "Rate limit exceeded",
            "layer": layer,
            "limit": limit,
            "retry_after_seconds": seconds,
        }
        return cls(429, body=body, headers={"retry-after": str(seconds)})
