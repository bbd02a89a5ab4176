"""The receipts of all tabs as one book: filtered, added up by day and tab, read page by page, exported.

Nothing here runs on the thread of the window but the few rows of a page.
"""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta, tzinfo
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

from app.formats import csv_cell
from app.storage.atomic_files import write_atomically
from app.storage.database import Database
from app.storage.receipt_sums import FREE, IS_PRICED, DaySum, ReceiptSums, add_up, midnight
from app.storage.receipts import RECEIPTS, Receipt
from app.storage.values import micros_of, read_text

EXPORT_PAGE = 2_000
CSV_COLUMNS = (
    *("when_utc", "tab", "account", "model", "endpoint", "outcome", "cost_usd", "cost_source", "estimate_usd"),
    *("charged", "balance_after_usd", "duration_s", "request_id", "units", "id"),
)


@dataclass(frozen=True, slots=True)
class ReceiptFilter:
    """Which receipts. Empty is all; days are local days of the zone that is given beside it."""

    first_day: date | None = None
    last_day: date | None = None
    tab: str = ""
    account_id: str = ""
    model: str = ""
    outcome: str = ""
    paid_only: bool = False
    without_free: bool = False  # leaves out what is never charged: lists, limits, balances, prices, states


@dataclass(frozen=True, slots=True)
class BookTotals:
    """What a filter finds. `by_day` maps day and tab to USD; play money is counted apart.

    `possible_usd` and `possible_play_usd` are the parts of both sums that may not have been charged, and
    `possible_days` are the days and tabs that have such a part.
    """

    count: int = 0
    spent_usd: Decimal = Decimal(0)
    play_usd: Decimal = Decimal(0)
    possible_usd: Decimal = Decimal(0)
    possible_play_usd: Decimal = Decimal(0)
    estimated_usd: Decimal = Decimal(0)  # of the calls that had an estimate
    estimated_actual_usd: Decimal = Decimal(0)  # what those very calls cost
    by_day: dict[tuple[date, str], Decimal] = field(default_factory=dict)
    possible_days: frozenset[tuple[date, str]] = frozenset()


class ReceiptBook:
    """All of it raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sums = ReceiptSums(database)

    async def page(self, wanted: ReceiptFilter, zone: tzinfo, offset: int, limit: int) -> tuple[Receipt, ...]:
        """Return one page, newest first."""
        where, values = _where(wanted, zone)
        rest = f"{where} ORDER BY at DESC, seq DESC LIMIT ? OFFSET ?"
        return await RECEIPTS.select(self._database, rest, [*values, limit, offset])

    async def totals(self, wanted: ReceiptFilter, zone: tzinfo, *, play: bool = False) -> BookTotals:
        """Add up everything that the filter finds. `play`: the days are those of play money, else of real money."""
        if wanted.account_id or wanted.model or wanted.outcome or wanted.paid_only:
            where, values = _where(wanted, zone)
            rows = await self._database.fetch(
                f"SELECT at, tab, cost_usd, charged, estimate_usd, cost_source, 0 FROM receipts {where}", values
            )
            return _totals(await asyncio.to_thread(add_up, rows, zone), play)
        sums = await self._sums.of_days(wanted.first_day, wanted.last_day, zone)
        found = (each for each in sums if wanted.tab in ("", each.tab) and not (wanted.without_free and each.free))
        return await asyncio.to_thread(_totals, found, play)

    async def choices(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the tabs, account ids and models that occur."""
        found = []
        for column in ("tab", "account_id", "model"):
            rows = await self._database.fetch(  # from one to the next by its index: DISTINCT would read every receipt
                f"WITH RECURSIVE step (value) AS (SELECT min({column}) FROM receipts UNION ALL"
                f" SELECT (SELECT min({column}) FROM receipts WHERE {column} > value) FROM step"
                " WHERE value IS NOT NULL) SELECT value FROM step WHERE value IS NOT NULL"
            )
            found.append(tuple(text for row in rows if (text := read_text(row[0]))))
        return found[0], found[1], found[2]

    async def export(self, wanted: ReceiptFilter, zone: tzinfo, path: Path, accounts: dict[str, str]) -> int:
        """Write what the filter finds to `path`, as CSV or, for .json, as JSON. Returns how many. Raises `OSError`."""
        receipts: list[Receipt] = []
        while True:
            page = await self.page(wanted, zone, len(receipts), EXPORT_PAGE)
            receipts += page
            if len(page) < EXPORT_PAGE:
                break
        await asyncio.to_thread(_write, receipts, path, accounts)
        return len(receipts)


