"""What the relayer knows: accounts, jobs, texts, and what it was told to get wrong.

A job's state follows from the time since it was accepted, so a test drives it with its clock:

    running ─(running_seconds)─► uploaded ─(uploaded_seconds)─► done ─(index_seconds)─► recalled
                               └► failed, if it is one of `Faults.fail_next`
"""

import base64
import hashlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bot.lab.relayer.refusals import Refused

LAB_KEY = "42" * 32  # a delegate's seed that every lab relayer knows
LAB_ACCOUNT = "0x" + "ab" * 32
PACKAGE = "0x" + "ce" * 32
TEXT_BYTES = 64 * 1024
NAMESPACE_BYTES = 255
EPOCH_SECONDS = 14 * 86_400
NONCE_SECONDS = 600.0
DRIFT_SECONDS = 300.0
WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Timing:
    """Seconds. The defaults are what was measured on the mainnet relayer, about."""

    running_seconds: float = 8.0
    uploaded_seconds: float = 12.0
    index_seconds: float = 3.0
    lease_seconds: float = 3.0 * EPOCH_SECONDS


@dataclass(slots=True)
class Limits:
    """Points: of a delegate key in a minute, of an account in an hour."""

    per_minute: int = 30
    per_hour: int = 500


@dataclass(slots=True)
class Faults:
    """Counts are used up one by one; flags stay until they are taken back."""

    down: bool = False  # every call: 503
    cut_next: int = 0  # so many writes happen and their answer is lost (500)
    limit_next: int = 0  # so many calls are refused with 429
    limit_seconds: int = 7
    fail_next: int = 0  # so many jobs fail after their 202
    drop_next: int = 0  # so many recalls give nothing and a dropped_count
    empty_next: int = 0  # so many recalls give nothing at all
    short_next: int = 0  # so many recalls give half
    duplicates: bool = False  # every result twice
    upgrade: bool = False  # 426
    auth_down: bool = False  # Sui cannot be asked: 503
    full: bool = False  # 402
    answers_namespace: str = ""  # stats answers for this one instead


