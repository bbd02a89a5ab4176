"""Calls per minute, kept below the service's own limits, so that it does not have to refuse any.

The defaults are the documented limits of an ordinary account; `set` takes the real ones from the account's rate limits.
Source: service specification, rate limits (R-LIM-05..09, R-LIM-14, R-LIM-29, R-RPC-44).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

WINDOW_S = 60.5  # a minute, and a little for calls that travel faster than the one before
PER_MINUTE: Mapping[str, int] = {
    "image": 20,
    "audio": 60,
    "embedding": 500,
    "video_queue": 40,
    "video_retrieve": 120,
    "crypto": 90,  # of 100: a refusal there also stops the calls of every other program with the same key
}
PARTNER_PER_MINUTE: Mapping[str, int] = {**PER_MINUTE, "image": 60, "audio": 120, "embedding": 500}


class Pace:
    """Tells each call when it may go. A kind of call without a limit goes at once."""

    def __init__(
        self,
        limits: Mapping[str, int] = PER_MINUTE,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._limits = dict(limits)
        self._clock = clock
        self._sleep = sleep
        self._times: dict[str, deque[float]] = {}

    def set(self, name: str, per_minute: int) -> None:
        """Use another limit for `name` from now on."""
        self._limits[name] = max(1, per_minute)

    async def turn(self, name: str, on_wait: Callable[[float], None]) -> None:
        """Wait for this call's turn, first come first served. `on_wait` hears the seconds when there is a wait."""
        allowed = self._limits.get(name)
        if allowed is None:
            return
        times = self._times.setdefault(name, deque())
        now = self._clock()
        while times and times[0] <= now - WINDOW_S:
            times.popleft()
        at = now if len(times) < allowed else times[-allowed] + WINDOW_S
        times.append(at)
        if at > now:
            on_wait(at - now)
            try:
                await self._sleep(at - now)
            except asyncio.CancelledError:
                times.remove(at)
                raise
