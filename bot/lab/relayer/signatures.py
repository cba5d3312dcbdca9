"""Who is asking, and may they decrypt? Checked as the relayer checks it."""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from bot.lab.relayer.refusals import Refused
from bot.lab.relayer.world import DRIFT_SECONDS, PACKAGE, Relayer
from memory.backends.walrus_keys import address_of, personal_digest, seed_of


@dataclass(frozen=True, slots=True)
class Caller:
    """A delegate that proved itself."""

    key: str  # public, hex
    account: str
    owner: str


def caller_of(
    world: Relayer, method: str, path: str, body: bytes, headers: Mapping[str, str]
) -> Caller:
    """`path` with its query. Raises Refused."""
    if world.faults.auth_down:
        raise Refused(503, headers={"x-auth-error": "AUTH_UPSTREAM_UNAVAILABLE"})
    try:
        nonce = str(UUID(headers.get("x-nonce", "")))
    except ValueError as error:
        raise Refused(426, "Unsupported legacy SDK: upgrade") from error
    if world.faults.upgrade:
        raise Refused(426, "Upgrade required")
    key, account = headers.get("x-public-key", ""), headers.get("x-account-id", "")
    stamp = headers.get("x-timestamp", "")
    if not stamp.isdecimal() or abs(int(stamp) - world.clock()) > DRIFT_SECONDS:
        raise Refused(401, headers={"x-auth-error": "ERR_TIMESTAMP_OUT_OF_BOUNDS"})
    signed = f"{stamp}.{method}.{path}.{hashlib.sha256(body).hexdigest()}.{nonce}.{account}"
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(headers.get("x-signature", "")), signed.encode())
    except (ValueError, InvalidSignature) as error:
        raise Refused(401) from error
    owner = world.owner_of(account, key)
    if owner is None or not world.fresh(nonce):
        raise Refused(401)
    return Caller(key, account, owner)


def check_session(world: Relayer, caller: Caller, header: str) -> None:
    """May the relayer decrypt for this caller? Raises Refused (401)."""
    try:
        session = json.loads(base64.b64decode(header, validate=True))
        made_ms, minutes = int(session["creationTimeMs"]), int(session["ttlMin"])
        seed = seed_of(session["sessionKey"])
        session_key = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        when = datetime.fromtimestamp(made_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        message = (
            f"Accessing keys of package {PACKAGE} for {minutes} mins from {when}, "
            f"session key {base64.b64encode(session_key).decode()}"
        )
        signature = base64.b64decode(session["personalMessageSignature"])
        public = bytes.fromhex(caller.key)
        age = world.clock() - made_ms / 1000
        if session["address"] != address_of(public) or session["packageId"] != PACKAGE:
            raise ValueError("of another key or package")
        if signature[:1] != b"\0" or signature[65:] != public:
            raise ValueError("signed by another key")
        if not -DRIFT_SECONDS <= age <= minutes * 60:
            raise ValueError("expired")
        digest = personal_digest(message.encode())
        Ed25519PublicKey.from_public_bytes(public).verify(signature[1:65], digest)
    except (ValueError, KeyError, TypeError, binascii.Error, InvalidSignature) as error:
        raise Refused(401) from error