@dataclass(frozen=True, slots=True)
class Job:
    id: str
    owner: str
    namespace: str
    text: str
    accepted_at: float
    doomed: bool

    @property
    def blob_id(self) -> str:
        digest = hashlib.sha256(self.id.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass(slots=True)
class _Account:
    owner: str
    keys: set[str] = field(default_factory=set)


class Relayer:
    """`clock`: seconds since 1970. `limits` None: nobody counts points."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        timing: Timing | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.clock = clock
        self.timing = timing or Timing()
        self.limits = limits
        self.faults = Faults()
        self.jobs: dict[str, Job] = {}
        self.calls: list[tuple[str, str]] = []  # method and path of every call, answered or not
        self._accounts: dict[str, _Account] = {}
        self._keyed: dict[tuple[str, str], Job] = {}
        self._nonces: dict[str, float] = {}
        self._spent: list[tuple[float, str, str, int]] = []  # time, key, account, points
        seed = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(LAB_KEY))
        self.register(LAB_ACCOUNT, seed.public_key().public_bytes_raw().hex())

    # Accounts

    def register(self, account: str, public_key: str) -> None:
        """Let a delegate's key (hex) in."""
        owner = "0x" + hashlib.sha256(account.encode()).hexdigest()
        self._accounts.setdefault(account, _Account(owner)).keys.add(public_key)

    def revoke(self, account: str, public_key: str = "") -> None:
        """Take a key back, or all of them."""
        keys = self._accounts[account].keys
        keys.intersection_update(keys - {public_key} if public_key else ())

    def owner_of(self, account: str, public_key: str) -> str | None:
        known = self._accounts.get(account)
        return known.owner if known and public_key in known.keys else None

    def fresh(self, nonce: str) -> bool:
        """False for a nonce that was used within NONCE_SECONDS."""
        now = self.clock()
        self._nonces = {n: at for n, at in self._nonces.items() if at > now - NONCE_SECONDS}
        if nonce in self._nonces:
            return False
        self._nonces[nonce] = now
        return True

    def spend(self, key: str, account: str, points: int) -> None:
        """Raises Refused (429) where a window is full."""
        now = self.clock()
        if self.faults.limit_next:
            self.faults.limit_next -= 1
            raise Refused.limited("delegate_key", 30, self.faults.limit_seconds)
        if self.limits is None:
            return
        self._spent = [each for each in self._spent if each[0] > now - 3600]
        minute = sum(p for at, k, _, p in self._spent if k == key and at > now - 60)
        hour = sum(p for _, _, a, p in self._spent if a == account)
        if minute + points > self.limits.per_minute:
            raise Refused.limited("delegate_key", self.limits.per_minute, 60)
        if hour + points > self.limits.per_hour:
            raise Refused.limited("account", self.limits.per_hour, 600)
        self._spent.append((now, key, account, points))

    @property
    def points_spent(self) -> int:
        """In the last hour, if points are counted."""
        return sum(each[3] for each in self._spent)

    # Jobs and texts

    def remember(self, owner: str, text: str, namespace: str, key: str = "") -> Job:
        _check(text, namespace)
        if self.faults.full:
            raise Refused(402, "Storage quota exceeded")
        known = self._keyed.get((owner, key)) if key else None
        if known is not None:
            if (known.namespace, known.text) != (namespace, text):
                raise Refused(409, "idempotency_key was used with different content")
            return known
        doomed = self.faults.fail_next > 0
        self.faults.fail_next -= doomed
        job = Job(str(uuid4()), owner, namespace, text, self.clock(), doomed)
        self.jobs[job.id] = job
        if key:
            self._keyed[owner, key] = job
        return job

    def state(self, job: Job) -> str:
        age = self.clock() - job.accepted_at
        if age < self.timing.running_seconds:
            return "running"
        if job.doomed:
            return "failed"
        if age < self.timing.running_seconds + self.timing.uploaded_seconds:
            return "uploaded"
        return "done"

    def shown(self, owner: str, namespace: str | None = None) -> Iterator[Job]:
        """What the index holds, oldest first."""
        timing = self.timing
        lag = timing.running_seconds + timing.uploaded_seconds + timing.index_seconds
        now = self.clock()
        for job in self.jobs.values():
            ours = job.owner == owner and namespace in (None, job.namespace)
            kept = lag <= now - job.accepted_at < lag + timing.lease_seconds
            if ours and kept and not job.doomed:
                yield job

    def recall(self, owner: str, query: str, namespace: str, limit: int) -> dict[str, object]:
        words = set(WORD.findall(query.lower()))
        found = list(self.shown(owner, namespace))
        scored = sorted(
            ((_distance(words, job.text), -job.accepted_at, job) for job in found),
            key=lambda each: each[:2],
        )[: min(limit, 100)]
        faults = self.faults
        if faults.drop_next and scored:
            faults.drop_next -= 1
            return {"results": [], "total": 0, "dropped_count": len(scored)}
        if faults.empty_next:
            faults.empty_next -= 1
            scored = []
        if faults.short_next:
            faults.short_next -= 1
            scored = scored[: len(scored) // 2]
        results = [
            {
                "blob_id": job.blob_id,
                "text": job.text,
                "distance": distance,
                "created_at": written(job.accepted_at),
            }
            for distance, _, job in scored
        ]
        if faults.duplicates:
            results = [each for each in results for _ in range(2)]
        return {"results": results, "total": len(results)}

    def expires_at(self, job: Job) -> float:
        return job.accepted_at + self.timing.lease_seconds


def written(at: float) -> str:
    """RFC 3339 with microseconds and Z."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _distance(words: set[str], text: str) -> float:
    own = set(WORD.findall(text.lower()))
    return round(1.0 - len(words & own) / max(1, len(words | own)), 6)


def _check(text: str, namespace: str) -> None:
    if not text.strip():
        raise Refused(400, "Text cannot be empty")
    if len(text.encode("utf-8", "surrogatepass")) > TEXT_BYTES:
        raise Refused(400, "Text exceeds 65536 bytes")
    if not namespace or len(namespace.encode()) > NAMESPACE_BYTES:
        raise Refused(400, "Namespace must have 1 to 255 bytes")
