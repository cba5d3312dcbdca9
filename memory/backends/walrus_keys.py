"""Signs what goes to a Walrus Memory relayer, as the official client (memwal 0.2.1) does.

A key is the Ed25519 seed of a delegate: 64 hex digits, or the `suiprivkey1…` of the dashboard.
The account is the id of the MemWalAccount object, not a wallet's address.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SESSION_MINUTES = 5
_CHARACTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_PREFIX = "suiprivkey"
_ED25519 = b"\x00"  # Sui's flag for the kind of a key


class KeyRefused(ValueError):
    """Not a key. The text does not repeat it."""


@dataclass(frozen=True, slots=True)
class Signer:
    """One delegate of one account."""

    key: Ed25519PrivateKey
    account: str

    @classmethod
    def of(cls, key: str, account: str) -> "Signer":
        """Raises KeyRefused."""
        return cls(Ed25519PrivateKey.from_private_bytes(seed_of(key)), account)

    @property
    def public(self) -> bytes:
        return self.key.public_key().public_bytes_raw()

    def headers(
        self, method: str, path: str, body: bytes, *, at: float, nonce: UUID
    ) -> dict[str, str]:
        """`path` with its query; `at` in seconds since 1970, within 300 s of the relayer's time."""
        seconds = str(int(at))
        digest = hashlib.sha256(body).hexdigest()
        signed = f"{seconds}.{method}.{path}.{digest}.{nonce}.{self.account}"
        return {
            "content-type": "application/json",
            "x-public-key": self.public.hex(),
            "x-signature": self.key.sign(signed.encode()).hex(),
            "x-timestamp": seconds,
            "x-nonce": str(nonce),
            "x-account-id": self.account,
        }

    def session(self, package: str, *, at: float, seed: bytes) -> str:
        """The x-seal-session header: lets the relayer decrypt for SESSION_MINUTES.

        `seed`: 32 fresh random bytes, the key of the session.
        """
        session_key = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        when = datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        message = (
            f"Accessing keys of package {package} for {SESSION_MINUTES} mins from {when}, "
            f"session key {base64.b64encode(session_key).decode()}"
        )
        envelope = {
            "address": address_of(self.public),
            "packageId": package,
            "mvrName": None,
            "creationTimeMs": int(at) * 1000,
            "ttlMin": SESSION_MINUTES,
            "personalMessageSignature": self._personal(message.encode()),
            "sessionKey": encoded_seed(seed),
        }
        written = json.dumps(envelope, separators=(",", ":"))
        return base64.b64encode(written.encode()).decode()

    def _personal(self, message: bytes) -> str:
        """A signature of a Sui personal message."""
        signature = self.key.sign(personal_digest(message))
        return base64.b64encode(_ED25519 + signature + self.public).decode()


def personal_digest(message: bytes) -> bytes:
    """What is signed for a Sui personal message: its intent, its length and itself, hashed."""
    intended = b"\x03\x00\x00" + _uleb128(len(message)) + message
    return hashlib.blake2b(intended, digest_size=32).digest()


def address_of(public: bytes) -> str:
    """The Sui address of an Ed25519 key."""
    return "0x" + hashlib.blake2b(_ED25519 + public, digest_size=32).hexdigest()


def seed_of(key: str) -> bytes:
    """The 32 bytes of a delegate's key. Raises KeyRefused."""
    key = key.strip()
    if key.lower().startswith(_PREFIX):
        return _decoded(key)
    try:
        seed = bytes.fromhex(key.removeprefix("0x"))
    except ValueError as error:
        raise KeyRefused("it is neither hex digits nor suiprivkey1…") from error
    if len(seed) != 32 or " " in key:
        raise KeyRefused("it must be 64 hex digits or suiprivkey1…")
    return seed


def encoded_seed(seed: bytes) -> str:
    """The `suiprivkey1…` of a seed (bech32, BIP 173)."""
    data = _regrouped(_ED25519 + seed, 8, 5)
    checksum = _polymod([*_expanded(_PREFIX), *data, *([0] * 6)]) ^ 1
    data += [checksum >> 5 * (5 - place) & 31 for place in range(6)]
    return f"{_PREFIX}1" + "".join(_CHARACTERS[each] for each in data)


def _decoded(key: str) -> bytes:
    prefix, _, text = key.lower().rpartition("1")
    if key not in (key.lower(), key.upper()) or prefix != _PREFIX:
        raise KeyRefused("it is no suiprivkey1…")
    values = [_CHARACTERS.find(each) for each in text]
    if -1 in values or _polymod([*_expanded(prefix), *values]) != 1:
        raise KeyRefused("a character of it is wrong or missing")
    payload = bytes(_regrouped(bytes(values[:-6]), 5, 8))[:33]
    if len(payload) != 33 or payload[:1] != _ED25519:
        raise KeyRefused("it is no Ed25519 key")
    return payload[1:]


def _expanded(prefix: str) -> list[int]:
    return [*(ord(each) >> 5 for each in prefix), 0, *(ord(each) & 31 for each in prefix)]


def _polymod(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_GENERATORS):
            if top >> place & 1:
                check ^= generator
    return check


def _regrouped(data: bytes, bits: int, into: int) -> list[int]:
    """The same bits in groups of another size; the last group is filled with zeros."""
    number = int.from_bytes(data) if bits == 8 else 0
    total = len(data) * bits
    if bits == 5:
        for each in data:
            number = number << 5 | each
    if bits > into:
        filled = -total % into
        count = (total + filled) // into
        number <<= filled
    else:
        count = total // into
        number >>= total - count * into
    return [number >> into * (count - 1 - place) & (1 << into) - 1 for place in range(count)]


def _uleb128(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
