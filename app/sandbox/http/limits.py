"""Requests and tokens per minute by class and tier, and the block after too many failed attempts.

Figures: wire reference, "Rate limits" (R-LIM-01 to 14) and "Abuse protection" (R-ERR-12 to 14).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

WINDOW_S = 60.0
FAILURES_ALLOWED = 20
FAILURE_WINDOW_S = 30.0
BLOCK_S = 30.0


class Allowance(NamedTuple):
    """Per minute. `tokens` is None for classes that count requests only."""

    requests: int
    tokens: int | None = None


DEFAULT = {
    "XS": Allowance(500, 1_000_000),
    "S": Allowance(75, 750_000),
    "M": Allowance(50, 750_000),
    "L": Allowance(20, 500_000),
    "image": Allowance(20),
    "audio": Allowance(60),
    "embedding": Allowance(500),
    "video_queue": Allowance(40),
    "video_retrieve": Allowance(120),
    "other": Allowance(1000),  # lists and account calls: the reference states no figure, so a roomy one
}
PARTNER = {
    **DEFAULT,
    "XS": Allowance(500, 2_000_000),
    "S": Allowance(150, 1_500_000),
    "M": Allowance(100, 1_500_000),
    "L": Allowance(60, 1_000_000),
    "image": Allowance(60),
    "audio": Allowance(120),
}


def allowance(tier: str, *, partner: bool) -> Allowance:
    return (PARTNER if partner else DEFAULT)[tier]


@dataclass(slots=True)
class _Window:
    started_at: float
    requests: int = 0
    tokens: int = 0


class RateLimitWindow(NamedTuple):
    """One state of one window. `reset_at`: Unix seconds; `exceeded`: "RPM", "TPM" or None."""

    allowance: Allowance
    requests_left: int
    tokens_left: int | None
    reset_at: int
    resets_in_s: int
    exceeded: str | None = None

    def headers(self) -> dict[str, str]:
        headers = {
            "x-ratelimit-limit-requests": str(self.allowance.requests),
            "x-ratelimit-remaining-requests": str(self.requests_left),
            "x-ratelimit-reset-requests": str(self.reset_at),
        }
        if self.allowance.tokens is not None:
            headers["x-ratelimit-limit-tokens"] = str(self.allowance.tokens)
            headers["x-ratelimit-remaining-tokens"] = str(self.tokens_left)
            headers["x-ratelimit-reset-tokens"] = str(self.resets_in_s)
        return headers


class RateLimits:
    """One caller's windows of 60 s, each begun by the first request after the last one ended."""

    def __init__(self) -> None:
        self._windows: dict[str, _Window] = {}

    def admit(self, name: str, allowed: Allowance, now: float) -> RateLimitWindow:
        """Count one request, unless the window is used up; then nothing is counted and `exceeded` says what was."""
        window = self._window(name, now)
        exceeded = None
        if window.requests >= allowed.requests:
            exceeded = "RPM"
        elif allowed.tokens is not None and window.tokens >= allowed.tokens:
            exceeded = "TPM"
        else:
            window.requests += 1
        return self._headroom(window, allowed, now, exceeded)

    def peek(self, name: str, allowed: Allowance, now: float) -> RateLimitWindow:
        return self._headroom(self._window(name, now), allowed, now, None)

    def use_tokens(self, name: str, tokens: int, now: float) -> None:
        self._window(name, now).tokens += tokens

    def _window(self, name: str, now: float) -> _Window:
        window = self._windows.get(name)
        if window is None or not 0 <= now - window.started_at < WINDOW_S:
            window = self._windows[name] = _Window(now)
        return window

    def _headroom(self, window: _Window, allowed: Allowance, now: float, exceeded: str | None) -> RateLimitWindow:
        ends_at = window.started_at + WINDOW_S
        tokens_left = None if allowed.tokens is None else max(0, allowed.tokens - window.tokens)
        return RateLimitWindow(
            allowance=allowed,
            requests_left=max(0, allowed.requests - window.requests),
            tokens_left=tokens_left,
            reset_at=math.ceil(ends_at),
            resets_in_s=max(0, math.ceil(ends_at - now)),
            exceeded=exceeded,
        )


class AbuseGuard:
    """The 21st failure inside 30 s blocks everything for 30 s; blocked answers do not make it longer."""

    def __init__(self) -> None:
        self._failures: deque[float] = deque(maxlen=FAILURES_ALLOWED + 1)
        self._blocked_until = -math.inf

    def blocked_for_s(self, now: float) -> int:
        """Return the seconds that the block still lasts, rounded up; 0 when there is none."""
        left = self._blocked_until - now
        return math.ceil(left) if 0 < left <= BLOCK_S else 0

    def failed(self, now: float) -> bool:
        """Count one failed answer. True when this one starts the block."""
        self._failures.append(now)
        recent = [at for at in self._failures if 0 <= now - at < FAILURE_WINDOW_S]
        if len(recent) <= FAILURES_ALLOWED:
            return False
        self._blocked_until = now + BLOCK_S
        self._failures.clear()
        return True
