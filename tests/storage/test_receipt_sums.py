"""Totals of any stretch of time are exact, also those that are read from months that were added up before."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from app.storage.database import Database
from app.storage.receipt_book import BookTotals, ReceiptBook, ReceiptFilter
from app.storage.receipts import Receipt, Receipts, receipt_of

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = (UTC, BERLIN, timezone(timedelta(hours=-9, minutes=-30)))
FILTERS = (
    ReceiptFilter(),
    ReceiptFilter(without_free=True),
    ReceiptFilter(tab="chat"),
    ReceiptFilter(first_day=date(2024, 3, 10), last_day=date(2024, 4, 2)),
    ReceiptFilter(first_day=date(2024, 3, 31), tab="images", without_free=True),
    ReceiptFilter(last_day=date(2023, 12, 31)),
    ReceiptFilter(first_day=date(1999, 1, 1), last_day=date(2099, 1, 1)),
    ReceiptFilter(outcome="ok", model="m"),
)


def one(number: int, at: datetime, chance: random.Random) -> Receipt:
    free = chance.random() < 0.3
    return receipt_of(
        id=f"e{number}",
        at=at,
        account_id="a1",
        tab=chance.choice(("chat", "images")),
        endpoint="GET /models" if free else "POST /chat/completions",
        model="m",
        cost_usd=None if free else Decimal(chance.randrange(1, 10**9)) / 10**10,
        cost_source="none" if free else chance.choice(("stated", "possible")),
        outcome=chance.choice(("ok", "error")),
        charged=chance.random() < 0.5,
        estimate_usd=None if chance.random() < 0.5 else Decimal("0.1"),
    )


@pytest.fixture
async def kept(database: Database) -> list[Receipt]:
    """Two hundred receipts around a change of the clocks and of the year."""
    chance, begin = random.Random(7), datetime(2023, 11, 20, 5, 11, tzinfo=UTC)
    made = [one(number, begin + timedelta(hours=17.3 * number), chance) for number in range(200)]
    for receipt in made:
        await Receipts(database).add(receipt)
    return made


def added_up(receipts: list[Receipt], wanted: ReceiptFilter, zone: tzinfo, play: bool) -> BookTotals:
    """The same, receipt by receipt."""
    count, sums, by_day = 0, [Decimal(0)] * 6, dict[tuple[date, str], Decimal]()
    possible = set[tuple[date, str]]()
    for receipt in receipts:
        day, cost = receipt.at.astimezone(zone).date(), receipt.cost_usd or Decimal(0)
        if not (wanted.first_day or date.min) <= day <= (wanted.last_day or date.max):
            continue
        if wanted.tab not in ("", receipt.tab) or wanted.outcome not in ("", receipt.outcome):
            continue
        if wanted.without_free and receipt.endpoint.startswith("GET"):
            continue
        count += 1
        sums[0 if receipt.charged else 1] += cost
        if receipt.cost_source == "possible":
            sums[2 if receipt.charged else 3] += cost
        elif receipt.estimate_usd is not None and receipt.cost_usd is not None:
            sums[4], sums[5] = sums[4] + receipt.estimate_usd, sums[5] + cost
        if cost and receipt.charged is not play:
            by_day[day, receipt.tab] = by_day.get((day, receipt.tab), Decimal(0)) + cost
            if receipt.cost_source == "possible":
                possible.add((day, receipt.tab))
    return BookTotals(count, *sums, by_day, frozenset(possible))


@pytest.mark.parametrize("zone", ZONES, ids=str)
async def test_totals_are_exact_the_first_and_the_second_time(
    database: Database, kept: list[Receipt], zone: tzinfo
) -> None:
    book = ReceiptBook(database)
    for _ in range(2):
        for wanted in FILTERS:
            for play in (False, True):
                assert await book.totals(wanted, zone, play=play) == added_up(kept, wanted, zone, play)


async def test_only_a_month_that_changed_is_added_up_again(database: Database, kept: list[Receipt]) -> None:
    book, chance = ReceiptBook(database), random.Random(8)

    async def months() -> set[str]:
        return {row[0] for row in await database.fetch("SELECT month FROM receipt_months")}

    await book.totals(ReceiptFilter(), BERLIN)
    every = await months()
    assert {"2023-11", "2024-01", "2024-03"} < every
    new = one(900, datetime(2024, 1, 31, 23, 30, tzinfo=UTC), chance)  # February where the clocks show it
    await Receipts(database).add(new)
    assert await months() == every - {"2024-02"}
    assert await book.totals(ReceiptFilter(), BERLIN) == added_up([*kept, new], ReceiptFilter(), BERLIN, False)
    await database.execute("UPDATE receipts SET at = at - 86400000000 WHERE id = 'e900'")
    assert await months() == every - {"2024-01", "2024-02"}
    await book.totals(ReceiptFilter(), BERLIN)
    await database.execute("DELETE FROM receipts WHERE id = 'e900'")
    assert await months() == every - {"2024-01"}
    assert await book.totals(ReceiptFilter(), BERLIN) == added_up(kept, ReceiptFilter(), BERLIN, False)


async def test_an_empty_book_adds_up_to_nothing(database: Database) -> None:
    assert await ReceiptBook(database).totals(ReceiptFilter(), UTC) == BookTotals()
