"""Limits on what may be spent: one gate before every call of every tab."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from app.core.problems import describe
from app.core.spending_limits import call_group, read_limit
from app.credentials.accounts import new_account
from app.service.calls import Call, JsonContent
from app.service.chat_types import ChatMessage, ChatRequest
from app.service.errors import ConnectionFailed, LimitExceeded, SpendingLimit
from app.service.retry import CallKind
from app.storage.receipt_sums import LocalZone, midnight
from app.storage.receipts import Receipts, receipt_of
from tests.kit.wallet import WalletHarness

QUESTION = ChatRequest(model="rialto-handbook", messages=(ChatMessage("user", "How do I stop an answer?"),))


def call_of(resource: str = "speech", expected: str = "0.30", *, background: bool = False) -> Call:
    content = JsonContent({})
    return Call(
        "POST", "/x", CallKind.PAID, resource, content=content, background=background, expected_usd=Decimal(expected)
    )


async def spend(wallet: WalletHarness, amount: str, tab: str = "speech") -> None:
    receipt = receipt_of(
        id=f"spent {amount} {tab}",
        at=datetime.now(UTC),
        account_id=wallet.sandbox_account.id,
        tab=tab,
        endpoint="POST /x",
        cost_usd=Decimal(amount),
        cost_source="stated",
        charged=False,
    )
    await Receipts(wallet.database).add(receipt)


async def asks(wallet: WalletHarness, *, tab: str = "speech", expected: str = "0.30", background: bool = False) -> bool:
    """Whether a call is let through."""
    try:
        await wallet.spending_limits.check(
            wallet.sandbox_account, call_of(tab, expected, background=background), f"one of {tab}"
        )
    except LimitExceeded:
        return False
    wallet.spending_limits.settled(f"one of {tab}")
    return True


@pytest.mark.parametrize(
    ("limit", "scope", "stops"),
    [
        ("hard day", "0.50", True),
        ("hard day", "0.80", False),
        ("hard call", "0.20", True),
        ("hard call", "0.40", False),
        ("hard tab speech", "0.50", True),
        ("hard tab chat", "0.01", False),
        ("soft day", "0.50", True),
        ("soft account", "0.50", True),
    ],
)
async def test_a_limit_stops_what_goes_past_it_and_nothing_else(
    wallet: WalletHarness, limit: str, scope: str, stops: bool
) -> None:
    key = f"{limit} {wallet.sandbox_account.id}" if limit.endswith("account") else limit
    await spend(wallet, "0.40")
    wallet.presenter.set_limit(key, scope)
    assert await asks(wallet) is not stops
    assert len(wallet.questions) == (stops and limit.startswith("soft")), "a limit that stops asks nothing"
    await wallet.tasks.idle()


async def test_a_soft_limit_asks_once_a_day_and_a_hard_one_stops_until_it_is_changed(wallet: WalletHarness) -> None:
    await spend(wallet, "0.40")
    wallet.answer = True
    wallet.presenter.set_limit("soft day", "0.50")
    assert await asks(wallet)
    assert await asks(wallet)
    assert len(wallet.questions) == 1
    wallet.presenter.set_limit("hard day", "0.60")
    assert not await asks(wallet)
    wallet.presenter.set_limit("hard day", "0.70")
    assert await asks(wallet)
    assert len(wallet.questions) == 1
    await wallet.tasks.idle()


async def test_what_a_limit_stopped_names_the_limit_once_and_offers_to_change_it(wallet: WalletHarness) -> None:
    await spend(wallet, "0.40")
    for limit, what, meaning in (
        (
            "0.50",
            "This would exceed your daily limit of $0.50",
            "This request may cost $0.30. You have spent $0.40 today. Nothing was sent.",
        ),
        (
            "0.40",
            "You have reached your daily limit of $0.40",
            "This request may cost $0.30. You have spent $0.40 today. Nothing was sent.",
        ),
    ):
        wallet.presenter.set_limit("hard day", limit)
        with pytest.raises(SpendingLimit) as caught:
            await wallet.spending_limits.check(wallet.sandbox_account, call_of(), "one")
        problem = describe(caught.value)
        assert (problem.what, problem.meaning) == (what, meaning)
        assert problem.primary is not None
        assert (problem.primary.id, problem.primary.text) == ("limits:day", "Change the limit…")
        assert problem.alternative is None and not problem.fields
    wallet.presenter.set_limit("hard day", "")
    wallet.presenter.set_limit("hard tab speech", "0.10")
    with pytest.raises(SpendingLimit) as caught:
        await wallet.spending_limits.check(wallet.sandbox_account, call_of(), "one")
    assert describe(caught.value).what == "You have reached your daily limit for Speech of $0.10"
    wallet.page.change_limits("tab speech")
    fields = wallet.limit_fields
    assert (fields.scope.currentText(), fields.hard.key) == ("Per day, Speech", "hard tab speech")
    await wallet.tasks.idle()


async def test_a_limit_for_all_accounts_counts_every_account_that_spends_the_same_money(wallet: WalletHarness) -> None:
    """What the Sandbox spent counts against its wallets and the other way round; real money is another sum."""
    await spend(wallet, "0.40")
    pocket = await wallet.faucet_wallet()
    real = new_account("Real", "https://api.example")
    wallet.presenter.set_limit("hard day", "0.50")
    for account, stops in ((pocket, True), (real, False)):
        try:
            await wallet.spending_limits.check(account, call_of(), account.id)
            assert not stops
        except SpendingLimit:
            assert stops
    assert await wallet.spending_limits.spent("day", pocket) == Decimal("0.40")
    assert await wallet.spending_limits.spent("day", real) == Decimal("0.30")
    await wallet.use(pocket)
    await wallet.receipt_recorder.refresh()
    assert wallet.current_account.spent_today == Decimal("0.40"), "Today is what the daily limit counts"
    await wallet.tasks.idle()


async def test_calls_that_leave_together_are_held_against_a_limit_as_one_order(wallet: WalletHarness) -> None:
    """Each of four at once would fit alone: none leaves, and nobody is asked about each of them."""
    wallet.presenter.set_limit("soft day", "0.03")
    service = wallet.current_account.service
    assert service is not None
    refused: list[SpendingLimit] = []

    async def one(number: int) -> None:
        try:
            await wallet.spending_limits.check(wallet.sandbox_account, call_of("images", "0.01"), str(number))
        except SpendingLimit as error:
            refused.append(error)

    with call_group([Decimal("0.01")] * 4, "images"):
        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(one(number))
    assert len(refused) == 4
    (question,) = wallet.questions
    assert "All 4 images together may cost $0.04" in question.text
    assert await wallet.spending_limits.spent("day", wallet.sandbox_account) == 0
    await wallet.tasks.idle()


async def test_background_work_is_refused_without_asking(wallet: WalletHarness) -> None:
    wallet.answer = True
    wallet.presenter.set_limit("hard call", "0.10")
    assert not await asks(wallet, background=True)
    assert wallet.questions == []
    await wallet.tasks.idle()


async def test_a_refused_call_never_reaches_the_service(wallet: WalletHarness) -> None:
    await spend(wallet, "0.40", "chat")
    wallet.presenter.set_limit("hard day", "0.40")
    service = wallet.current_account.service
    assert service is not None
    balance = (await service.account.rate_limits()).balances
    with pytest.raises(LimitExceeded) as caught:
        await service.chat.complete(QUESTION)
    assert caught.value.surely_not_sent
    assert "Nothing was sent" in str(caught.value)
    assert (await service.account.rate_limits()).balances == balance
    wallet.presenter.set_limit("hard day", "")
    assert (await service.chat.complete(QUESTION)).text
    await wallet.tasks.idle()


async def test_calls_under_way_count_before_they_have_receipts(wallet: WalletHarness) -> None:
    wallet.presenter.set_limit("hard day", "0.50")
    await wallet.spending_limits.check(wallet.sandbox_account, call_of(), "first")
    with pytest.raises(LimitExceeded):
        await wallet.spending_limits.check(wallet.sandbox_account, call_of(), "second")
    wallet.spending_limits.settled("first")
    await wallet.spending_limits.check(wallet.sandbox_account, call_of(), "third")
    await wallet.tasks.idle()


async def test_a_call_whose_receipt_comes_while_the_sums_are_read_counts_once(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    wallet.presenter.set_limit("hard day", "0.70")
    await wallet.spending_limits.check(wallet.sandbox_account, call_of(), "spent 0.30 speech")
    spent_since = Receipts.spent_since

    async def meanwhile(receipts: Receipts, *values: Any, **more: Any) -> Decimal:
        await spend(wallet, "0.30")
        wallet.spending_limits.settled("spent 0.30 speech")
        return await spent_since(receipts, *values, **more)

    monkeypatch.setattr(Receipts, "spent_since", meanwhile)
    assert await asks(wallet)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not hasattr(time, "tzset"):
        pytest.skip("Windows has one zone for all programs")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("noon", "first"),
    [("2026-10-25T11:00+00:00", "2026-10-24T22:00+00:00"), ("2026-03-29T10:00+00:00", "2026-03-28T23:00+00:00")],
)
def test_the_day_on_which_the_clocks_change_begins_at_its_own_midnight(noon: str, first: str) -> None:
    day = datetime.fromisoformat(noon).astimezone().date()
    assert midnight(day, LocalZone()) == datetime.fromisoformat(first)


@pytest.mark.usefixtures("berlin")
async def test_a_day_of_the_chart_has_the_hours_that_its_own_clock_showed(wallet: WalletHarness) -> None:
    """Half past midnight, in summer time and in winter time: one of the two is not that of now."""
    receipts = wallet.receipts
    receipts.set_filter(days=0)
    for number, at in enumerate(("2026-07-10T22:30+00:00", "2026-01-10T23:30+00:00")):
        await Receipts(wallet.database).add(
            receipt_of(
                id=f"e{number}",
                at=datetime.fromisoformat(at),
                account_id=wallet.sandbox_account.id,
                tab="speech",
                endpoint="POST /x",
                cost_usd=Decimal("0.10"),
                charged=False,
            )
        )
    receipts.reload()
    await wallet.tasks.idle()
    assert sorted(day for day, *_ in receipts.totals.by_day) == [date(2026, 1, 11), date(2026, 7, 11)]


async def test_a_call_that_never_left_is_under_way_no_longer(wallet: WalletHarness) -> None:
    service = wallet.current_account.service
    assert service is not None
    await service.aclose()
    with pytest.raises(ConnectionFailed):
        async with service.client.fetch(call_of()):
            pass
    assert await wallet.spending_limits.spent("day", wallet.sandbox_account) == 0


@pytest.mark.parametrize(
    ("text", "amount"), [("1.50", "1.50"), ("$2", "2"), ("1,000", "1000"), ("", None), ("-1", None), ("NaN", None)]
)
def test_an_amount_is_read_as_people_type_it(text: str, amount: str | None) -> None:
    assert read_limit(text) == (Decimal(amount) if amount is not None else None)


async def test_limits_are_typed_in_the_window_kept_and_told_to_the_status_bar(wallet: WalletHarness) -> None:
    fields = wallet.limit_fields
    fields.hard.field.setText("$10")
    fields.hard.field.editingFinished.emit()
    await wallet.tasks.idle()
    assert wallet.settings.value.budgets == {"hard day": "10"}
    assert wallet.current_account.daily_limit == Decimal(10)
    fields.hard.field.setText("ten")
    fields.hard.field.editingFinished.emit()
    assert "amount in USD" in fields.problem.text()
    assert wallet.settings.value.budgets == {"hard day": "10"}
