"""One receipt for every call of every tab: what it was, what it cost, what was left. Never a secret.

A call that may cost something has its receipt before it is sent: "open", with what it is expected to cost. The end of
the call replaces it. What is still open when the program starts was cut off by a crash.

`cost_usd` is what counts everywhere: in limits, sums, charts, projects and exports. Where nobody knows whether a call
was charged, it is the most that it can have cost (`cost_source` "possible"), until a balance or a booking tells.

Receipts outlive the chats they belong to. Amounts are decimal text in the file and `Decimal` here; totals are
summed in Python, because SQLite would add them as binary fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from app.storage.database import Database
from app.storage.table import Table
from app.storage.values import micros_of, money_of, seconds_of

CostSource = Literal["stated", "estimated", "possible", "none"]  # by the service, by us, at most
Outcome = Literal["ok", "error", "unsent", "cut", "stopped", "unknown", "open"]
COST_SOURCES: tuple[CostSource, ...] = get_args(CostSource)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class Receipt:
    id: str  # the exchange's id
    at: datetime
    account_id: str
    tab: str  # "chat", "speech", …
    endpoint: str  # method and path, without anything after a question mark
    model: str = ""  # the one that answered
    units: dict[str, Any] = field(default_factory=dict)  # tokens, characters, credits: what was counted
    cost_usd: Decimal | None = None
    cost_source: CostSource = "none"
    balance_after: Decimal | None = None  # USD
    request_id: str = ""
    headroom: dict[str, Any] = field(default_factory=dict)  # what the limits still allow, as the answer said
    duration_s: float = 0.0
    outcome: Outcome = "unknown"
    charged: bool = True  # False for the Sandbox's play money
    estimate_usd: Decimal | None = None  # what it was expected to cost before it was sent
    project_id: str = ""  # the project that it was made in, "" for none


RECEIPTS = Table("receipts", Receipt, otherwise={"cost_source": "none", "outcome": "unknown"})
_KEPT = (
    "id",
    "account_id",
    "tab",
    "endpoint",
    "estimate_usd",
    "project_id",
)  # when a receipt replaces that of the same id


def receipt_of(
    *,
    id: str,
    at: datetime,
    account_id: str,
    tab: str,
    endpoint: str,
    model: str = "",
    units: Mapping[str, Any] | None = None,
    cost_usd: Decimal | None = None,
    cost_source: str = "none",
    balance_after: Decimal | None = None,
    request_id: str = "",
    headroom: Mapping[str, Any] | None = None,
    duration_s: float = 0.0,
    outcome: str = "unknown",
    charged: bool = True,
    estimate_usd: Decimal | None = None,
    project_id: str = "",
) -> Receipt:
    """Return the receipt of one answered call from plain values; this layer does not know the service's types.

    What follows a question mark in `endpoint` is cut off: a receipt is kept for good and may be exported.
    """
    return Receipt(
        id=id,
        at=at,
        account_id=account_id,
        tab=tab,
        endpoint=_without_query(endpoint),
        model=model,
        units=dict(units or {}),
        cost_usd=money_of(cost_usd),
        cost_source=cost_source if cost_source in COST_SOURCES else "none",
        balance_after=money_of(balance_after),
        request_id=request_id,
        headroom=dict(headroom or {}),
        duration_s=seconds_of(duration_s) or 0.0,
        outcome=outcome if outcome in OUTCOMES else "unknown",
        charged=charged,
        estimate_usd=money_of(estimate_usd),
        project_id=project_id,
    )


def _without_query(endpoint: str) -> str:
    method, space, path = endpoint.rpartition(" ")
    try:
        return f"{method}{space}{urlsplit(path).path}"
    except ValueError:
        return f"{method}{space}{path.split('?')[0]}"


class Spent(NamedTuple):
    """A sum in USD. `possible` is the part of `usd` that may not have been charged."""

    usd: Decimal = Decimal(0)
    possible: Decimal = Decimal(0)


class Receipts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, receipt: Receipt) -> None:
        """Keep a receipt, pressed through to the disk. The same id again replaces it: an estimate became known."""
        sets = ", ".join(f"{name} = excluded.{name}" for name in RECEIPTS.names if name not in _KEPT)
        await RECEIPTS.insert(
            self._database,
            f"ON CONFLICT (id) DO UPDATE SET {sets}, estimate_usd = COALESCE(excluded.estimate_usd, estimate_usd)",
            **RECEIPTS.values(receipt),
        )

    async def forget_open(self, receipt_id: str) -> None:
        """Remove the receipt of a call that never left."""
        await self._database.execute("DELETE FROM receipts WHERE id = ? AND outcome = 'open'", [receipt_id])

    async def settle_after_start(self) -> tuple[Receipt, ...]:
        """At start, before any call: count what a crash cut off as what it was expected to cost. Return those."""
        async with self._database.transaction() as transaction:
            rows = await transaction.fetch("SELECT id FROM receipts WHERE outcome = 'open' ORDER BY seq")
            if not rows:
                return ()
            await transaction.execute(
                "UPDATE receipts SET outcome = 'cut', cost_usd = estimate_usd, cost_source ="
                " CASE WHEN estimate_usd IS NULL THEN 'none' ELSE 'possible' END WHERE outcome = 'open'"
            )
            return tuple([await RECEIPTS.one(transaction, row[0]) for row in rows])

    async def possible(self, account_id: str) -> tuple[Receipt, ...]:
        """Return the receipts of an account whose cost is only possible, oldest first."""
        return await RECEIPTS.select(
            self._database, "WHERE cost_source = 'possible' AND account_id = ? ORDER BY at, seq", [account_id]
        )

    async def recent(
        self, limit: int = 200, *, account_id: str | None = None, tab: str | None = None
    ) -> tuple[Receipt, ...]:
        """Return the newest receipts first."""
        where, values = _where(account_id=account_id, tab=tab)
        return await RECEIPTS.select(self._database, f"{where} ORDER BY at DESC, seq DESC LIMIT ?", [*values, limit])

    async def for_exchange(self, exchange_id: str) -> Receipt | None:
        found = await RECEIPTS.select(self._database, "WHERE id = ?", [exchange_id])
        return found[0] if found else None

    async def last_balance(self, account_id: str) -> Decimal | None:
        """Return what an account had after its last receipt that says so, in USD; None if none does."""
        found = await RECEIPTS.select(
            self._database,
            "WHERE account_id = ? AND balance_after IS NOT NULL ORDER BY at DESC, seq DESC LIMIT 1",
            [account_id],
        )
        return found[0].balance_after if found else None

    async def credits_since(self, since: datetime, *, account_id: str, tab: str) -> int:
        """Return how many of the chain proxy's credits the calls took."""
        where, values = _where(account_id=account_id, tab=tab, since=since)
        row = await self._database.fetch_one(
            "SELECT total(CASE json_type(units, '$.credits') WHEN 'integer' THEN json_extract(units, '$.credits') END)"
            f" FROM (SELECT * FROM receipts {where}) WHERE json_valid(units)",
            values,
        )
        return int(row[0]) if row is not None else 0

    async def project_limit(self, project_id: str) -> Decimal | None:
        """Return what a project may cost altogether, in USD; None for no limit."""
        row = await self._database.fetch_one("SELECT limit_usd FROM projects WHERE id = ?", [project_id])
        return money_of(row[0]) if row is not None else None

    async def spent_since(
        self,
        since: datetime | None = None,
        *,
        account_id: str | None = None,
        tab: str | None = None,
        project_id: str | None = None,
        charged: bool = True,
        without: Sequence[str] = (),
    ) -> Spent:
        """Return the exact sum in USD, stated, estimated and possible costs together: of real or of play money.

        `since` left out counts everything that was ever spent. `without` are ids that do not count.
        """
        where, values = _where(account_id=account_id, tab=tab, project_id=project_id, charged=int(charged), since=since)
        others = f"id NOT IN ({', '.join('?' * len(without))})"
        rows = await self._database.fetch(
            f"SELECT cost_usd, cost_source FROM receipts {where} AND {others}", [*values, *without]
        )
        return Spent(
            _sum(amount for amount, _ in rows), _sum(amount for amount, source in rows if source == "possible")
        )


def _where(*, since: datetime | None = None, **equal: object) -> tuple[str, list[Any]]:
    given = {name: value for name, value in equal.items() if value is not None}
    conditions = [f"{name} = ?" for name in given]
    values: list[Any] = list(given.values())
    if since is not None:
        conditions.append("at >= ?")
        values.append(micros_of(since))
    return (f"WHERE {' AND '.join(conditions)}" if conditions else "", values)


def _sum(amounts: Iterable[object]) -> Decimal:
    return sum((money_of(amount) or Decimal(0) for amount in amounts), Decimal(0))
