"""What the Sandbox remembers: its clock, who called, what they paid, what it made for them, and what was asked of it.

With a store, all of that but limits, faults, settings and the log is there again after a restart: `save()` is called
before an answer goes out. No key is kept here: callers are known by a short fingerprint.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import UserDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from app.sandbox.http.faults import CALLER, Faults
from app.sandbox.http.limits import AbuseGuard, RateLimits
from app.sandbox.http.request_log import RequestLog
from app.sandbox.http.scripted_responses import ScriptedResponse, ScriptedResponses

if TYPE_CHECKING:
    from app.sandbox.store import Store

START_BALANCE_USD = Decimal("100")
DAY_S = 86_400
V = TypeVar("V")
CallerT = TypeVar("CallerT", bound="Caller")


class Clock:
    """Unix time in seconds that a test can turn, for all or for one caller; it never runs backwards by itself."""

    def __init__(self, source: Callable[[], float] | None = None, starts_at: float | None = None) -> None:
        """`starts_at`: what it shows first, in Unix seconds; without it, the real time."""
        self._source = source or time.time
        self._starts_at = starts_at
        self.restart()

    def restart(self) -> None:
        """Set the clock back to what it showed first, or to the real time."""
        self.offset_s = 0.0
        self.offsets_s: dict[str, float] = {}  # of callers that have a time of their own, beside that of all
        self._ahead_s = 0.0 if self._starts_at is None else self._starts_at - self._source()

    def now(self) -> float:
        return self._source() + self._ahead_s + self.offset_s + self.offsets_s.get(CALLER.get(), 0.0)

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
    key: str = ""  # the id of the API key that called, "" for the one that the Sandbox began with


class Ledger:
    """A prepaid balance in USD, really charged. A call may take it below zero; the next paid one is then refused.

    Daily credits are spent first. What is left of them does not last: at 00:00 UTC there are `daily_diem` again.
    """

    def __init__(self, balance_usd: Decimal = START_BALANCE_USD) -> None:
        self.balance_usd = balance_usd
        self.balance_diem = Decimal(0)
        self.daily_diem = Decimal(0)
        self.charges: list[Charge] = []
        self.day = 0  # since 1970, of the last daily credits

    @property
    def empty(self) -> bool:
        return self.balance_usd + self.balance_diem <= 0

    def give_daily(self, diem: Decimal, now: float) -> None:
        """Set the day's credits, for today and for each day to come."""
        self.balance_diem = self.daily_diem = diem
        self.day = int(now // DAY_S)

    def refill(self, now: float) -> None:
        """Begin a new day where the clock has come to one. Days begin at 00:00 UTC."""
        if int(now // DAY_S) != self.day:
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
    key: str = ""  # the id of the key it calls with, "" for the one that the Sandbox began with

    def charge(self, line: Charge) -> None:
        """Book what a call cost, on the account and for the key."""
        self.ledger.charge(replace(line, key=self.key))


@dataclass(slots=True)
class Settings:
    """What may be changed while the Sandbox runs."""

    dialect: str = "service"
    tokens_per_second: float = 80.0  # 0: as fast as the socket takes it
    partner: bool = False
    staff: bool = False  # the higher caps of the crypto proxy
    timestamp_header: bool = False
    retry_count_header: int | None = None
    auth_refreshed_header: bool = False
    limit_type: str = "api_key"  # whose the limits are: "user", "api_key" or "global"
    leaving_model: str = ""  # the id of a model of any type that is announced as leaving
    any_key: bool = False  # permissive: every non-empty key is a caller of its own
    no_limits: bool = False  # nobody is refused for asking too often, too much at once or wrongly too often
    fund_any: bool = False  # every address has a first balance of play ether and dollars
    default_models: bool = False  # OpenAI's names of models and voices mean the Sandbox's


@dataclass(frozen=True, slots=True)
class Account:
    """A caller as the store has it; the lines of its ledger are in a table of their own."""

    created_at: float
    balance_usd: Decimal
    balance_diem: Decimal
    daily_diem: Decimal
    day: int


class PersistentDict(UserDict[str, V]):
    """A table of the store as a dictionary that writes through. A value that changes inside has to be put in again."""

    def __init__(self, store: Store | None, table: str, kind: type[V]) -> None:
        super().__init__()
        self._store = store
        self._table = table
        if store is not None:
            self.data = store.all(table, kind)

    def __setitem__(self, key: str, value: V) -> None:
        super().__setitem__(key, value)
        if self._store is not None:
            self._store.put(self._table, key, value)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        if self._store is not None:
            self._store.delete(self._table, key)


class World:
    def __init__(
        self,
        api_key: str,
        settings: Settings,
        clock: Clock,
        store: Store | None = None,
        answers: Sequence[ScriptedResponse] = (),
        seed: int | None = None,
    ) -> None:
        """With a `seed`, the same requests in the same order get the same ids and images, again after each reset."""
        self.settings = settings
        self.clock = clock
        self.faults = Faults()
        self.answers = ScriptedResponses(answers)
        self.callers: dict[str, Caller] = {}
        self.log = RequestLog()
        self.last_prompt: dict[str, Any] | None = None
        self.kept: dict[str, Any] = {}  # what endpoints keep for everybody, each under its own name
        self.issued: dict[str, Caller] = {}  # who calls with a key that was made here, by its fingerprint
        self._key_id = fingerprint(api_key)
        self._seed = seed
        self._store = store
        self._tables: dict[str, PersistentDict[Any]] = {}
        self._saved: dict[str, tuple[Account, int]] = {}  # and how many lines of the ledger
        self._times = self.table("times", float)
        self._names = self.table("names", str)
        clock.offset_s = self._times.get("offset_s", 0.0)
        self._begin()
        self._first_settings = {name: getattr(settings, name) for name in settings.__slots__}

    def caller_of(self, api_key: str) -> Caller | None:
        """Return who holds this key, or None when the key is not known here."""
        caller_id = fingerprint(api_key)
        if caller_id == self._key_id:
            return self.caller(self._owner)
        from app.sandbox.accounts.api_keys import issued_caller

        known, issued = issued_caller(self, caller_id)
        if known or not (self.settings.any_key and api_key):
            return issued
        return self.caller(caller_id)

    def anonymous(self, *, from_web_page: bool = False) -> Caller:
        """All requests without a key that is known here share one budget; those of web pages cannot spend it."""
        return self.caller("web page" if from_web_page else "anonymous")

    def caller(self, caller_id: str) -> Caller:
        return self.callers.get(caller_id) or self.adopt(Caller(caller_id, self.clock.now()))

    def adopt(self, caller: CallerT) -> CallerT:
        """Let a caller in, with what the store knows of it."""
        account = self._store.get("accounts", caller.id, Account) if self._store is not None else None
        if self._store is not None and account is not None:
            ledger = caller.ledger
            caller.created_at = account.created_at
            ledger.balance_usd, ledger.balance_diem = account.balance_usd, account.balance_diem
            ledger.daily_diem, ledger.day = account.daily_diem, account.day
            ledger.charges = list(self._store.all(f"charges {caller.id}", Charge).values())
            self._saved[caller.id] = (account, len(ledger.charges))
        self.callers[caller.id] = caller
        return caller

    def has_account(self, caller_id: str) -> bool:
        if caller_id in self.callers:
            return True
        return self._store is not None and self._store.get("accounts", caller_id, Account) is not None

    def token(self, size_bytes: int) -> str:
        """Return a new id in hexadecimal. Not for what has to be secret: a seed tells all of them."""
        return f"{self.dice.getrandbits(8 * size_bytes):0{2 * size_bytes}x}"

    def table(self, name: str, kind: type[V]) -> PersistentDict[V]:
        """Return what endpoints keep under a name, also over a restart."""
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = PersistentDict(self._store, name, kind)
        return table

    def save(self) -> None:
        """Put into the store what changed, and return when it is there. Cheap when nothing did."""
        if self._store is None:
            return
        if self._times.get("offset_s") != self.clock.offset_s:
            self._times["offset_s"] = self.clock.offset_s
        for caller in self.callers.values():
            ledger = caller.ledger
            account = Account(caller.created_at, ledger.balance_usd, ledger.balance_diem, ledger.daily_diem, ledger.day)
            before, booked = self._saved.get(caller.id, (None, 0))
            if (account, len(ledger.charges)) == (before, booked):
                continue
            for number in range(booked, len(ledger.charges)):
                self._store.put(f"charges {caller.id}", str(number), ledger.charges[number])
            self._store.put("accounts", caller.id, account)
            self._saved[caller.id] = (account, len(ledger.charges))
        self._store.commit()

    def reset(self) -> None:
        """Forget callers, faults, the log and all that is in the store; set back the rest. The key stays."""
        self.callers.clear()
        self.faults.clear()
        self.answers.reset()
        self.log.clear()
        self.last_prompt = None
        self.kept.clear()
        self.issued.clear()
        self.clock.restart()
        if self._store is not None:
            self._store.clear()
        for table in self._tables.values():
            table.data.clear()
        self._saved.clear()
        self._begin()
        for name, value in self._first_settings.items():
            setattr(self.settings, name, value)

    def _begin(self) -> None:
        """Begin with nothing, and with the first id of a seed.

        The account of the key goes on under the id that it began with: the window makes a new key at each start.
        """
        self.dice = random.SystemRandom() if self._seed is None else random.Random(self._seed)  # noqa: S311  # no secrets
        self._owner = self._names.setdefault("owner", self._key_id)
        self.books_since = self._times.setdefault("books_since", self.clock.now())  # nothing older is booked


def fingerprint(api_key: str) -> str:
    return hashlib.sha256(api_key.encode()).hexdigest()[:16]
