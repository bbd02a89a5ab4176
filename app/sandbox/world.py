"""What the Sandbox remembers while it runs: its clock, who called, what they paid, and what was asked of it.

Everything is in memory. No key is kept here: callers are known by a short fingerprint.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Protocol

from app.sandbox.faults import Faults
from app.sandbox.limits import AbuseGuard, RateLimits
from app.sandbox.request_log import RequestLog

START_BALANCE_USD = Decimal("100")
DAY_S = 86_400


class Clock:
    """Unix time in seconds that a test can turn; it never runs backwards by itself."""

    def __init__(self, source: Callable[[], float] | None = None) -> None:
        self._source = source or time.time
        self.offset_s = 0.0

    def now(self) -> float:
        return self._source() + self.offset_s

    def utc(self) -> datetime:
        return datetime.fromtimestamp(self.now(), UTC)


def iso(moment: float | datetime) -> str:
    """`2026-01-09T03:23:53.708Z`, the form of every timestamp in a body."""
    at = moment if isinstance(moment, datetime) else datetime.fromtimestamp(moment, UTC)
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of the ledger. `amount_usd` is negative: money that went out."""

    at: float
    sku: str
    units: Decimal
    price_per_unit_usd: Decimal
    amount_usd: Decimal
    request_id: str
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    currency: str = "USD"  # or "DIEM": paid from the day's credits, one unit for one USD


class Ledger:
    """A prepaid balance in USD, really charged. A call may take it below zero; the next paid one is then refused.

    Daily credits are spent first. What is left of them does not last: at 00:00 UTC there are `daily_diem` again.
    """

    def __init__(self, balance_usd: Decimal = START_BALANCE_USD) -> None:
        self.balance_usd = balance_usd
        self.balance_diem = Decimal(0)
        self.daily_diem = Decimal(0)
        self.charges: list[Charge] = []
        self._day = 0

    @property
    def empty(self) -> bool:
        return self.balance_usd + self.balance_diem <= 0

    def give_daily(self, diem: Decimal, now: float) -> None:
        """Set the day's credits, for today and for each day to come."""
        self.balance_diem = self.daily_diem = diem
        self._day = int(now // DAY_S)

    def refill(self, now: float) -> None:
        """Begin a new day where the clock has come to one. Days begin at 00:00 UTC."""
        if int(now // DAY_S) != self._day:
            self.give_daily(self.daily_diem, now)

    def charge(self, charge: Charge) -> None:
        """Book `charge`; where the day's credits cover a part of it, as two lines."""
        owed = -charge.amount_usd
        daily = min(max(self.balance_diem, Decimal(0)), owed)
        if daily > 0:
            share = daily / owed
            self.balance_diem -= daily
            self.charges.append(replace(charge, amount_usd=-daily, units=charge.units * share, currency="DIEM"))
            charge = replace(charge, amount_usd=daily - owed, units=charge.units * (1 - share))
        if daily < owed or owed <= 0:
            self.balance_usd += charge.amount_usd
            self.charges.append(charge)


@dataclass(slots=True)
class Caller:
    """Whoever stands behind one credential."""

    id: str
    created_at: float
    ledger: Ledger = field(default_factory=Ledger)
    limits: RateLimits = field(default_factory=RateLimits)
    abuse: AbuseGuard = field(default_factory=AbuseGuard)
    limit_log: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=50))
    prompt_cache: dict[str, float] = field(default_factory=dict)  # fingerprint of a prefix -> until when it is warm
    kept: dict[str, Any] = field(default_factory=dict)  # what endpoints keep for this caller, each under its own name


@dataclass(slots=True)
class Settings:
    """What may be changed while the Sandbox runs."""

    dialect: str = "service"
    tokens_per_second: float = 80.0  # 0: as fast as the socket takes it
    partner: bool = False
    staff: bool = False  # the higher caps of the crypto proxy
    timestamp_header: bool = False
    retry_count_header: int | None = None
    any_key: bool = False  # permissive: every non-empty key is a caller of its own


class Issued(Protocol):
    """A key that was made while the Sandbox runs."""

    def caller_at(self, now: float) -> Caller | None:
        """Who calls with it now; None after its end."""


class World:
    def __init__(self, api_key: str, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self.clock = clock
        self.faults = Faults()
        self.callers: dict[str, Caller] = {}
        self.books_since = clock.now()  # nothing older is booked: a Sandbox keeps its books only while it runs
        self.log = RequestLog()
        self.last_prompt: dict[str, Any] | None = None
        self.kept: dict[str, Any] = {}  # what endpoints keep for everybody, each under its own name
        self.issued: dict[str, Issued] = {}  # by the fingerprint of the key
        self._key_id = fingerprint(api_key)
        self._first_settings = {name: getattr(settings, name) for name in settings.__slots__}

    def caller_of(self, api_key: str) -> Caller | None:
        """Return who holds this key, or None when the key is not known here."""
        caller_id = fingerprint(api_key)
        if caller_id in self.issued:
            return self.issued[caller_id].caller_at(self.clock.now())
        if caller_id != self._key_id and not (self.settings.any_key and api_key):
            return None
        return self._caller(caller_id)

    def stranger(self) -> Caller:
        """All requests without a key that is known here share one budget of failures."""
        return self._caller("anonymous")

    def reset(self) -> None:
        """Forget callers, faults and the log, and set clock and settings back. The key stays."""
        self.callers.clear()
        self.faults.clear()
        self.log.clear()
        self.last_prompt = None
        self.kept.clear()
        self.issued.clear()
        self.clock.offset_s = 0.0
        self.books_since = self.clock.now()
        for name, value in self._first_settings.items():
            setattr(self.settings, name, value)

    def _caller(self, caller_id: str) -> Caller:
        caller = self.callers.get(caller_id)
        if caller is None:
            caller = self.callers[caller_id] = Caller(caller_id, self.clock.now())
        return caller


def fingerprint(api_key: str) -> str:
    return hashlib.sha256(api_key.encode()).hexdigest()[:16]
