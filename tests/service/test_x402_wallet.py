"""Balance and bookings of a wallet, and what a call says of them."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from app.service.errors import (
    BadResponse,
    Forbidden,
    LimitExceeded,
    PaymentRequired,
)
from app.service.retry import CallKind
from tests.service.loopback import answering
from tests.service.test_x402 import OTHER_CHAIN_WALLET, WALLET, always, paying


async def test_r_wal_10_r_ep_09_the_balance_of_a_wallet() -> None:
    data = {
        "walletAddress": WALLET.lower(),
        "balanceUsd": 4.230001,
        "canConsume": True,
        "minimumTopUpUsd": 5,
        "suggestedTopUpUsd": 10,
        "diemBalanceUsd": 0.5,
        "new": 1,
    }
    async with paying(answering({"success": True, "data": data})) as watched:
        balance = await watched.service.x402.balance(WALLET)
        assert watched.requests[0].url.path == f"/api/v1/x402/balance/{WALLET}"
    assert (balance.balance_usd, balance.can_consume, balance.diem) == (Decimal("4.230001"), True, Decimal("0.5"))
    assert (balance.minimum_top_up_usd, balance.suggested_top_up_usd) == (Decimal(5), Decimal(10))


async def test_an_address_of_the_other_chain_keeps_its_case() -> None:
    async with paying(answering({"data": {"balanceUsd": 1}})) as watched:
        await watched.service.x402.balance(OTHER_CHAIN_WALLET)
        assert watched.requests[0].url.path.endswith(OTHER_CHAIN_WALLET)
    lower = {"data": {"walletAddress": OTHER_CHAIN_WALLET.lower(), "balanceUsd": 1}}
    async with paying(answering(lower)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.x402.balance(OTHER_CHAIN_WALLET)


@pytest.mark.parametrize("wallet", ["", "0x12", "../../x", "0x" + "g" * 40, "O" * 40, WALLET + "/"])
async def test_what_is_no_wallet_is_not_asked_about(wallet: str) -> None:
    async with paying(answering({})) as watched:
        for work in (watched.service.x402.balance(wallet), watched.service.x402.transactions(wallet)):
            with pytest.raises(LimitExceeded) as caught:
                await work
            assert caught.value.field == "wallet"
        assert watched.requests == []


async def test_another_wallets_balance_is_refused_by_either_side() -> None:
    async with paying(always(403, {"error": "Not your wallet"})) as watched:
        with pytest.raises(Forbidden):
            await watched.service.x402.balance(WALLET)
    async with paying(answering({"data": {"walletAddress": "0x" + "1" * 40}})) as watched:
        with pytest.raises(BadResponse):
            await watched.service.x402.balance(WALLET)


async def test_r_wal_12_the_instructions_of_a_low_balance_are_read_for_showing() -> None:
    body = {
        "error": "Payment required",
        "code": "PAYMENT_REQUIRED",
        "reason": "insufficient_balance",
        "currentBalanceUsd": 0.04,
        "minimumBalanceUsd": 0.1,
        "suggestedTopUpUsd": 10,
        "minimumTopUpUsd": 5,
    }
    async with paying(always(402, body)) as watched:
        with pytest.raises(PaymentRequired) as caught:
            await watched.client.post_json("/chat/completions", {}, kind=CallKind.PAID)
    assert (caught.value.have, caught.value.need) == (Decimal("0.04"), Decimal("0.1"))
    assert (caught.value.minimum, caught.value.suggested, caught.value.options) == (Decimal(5), Decimal(10), ())


async def test_r_wal_13_the_balance_after_a_call_stands_in_its_answer() -> None:
    async with paying(always(200, {}, X_Balance_Remaining="4.230000")) as watched:
        await watched.client.get("/models")
    assert watched.exchange.info is not None
    assert watched.exchange.info.balance_remaining == Decimal("4.230000")


BOOKING = {
    "id": "t1",
    "amount": -0.000123,
    "balanceAfter": 4.2,
    "type": "CHARGE",
    "createdAt": "2026-11-20T12:00:00.000Z",
    "requestId": "r1",
    "modelId": "m",
}


async def test_bookings_are_read_and_a_broken_one_hides_no_other() -> None:
    data = {
        "walletAddress": WALLET,
        "currentBalance": 4.2,
        "transactions": [BOOKING, {"amount": 1}, None, {"id": "t2", "amount": "odd", "type": "NEW_KIND"}],
        "pagination": {"limit": 2, "offset": 4, "hasMore": True},
    }
    async with paying(answering({"success": True, "data": data})) as watched:
        page = await watched.service.x402.transactions(WALLET, size=2, offset=4)
        assert dict(watched.requests[0].url.params) == {"limit": "2", "offset": "4"}
    assert [(each.id, each.amount, each.kind) for each in page.transactions] == [
        ("t1", Decimal("-0.000123"), "CHARGE"),
        ("t2", Decimal(0), "NEW_KIND"),
    ]
    assert page.transactions[0].at == datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert (page.balance_usd, page.has_more, page.broken) == (Decimal("4.2"), True, 2)


@pytest.mark.parametrize(("size", "offset"), [(0, 0), (101, 0), (50, -1)])
async def test_r_err_limits_of_a_page_are_named_before_it_is_asked_for(size: int, offset: int) -> None:
    async with paying(answering({})) as watched:
        with pytest.raises(LimitExceeded) as caught:
            await watched.service.x402.transactions(WALLET, size=size, offset=offset)
        assert caught.value.field in ("limit", "offset")
        assert watched.requests == []
