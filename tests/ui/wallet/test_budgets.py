"""Limits on what may be spent: one gate before every call of every tab."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.service.calls import Call, JsonContent
from app.service.chat_types import ChatMessage, ChatRequest
from app.service.errors import LimitExceeded
from app.service.retry import CallKind
from app.storage.receipts import Receipts, receipt_of
from app.ui.shared.budget import expecting, read_limit
from tests.ui.wallet.desk import Desk

QUESTION = ChatRequest(model="rialto-handbook", messages=(ChatMessage("user", "How do I stop an answer?"),))


def call_of(resource: str = "speech", *, background: bool = False) -> Call:
    return Call("POST", "/x", CallKind.PAID, resource, content=JsonContent({}), background=background)


async def spend(desk: Desk, amount: str, tab: str = "speech") -> None:
    receipt = receipt_of(
        id=f"spent {amount} {tab}",
        at=desk.presenter._now(),
        account_id=desk.sandbox_account.id,
        tab=tab,
        endpoint="POST /x",
        cost_usd=Decimal(amount),
        cost_source="stated",
        charged=False,
    )
    await Receipts(desk.database).add(receipt)


async def asks(desk: Desk, *, tab: str = "speech", expected: str = "0.30", background: bool = False) -> bool:
    """Whether a call is let through."""
    with expecting(Decimal(expected)):
        try:
            await desk.budget.check(desk.sandbox_account, call_of(tab, background=background), f"one of {tab}")
        except LimitExceeded:
            return False
    desk.budget.settled(f"one of {tab}")
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
    wallet: Desk, limit: str, scope: str, stops: bool
) -> None:
    key = f"{limit} {wallet.sandbox_account.id}" if limit.endswith("account") else limit
    await spend(wallet, "0.40")
    wallet.presenter.set_limit(key, scope)
    assert await asks(wallet) is not stops
    assert [question.is_hard for question in wallet.questions] == ([limit.startswith("hard")] if stops else [])
    await wallet.tasks.idle()


async def test_a_soft_limit_asks_once_a_day_and_a_hard_one_each_time(wallet: Desk) -> None:
    await spend(wallet, "0.40")
    wallet.answer = True
    wallet.presenter.set_limit("soft day", "0.50")
    assert await asks(wallet)
    assert await asks(wallet)
    assert len(wallet.questions) == 1
    wallet.presenter.set_limit("hard day", "0.60")
    assert await asks(wallet)
    assert await asks(wallet)
    assert len(wallet.questions) == 3
    await wallet.tasks.idle()


async def test_background_work_is_refused_without_asking(wallet: Desk) -> None:
    wallet.answer = True
    wallet.presenter.set_limit("hard call", "0.10")
    assert not await asks(wallet, background=True)
    assert wallet.questions == []
    await wallet.tasks.idle()


async def test_a_refused_call_never_reaches_the_service(wallet: Desk) -> None:
    await spend(wallet, "0.40", "chat")
    wallet.presenter.set_limit("hard day", "0.40")
    service = wallet.caller.service
    assert service is not None
    balance = (await service.account.rate_limits()).balances
    with pytest.raises(LimitExceeded) as caught:
        await service.chat.complete(QUESTION)
    assert caught.value.surely_not_sent
    assert "Nothing was sent" in str(caught.value)
    assert (await service.account.rate_limits()).balances == balance
    wallet.answer = True
    assert (await service.chat.complete(QUESTION)).text
    await wallet.tasks.idle()


async def test_calls_under_way_count_before_they_have_receipts(wallet: Desk) -> None:
    wallet.presenter.set_limit("hard day", "0.50")
    with expecting(Decimal("0.30")):
        await wallet.budget.check(wallet.sandbox_account, call_of(), "first")
        with pytest.raises(LimitExceeded):
            await wallet.budget.check(wallet.sandbox_account, call_of(), "second")
        wallet.budget.settled("first")
        await wallet.budget.check(wallet.sandbox_account, call_of(), "third")
    await wallet.tasks.idle()


@pytest.mark.parametrize(
    ("text", "amount"), [("1.50", "1.50"), ("$2", "2"), ("1,000", "1000"), ("", None), ("-1", None), ("NaN", None)]
)
def test_an_amount_is_read_as_people_type_it(text: str, amount: str | None) -> None:
    assert read_limit(text) == (Decimal(amount) if amount is not None else None)


async def test_limits_are_typed_in_the_window_kept_and_told_to_the_status_bar(wallet: Desk) -> None:
    fields = wallet.page.list.limits
    fields.hard.field.setText("$10")
    fields.hard.field.editingFinished.emit()
    await wallet.tasks.idle()
    assert wallet.settings.value.budgets == {"hard day": "10"}
    assert wallet.caller.daily_limit == Decimal(10)
    fields.hard.field.setText("ten")
    fields.hard.field.editingFinished.emit()
    assert "amount in USD" in fields.problem.text()
    assert wallet.settings.value.budgets == {"hard day": "10"}
