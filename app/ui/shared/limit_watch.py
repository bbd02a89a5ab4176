"""What the last answers said about each limit of the account in use: how much is left, and when it is whole again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.service.exchange import Exchange

# Requests a minute -> the service's letter for the tier, for both kinds of account.
TIERS = {500: "XS", 75: "S", 50: "M", 20: "L"}
PARTNER_TIERS = {500: "XS", 150: "S", 100: "M", 60: "L"}


def text_tier(requests_a_minute: int | None, *, partner: bool) -> str:
    """The letter of a text model's tier, "" where its limit is not known or is none of the documented ones."""
    return (PARTNER_TIERS if partner else TIERS).get(requests_a_minute or 0, "")


_NAMES = {
    "speech": "Audio",
    "voices": "Audio",
    "transcription": "Audio",
    "images": "Images",
    "embeddings": "Embedding",
}


@dataclass(frozen=True, slots=True)
class LimitLeft:
    """One limit as it was last told. `resets_at` is None for a limit that rolls."""

    name: str
    left: int
    limit: int
    resets_at: datetime | None = None

    def now(self, moment: datetime) -> LimitLeft:
        """The same at `moment`: whole again once its reset has passed."""
        if self.resets_at is not None and moment >= self.resets_at:
            return LimitLeft(self.name, self.limit, self.limit)
        return self


class LimitWatch:
    """Hears every exchange of the account in use; `clear` when the account changes."""

    def __init__(self) -> None:
        self._limits: dict[str, LimitLeft] = {}

    def clear(self) -> None:
        self._limits.clear()

    def hear(self, exchange: Exchange, *, partner: bool = False) -> None:
        info = exchange.info
        if info is None:
            return
        if info.cap_limit is not None and info.cap_remaining is not None and exchange.resource == "crypto":
            self._take("Chain calls", info.cap_remaining, info.cap_limit, info.cap_reset_at)
        if info.limit_requests is None or info.remaining_requests is None:
            return
        if exchange.resource == "chat":
            tier = text_tier(info.limit_requests, partner=partner)
            name = f"Text, tier {tier}" if tier else f"Text, {info.limit_requests} a minute"
            self._take(f"{name} requests", info.remaining_requests, info.limit_requests, info.reset_requests_at)
            if info.limit_tokens is not None and info.remaining_tokens is not None:
                self._take(f"{name} tokens", info.remaining_tokens, info.limit_tokens, info.reset_tokens_at)
            return
        name = _NAMES.get(exchange.resource, "")
        if exchange.resource == "video":
            name = "Video queue" if exchange.request.path.endswith("/queue") else "Video retrieve"
        if name:
            self._take(name, info.remaining_requests, info.limit_requests, info.reset_requests_at)

    def limits(self, now: datetime | None = None) -> tuple[LimitLeft, ...]:
        """Every limit that was heard of, as it stands now."""
        moment = now or datetime.now(UTC)
        return tuple(each.now(moment) for each in self._limits.values())

    def _take(self, name: str, left: int, limit: int, resets_at: datetime | None) -> None:
        self._limits[name] = LimitLeft(name, max(0, left), max(1, limit), resets_at)
