"""What the proxy remembers: caps per caller, answers under idempotency keys, and the audit log of sent transactions."""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import MutableMapping
from dataclasses import dataclass, field

from app.sandbox.http.errors import HttpError, Json
from app.sandbox.world import Caller, PersistentDict, World, iso

DAY_S = 86_400.0
MINUTE_S = 60.0
AUDIT_LENGTH = 1000
KEPT_ANSWERS = 1000


@dataclass(frozen=True, slots=True)
class Caps:
    requests_per_minute: int
    credits_per_day: int


PAID = Caps(100, 10_000_000)
STAFF = Caps(1_000, 100_000_000)
UNLIMITED = Caps(10**9, 10**15)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    digest: bytes  # of the exact bytes of the request's body
    until: float
    body: bytes
    headers: dict[str, str]


@dataclass(slots=True)
class RpcMemory:
    """One caller's."""

    answers: MutableMapping[str, StoredResponse]
    window_from: float = -math.inf
    requests: int = 0
    spent: deque[tuple[float, int]] = field(default_factory=deque)  # (when, credits) of the last 24 h

    def count(self, now: float, caps: Caps) -> dict[str, str]:
        """Count one request; return the headers about it. Raises `HttpError` 429 naming the cap, with the headers."""
        if not 0 <= now - self.window_from < MINUTE_S:
            self.window_from, self.requests = now, 0
        used_up = self.requests >= caps.requests_per_minute
        self.requests += not used_up
        headers = {
            "X-RateLimit-Limit": str(caps.requests_per_minute),
            "X-RateLimit-Remaining": str(caps.requests_per_minute - self.requests),
            "X-RateLimit-Reset": str(math.ceil(self.window_from + MINUTE_S)),
        }
        if used_up:
            raise capped(f"requests-per-minute cap of {caps.requests_per_minute} exceeded", headers)
        return headers

    def credits_today(self, now: float) -> int:
        while self.spent and not 0 <= now - self.spent[0][0] < DAY_S:
            self.spent.popleft()
        return sum(credits for _, credits in self.spent)

    def kept(self, key: str, body: bytes, now: float) -> StoredResponse | None:
        """Return the answer under a key. Raises `HttpError` 400 when it belongs to another body."""
        answer = self.answers.get(key)
        if answer is None or not answer.until - DAY_S <= now < answer.until:
            return None
        if answer.digest != hashlib.sha256(body).digest():
            raise HttpError(
                400,
                {
                    "error": "The Idempotency-Key was already used with a different body",
                    "details": {"_errors": ["Idempotency-Key reused with a different body"]},
                },
            )
        return answer

    def keep(self, key: str, body: bytes, now: float, answer: bytes, headers: dict[str, str]) -> None:
        for old in [name for name, kept in self.answers.items() if kept.until <= now]:
            del self.answers[old]
        self.answers[key] = StoredResponse(hashlib.sha256(body).digest(), now + DAY_S, answer, headers)
        while len(self.answers) > KEPT_ANSWERS:
            del self.answers[next(iter(self.answers))]


def capped(custom_message: str, headers: dict[str, str]) -> HttpError:
    """E5."""
    body: Json = {"error": "Rate limit exceeded", "customMessage": custom_message}
    return HttpError(429, body, {**headers, "x-ratelimit-type": "user"})


def memory_of(world: World, caller: Caller) -> RpcMemory:
    memory = caller.kept.get("rpc")
    if memory is None:
        memory = caller.kept["rpc"] = RpcMemory(world.table(f"answers {caller.id}", StoredResponse))
    assert isinstance(memory, RpcMemory)
    return memory


def audit_of(world: World) -> PersistentDict[dict[str, str]]:
    return world.table("audit", dict[str, str])


def audit(world: World, caller: Caller, network: str, request_id: str, transaction_hash: str) -> None:
    """Note a sent transaction by its hash; the signed payload itself is not kept."""
    log = audit_of(world)
    log[request_id + transaction_hash] = {
        "at": iso(world.clock.now()),
        "hash": transaction_hash,
        "network": network,
        "request_id": request_id,
        "caller": caller.id,
    }
    while len(log) > AUDIT_LENGTH:
        del log[next(iter(log))]