def _where(wanted: ReceiptFilter, zone: tzinfo) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    for column, value in (
        ("tab", wanted.tab),
        ("account_id", wanted.account_id),
        ("model", wanted.model),
        ("outcome", wanted.outcome),
    ):
        if value:
            conditions.append(f"{column} = ?")
            values.append(value)
    if wanted.first_day is not None:
        conditions.append("at >= ?")
        values.append(micros_of(midnight(wanted.first_day, zone)))
    if wanted.last_day is not None:
        conditions.append("at < ?")
        values.append(micros_of(midnight(wanted.last_day + timedelta(days=1), zone)))
    if wanted.paid_only:
        conditions.append("cost_usd IS NOT NULL AND cost_usd <> '0'")
    if wanted.without_free:
        conditions.append(IS_PRICED)
        values += FREE
    return (f"WHERE {' AND '.join(conditions)}" if conditions else "", values)


def _totals(sums: Iterable[DaySum], play: bool) -> BookTotals:
    count, real, played, expected, actual, maybe_real, maybe_played = 0, *[Decimal(0)] * 6
    by_day: dict[tuple[date, str], Decimal] = {}
    possible_days: set[tuple[date, str]] = set()
    for each in sums:
        count, expected, actual = count + each.calls, expected + each.expected, actual + each.expected_actual
        if each.charged:
            real, maybe_real = real + each.cost, maybe_real + each.possible
        else:
            played, maybe_played = played + each.cost, maybe_played + each.possible
        if each.cost and each.charged is not play:
            key = each.day, each.tab
            by_day[key] = by_day.get(key, Decimal(0)) + each.cost
            if each.possible:
                possible_days.add(key)
    return BookTotals(count, real, played, maybe_real, maybe_played, expected, actual, by_day, frozenset(possible_days))


def _write(receipts: Iterable[Receipt], path: Path, accounts: dict[str, str]) -> None:
    lines = [_line(receipt, accounts) for receipt in receipts]
    if path.suffix.lower() == ".json":
        text = json.dumps({"receipts": lines}, indent=2, ensure_ascii=False)
        write_atomically(path, text.encode("utf-8", "surrogatepass"))
        return
    buffer = StringIO()
    writer = csv.DictWriter(buffer, CSV_COLUMNS)
    writer.writeheader()
    for line in lines:
        units = ", ".join(f"{name}: {count}" for name, count in line["units"].items())
        writer.writerow({name: _cell(value) for name, value in {**line, "units": units}.items()})
    write_atomically(path, buffer.getvalue().encode("utf-8", "surrogatepass"))


def _line(receipt: Receipt, accounts: dict[str, str]) -> dict[str, Any]:
    def amount(value: Decimal | None) -> str | None:
        return None if value is None else f"{value:f}"

    return {
        "when_utc": receipt.at.astimezone(UTC).isoformat(),
        "tab": receipt.tab,
        "account": accounts.get(receipt.account_id, receipt.account_id),
        "model": receipt.model,
        "endpoint": receipt.endpoint,
        "outcome": receipt.outcome,
        "cost_usd": amount(receipt.cost_usd),
        "cost_source": receipt.cost_source,
        "estimate_usd": amount(receipt.estimate_usd),
        "charged": receipt.charged,
        "balance_after_usd": amount(receipt.balance_after),
        "duration_s": receipt.duration_s,
        "request_id": receipt.request_id,
        "units": receipt.units,
        "id": receipt.id,
    }


def _cell(value: object) -> object:
    return csv_cell(value) if isinstance(value, str) else value
