"""The window's numbers: balances of calls at once, limits by what was asked, whatever the order of the answers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.current_account import CurrentAccount, RateLimitRemaining
from app.core.rate_limit_watch import RateLimitWatch
from app.core.receipt_recorder import Balances, ReceiptRecorder
from app.core.tasks import TaskScope
from app.service.exchange import Exchange, RequestRecord
from app.service.response_info import ResponseInfo
from app.storage.database import Database
from app.storage.receipts import Receipts
from tests.kit.chat import SANDBOX

NOON = datetime(2026, 8, 22, 12, tzinfo=UTC)


def call(
    begun: float, ended: float, before: str | None, cost: str | None = None, *, diem: str = "0", **units: int
) -> Exchange:
    """A call from one second to another; `before` is the balance that its answer told."""
    usd = Decimal(before) if before is not None else None
    return Exchange(
        id=f"{begun}-{ended}",
        started_at=NOON + timedelta(seconds=begun),
        request=RequestRecord("POST", "/image/generate", "http://x"),
        info=ResponseInfo(200, NOON, balance_usd=usd, balance_diem=Decimal(diem)),
        duration_s=ended - begun,
        cost_usd=Decimal(cost) if cost is not None else None,
        units=units,
    )


def left(*calls: Exchange) -> Decimal | None:
    balances, found = Balances(), None
    for each in calls:
        found = balances.record_call("one", each)
    return found


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_r_hdr_22_four_calls_at_once_leave_what_all_of_them_cost_in_any_order(order: tuple[int, ...]) -> None:
    """The headers of the third and fourth may be read after the first was charged."""
    calls = [
        call(0, 3, "99.92", "0.01"),
        call(0.1, 3, "99.92", "0.01"),
        call(0.2, 3, "99.91", "0.01"),
        call(0.3, 3, "99.90", "0.01"),
    ]
    assert left(*(calls[place] for place in order)) == Decimal("99.88")


def test_an_older_answer_that_ends_late_does_not_bring_an_older_balance_back() -> None:
    assert left(call(1, 2, "5", "1"), call(3, 4, "4", "1"), call(0, 9, "5", "0.25")) == Decimal("2.75")


def test_what_another_program_spent_meanwhile_is_believed() -> None:
    assert left(call(0, 1, "5", "1"), call(2, 3, "1", "0.5")) == Decimal("0.5")
    assert left(call(0, 9, "5", "1"), call(2, 3, "1", "0.5")) == Decimal("0.5"), "also while a call is on its way"


def test_a_call_whose_cost_nobody_told_shows_in_the_next_balance() -> None:
    assert left(call(0, 1, "5"), call(2, 3, "4.95")) == Decimal("4.95")


def test_daily_credits_are_spent_first() -> None:
    assert left(call(0, 1, "5", "0.25", diem="1")) == 5
    assert left(call(0, 1, "5", "0.75", diem="1"), call(0, 2, "5", "0.75", diem="1")) == Decimal("4.5")


def test_a_top_up_while_a_call_is_on_its_way_is_added() -> None:
    top_up = call(1, 2, None, paid_in_micros=5_000_000)
    assert left(top_up, call(0, 3, "0.50", "0.02")) == Decimal("5.48")


def test_r_wal_13_the_balance_after_a_call_counts_where_the_one_before_is_not_told() -> None:
    told = ResponseInfo(200, NOON, balance_remaining=Decimal("4.23"))
    whole = Exchange("a", NOON, RequestRecord("POST", "/x", ""), info=told, cost_usd=Decimal("0.10"))
    assert left(whole) == Decimal("4.23")


def test_every_account_has_a_balance_of_its_own() -> None:
    balances = Balances()
    balances.record_call("one", call(0, 5, "9", "1"))
    assert balances.record_call("two", call(1, 2, "3", "1")) == 2


@given(st.data())
def test_the_balance_is_that_of_the_service_once_all_calls_have_ended(data: st.DataObject) -> None:
    """Calls begin, are charged and end at any time; the answer tells what was there when the call was counted."""
    count = data.draw(st.integers(1, 8))
    times = st.integers(0, 20)
    plan = []
    for number in range(count):
        begun, arrives, charged, ended = sorted(data.draw(st.tuples(times, times, times, times)))
        plan.append((begun, arrives, charged + 0.5, ended + 1, data.draw(st.integers(0, 50)), number))
    balance = Decimal(1_000)
    before = {
        number: balance - sum(cost for *_, other, _, cost, _ in plan if other < arrives)
        for _, arrives, _, _, _, number in plan
    }
    balances, found = Balances(), None
    for begun, _, _, ended, cost, number in sorted(plan, key=lambda each: each[3]):
        found = balances.record_call("one", call(begun, ended, str(before[number]), str(cost)))
    assert found == balance - sum(cost for *_, cost, _ in plan)


def cost_of(*calls: Exchange) -> Decimal | None:
    balances = Balances()
    for each in calls:
        balances.record_call("one", each)
    return balances.cost_of("one", calls[0].id)


def test_a_cost_that_nobody_told_is_what_the_balance_lost_and_other_calls_did_not_take() -> None:
    clone, later = call(0, 1, "5"), call(6, 7, "4.70")
    assert cost_of(clone, call(2, 3, "4.95", "0.25"), later) == Decimal("0.05")
    assert cost_of(clone, call(2, 3, "5")) == 0
    assert cost_of(clone) is None, "nothing has told the balance since"
    assert cost_of(clone, call(0.5, 3, "4.95", "0.25"), later) is None, "which of the two was counted first is open"
    assert cost_of(clone, call(5, 9, "4.95", "0.25"), later) is None
    assert cost_of(clone, call(2, 3, "9")) is None, "somebody has paid in"


def limits_of(*asked: tuple[str, str, int, int, int, float]) -> dict[str, tuple[int, int]]:
    """Method, path, status, left, limit and second of each answer."""
    watch = RateLimitWatch()
    for method, path, status, remaining, limit, second in asked:
        at = NOON + timedelta(seconds=second)
        info = ResponseInfo(status, at, limit_requests=limit, remaining_requests=remaining)
        resource = "chat" if "chat" in path else "video" if "video" in path else "images"
        watch.observe(Exchange("x", at, RequestRecord(method, path, ""), info=info, resource=resource))
    return {each.name: (each.left, each.limit) for each in watch.limits(NOON)}


def test_general_limits_are_no_limits_of_images_or_videos() -> None:
    assert (
        limits_of(
            ("GET", "/image/styles", 200, 990, 1000, 0),
            ("POST", "/video/quote", 200, 989, 1000, 1),
            ("POST", "/video/complete", 200, 988, 1000, 2),
            ("GET", "/models", 200, 987, 1000, 3),
            ("POST", "/image/generate", 429, 986, 1000, 4),
        )
        == {}
    )
    assert limits_of(
        ("POST", "/image/edit", 200, 19, 20, 0),
        ("POST", "/video/queue", 200, 39, 40, 1),
        ("POST", "/video/retrieve", 200, 119, 120, 2),
        ("POST", "/image/edit", 429, 0, 20, 3),
        ("POST", "/image/edit", 402, 986, 1000, 4),
    ) == {"Images": (0, 20), "Video queue": (39, 40), "Video retrieval": (119, 120)}


def test_a_limit_does_not_go_back_to_what_an_older_answer_told() -> None:
    assert limits_of(
        ("POST", "/image/edit", 200, 17, 20, 5),
        ("POST", "/image/edit", 200, 19, 20, 1),
    ) == {"Images": (17, 20)}


def test_of_answers_that_overtake_each_other_the_lower_count_holds_until_the_limit_is_whole_again() -> None:
    watch, left, until = RateLimitWatch(), None, NOON + timedelta(seconds=60)
    counts = []
    for second, remaining, resets_at in ((1, 16, until), (2, 17, until), (70, 19, until + timedelta(seconds=60))):
        at = NOON + timedelta(seconds=second)
        info = ResponseInfo(200, at, limit_requests=20, remaining_requests=remaining, reset_requests_at=resets_at)
        watch.observe(Exchange("x", at, RequestRecord("POST", "/image/generate", ""), info=info, resource="images"))
        told = RateLimitRemaining.told(info, "Images")
        assert told is not None
        left = told.after(left)
        counts.append((watch.limits(at)[0].left, left.requests_left))
    assert counts == [(16, 16), (16, 16), (19, 19)]


async def test_the_receipt_of_a_task_that_is_canceled_is_kept_with_the_next(tmp_path: Path) -> None:
    tasks = TaskScope(lambda error: pytest.fail(str(error)))
    async with aclosing(tasks), closed(await Database.open(tmp_path / "rialto.sqlite3")) as database:
        receipts, receipt_recorder = Receipts(database), ReceiptRecorder(CurrentAccount(), tasks)
        await receipt_recorder.start(receipts)
        receipt_recorder.recorder(SANDBOX)(call(0, 1, "5", "0.25"))
        await asyncio.sleep(0)  # it is on its way to the disk
        tasks.cancel("receipt 0-1")
        await tasks.idle()
        assert await receipts.for_exchange("0-1") is None
        await receipt_recorder.keep_refused()
        assert await receipts.for_exchange("0-1") is not None


@asynccontextmanager
async def closed(database: Database) -> AsyncIterator[Database]:
    try:
        yield database
    finally:
        await database.close()
