"""What the last answers said about each limit of the account in use: how much is left, and when it is whole again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from app.core.current_account import is_same_window
from app.service.documented_limits import LIMITS
from app.translation import tr

if TYPE_CHECKING:
    from app.service.exchange import Exchange

LONG_AGO = datetime.min.replace(tzinfo=UTC)


def text_limits(tier: str, per_minute: int = 0) -> tuple[str, str]:
    """What the limits of requests and of tokens of a tier are called; without one, by its requests per minute."""
    if not tier:
        number = per_minute
        return (
            tr("Text requests, {number} per minute", number=number),
            tr("Text tokens, {number} per minute", number=number),
        )
    return tr("Text requests, tier {tier}", tier=tier), tr("Text tokens, tier {tier}", tier=tier)


# The names of limits, by which their values are kept: the Wallet shows those that no answer has told yet as well.
AUDIO, IMAGES, EMBEDDINGS = tr("Audio"), tr("Images"), tr("Embeddings")
VIDEO_QUEUE, VIDEO_RETRIEVAL = tr("Video queue"), tr("Video retrieval")
BLOCKCHAIN_CALLS = tr("Blockchain calls")
# Which limit a call counts against, by how method and path begin. Lists, prices and states have none of these.
_NAMES = {
    "POST /audio/": AUDIO,
    "POST /image/": IMAGES,
    "POST /images/": IMAGES,
    "POST /embeddings": EMBEDDINGS,
    "POST /video/queue": VIDEO_QUEUE,
    "POST /video/retrieve": VIDEO_RETRIEVAL,
}


@dataclass(frozen=True, slots=True)
class LimitLeft:
    """One limit as it was last told, at `told_at`. `resets_at` is None for a limit that rolls."""

    name: str
    left: int
    limit: int
    resets_at: datetime | None = None
    told_at: datetime = LONG_AGO

    def now(self, moment: datetime) -> LimitLeft:
        """The same at `moment`: whole again once its reset has passed."""
        if self.resets_at is not None and moment >= self.resets_at:
            return replace(self, left=self.limit, resets_at=None)
        return self


class RateLimitWatch:
    """Hears every exchange of the account in use; `clear` when the account changes."""

    def __init__(self) -> None:
        self._limits: dict[str, LimitLeft] = {}

    def clear(self) -> None:
        self._limits.clear()

    def observe(self, exchange: Exchange, limit_class: str = "paid") -> None:
        info = exchange.info
        if info is None:
            return
        at = info.received_at
        if info.cap_limit is not None and info.cap_remaining is not None and exchange.resource == "crypto":
            self._take(BLOCKCHAIN_CALLS, info.cap_remaining, info.cap_limit, info.cap_reset_at, at)
        if info.limit_requests is None or info.remaining_requests is None:
            return
        if exchange.resource == "chat":
            tier = LIMITS[limit_class].tier(info.limit_requests)
            requests, tokens = text_limits(tier, info.limit_requests)
            self._take(requests, info.remaining_requests, info.limit_requests, info.reset_requests_at, at)
            if info.limit_tokens is not None and info.remaining_tokens is not None:
                self._take(tokens, info.remaining_tokens, info.limit_tokens, info.reset_tokens_at, at)
            return
        asked = f"{exchange.request.method} {exchange.request.path}"
        name = next((name for beginning, name in _NAMES.items() if asked.startswith(beginning)), "")
        known = self._limits.get(name)
        # a refusal at the door carries the general limit, not that of what was asked for
        is_general = info.status >= 400 and (known is None or known.limit != info.limit_requests)
        if name and not is_general:
            self._take(name, info.remaining_requests, info.limit_requests, info.reset_requests_at, at)

    def limits(self, now: datetime | None = None) -> tuple[LimitLeft, ...]:
        """Every limit that was heard of, as it stands now."""
        moment = now or datetime.now(UTC)
        return tuple(each.now(moment) for each in self._limits.values())

    def _take(self, name: str, left: int, limit: int, resets_at: datetime | None, at: datetime) -> None:
        """A long answer ends after shorter ones that began later: what was told last counts, not what ended last."""
        known = self._limits.get(name)
        if known is None or known.told_at <= at:
            if known is not None and is_same_window(known.resets_at, resets_at):
                left = min(left, known.left)
            self._limits[name] = LimitLeft(name, max(0, left), max(1, limit), resets_at, at)
