"""Topping up through the window, against a Sandbox that verifies every signature with a library of its own."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.ui.wallet.desk import Desk

USD = Decimal("7.25")


async def test_r_wal_01_r_wal_09_a_top_up_is_shown_signed_paid_and_credited_once(wallet: Desk) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    view = wallet.top_ups.view
    shown = {row.name: row.value for row in dialog.sheet.rows}
    assert (shown["from"], shown["value"], shown["chainId"]) == (account.address, "7250000", "8453")
    assert len(shown["to"]) == 42
    assert view.digest == shown["signing hash"]
    assert dialog.go.text() == "Sign and pay 7.25"
    dialog.go.click()
    await wallet.until(lambda: wallet.top_ups.view.step == "done")
    assert Decimal((await wallet.wallet_state(account))["usd"]) == USD
    (intent,) = await wallet.intents.recent("x402")
    assert intent.state == "answered"
    assert dict(wallet.top_ups.view.receipt)["Payer"] == account.address
    dialog.reject()
    await wallet.until(lambda: any("arrived" in sentence for sentence, *_ in wallet.toasts))
    card = wallet.presenter.card(account.id)
    assert card is not None
    await wallet.until(lambda: wallet.presenter.card(account.id).usd == USD)  # type: ignore[union-attr]  # it is there
    await wallet.tasks.idle()


@pytest.mark.parametrize(("amount", "word"), [("4.99", "smallest"), ("10000.01", "largest"), ("abc", "amount in USD")])
async def test_r_wal_02_an_amount_that_cannot_be_paid_asks_nobody(wallet: Desk, amount: str, word: str) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.open_top_up(account)
    before = len(await wallet.control("/log") or ())
    wallet.top_ups.set_amount(amount)
    assert word in dialog.problem.text()
    assert not dialog.go.isEnabled()
    wallet.top_ups.ask_terms()
    assert len(await wallet.control("/log") or ()) == before
    await wallet.leave(dialog)
