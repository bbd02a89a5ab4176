"""What the Wallet tab shows, as frozen values. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core.money import decimals_of
from app.core.tabs import TABS
from app.translation import tr

if TYPE_CHECKING:
    from app.service.api_keys import ApiKey

TAB_ICONS = {info.name: info.icon for info in TABS.values()} | {"wallet": "credits"}  # money, not keys
CHART_ROLES = {info.name: info.chart for info in TABS.values() if info.chart}
CHART_TABS = tuple(CHART_ROLES)
CHAIN_NAMES = {"evm": "Base", "solana": "Solana"}  # by the kind of a wallet's key
FREE_WORDS = {"": tr("Billable only"), "all": tr("Include free")}
CALL_WORDS = (  # what a call without a model was about, by how its endpoint begins
    ("GET /x402/balance", tr("Wallet balance")),
    ("GET /x402/transactions", tr("Wallet charges")),
    ("GET /billing/balance", tr("Balance")),
    ("GET /billing/usage", tr("Usage charges")),
    ("GET /api_keys/rate_limit", tr("Limits and balance")),
    ("POST /api_keys", tr("New API key")),
    ("DELETE /api_keys", tr("API key revoked")),
    ("GET /api_keys", tr("API keys")),
    ("GET /models", tr("Models")),
    ("GET /characters", tr("Characters")),
    ("GET /image/styles", tr("Image styles")),
    ("GET /crypto/rpc", tr("Networks")),
    ("POST /crypto/rpc/", "{network}"),
    ("POST /video/quote", tr("Video price")),
    ("POST /video/retrieve", tr("Video status")),
    ("POST /video/complete", tr("Video deleted at the service")),
    ("POST /x402/top-up", tr("Top-up terms")),
)
OUTCOME_WORDS = {
    "ok": tr("Answered"),
    "error": tr("Refused"),
    "unsent": tr("Not sent"),
    "cut": tr("Interrupted"),
    "stopped": tr("Stopped"),
    "unknown": tr("Unknown"),
    "open": tr("In progress"),
}


@dataclass(frozen=True, slots=True)
class AccountCard:
    """One account and what is known of its money. `checked_at` is None before it was asked."""

    id: str
    name: str
    kind: str  # "sandbox", "api_key", "wallet"
    host: str
    in_use: bool
    is_play: bool
    address: str = ""
    chain: str = ""  # "evm", "solana", "" for no wallet
    watch_only: bool = False
    usd: Decimal | None = None
    diem: Decimal | None = None
    diem_daily: Decimal | None = None
    renews_at: datetime | None = None
    checked_at: datetime | None = None
    problem: str = ""
    low: Decimal | None = None  # warn below
    is_locked: bool = False
    is_key_missing: bool = False  # it was kept for one session only, or its keyring is another one
    kept_in: str = ""  # where its key is

    @property
    def is_low(self) -> bool:
        return self.low is not None and self.usd is not None and self.usd < self.low

    @property
    def can_top_up(self) -> bool:
        return self.kind == "wallet"


@dataclass(frozen=True, slots=True)
class Gauge:
    """One limit: how much is left of it, and when it is whole again."""

    name: str
    left: int
    limit: int
    resets_at: datetime | None = None
    rolls: bool = False


@dataclass(frozen=True, slots=True)
class BookRow:
    """One line of the ledger."""

    id: str
    at: datetime
    tab: str
    detail: str
    account: str
    outcome: str
    cost: Decimal | None
    cost_source: str
    estimate: Decimal | None
    balance: Decimal | None
    is_play: bool
    reference: str
    paid_in: Decimal | None = None  # of a top-up


@dataclass(frozen=True, slots=True)
class Filter:
    """What the ledger shows. Empty is all."""

    days: int = 14  # ending today; 0 for all time
    day: date | None = None  # one day alone, instead of `days`
    tab: str = ""
    account_id: str = ""
    model: str = ""
    outcome: str = ""
    free: str = ""  # "all" also shows calls that are never charged


@dataclass(frozen=True, slots=True)
class Totals:
    """What the filter finds. `days` and `by_day` are those of the chart, in USD; `by_day` maps day and tab."""

    count: int = 0
    spent: Decimal = Decimal(0)
    play: Decimal = Decimal(0)
    possible: Decimal = Decimal(0)  # of `spent`: what may not have been charged
    possible_play: Decimal = Decimal(0)
    expected: Decimal = Decimal(0)
    expected_actual: Decimal = Decimal(0)
    days: tuple[date, ...] = ()
    by_day: tuple[tuple[date, str, Decimal], ...] = ()
    possible_days: frozenset[tuple[date, str]] = frozenset()  # days and tabs with a part that may not have been charged
    is_play: bool = False

    @property
    def decimals(self) -> int:
        """How the chart, its legend and its table write amounts, so that they add up as they are read."""
        return decimals_of(amount for *_, amount in self.by_day)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters offer, each as (key, words)."""

    tabs: tuple[tuple[str, str], ...] = ()
    accounts: tuple[tuple[str, str], ...] = ()
    models: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """One booking of the service beside ours. `verdict` says in words how they compare."""

    at: datetime | None
    what: str
    ours: Decimal | None
    theirs: Decimal | None
    verdict: str
    is_fault: bool
    corrects: str = ""  # the id of the receipt that costs `theirs`, which nobody knew before


@dataclass(frozen=True, slots=True)
class UsageSums:
    """The service's sums beside Rialto's. `problem` says why there are none."""

    days: tuple[Difference, ...] = ()
    models: tuple[Difference, ...] = ()
    keys: tuple[Difference, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SignedRow:
    """What was signed, and when."""

    at: datetime
    account: str
    address: str
    kind: str
    host: str
    document: str


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One API key of the account, in words."""

    id: str
    name: str
    kind: str
    ends_in: str
    expires: str
    used: str
    limit: str
    week: str  # what it spent in seven days
    key: ApiKey | None = None  # as the service listed it

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.name, self.kind, self.ends_in, self.expires, self.used, self.limit, self.week)


@dataclass(frozen=True, slots=True)
class KeyPage:
    """What the service says about the key in use and its account's other keys, and the limits that were hit."""

    facts: tuple[tuple[str, str], ...] = ()
    limits: tuple[tuple[str, str, str], ...] = ()  # model, requests a minute, tokens a minute
    hits: tuple[tuple[str, str, str], ...] = ()  # when, model, which limit
    keys: tuple[KeyRow, ...] = ()
    keys_problem: str = ""  # why there is no list
    hits_problem: str = ""
    problem: str = ""
    busy: bool = False
