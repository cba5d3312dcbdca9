"""Seals lines, so that whoever keeps them can neither read nor change them unnoticed.

A sealed line is a line: its id, time and place stay in the clear, because a store needs them to
tell lines apart and a reader to notice that some are missing. Everything else (kind, author, key,
event time, text) is in its text, encrypted; only its length can be guessed.

Rule 1: `open(seal(line)) == line` for every line, and for nothing else: the namespace, id, time
        and place are authenticated with the text, so a line that was changed, cut, moved to
        another id or put into another namespace does not open.
Rule 2: the same line always gives the same bytes, so writing it again changes nothing. The nonce
        is made from what is sealed: it repeats only if everything does.
Rule 3: ids are made by the bot from times and counters, never from words.
"""

import base64
import binascii
import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from memory.line import Author, Kind, Line, LineError, format_line, parse_line

MARK = "sealed:1"  # the key of every sealed line; the number is that of the format
KEY_BYTES = 32
NONCE_BYTES = 12


class Seal:
    """The key of one namespace. `namespace` is its name in the store."""

    __slots__ = ("_cipher", "_nonce_key", "namespace", "takes_plain")

    def __init__(self, namespace: str, key: bytes, *, takes_plain: bool = False) -> None:
        self.namespace = namespace
        self.takes_plain = takes_plain  # whether a line that is not sealed is believed
        self._cipher = ChaCha20Poly1305(_derived(key, b"cipher"))
        self._nonce_key = _derived(key, b"nonce")

    def seal(self, line: Line) -> Line:
        """What may be given to anybody to keep."""
        words, bound = format_line(line).encode(), self._bound(line)
        nonce = hmac.digest(self._nonce_key, bound + b"\n" + words, "sha256")[:NONCE_BYTES]
        return _outside(line, nonce + self._cipher.encrypt(nonce, words, bound))

    def open(self, line: Line) -> Line | None:
        """The line that was sealed; None: it is damaged, or was never sealed by this key."""
        if not is_sealed(line):
            return line if self.takes_plain else None
        try:
            sealed = base64.b64decode(line.text, b"-_", validate=True)
            nonce, body = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
            opened = parse_line(self._cipher.decrypt(nonce, body, self._bound(line)).decode())
        except (binascii.Error, InvalidTag, LineError, ValueError):
            return None
        return opened if line == _outside(line, sealed) else None

    def _bound(self, line: Line) -> bytes:
        place = f"{line.id}\n{line.at_us}\n{line.turn}.{line.ordinal}"
        return f"{MARK}\n{self.namespace}\n{place}".encode()


def is_sealed(line: Line) -> bool:
    return line.key == MARK


def _outside(line: Line, sealed: bytes) -> Line:
    """The sealed line as others see it: there is one spelling only."""
    return Line(
        id=line.id,
        at_us=line.at_us,
        turn=line.turn,
        ordinal=line.ordinal,
        kind=Kind.SAID,
        author=Author.SYSTEM,
        text=base64.urlsafe_b64encode(sealed).decode(),
        key=MARK,
    )


def _derived(key: bytes, purpose: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise ValueError(f"a key has {KEY_BYTES} bytes")
    return hashlib.sha256(b"dabir memory\0" + purpose + b"\0" + key).digest()
