"""Retry policy: when to retry, how long to wait, and the failure budget that keeps the service from blocking us.

A loop of our own rather than a retry library: what may be repeated depends on what a repetition costs, the wait on
what the service said, each try passes the budget first, and tests turn the clock.
Source: service specification, retry rules and abuse protection (R-ERR-10..14, R-LIM-28).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from app.service.errors import (
    AbuseBlocked,
    CallsPaused,
    ConnectionFailed,
    RateLimited,
    ServerFailed,
    ServiceError,
    StreamCut,
    TimedOut,
)
from app.translation import tr

MAX_ATTEMPTS = 4
BASE_WAIT_S = 0.5
MAX_BACKOFF_S = 30.0
MAX_RESET_WAIT_S = 120.0  # a longer wait is the person's decision
# Failures to connect that the next try meets again; a proxy may lock a user out whose password is wrong too often.
LASTING_FAULTS = frozenset({"proxy_auth", "proxy_kind", "proxy_password", "certificate", "ca_file"})


class CallKind(StrEnum):
    """What a repetition of a call could cost."""

    READ = "read"  # nothing
    IDEMPOTENT = "idempotent"  # nothing: the service recognizes a repetition, or asking twice is the same
    PAID = "paid"  # the price once more, if the lost call was carried out
    UPLOAD = "upload"  # the same
    QUEUE = "queue"  # a second job; not even a connection that never stood is tried again
    ONCE = "once"  # money moves: never repeated by itself


def wait_before_retry(kind: CallKind, error: ServiceError, attempt: int, jitter: Callable[[], float]) -> float | None:
    """Return the seconds to wait before try `attempt + 1`, or None when the error belongs to the caller now.

    `attempt` counts the tries made, from 1. `jitter` gives 0..1: half of an exponential backoff is fixed, half random,
    so that tries spread, none follows at once, and no wait is shorter than the one before it.
    Never asked once the first byte of an answer with status 200 was handed out.
    """
    if attempt >= MAX_ATTEMPTS or kind is CallKind.ONCE:
        return None
    backoff_s = min(MAX_BACKOFF_S, BASE_WAIT_S * 2.0 ** (attempt - 1)) * (1 + jitter()) / 2
    if isinstance(error, AbuseBlocked):
        return 0.0  # the failure budget holds every call for as long as the block lasts
    if isinstance(error, RateLimited):
        wait_s = error.retry_after_s
        if not wait_s:  # no time given, or one that is over
            return backoff_s
        return wait_s + min(backoff_s, 1.0) if wait_s <= MAX_RESET_WAIT_S else None
    repeatable = kind in (CallKind.READ, CallKind.IDEMPOTENT)
    if isinstance(error, ServerFailed):
        # A gateway that gave up (502, 504) does not know whether the service behind it finished the work.
        if error.status in (500, 503) or (repeatable and error.status in (502, 504)):
            return max(backoff_s, min(error.retry_after_s or 0.0, MAX_BACKOFF_S))
        return None
    if isinstance(error, (ConnectionFailed, TimedOut, StreamCut)):
        if error.code in LASTING_FAULTS:
            return None
        harmless = error.surely_not_sent and kind is not CallKind.QUEUE
        return backoff_s if repeatable or harmless else None
    return None


@dataclass(frozen=True, slots=True)
class BudgetState:
    """What a banner needs. `pausing`: background work rests. `holding`: every call waits, for `resumes_in_s`."""

    failures: int
    holding: bool
    resumes_in_s: float
    pausing: bool = False


class FailureBudget:
    """Counts refusals (status 400 and above) of the last 30 s for one key, whoever calls with it.

    The service blocks everything for 30 s after more than 20. From 12 on, refusals and calls without a response
    together, background calls raise `CallsPaused`, which leaves the rest to what a person asks for. At 18, every
    further call waits. The wait ends by itself and can be canceled. Listeners are called when the state changes, never
    more often than calls are answered.
    """

    WINDOW_S = 30.0
    PAUSE_AT = 12
    HOLD_AT = 18
    BLOCK_S = 30.0

    def __init__(
        self,
        on_change: Callable[[BudgetState], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listeners = [on_change] if on_change is not None else []
        self._clock = clock
        self._failures: deque[float] = deque()
        self._blocked_until = 0.0
        self._unanswered = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._shown = BudgetState(0, holding=False, resumes_in_s=0.0)

    @property
    def state(self) -> BudgetState:
        resumes_in_s = self._resumes_in_s(self.HOLD_AT)
        pausing = resumes_in_s > 0 or len(self._failures) >= self.PAUSE_AT
        return BudgetState(len(self._failures), resumes_in_s > 0, resumes_in_s, pausing)

    async def admit(self, *, background: bool = False, on_hold: Callable[[float], None] | None = None) -> Admission:
        """Wait until a call may be sent. `on_hold` is told the seconds when it has to wait.

        Raises `CallsPaused` for background calls instead of waiting.
        """
        while True:
            held_s = self._resumes_in_s(self.HOLD_AT)
            if background:
                held_s = held_s or self._resumes_in_s(max(1, self.PAUSE_AT - self._unanswered))
                if held_s:
                    raise CallsPaused(
                        tr("Too many recent requests failed, so this one was not sent."), resumes_in_s=held_s
                    )
            if not held_s and len(self._failures) + self._unanswered < self.HOLD_AT:
                self._unanswered += 1
                return Admission(self)
            if held_s and on_hold is not None:
                on_hold(held_s)
            await self._changed(held_s or self._resumes_in_s(1) or None)

    def refresh(self) -> None:
        """Look at the clock again. Needed only by a test that turned it."""
        self._publish()

    def listen(self, listener: Callable[[BudgetState], None]) -> None:
        """Tell `listener` every change from now on, and at once what is not as usual."""
        self._listeners.append(listener)
        if self.state.pausing:
            listener(self.state)
            self._publish()  # nobody may have kept the time until now

    def forget_listener(self, listener: Callable[[BudgetState], None]) -> None:
        self._listeners = [each for each in self._listeners if each != listener]
        if not self._listeners:
            self.close()

    def close(self) -> None:
        """Keep no time any more: nobody listens."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def answered(self, status: int) -> None:
        """One call got its status."""
        self._unanswered -= 1
        if status >= 400:
            self._failures.append(self._clock())
        self._publish()

    def forget(self) -> None:
        """One call ended without having been sent."""
        self._unanswered -= 1
        self._publish()

    def block(self) -> None:
        """The service said that it blocks us: hold everything for as long as it does."""
        self._blocked_until = self._clock() + self.BLOCK_S
        self._publish()

    def _resumes_in_s(self, allowed: int) -> float:
        """Seconds until fewer than `allowed` failures are in the window and no block is on; 0 means now."""
        now = self._clock()
        while self._failures and now - self._failures[0] >= self.WINDOW_S:
            self._failures.popleft()
        surplus = len(self._failures) - allowed
        drained = self._failures[surplus] + self.WINDOW_S if surplus >= 0 else 0.0
        return max(0.0, drained - now, self._blocked_until - now)

    def _publish(self) -> None:
        """Wake who waits, tell the window, and come back when the image changes by itself."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        state = self.state
        self.close()
        next_change_s = state.resumes_in_s or self._resumes_in_s(self.PAUSE_AT)
        if next_change_s and self._listeners:
            self._timer = asyncio.get_running_loop().call_later(next_change_s + 0.01, self._publish)
        old = self._shown
        if (state.failures, state.holding, state.pausing) != (old.failures, old.holding, old.pausing):
            self._shown = state
            for listener in self._listeners:
                listener(state)

    async def _changed(self, timeout_s: float | None) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=timeout_s)
        finally:
            self._waiters.discard(waiter)


class Admission:
    """Permission to send one call; must end in exactly one `answered` or `close`, later ones do nothing."""

    def __init__(self, budget: FailureBudget) -> None:
        self._budget: FailureBudget | None = budget

    def answered(self, status: int) -> None:
        budget, self._budget = self._budget, None
        if budget is not None:
            budget.answered(status)

    def lost(self) -> None:
        """The call may have been sent and brought no status. The service may have refused it, so it counts."""
        self.answered(599)

    def close(self) -> None:
        budget, self._budget = self._budget, None
        if budget is not None:
            budget.forget()


def jitter() -> float:
    """0..1, anew each time."""
    return random.random()  # noqa: S311 - spreads load, guards nothing


def wait_reason(error: ServiceError) -> str:
    """The word for why a call waits: one of those of `RetryWait`."""
    if isinstance(error, RateLimited):
        return "rate_limit"
    return "server" if isinstance(error, ServerFailed) else "connection"
