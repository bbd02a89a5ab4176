"""Calls and tokens per minute, kept below the service's own limits, so that it does not have to refuse any.

The documented limits hold until the service has told the account's own, in its list of limits or in the headers of an
answer. Source: service specification, rate limits (R-LIM-01..14, R-LIM-29, R-RPC-44).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

from app.service.documented_limits import LIMITS

WINDOW_S = 60.5  # a minute, and a little for calls that travel faster than the one before
TEE_PER_MINUTE = 10  # evidence of enclaves and receipts together, for one address
SHARE = {"crypto": 0.9}  # a refusal there also stops the calls of every other program with the same key
_TEXT = "text:"


def text_pace(model: str) -> str:
    """The name under which the calls of a text model are counted: each model has limits of its own."""
    return _TEXT + model


class RateLimiter:
    """Tells each call when it may go. A kind of call without a limit goes at once.

    `limit_class`: whose documented limits hold where the service has told none. A text model that has not told its own
    yet, which its first answer does, has those of the roomiest tier: they hold back a runaway.
    """

    def __init__(
        self,
        limits: Mapping[str, int] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        *,
        limit_class: str = "paid",
    ) -> None:
        self._limits = dict(limits or {})
        self._documented: Mapping[str, int] = {}
        self._class = limit_class
        if limits is None:
            self.grant(limit_class)
        self._token_limits: dict[str, int] = {}
        self._clock = clock
        self._sleep = sleep
        self._times: dict[str, deque[float]] = {}
        self._tokens: dict[str, deque[tuple[float, int]]] = {}

    def grant(self, limit_class: str) -> None:
        """Keep to the documented limits of a class of accounts wherever the service has told none."""
        limits = LIMITS[limit_class]
        self._class = limit_class
        self._documented = {
            "image": limits.image,
            "audio": limits.audio,
            "embedding": limits.embedding,
            "video_queue": limits.video_queue,
            "video_retrieve": limits.video_retrieve,
            "tee": TEE_PER_MINUTE,
            "crypto": limits.crypto,
        }

    def set(self, name: str, per_minute: int, tokens_per_minute: int | None = None) -> None:
        """Use other limits for `name` from now on."""
        self._limits[name] = max(1, per_minute)
        if tokens_per_minute is not None:
            self._token_limits[name] = max(1, tokens_per_minute)

    def told(self, name: str) -> int | None:
        """Return the limit per minute that the service stated for `name`, None while only the documented ones hold."""
        return self._limits.get(name)

    def observe(self, name: str, requests: int | None, tokens: int | None, cap: int | None = None) -> None:
        """Take the limits that an answer's headers state; `cap` is the chain proxy's. None: it does not state one."""
        if name == "crypto":
            requests = cap
        if name and requests is not None and requests > 0:
            self.set(name, requests, tokens if tokens is not None and tokens > 0 else None)

    def spend(self, name: str, tokens: int) -> None:
        """Count the tokens of an answer that came."""
        self._tokens.setdefault(name, deque()).append((self._clock(), tokens))

    async def turn(self, name: str, on_wait: Callable[[float], None]) -> None:
        """Wait for this call's turn, first come first served. `on_wait` hears the seconds when there is a wait."""
        usual = LIMITS[self._class].text["XS"] if name.startswith(_TEXT) else None
        allowed = self._limits.get(name, self._documented.get(name, usual))
        if allowed is None:
            return
        allowed = max(1, int(allowed * SHARE.get(name, 1)))
        times = self._times.setdefault(name, deque())
        now = self._clock()
        while times and times[0] <= now - WINDOW_S:
            times.popleft()
        at = now if len(times) < allowed else times[-allowed] + WINDOW_S
        at = max(at, self._when_tokens_are_left(name, now))
        times.append(at)
        if at > now:
            on_wait(at - now)
            try:
                await self._sleep(at - now)
            except asyncio.CancelledError:
                times.remove(at)
                raise

    def _when_tokens_are_left(self, name: str, now: float) -> float:
        """When the tokens of the last minute are below the limit again."""
        spent = self._tokens.get(name)
        if not spent:
            return now
        while spent and spent[0][0] <= now - WINDOW_S:
            spent.popleft()
        over = sum(tokens for _, tokens in spent) - self._token_limits.get(name, LIMITS[self._class].text_tokens)
        at = now
        for moment, tokens in spent:
            if over < 0:
                break
            at = moment + WINDOW_S
            over -= tokens
        return at
