"""The rate limits that the service documents, for each class of account.

They hold wherever the service has not told an account's own. Source: service specification, rate limits (R-LIM-01..16,
R-RPC-44, R-RPC-45).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DocumentedLimits:
    """Requests per minute by kind of call, and what else is limited.

    `text`: requests per minute of each tier of text models. `text_tokens`: tokens per minute of the roomiest tier.
    `credits_a_day`: credits of blockchain calls within 24 hours.
    """

    text: Mapping[str, int] = field(default_factory=lambda: {"XS": 500, "S": 75, "M": 50, "L": 20})
    text_tokens: int = 1_000_000
    image: int = 20
    audio: int = 60
    embedding: int = 500
    video_queue: int = 40
    video_retrieve: int = 120
    crypto: int = 100
    credits_a_day: int = 10_000_000

    def tier(self, requests_a_minute: int | None) -> str:
        """Return the letter of a text model's tier, "" for a limit that is unknown or none of the documented ones."""
        return next((tier for tier, requests in self.text.items() if requests == requests_a_minute), "")


_PARTNER_TEXT = {"XS": 500, "S": 150, "M": 100, "L": 60}
LIMITS: Mapping[str, DocumentedLimits] = {
    "paid": DocumentedLimits(),
    "partner": DocumentedLimits(text=_PARTNER_TEXT, text_tokens=2_000_000, image=60, audio=120),
    "staff": DocumentedLimits(crypto=1_000, credits_a_day=100_000_000),  # only these two are documented
}
