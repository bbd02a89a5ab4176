"""What was spent, and what is left: the billing endpoints. Beta; they need an admin key on most deployments.

An `AuthenticationFailed` from here means that the key lacks that right, not that it is wrong. A shape that changed is
a `BadResponse`: "not available", never a crash (R-VER-07). Source: service specification, account.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from pydantic import Field

from app.service.calls import Call, limit, query
from app.service.client import ServiceClient
from app.service.http.bodies import MIB
from app.service.http.downloads import save
from app.service.http.time_limits import BILLING_S
from app.service.retry import CallKind
from app.service.wire import ListEnvelope, WireModel, read_model
from app.translation import tr

CURRENCIES = ("USD", "DIEM", "BUNDLED_CREDITS")
PAGE_ROWS = (10, 1000)
MAX_LOOKBACK_DAYS = 90
MAX_EXPORT_BYTES = 256 * MIB


class BillingBalance(WireModel):
    """What the account can spend. `balances` by lower-case currency name."""

    can_consume: bool = Field(default=True, alias="canConsume")
    currency: str | None = Field(default=None, alias="consumptionCurrency")
    balances: dict[str, Decimal | None] = Field(default_factory=dict)
    diem_allocation: Decimal | None = Field(default=None, alias="diemEpochAllocation")


class InferenceDetails(WireModel):
    request_id: str = Field(default="", alias="requestId")
    prompt_tokens: int | None = Field(default=None, alias="promptTokens")
    completion_tokens: int | None = Field(default=None, alias="completionTokens")


class UsageEntry(WireModel):
    """One booking. A negative `amount` was spent."""

    at: datetime | None = Field(default=None, alias="timestamp")
    sku: str = ""
    units: Decimal = Decimal(0)
    price_usd: Decimal | None = Field(default=None, alias="pricePerUnitUsd")
    amount: Decimal = Decimal(0)
    currency: str = ""
    notes: str = ""
    details: InferenceDetails | None = Field(default=None, alias="inferenceDetails")


@dataclass(frozen=True, slots=True)
class UsagePage:
    """Bookings in the order of time. `next_cursor` alone asks for the page behind; None: this was the last."""

    entries: tuple[UsageEntry, ...]
    next_cursor: str | None


class DayUse(WireModel):
    date: str = ""
    usd: Decimal = Field(default=Decimal(0), alias="USD")
    diem: Decimal = Field(default=Decimal(0), alias="DIEM")


class ModelUse(WireModel):
    name: str = Field(default="", alias="modelName")
    unit_type: str = Field(default="", alias="unitType")
    usd: Decimal = Field(default=Decimal(0), alias="totalUsd")
    diem: Decimal = Field(default=Decimal(0), alias="totalDiem")
    units: Decimal = Field(default=Decimal(0), alias="totalUnits")


class KeyUse(WireModel):
    key_id: str | None = Field(default=None, alias="apiKeyId")
    description: str = ""
    usd: Decimal = Field(default=Decimal(0), alias="totalUsd")
    diem: Decimal = Field(default=Decimal(0), alias="totalDiem")
    units: Decimal = Field(default=Decimal(0), alias="totalUnits")


class UsageAnalytics(WireModel):
    lookback: str = ""
    by_date: tuple[DayUse, ...] = Field(default=(), alias="byDate")
    by_model: tuple[ModelUse, ...] = Field(default=(), alias="byModel")
    by_key: tuple[KeyUse, ...] = Field(default=(), alias="byKey")


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """Which bookings: from `begin` on, before `end` (aware moments), in one currency or in all."""

    begin: datetime | None = None
    end: datetime | None = None
    currency: str | None = None  # one of CURRENCIES
    page_rows: int = 1000  # 10 to 1000

    def to_params(self) -> dict[str, object]:
        """Raises `LimitExceeded`."""
        low, high = PAGE_ROWS
        limit(
            low <= self.page_rows <= high,
            "pageSize",
            tr("{low} to {high}", low=low, high=high),
            tr("{low} to {high} rows per page.", low=low, high=high),
        )
        limit(self.currency in (None, *CURRENCIES), "currency", ", ".join(CURRENCIES), tr("Unknown currency."))
        ordered = self.begin is None or self.end is None or self.begin < self.end
        limit(ordered, "endTimestamp", "startTimestamp", tr("The end must come after the start."))
        return {
            "startTimestamp": _utc(self.begin),
            "endTimestamp": _utc(self.end),
            "currency": self.currency,
            "pageSize": self.page_rows,
        }


class BillingResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def balance(self, *, background: bool = False) -> BillingBalance:
        """Return the account's balances. Raises `ServiceError`."""
        return read_model(
            BillingBalance, await self._client.get("/billing/balance", resource="billing", background=background)
        )

    async def usage(self, wanted: UsageQuery | None = None, *, cursor: str | None = None) -> UsagePage:
        """Return one page of bookings. A `cursor` goes alone, it knows its query. Raises `ServiceError`."""
        params: Mapping[str, object] = {"cursor": cursor} if cursor else (wanted or UsageQuery()).to_params()
        content = await self._client.get("/billing/usage-history", params, resource="billing")
        envelope = ListEnvelope.read(UsageEntry, content)
        following = envelope.content.get("nextCursor")
        return UsagePage(envelope.data, following if isinstance(following, str) and following else None)

    async def export_usage(self, path: Path, wanted: UsageQuery | None = None) -> None:
        """Write all bookings to `path` as CSV, page after page. Raises `ServiceError`, and then writes nothing."""
        await save(self._csv(wanted or UsageQuery()), path)

    async def _csv(self, wanted: UsageQuery) -> AsyncIterator[bytes]:
        """The bytes of all pages as one table: only the first keeps its line of names."""
        cursor: str | None = None
        while True:
            call = Call(
                "GET",
                "/billing/usage-history",
                CallKind.READ,
                "billing",
                query({"cursor": cursor} if cursor else wanted.to_params()),
                accept="text/csv",
                max_bytes=MAX_EXPORT_BYTES,
                answer_s=BILLING_S,
            )
            in_names, last = cursor is not None, b"\n"
            async with self._client.open(call) as answer:
                async for piece in answer.pieces():
                    if in_names:
                        _, end, piece = piece.partition(b"\n")
                        in_names = not end
                    if piece:
                        yield piece
                        last = piece[-1:]
                following = answer.info.next_cursor
            if following is None or following == cursor:
                return
            if last != b"\n":
                yield b"\n"
            cursor = following

    async def analytics(self, first: date, last: date) -> UsageAnalytics:
        """Return sums by day in UTC, by model and by key, of 1 to 90 days. Raises `ServiceError`."""
        allowed = tr("1 to {max_lookback_days}", max_lookback_days=MAX_LOOKBACK_DAYS)
        sentence = tr("Records go back {allowed} days.", allowed=allowed)
        limit(0 <= (last - first).days < MAX_LOOKBACK_DAYS, "startDate", allowed, sentence)
        params = {"startDate": first.isoformat(), "endDate": last.isoformat()}
        return read_model(
            UsageAnalytics, await self._client.get("/billing/usage-analytics", params, resource="billing")
        )


def _utc(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
