"""Topping up through the window, against a Sandbox that verifies every signature with a library of its own."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QWidget

from app.bootstrap.wallet_tab import top_up_and_go_on
from app.credentials.accounts import new_account
from app.credentials.stores import SessionStore
from app.service.errors import BadRequest, ServerFailed
from app.service.x402 import Settlement, TransactionPage, WalletTransaction, X402Resource
from app.storage.paid_call_intents import Intents
from app.ui.chat.page import ChatPage
from app.ui.kit.widgets.buttons import IconButton
from app.ui.wallet.session import pending_top_ups
from tests.kit.waiting import entered, until
from tests.kit.wallet import WalletHarness

USD = Decimal("7.25")


async def test_r_wal_01_r_wal_09_a_top_up_is_shown_signed_paid_and_credited_once(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    view = wallet.top_up
    shown = {row.name: row.value for row in dialog.sheet.rows}
    assert (shown["from"], shown["value"], shown["chainId"]) == (account.address, "7250000", "8453")
    assert len(shown["to"]) == 42
    assert view.digest == shown["signing hash"]
    assert dialog.go.text() == "Sign and pay 7.25"
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    assert Decimal((await wallet.wallet_state(account))["usd"]) == USD
    (intent,) = await wallet.intents.recent("x402")
    assert intent.state == "answered"
    assert dict(wallet.top_up.receipt)["Payer"] == account.address
    (copy,) = (each for each in dialog.findChildren(IconButton) if each.accessibleName() == "Copy Payer")
    copy.click()
    assert QGuiApplication.clipboard().text() == account.address
    await until(lambda: (row := wallet.receipts.row(0)) is not None and row.paid_in == USD)
    dialog.reject()
    await until(lambda: any("arrived" in sentence for sentence, *_ in wallet.toasts))
    card = wallet.presenter.card(account.id)
    assert card is not None
    await until(lambda: wallet.presenter.card(account.id).usd == USD)  # type: ignore[union-attr]  # it is there
    await wallet.tasks.idle()


@pytest.mark.parametrize(("amount", "word"), [("4.99", "minimum"), ("10000.01", "maximum"), ("abc", "amount in USD")])
async def test_r_wal_02_an_amount_that_cannot_be_paid_asks_nobody(
    wallet: WalletHarness, amount: str, word: str
) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.open_top_up(account)
    before = len(await wallet.control("/log") or ())
    wallet.top_ups.set_amount(amount)
    assert word in dialog.problem.text()
    assert not dialog.go.isEnabled()
    wallet.top_ups.ask_terms()
    assert len(await wallet.control("/log") or ()) == before
    await wallet.leave(dialog)


@pytest.mark.parametrize("landed", [True, False])
async def test_r_wal_07_a_lost_answer_is_unknown_until_the_identical_payment_settles_it(
    wallet: WalletHarness, landed: bool
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.fault("settlement_timeout", times=1, landed=landed)
    dialog = await wallet.review(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step in ("unknown", "done"))
    assert wallet.top_up.step == ("done" if landed else "unknown")  # what landed is in the wallet's bookings
    await wallet.leave(dialog)
    if not landed:
        assert wallet.page.badge() == 1
        (card,) = wallet.payment_cards()
        card.again.click()
        await until(lambda: not wallet.top_ups.open.payments)
    await wallet.tasks.idle()
    assert [each.state for each in await wallet.intents.recent("x402")] == ["answered"]
    assert Decimal((await wallet.wallet_state(account))["usd"]) == USD
    signed = [row for row in await wallet.keys.signed_lately() if row.kind == "payment"]
    assert len(signed) == 1


async def test_an_old_open_payment_is_found_behind_any_number_of_newer_ones(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    old = await wallet.intents.open("x402", account.id, {"amount": "5"})
    await wallet.intents.sent(old.id)
    await wallet.intents.unknown(old.id)
    for _ in range(60):
        await wallet.intents.cancel((await wallet.intents.open("x402", account.id, {"amount": "5"})).id)
    found = await wallet.top_ups.open.of(account)
    assert found is not None and found.intent_id == old.id


@pytest.mark.parametrize(("bookings", "state"), [("a second page", "answered"), ("refused", "unknown")])
async def test_a_payment_is_never_called_off_before_all_bookings_since_were_read(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, bookings: str, state: str
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.fault("settlement_timeout", times=1, landed=True)
    read = X402Resource.transactions

    async def refused(self: X402Resource, address: str, *, size: int = 50, offset: int = 0) -> TransactionPage:
        raise ServerFailed("Not now.")

    async def behind_a_page_of_charges(
        self: X402Resource, address: str, *, size: int = 50, offset: int = 0
    ) -> TransactionPage:
        if offset >= size:
            return await read(self, address, size=size, offset=offset - size)
        charge = WalletTransaction(id="one", amount=Decimal(-1), type="CHARGE", createdAt=datetime.now(UTC))
        return TransactionPage((charge,) * size, None, has_more=True, broken=0)

    monkeypatch.setattr(X402Resource, "transactions", refused)
    dialog = await wallet.review(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "unknown")
    await wallet.leave(dialog)
    if bookings != "refused":
        monkeypatch.setattr(X402Resource, "transactions", behind_a_page_of_charges)
    monkeypatch.setattr(pending_top_ups, "SURELY_OVER", timedelta(days=-1))
    await wallet.fault("answer", times=1, path="/x402/top-up", status=400)
    (card,) = wallet.payment_cards()
    card.button.click()
    await wallet.tasks.idle()
    assert [each.state for each in await wallet.intents.recent("x402")] == [state]


@pytest.mark.parametrize("pays", [True, False])
async def test_what_was_refused_for_lack_of_credits_goes_on_after_the_top_up_and_only_then(
    wallet: WalletHarness, pays: bool
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.use(account)
    shown: list[str] = []
    again: list[str] = []
    thread = SimpleNamespace(head_id="the refused answer")
    message_actions = SimpleNamespace(
        has_no_answer=lambda _message_id: True, act=lambda *what: again.append(" ".join(what))
    )
    chat = SimpleNamespace(opened=SimpleNamespace(thread=thread), message_actions=message_actions)
    page = SimpleNamespace(retry_refused=lambda: ChatPage.retry_refused(SimpleNamespace(presenter=chat)))
    tabs = {"chat": page, "wallet": wallet.page}
    window = SimpleNamespace(current_tab="chat", show_tab=shown.append, tab=tabs.__getitem__)
    top_up_and_go_on(SimpleNamespace(window=window, current_account=wallet.current_account))  # type: ignore[arg-type]
    await until(lambda: wallet.top_up_dialog is not None)
    dialog = wallet.top_up_dialog
    if pays:
        for step in ("payment", "review", "done"):
            dialog.go.click()
            await until(lambda step=step: wallet.top_up.step == step)
    await wallet.leave(dialog)
    assert again == (["the refused answer retry"] if pays else [])
    assert shown == (["wallet", "chat"] if pays else ["wallet"])


async def test_ctrl_t_without_a_wallet_offers_to_add_one(wallet: WalletHarness) -> None:
    action = next(each for each in wallet.page.actions() if each.shortcut == "Ctrl+T")
    action.run()
    assert len(wallet.needed) == 1
    await wallet.tasks.idle()


async def test_the_persons_own_limit_for_a_top_up_is_kept(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    wallet.presenter.set_limit("hard top-up", "6")
    dialog = await wallet.open_top_up(account)
    wallet.top_ups.set_amount("7")
    assert "Your limit" in dialog.problem.text()
    await wallet.leave(dialog)


async def test_a_service_that_reads_the_other_form_gets_the_same_signature_in_it(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.faucet_wallet()
    settle, sent = X402Resource.settle, []

    async def choosy(self: X402Resource, payment: str) -> Settlement:
        sent.append(json.loads(base64.b64decode(payment)))
        if "accepted" in sent[-1]:
            raise BadRequest("Unknown form", status=400, code="INVALID_PAYMENT_FORMAT")
        return await settle(self, payment)

    monkeypatch.setattr(X402Resource, "settle", choosy)
    dialog = await wallet.review(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    usual, flat = sent
    assert usual["payload"] == flat["payload"]
    assert Decimal((await wallet.wallet_state(account))["usd"]) == USD
    await wallet.leave(dialog)
    assert len([row for row in await wallet.keys.signed_lately() if row.kind == "payment"]) == 1


@pytest.mark.parametrize(
    ("credited", "words"), [(Decimal("14.50"), "it credited $14.50"), (None, "did not say how much")]
)
async def test_a_credit_that_is_not_what_was_paid_is_said(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, credited: Decimal | None, words: str
) -> None:
    account = await wallet.faucet_wallet()
    settle = X402Resource.settle

    async def generous(self: X402Resource, payment: str) -> Settlement:
        return replace(await settle(self, payment), credited_usd=credited)

    monkeypatch.setattr(X402Resource, "settle", generous)
    dialog = await wallet.review(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    assert wallet.top_up.credited == credited
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert any("You paid $7.25" in text and words in text for text in said)
    (intent,) = await wallet.intents.recent("x402")
    assert (intent.state, words in intent.note) == ("answered", True)
    dialog.reject()
    await until(lambda: any(words in sentence for sentence, *_ in wallet.toasts))
    await wallet.tasks.idle()


async def test_what_is_wrong_is_seen_without_scrolling_and_a_signature_that_failed_leaves_no_payment_under_way(
    wallet: WalletHarness,
) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    wallet.place.store = SessionStore()  # the key is gone
    dialog.go.click()
    await until(lambda: dialog.problem.text() and not wallet.top_ups.is_paying)
    assert "not on this computer" in dialog.problem.text()
    assert dialog.problem.y() < dialog.pages.y()
    assert wallet.page.running_work() == ()
    assert [each.state for each in await wallet.intents.recent("x402")] == ["cancelled"]
    await wallet.leave(dialog)


async def test_r_lim_a_top_up_that_has_to_wait_says_why_and_until_when(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    await refuse_once(wallet, after_s=1)
    dialog = await wallet.open_top_up(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.waits_until is not None)
    words = dialog.waiting.text()
    assert "reached this minute’s limit for top-up requests" in words
    assert "It continues at" in words and ", in 0:0" in words
    assert dialog.go.text() == "Waiting…" and not dialog.go.isEnabled()
    assert dialog.findChild(QScrollArea).verticalScrollBar().maximum() == 0  # the dialog has grown for the sentence
    await until(lambda: wallet.top_up.step == "payment")
    assert not dialog.waiting.isVisible()
    await wallet.leave(dialog)


async def test_who_cancels_while_the_last_check_waits_has_signed_nothing(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    await refuse_once(wallet, after_s=60)
    dialog.go.click()
    await until(lambda: wallet.top_up.waits_until is not None)
    dialog.leave.click()
    await wallet.tasks.idle()
    assert await wallet.intents.recent("x402") == ()
    assert [row for row in await wallet.keys.signed_lately() if row.kind == "payment"] == []
    assert Decimal((await wallet.wallet_state(account))["usd"]) == 0
    assert not wallet.top_ups.is_paying
    again = await wallet.open_top_up(account)  # and the next one begins at its beginning
    assert again.waiting.text() == "" and wallet.top_up.step == "amount"
    await wallet.leave(again)


async def test_a_payment_that_is_credited_while_the_program_closes_is_not_asked_about_again(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    credited = entered(monkeypatch, Intents, "answered")
    dialog = await wallet.review(await wallet.faucet_wallet())
    dialog.go.click()
    await credited.wait()
    wallet.tasks.cancel("top-up pay")
    await wallet.leave(dialog)
    assert [intent.state for intent in await wallet.intents.recent("x402")] == ["answered"]


async def test_a_payment_that_ends_behind_the_top_up_of_another_wallet_says_nothing_in_there(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.faucet_wallet()
    other = await wallet.keys.add_from_key("Other", "0x" + "35" * 32, "evm", wallet.sandbox_account)
    is_other_open, settle = asyncio.Event(), X402Resource.settle

    async def late(resource: X402Resource, payment: str) -> Settlement:
        await is_other_open.wait()
        return await settle(resource, payment)

    monkeypatch.setattr(X402Resource, "settle", late)
    dialog = await wallet.review(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "sending")
    dialog.reject()
    await until(lambda: wallet.top_up_dialog is None)
    dialog = await wallet.open_top_up(other)
    is_other_open.set()
    await until(lambda: not wallet.top_ups.is_paying)
    assert (wallet.top_up.account, wallet.top_up.step) == ("Other", "amount")
    assert [intent.state for intent in await wallet.intents.recent("x402")] == ["answered"]
    await wallet.leave(dialog)


async def test_a_payment_that_the_rate_limit_turned_away_stays_open_and_is_sent_again_as_it_is(
    wallet: WalletHarness,
) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    settle, tries = X402Resource.settle, []

    async def turned_away_once(self: X402Resource, payment: str) -> Settlement:
        if not tries:
            await refuse_once(wallet, after_s=60)
        tries.append(payment)
        return await settle(self, payment)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(X402Resource, "settle", turned_away_once)
        dialog.go.click()
        await until(lambda: wallet.top_up.step == "unknown")
        assert "has not processed this payment yet" in wallet.top_up.problem
        await wallet.leave(dialog)
        (card,) = wallet.payment_cards()
        card.again.click()
        await until(lambda: not wallet.top_ups.open.payments)
        await wallet.tasks.idle()
    assert len(tries) == 2 and tries[0] == tries[1]
    assert Decimal((await wallet.wallet_state(account))["usd"]) == USD


async def refuse_once(wallet: WalletHarness, after_s: int) -> None:
    """The next call about top-ups is one too many for this minute."""
    await wallet.fault("answer", times=1, path="/x402/top-up", status=429, headers={"Retry-After": str(after_s)})


EMPTY_KEY = "0x" + "42" * 32


async def test_an_empty_wallet_of_the_sandbox_says_so_before_it_signs_and_is_filled_with_one_press(
    wallet: WalletHarness,
) -> None:
    account = await wallet.keys.add_from_key("Empty", EMPTY_KEY, "evm", wallet.sandbox_account)
    dialog = await wallet.open_top_up(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.holds is not None)
    assert wallet.top_up.step == "payment"
    assert dialog.holds.text().startswith("This wallet holds 0.00 play USDC on Sandbox")
    assert "less than the 5.00 you want to add" in dialog.holds.text()
    assert dialog.look.isVisibleTo(dialog) and dialog.look.text() == "Get 100 play USDC"
    assert dialog.focusWidget() is dialog.look, "the next thing to do, and free"
    assert dialog.look.isDefault() and not dialog.go.isDefault()
    QTest.keyClick(dialog.look, Qt.Key.Key_Return)
    await until(lambda: wallet.top_up.holds == 100)
    assert dialog.focusWidget() is dialog.go
    assert dialog.go.isDefault()
    assert dialog.holds.text().startswith("This wallet holds 100.00 play USDC")
    assert not dialog.look.isVisibleTo(dialog)
    went: list[QWidget | None] = []
    QApplication.instance().focusChanged.connect(lambda _before, now: went.append(now))
    QTest.keyClick(dialog.go, Qt.Key.Key_Return)
    await until(lambda: wallet.top_up.step == "review")
    assert not dialog.go.isDefault(), "Enter never signs"
    assert dialog.go not in went and dialog.form.isAncestorOf(went[-1]), "straight to where the step begins"
    assert dialog.held.text() == "100.00 play USDC"
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    assert Decimal((await wallet.wallet_state(account))["usd"]) == 5
    await wallet.leave(dialog)


async def test_what_a_wallet_holds_for_real_is_looked_up_when_asked_for_and_at_the_price_on_the_button(
    wallet: WalletHarness,
) -> None:
    await wallet.control("/settings", "PUT", dialect="venice")
    site = new_account("Service", wallet.sandbox.base_url, dialect="venice")
    account = await wallet.keys.add_from_key("Mine", EMPTY_KEY, "evm", site)
    assert not account.is_sandbox
    await wallet.control(f"/wallets/{account.address}", "PUT", usd="3")
    dialog = await wallet.open_top_up(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "payment")
    assert Decimal((await wallet.wallet_state(account))["usd"]) == 3, "nothing billable is asked unasked"
    assert dialog.holds.text() == "This wallet’s balance on Base, chain 8453 is not known yet."
    assert dialog.look.text() == "Check balance for $0.000014"
    assert dialog.focusWidget() is not dialog.look, "it costs"
    dialog.look.click()
    await until(lambda: wallet.top_up.holds is not None or wallet.top_up.holds_note)
    assert dialog.holds.text() == (
        "This wallet holds 0.00 USDC on Base, chain 8453, less than the 5.00 you want to add."
    )
    assert Decimal((await wallet.wallet_state(account))["usd"]) == 3 - Decimal("0.000014")
    await wallet.leave(dialog)
