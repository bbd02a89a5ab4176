"""Rate limits and failure budget of one key at one host, shared by every client that calls with it.

The service counts refusals and calls by key, whoever asks: the account in use, a check of the same key in Settings,
another account with that key, a top-up. The registry knows keys by a fingerprint alone, made with a secret that dies
with the process. Source: service specification, abuse protection and rate limits (R-ERR-11..14, R-LIM-28).
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from app.service.addresses import origin
from app.service.errors import ConnectionFailed, ServiceError
from app.service.rate_limiter import RateLimiter
from app.service.retry import FailureBudget

LONGEST_HOLD_S = 300.0
# How long nobody asks in the background after so many failures in a row to reach the service. Shorter than the gaps of
# the one watcher that looks for the way back (5 to 60 s), so that it is never the one who is turned away.
UNREACHABLE_GAPS_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
WALLET_CALLS_AT_ONCE = 5  # a sixth paid call of a wallet is refused with X402_CONCURRENCY_LIMIT

Asked = TypeVar("Asked")


class KeyLimits:
    """The failure budget, the pace and the limits met of one key at one host. Buckets are named as in `Call.bucket`."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        budget: FailureBudget | None = None,
        pace: RateLimiter | None = None,
    ) -> None:
        self.budget = budget or FailureBudget()
        self.pace = pace or RateLimiter()
        self._clock = clock
        self._resets: dict[str, float] = {}
        self._failure: tuple[str, str | None] | None = None  # words and code of the last one
        self._failures = 0
        self._failed_at = 0.0
        self._asked: dict[str, asyncio.Future[object]] = {}
        self.wallet_places = asyncio.Semaphore(WALLET_CALLS_AT_ONCE)

    # Limits met

    def met(self, bucket: str, wait_s: float) -> None:
        """Record a refusal: the next window of the bucket begins in `wait_s`, but is tried in five minutes at most.

        Only a call that passes clears a limit, so one odd answer ("tomorrow") must not stop all of them until then.
        """
        self._resets[bucket] = max(self._clock() + min(wait_s, LONGEST_HOLD_S), self._resets.get(bucket, 0.0))

    def passed(self, bucket: str) -> None:
        """A call of this bucket was let through: whatever was said before is over."""
        self._resets.pop(bucket, None)

    def resets_in_s(self, bucket: str) -> float:
        """Seconds until the service takes calls of this bucket again; 0 means now."""
        return max(0.0, self._resets.get(bucket, 0.0) - self._clock())

    # Whether the service can be reached

    def reached(self) -> None:
        self._failure, self._failures = None, 0

    def record_unreachable(self, failure: ServiceError) -> None:
        self._failure, self._failed_at = (failure.message, failure.code), self._clock()
        self._failures += 1

    @property
    def unreachable_error(self) -> ConnectionFailed | None:
        """Why nobody asks in the background for the moment; None when it is time to ask."""
        if self._failure is None:
            return None
        gap_s = UNREACHABLE_GAPS_S[min(self._failures, len(UNREACHABLE_GAPS_S)) - 1]
        if self._clock() >= self._failed_at + gap_s:
            return None
        message, code = self._failure
        return ConnectionFailed(message, code=code, surely_not_sent=True)

    # Questions that several ask at once

    async def share(self, address: str, ask: Callable[[], Awaitable[Asked]], *, background: bool = False) -> Asked:
        """Return the result of `ask`, or in the background that of a call to the same address already under way.

        `address` is the full URL of the GET: two accounts with one key may have two paths at one host. A call that a
        person waits for is never answered by another. If a shared call is canceled, the next one asks. Raises the
        error of the call.
        """
        while background and (asked := self._asked.get(address)) is not None:
            await asyncio.wait([asked])
            if not asked.cancelled():
                return cast(Asked, asked.result())  # one address has one type of result
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._asked[address] = future
        try:
            answer = await ask()
        except ServiceError as error:
            future.set_exception(error)
            future.exception()  # nobody else may have asked
            raise
        else:
            future.set_result(answer)
            return answer
        finally:
            if self._asked.get(address) is future:
                del self._asked[address]
            future.cancel()  # does nothing to one that is done


class LimitsRegistry:
    """The limits of every key that called since the start, by host and fingerprint. One for the whole program."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._known: dict[tuple[object, bytes], KeyLimits] = {}

    def of(self, base_url: str, credential: str, limit_class: str = "paid") -> KeyLimits:
        """Return the limits of `credential` (a key, a wallet's address, "" for none) at the host of `base_url`.

        The documented limits of `limit_class` hold from now on where the service has told none.
        """
        fingerprint = hashlib.blake2b(credential.encode(), key=self._secret, digest_size=16).digest()
        limits = self._known.setdefault(
            (origin(base_url), fingerprint), KeyLimits(self._clock, budget=FailureBudget(clock=self._clock))
        )
        limits.pace.grant(limit_class)
        return limits
