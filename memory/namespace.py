"""Names under which lines are kept: keyed hashes, so that no chat id leaves this machine."""

import hashlib
import hmac
import re

_SHAPE = re.compile(r"[A-Za-z0-9_\-]{1,64}")


def namespace_of(secret: bytes, chat_id: str) -> str:
    """32 hex digits. Without `secret` nobody can tell which chat it stands for.

    Raises ValueError on an empty secret: anybody could then try all chat ids.
    """
    if not secret:
        raise ValueError("a namespace needs a secret")
    return hmac.new(secret, b"namespace\0" + chat_id.encode(), hashlib.sha256).hexdigest()[:32]


def checked_namespace(namespace: str) -> str:
    """The namespace itself; ValueError if it could not safely be part of a file name."""
    if not _SHAPE.fullmatch(namespace):
        raise ValueError("a namespace is 1 to 64 of A-Z a-z 0-9 _ -")
    return namespace
