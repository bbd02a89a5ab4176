"""What receipts add up to by local day, tab and kind, a month at a time, so that the totals of years are read at once.

Sums are made in Python and kept as decimal text, because SQLite would add the amounts as binary fractions. The
database forgets a month by itself when one of its receipts comes, changes or goes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import NamedTuple

from app.storage.database import Database, Row
from app.storage.values import micros_of, moment_of, money_of, read_text

# Asked with POST, and free all the same.
FREE = ("POST /video/quote", "POST /video/retrieve", "POST /video/complete", "POST /x402/top-up")
IS_PRICED = (
    "((cost_usd IS NOT NULL AND cost_usd <> '0') OR units LIKE '%paid_in_micros%'"
    f" OR (endpoint NOT LIKE 'GET %' AND endpoint NOT IN ({', '.join('?' for _ in FREE)})))"
)  # its values are FREE


class DaySum(NamedTuple):
    """All receipts of a day that have these three in common; amounts in USD."""

    day: date
    tab: str
    charged: bool
    free: bool  # of what is never charged: lists, limits, balances, prices, states
    calls: int
    cost: Decimal
    expected: Decimal  # of those that had an estimate and a known cost
    expected_actual: Decimal  # what those cost
    possible: Decimal  # of `cost`: what may not have been charged


class LocalZone(tzinfo):
    """This computer's zone: each moment has the offset that held then. Windows knows none before 1971."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        if moment is None or moment.year < 1971:
            return timedelta()
        return moment.replace(tzinfo=None).astimezone().utcoffset()

    def fromutc(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)

    def dst(self, moment: datetime | None) -> None:
        return None

    def tzname(self, moment: datetime | None) -> str:
        return "/".join(time.tzname)

    def __repr__(self) -> str:
        return f"LocalZone({self.tzname(None)} {time.timezone} {time.altzone})"


def midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


class ReceiptSums:
    """All of it raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_days(self, first: date | None, last: date | None, zone: tzinfo) -> list[DaySum]:
        """Return the sums of all receipts from `first` to `last`, both included; None for no limit."""
        rows = await self._database.fetch("SELECT min(at), max(at) FROM receipts")
        if rows[0][0] is None:
            return []
        oldest, newest = (moment_of(each).astimezone(zone).date() for each in rows[0])
        first, last = max(first or oldest, oldest), min(last or newest, newest)
        kept = await self._database.fetch(
            "SELECT month, sums FROM receipt_months WHERE zone = ? AND month BETWEEN ? AND ?",
            [repr(zone), _name(first), _name(last)],
        )
        known = {row[0]: row[1] for row in kept}
        found: list[DaySum] = await asyncio.to_thread(_read_all, list(known.values()))
        for month in _months(first, last):
            if _name(month) not in known:
                found += await self._add_up(month, zone)
        return [each for each in found if first <= each.day <= last]

    async def _add_up(self, month: date, zone: tzinfo) -> list[DaySum]:
        begin, past = micros_of(midnight(month, zone)), micros_of(midnight(_next(month), zone))
        async with self._database.transaction(durable=False) as transaction:
            rows = await transaction.fetch(
                f"SELECT at, tab, cost_usd, charged, estimate_usd, cost_source, CASE WHEN {IS_PRICED} THEN 0 ELSE 1 END"
                " FROM receipts WHERE at >= ? AND at < ?",
                [*FREE, begin, past],
            )
            sums = await asyncio.to_thread(add_up, rows, zone)
            await transaction.execute(
                "INSERT OR REPLACE INTO receipt_months (zone, month, first_at, past_at, sums) VALUES (?, ?, ?, ?, ?)",
                [repr(zone), _name(month), begin, past, _written(sums)],
            )
        return sums


def add_up(rows: Iterable[Row], zone: tzinfo) -> list[DaySum]:
    """Add up rows of time, tab, cost, charged, estimate, source and whether the call is of a free kind."""
    zero = Decimal(0)
    sums: dict[tuple[date, str, bool, bool], tuple[int, Decimal, Decimal, Decimal, Decimal]] = {}
    for at, tab, cost_text, charged, estimate_text, source, free in rows:
        amount, estimate = money_of(cost_text) or zero, money_of(estimate_text)
        key = moment_of(at).astimezone(zone).date(), read_text(tab), bool(charged), bool(free)
        count, spent, expected, actual, possible = sums.get(key, (0, zero, zero, zero, zero))
        if source == "possible":
            possible += amount
        elif estimate is not None and cost_text is not None:
            expected, actual = expected + estimate, actual + amount
        sums[key] = count + 1, spent + amount, expected, actual, possible
    return [
        DaySum(*key, calls=calls, cost=cost, expected=expected, expected_actual=actual, possible=possible)
        for key, (calls, cost, expected, actual, possible) in sums.items()
    ]


def _written(sums: Sequence[DaySum]) -> str:
    return json.dumps([[each.day.isoformat(), *each[1:5], *map(str, each[5:])] for each in sums])


def _read_all(texts: Iterable[str]) -> list[DaySum]:
    return [
        DaySum(date.fromisoformat(day), tab, charged, free, count, *map(Decimal, amounts))
        for text in texts
        for day, tab, charged, free, count, *amounts in json.loads(text)
    ]


def _months(first: date, last: date) -> Iterator[date]:
    month = first.replace(day=1)
    while month <= last:
        yield month
        month = _next(month)


def _next(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


def _name(day: date) -> str:
    return f"{day:%Y-%m}"
