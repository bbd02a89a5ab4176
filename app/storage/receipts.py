"""One receipt for every answered call of every tab: what it was, what it cost, what was left. Never a secret.

Receipts outlive the chats they belong to. Amounts are decimal text in the file and `Decimal` here; totals are
summed in Python, because SQLite would add them as binary fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from app.storage.database import Database, Row
from app.storage.values import (
    json_text,
    micros_of,
    moment_of,
    money_of,
    money_text,
    object_of,
    read_text,
    seconds_of,
    text_of,
)

COST_SOURCES = ("stated", "estimated", "none")
OUTCOMES = ("ok", "error", "cut", "stopped", "unknown")
COLUMNS = (
    "id, at, account_id, tab, endpoint, model, units, cost_usd, cost_source, balance_after, request_id, headroom,"
    " duration_s, outcome, charged, estimate_usd"
)


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
    cost_source: str = "none"  # stated by the service, estimated by us, none
    balance_after: Decimal | None = None  # USD
    request_id: str = ""
    headroom: dict[str, Any] = field(default_factory=dict)  # what the limits still allow, as the answer said
    duration_s: float = 0.0
    outcome: str = "unknown"
    charged: bool = True  # False for the Sandbox's play money
    estimate_usd: Decimal | None = None  # what it was expected to cost before it was sent


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
    )


def _without_query(endpoint: str) -> str:
    method, space, path = endpoint.rpartition(" ")
    try:
        return f"{method}{space}{urlsplit(path).path}"
    except ValueError:
        return f"{method}{space}{path.split('?')[0]}"


class Receipts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, receipt: Receipt) -> None:
        """Keep a receipt, pressed through to the disk. The same id again replaces it: an estimate became known."""
        await self._database.execute(
            f"INSERT INTO receipts ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET model = excluded.model, units = excluded.units,"
            " cost_usd = excluded.cost_usd, cost_source = excluded.cost_source,"
            " balance_after = excluded.balance_after, request_id = excluded.request_id,"
            " headroom = excluded.headroom, duration_s = excluded.duration_s, outcome = excluded.outcome,"
            " charged = excluded.charged, estimate_usd = COALESCE(excluded.estimate_usd, receipts.estimate_usd)",
            [
                *(receipt.id, micros_of(receipt.at), receipt.account_id, receipt.tab, text_of(receipt.endpoint)),
                *(text_of(receipt.model), json_text(receipt.units), money_text(receipt.cost_usd)),
                *(receipt.cost_source, money_text(receipt.balance_after), text_of(receipt.request_id)),
                *(json_text(receipt.headroom), receipt.duration_s, receipt.outcome, int(receipt.charged)),
                money_text(receipt.estimate_usd),
            ],
        )

    async def recent(
        self, limit: int = 200, *, account_id: str | None = None, tab: str | None = None
    ) -> tuple[Receipt, ...]:
        """Return the newest receipts first."""
        where, values = _where(account_id=account_id, tab=tab)
        rows = await self._database.fetch(
            f"SELECT {COLUMNS} FROM receipts {where} ORDER BY at DESC, seq DESC LIMIT ?",
            [*values, limit],
        )
        return tuple(receipt_from_row(row) for row in rows)

    async def for_exchange(self, exchange_id: str) -> Receipt | None:
        row = await self._database.fetch_one(f"SELECT {COLUMNS} FROM receipts WHERE id = ?", [exchange_id])
        return None if row is None else receipt_from_row(row)

    async def spent_since(
        self, since: datetime, *, account_id: str | None = None, tab: str | None = None, charged: bool = True
    ) -> Decimal:
        """Return the exact sum in USD, stated and estimated costs together: of real money, else of play money."""
        where, values = _where(account_id=account_id, tab=tab, charged=int(charged), since=since)
        rows = await self._database.fetch(f"SELECT cost_usd FROM receipts {where}", values)
        return _sum(row[0] for row in rows)


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


def receipt_from_row(row: Row) -> Receipt:
    return Receipt(
        id=str(row[0]),
        at=moment_of(row[1]),
        account_id=read_text(row[2]),
        tab=read_text(row[3]),
        endpoint=read_text(row[4]),
        model=read_text(row[5]),
        units=object_of(row[6]),
        cost_usd=money_of(row[7]),
        cost_source=row[8] if row[8] in COST_SOURCES else "none",
        balance_after=money_of(row[9]),
        request_id=read_text(row[10]),
        headroom=object_of(row[11]),
        duration_s=seconds_of(row[12]) or 0.0,
        outcome=row[13] if row[13] in OUTCOMES else "unknown",
        charged=bool(row[14]),
        estimate_usd=money_of(row[15]),
    )
