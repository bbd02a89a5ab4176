"""Billing: read tolerantly, degraded where it changed."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from app.service.billing import UsageQuery
from app.service.errors import AdminKeyRequired, BadResponse, LimitExceeded
from tests.service.loopback import Watched, answering, http, serving

BEGIN = datetime(2026, 3, 1, 2, tzinfo=timezone(timedelta(hours=2)))
DAY = date(2026, 3, 1)
ENTRY = {
    "timestamp": "2026-03-01T00:00:00.000Z",
    "sku": "glm-llm-output-mtoken",
    "units": 0.001,
    "pricePerUnitUsd": 4.84,
    "amount": -0.00484,
    "currency": "USD",
    "notes": "API",
    "inferenceDetails": {"requestId": "r-1", "promptTokens": 5, "completionTokens": None},
}


async def test_r_ep_16_the_balance() -> None:
    body = {
        "canConsume": True,
        "consumptionCurrency": "USD",
        "balances": {"usd": 4.25, "diem": None, "earned": 1},
        "diemEpochAllocation": 10,
    }
    async with Watched(handler=answering(body)) as watched:
        balance = await watched.service.billing.balance()
        assert (balance.can_consume, balance.currency, balance.diem_allocation) == (True, "USD", Decimal(10))
        assert balance.balances == {"usd": Decimal("4.25"), "diem": None, "earned": Decimal(1)}


@pytest.mark.parametrize("body", [[], "x", None])
async def test_r_ver_07_another_shape_is_not_available_and_no_crash(body: object) -> None:
    async with Watched(handler=answering(body)) as watched:
        billing = watched.service.billing
        for attempt in (billing.balance(), billing.usage(), billing.analytics(DAY, DAY)):
            with pytest.raises(BadResponse):
                await attempt


async def test_r_ver_07_odd_parts_are_left_out() -> None:
    body = {"balances": {"usd": "lots"}, "canConsume": "perhaps", "data": [{"units": "x"}, 5], "byModel": [{}, 3]}
    async with Watched(handler=answering(body)) as watched:
        billing = watched.service.billing
        assert (await billing.balance()).balances == {}
        assert len((await billing.usage()).entries) == 1
        assert (await billing.analytics(DAY, DAY)).by_model == ()


async def test_a_key_without_the_right_says_so() -> None:
    async with Watched(handler=answering({"error": "Admin key required"}, 401)) as watched:
        with pytest.raises(AdminKeyRequired):
            await watched.service.billing.balance()


async def test_bookings_are_paged_by_a_cursor_that_goes_alone() -> None:
    async with Watched(handler=answering({"data": [ENTRY], "nextCursor": "c-2"})) as watched:
        billing = watched.service.billing
        wanted = UsageQuery(BEGIN, BEGIN + timedelta(days=1), "USD", 10)
        page = await billing.usage(wanted)
        (entry,) = page.entries
        assert (entry.amount, entry.units, entry.price_usd) == (Decimal("-0.00484"), Decimal("0.001"), Decimal("4.84"))
        assert entry.at == datetime(2026, 3, 1, tzinfo=UTC)
        assert entry.details is not None
        assert (entry.details.request_id, entry.details.prompt_tokens) == ("r-1", 5)
        assert page.next_cursor == "c-2"
        await billing.usage(wanted, cursor=page.next_cursor)
        first, second = (dict(request.url.params) for request in watched.requests)
        assert first == {
            "startTimestamp": "2026-03-01T00:00:00.000Z",
            "endTimestamp": "2026-03-02T00:00:00.000Z",
            "currency": "USD",
            "pageSize": "10",
        }
        assert second == {"cursor": "c-2"}
    async with Watched(handler=answering({"data": [], "nextCursor": None})) as watched:
        assert (await watched.service.billing.usage()).next_cursor is None


async def test_r_hdr_13_bookings_go_to_the_file_that_was_chosen_whatever_the_service_names_it(tmp_path: Path) -> None:
    named = {"content_type": "text/csv", "content_disposition": 'attachment; filename="../other.csv"'}
    first = http(body=b"timestamp,amount\n2026-03-01,-1", x_next_cursor="c-2", **named)
    last = http(body=b"timestamp,amount\n2026-03-02,-2\n", **named)
    async with serving(first, last) as server, Watched(server.base_url) as watched:
        path = tmp_path / "chosen" / "usage.csv"
        path.parent.mkdir()
        await watched.service.billing.export_usage(path)
        assert path.read_bytes() == b"timestamp,amount\n2026-03-01,-1\n2026-03-02,-2\n"
        assert list(tmp_path.rglob("*.csv")) == [path]
        assert server.received[0].headers["accept"] == "text/csv"
        assert server.received[1].target.endswith("?cursor=c-2")
        assert watched.exchanges[0].outcome == "ok"


async def test_sums_by_day_model_and_key() -> None:
    body = {
        "lookback": "7d",
        "byDate": [{"date": "2026-03-01", "USD": 1.5, "DIEM": 0}],
        "byModel": [{"modelName": "glm", "unitType": "tokens", "totalUsd": 1.5, "totalDiem": 0, "totalUnits": 9}],
        "byKey": [{"apiKeyId": None, "description": "web", "totalUsd": 1.5}],
    }
    async with Watched(handler=answering(body)) as watched:
        billing = watched.service.billing
        sums = await billing.analytics(DAY, DAY + timedelta(days=4))
        assert (sums.by_date[0].usd, sums.by_model[0].name, sums.by_key[0].usd) == (
            Decimal("1.5"),
            "glm",
            Decimal("1.5"),
        )
        (request,) = watched.requests
        assert request.url.query == b"startDate=2026-03-01&endDate=2026-03-05"


async def test_limits_are_refused_before_sending() -> None:
    async with Watched(handler=answering({})) as watched:
        billing = watched.service.billing
        for attempt in (
            billing.usage(UsageQuery(page_rows=9)),
            billing.usage(UsageQuery(currency="EUR")),
            billing.usage(UsageQuery(BEGIN, BEGIN)),
            billing.analytics(DAY, DAY + timedelta(days=90)),
            billing.analytics(DAY, DAY - timedelta(days=1)),
        ):
            with pytest.raises(LimitExceeded):
                await attempt
        assert watched.requests == []
