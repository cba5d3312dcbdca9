"""The one-time codes behind the links that make whoever opens one the bot's owner.

Only the codes' SHA-256 is on disk, in a file of the data directory that nobody else can read.
A code is 128 random bits, so a plain hash is enough and guessing is hopeless. Setup prints a
link and so does each start without an owner: the last few stay good until one of them is used.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

FILE_NAME = "owner-code"
CODES_KEPT = 3


def issue(data_directory: Path) -> str:
    """Make a new code and return it: letters, digits, - and _. The last `CODES_KEPT` are good."""
    code = secrets.token_urlsafe(16)
    data_directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = data_directory / FILE_NAME
    draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(4)}")
    digests = [*_digests(path), _digest(code)][-CODES_KEPT:]
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as stream:
        stream.write("".join(f"{digest}\n" for digest in digests))
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(draft, path)
    return code


def check_and_consume(data_directory: Path, code: str) -> bool:
    """Whether this is one of the good codes. A right one uses up itself and all others.

    Of many calls made at once with right codes, exactly one returns True. A wrong code leaves
    the right ones usable.
    """
    path = data_directory / FILE_NAME
    given = _digest(code)
    if not any(hmac.compare_digest(each, given) for each in _digests(path)):
        return False
    try:
        path.unlink()
    except FileNotFoundError:  # somebody else was quicker
        return False
    return True


def link(bot_name: str, code: str) -> str:
    """The link that opens the bot and hands it the code."""
    return f"https://t.me/{bot_name}?start={code}"


def _digests(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return []


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()
