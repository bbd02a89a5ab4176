from datetime import timedelta
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.storage.database import Database
from app.storage.receipts import COST_SOURCES, OUTCOMES, Receipt, Receipts, receipt_of
from app.storage.values import json_text, money_of, object_of
from tests.storage.conftest import Clock


def receipt(number: int, clock: Clock, **changes: Any) -> Receipt:
    return receipt_of(
        **{
            "id": f"e{number}",
            "at": clock.time,
            "account_id": "a1",
            "tab": "chat",
            "endpoint": "POST /chat/completions",
            "model": "rialto-handbook",
            "units": {"prompt": 12, "completion": 30},
            "cost_usd": Decimal("0.0019"),
            "cost_source": "stated",
            "balance_after": Decimal("4.98"),
            "request_id": "req-1",
            "headroom": {"requests": 99},
            "duration_s": 4.2,
            "outcome": "ok",
            **changes,
        }
    )


async def test_a_receipt_comes_back_as_it_was_given(database: Database, clock: Clock) -> None:
    receipts = Receipts(database)
    given_one = receipt(1, clock)
    await receipts.add(given_one)
    assert await receipts.for_exchange("e1") == given_one
    assert await receipts.for_exchange("e2") is None
    assert await receipts.recent() == (given_one,)


async def test_the_newest_come_first_by_account_and_tab(database: Database, clock: Clock) -> None:
    receipts = Receipts(database)
    for number, (account, tab) in enumerate([("a1", "chat"), ("a2", "chat"), ("a1", "characters")]):
        clock.turn(seconds=1)
        await receipts.add(receipt(number, clock, account_id=account, tab=tab))
    assert [one.id for one in await receipts.recent()] == ["e2", "e1", "e0"]
    assert [one.id for one in await receipts.recent(account_id="a1")] == ["e2", "e0"]
    assert [one.id for one in await receipts.recent(account_id="a1", tab="chat")] == ["e0"]
    assert [one.id for one in await receipts.recent(1)] == ["e2"]


async def test_an_estimate_that_became_known_replaces_itself(database: Database, clock: Clock) -> None:
    receipts = Receipts(database)
    await receipts.add(receipt(1, clock, cost_source="estimated", cost_usd=Decimal("0.1"), outcome="unknown"))
    await receipts.add(receipt(1, clock, cost_source="stated", cost_usd=Decimal("0.08")))
    (one,) = await receipts.recent()
    assert (one.cost_source, one.cost_usd, one.outcome) == ("stated", Decimal("0.08"), "ok")


async def test_sums_are_exact_and_keep_real_and_play_money_apart(database: Database, clock: Clock) -> None:
    receipts = Receipts(database)
    for number in range(10):
        await receipts.add(receipt(number, clock, cost_usd=Decimal("0.1")))
    await receipts.add(receipt(10, clock, cost_usd=Decimal(50), charged=False, account_id="sandbox"))
    await receipts.add(receipt(11, clock, cost_usd=None, cost_source="none"))
    assert (await receipts.spent_since(clock.time)).usd == Decimal("1.0")
    assert (await receipts.spent_since(clock.time, charged=False)).usd == 50, "play money is a sum of its own"
    assert (await receipts.spent_since(clock.time, account_id="sandbox")).usd == 0
    assert (await receipts.spent_since(clock.time, account_id="sandbox", charged=False)).usd == 50
    assert (await receipts.spent_since(clock.time + timedelta(seconds=1))).usd == 0


async def test_the_credits_of_any_number_of_calls_are_summed(database: Database, clock: Clock) -> None:
    receipts = Receipts(database)
    await receipts.add(receipt(1, clock, units={"credits": 7}))
    clock.turn(seconds=1)
    since = clock.time
    await receipts.add(receipt(2, clock, units={"credits": 20}))
    await receipts.add(receipt(3, clock, units={"credits": "20"}))
    await receipts.add(receipt(4, clock, units={"credits": 20}, account_id="a2"))
    await database.execute(
        "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 2500)"
        " INSERT INTO receipts (id, at, account_id, tab, endpoint, units)"
        " SELECT 'more ' || n, at, account_id, tab, endpoint, CASE n WHEN 1 THEN '{' ELSE units END"
        " FROM count, receipts WHERE id = 'e2'"
    )
    assert await receipts.credits_since(since, account_id="a1", tab="chat") == 2_500 * 20


def test_what_follows_a_question_mark_is_never_kept(clock: Clock) -> None:
    for endpoint in ("GET /models?key=sk-secret-1", "GET https://host/models?key=sk-secret-1#x", "GET //[/models?k=1"):
        kept = receipt(1, clock, endpoint=endpoint).endpoint
        assert kept.startswith("GET ")
        assert "?" not in kept


@given(st.decimals() | st.floats() | st.integers() | st.text() | st.none())
def test_only_finite_amounts_are_money(value: Any) -> None:
    amount = money_of(value)
    assert amount is None or amount.is_finite()
    assert not isinstance(value, float) or amount is None


@given(st.dictionaries(st.text(), st.none() | st.floats() | st.text() | st.integers() | st.decimals()))
def test_any_units_can_be_written_and_read(units: dict[str, Any]) -> None:
    assert len(object_of(json_text(units))) <= len(units)


def test_words_that_are_not_ours_become_the_unknown_ones(clock: Clock) -> None:
    odd = receipt(1, clock, cost_source="guessed", outcome="fine", duration_s=float("nan"), cost_usd=Decimal("NaN"))
    assert (odd.cost_source, odd.outcome, odd.duration_s, odd.cost_usd) == ("none", "unknown", 0.0, None)
    assert odd.cost_source in COST_SOURCES
    assert odd.outcome in OUTCOMES


async def test_one_odd_row_does_not_hide_the_others(database: Database, clock: Clock) -> None:
    receipts = Receipts(database)
    await receipts.add(receipt(1, clock))
    await receipts.add(receipt(2, clock))
    await database.execute(
        "UPDATE receipts SET cost_usd = 'much', units = '{', outcome = 7, duration_s = 'long' WHERE id = 'e1'"
    )
    (first,) = [one for one in await receipts.recent() if one.id == "e1"]
    assert (first.cost_usd, first.units, first.outcome, first.duration_s) == (None, {}, "unknown", 0.0)
    assert len(await receipts.recent()) == 2
    assert (await receipts.spent_since(clock.time)).usd == Decimal("0.0019")
