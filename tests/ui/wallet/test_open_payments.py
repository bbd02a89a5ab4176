"""A signed payment stays open until it is known to be settled or over, whatever the service, or a restore, says."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app.credentials.accounts import Account, new_account
from app.sandbox.server import RunningSandbox
from app.service.errors import ServerFailed
from app.service.service import Service
from app.service.x402 import Settlement, TransactionPage, WalletTransaction, X402Resource
from app.storage.paid_call_intents import Intent
from app.storage.wallet.open_payments import OpenPayment, OpenPayments
from app.ui.kit.theme import Theme
from app.ui.wallet.session import pending_top_ups
from app.wallet.signer import PrivateKey
from tests.kit.portable import has_mode
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness, open_wallet

USD = Decimal("7.25")


async def pay(wallet: WalletHarness, account: Account) -> Any:
    """Sign and send one top-up through the window; return the dialog when the service has answered."""
    dialog = await wallet.review(account)
    assert wallet.top_up.step == "review", wallet.top_up.problem
    dialog.go.click()
    await until(lambda: wallet.top_up.step in ("done", "unknown", "refused"))
    return dialog


async def left_open(wallet: WalletHarness, account: Account, **fault: object) -> Intent:
    """A payment whose answer was lost; it has `landed` or not."""
    await wallet.fault("settlement_timeout", times=1, **fault)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(X402Resource, "transactions", not_now)
        await wallet.leave(await pay(wallet, account))
    assert wallet.top_up.step == "unknown"
    (intent,) = await wallet.intents.recent("x402")
    return intent


async def not_now(self: X402Resource, address: str, *, size: int = 50, offset: int = 0) -> TransactionPage:
    raise ServerFailed("Not now.")


def charges(*rows: WalletTransaction) -> Callable[..., Any]:
    async def read(self: X402Resource, address: str, *, size: int = 50, offset: int = 0) -> TransactionPage:
        return TransactionPage(rows, None, has_more=False, broken=0)

    return read


def top_up_of(usd: str, at: datetime | None) -> WalletTransaction:
    return WalletTransaction(id="one", amount=Decimal(usd), type="TOP_UP", createdAt=at)


@contextmanager
def refusing(wallet: WalletHarness, status: int) -> Iterator[None]:
    """Each payment that is sent is answered with this status, and never looked at."""
    settle = X402Resource.settle

    async def refused(self: X402Resource, payment: str) -> Settlement:
        await wallet.fault("answer", times=1, path="/x402/top-up", status=status)
        return await settle(self, payment)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(X402Resource, "settle", refused)
        yield


async def refuses_another(wallet: WalletHarness, account: Account) -> None:
    """No other payment of the wallet reaches the page that signs."""
    assert "still open" in await wallet.blocked_top_up(account)


async def credited(wallet: WalletHarness, account: Account) -> Decimal:
    return Decimal((await wallet.wallet_state(account))["usd"])


async def state_of(wallet: WalletHarness) -> tuple[str, str]:
    intent = (await wallet.intents.recent("x402"))[-1]
    return intent.state, intent.note


async def press(wallet: WalletHarness, button: str) -> str:
    """Press a button of the one open card; return what was said at the end."""
    told: list[object] = []
    wallet.top_ups.open.notice.connect(told.append)
    (card,) = wallet.payment_cards()
    getattr(card, button).click()
    await wallet.tasks.idle()
    wallet.top_ups.open.notice.disconnect(told.append)
    return str(told[-1]) if told else ""


def both_clocks_later(wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    """This computer's clock goes on; the service's is turned with `/clock`."""
    monkeypatch.setattr(wallet.top_ups.open, "_now", lambda: datetime.now(UTC) + by)


async def two_hours_later(wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    await wallet.control("/clock", "PUT", offset_s=7200)
    both_clocks_later(wallet, monkeypatch, timedelta(hours=2))


# E1: a refusal


async def test_a_refused_payment_stays_open_while_its_permission_is_good_and_is_paid_once(
    wallet: WalletHarness,
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.fault("settlement_failed", times=1)
    dialog = await pay(wallet, account)
    said = " ".join(label.text() for label in dialog.findChildren(QLabel) if label.isVisibleTo(dialog))
    assert wallet.top_up.step == "unknown"
    assert "Nothing was paid" not in said and "can still be used until" in said
    assert dialog.go.text() == "Send the same again" and dialog.go.isVisibleTo(dialog)
    await wallet.leave(dialog)
    await refuses_another(wallet, account)
    assert await press(wallet, "again") == "The payment arrived. It was credited once."
    assert await credited(wallet, account) == USD
    assert len([row for row in await wallet.keys.signed_lately() if row.kind == "payment"]) == 1


async def test_the_dialog_itself_sends_the_same_payment_again(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    await wallet.fault("settlement_failed", times=1)
    dialog = await pay(wallet, account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    await wallet.leave(dialog)
    assert await credited(wallet, account) == USD


@pytest.mark.parametrize("status", [400, 402, 403, 404, 422, 500, 503])
async def test_no_status_of_the_service_closes_a_payment_that_can_still_be_used(
    wallet: WalletHarness, status: int
) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    with refusing(wallet, status):
        dialog.go.click()
        await until(lambda: wallet.top_up.step in ("done", "unknown", "refused"))
    await wallet.leave(dialog)
    assert wallet.top_up.step == "unknown"
    assert "Nothing was paid" not in wallet.top_up.problem
    await refuses_another(wallet, account)


# E2, E2c: what the service's clock and its charges say


async def test_a_watched_wallets_payment_is_never_called_unpaid_where_nobody_looked(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = await wallet.faucet_wallet()
    key = await wallet.place.read(owner.id)
    assert key is not None
    intent = await left_open(wallet, owner, landed=True)
    wallet.book.remove(owner.id)
    wallet.book.forget(owner.id)
    watched = await wallet.keys.add_watched("Device", owner.address, wallet.sandbox_account)
    await two_hours_later(wallet, monkeypatch)
    assert await credited(wallet, owner) == USD
    for button in ("again", "button"):
        with refusing(wallet, 400):  # as for a permission that was used
            said = await press(wallet, button)
        assert "Nothing was paid" not in said and "did not go through" not in said
        assert "Check your wallet before you pay again" in said
        assert (await wallet.intents.one(intent.id)).state == "unknown"
    await refuses_another(wallet, watched)
    (card,) = wallet.payment_cards()
    assert card.close_button.isVisibleTo(card), "only the person can close it now"
    await press(wallet, "close_button")
    assert wallet.payment_cards() == []
    assert await state_of(wallet) == ("failed", pending_top_ups.CLOSED)


@pytest.mark.parametrize("amount", ["7.20", "7.249999", "700"])
@pytest.mark.parametrize("dated", [True, False])
async def test_a_top_up_of_another_amount_is_something_to_look_at_and_never_a_no(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, amount: str, dated: bool
) -> None:
    account = await wallet.faucet_wallet()
    await left_open(wallet, account, landed=True)
    booked = top_up_of(amount, datetime.now(UTC) if dated else None)
    monkeypatch.setattr(X402Resource, "transactions", charges(booked))
    await two_hours_later(wallet, monkeypatch)
    said = await press(wallet, "button")
    assert "The service shows a top-up of $" in said and "check your wallet" in said
    assert (await state_of(wallet))[0] == "unknown"
    await refuses_another(wallet, account)


@pytest.mark.parametrize(("ours_s", "theirs_s"), [(0, 7200), (7200, 0), (0, 0), (850, 7200)])
async def test_one_clock_alone_ends_no_payment(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, ours_s: int, theirs_s: int
) -> None:
    account = await wallet.faucet_wallet()
    await left_open(wallet, account, landed=False)
    await wallet.control("/clock", "PUT", offset_s=theirs_s)
    both_clocks_later(wallet, monkeypatch, timedelta(seconds=ours_s))
    monkeypatch.setattr(pending_top_ups, "_skew", lambda _info: timedelta(seconds=theirs_s - ours_s))
    await press(wallet, "button")
    assert (await state_of(wallet))[0] == "unknown"
    (card,) = wallet.payment_cards()
    assert not card.close_button.isVisibleTo(card)
    wallet.top_ups.open.close((await wallet.intents.recent("x402"))[0].id)
    await wallet.tasks.idle()
    assert (await state_of(wallet))[0] == "unknown", "it cannot be closed while it can still be carried out"


async def test_a_payment_is_over_when_both_clocks_say_so_and_the_charges_show_no_top_up(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.faucet_wallet()
    await left_open(wallet, account, landed=False)
    await wallet.control("/clock", "PUT", offset_s=7200)
    both_clocks_later(wallet, monkeypatch, timedelta(hours=2))
    monkeypatch.setattr(pending_top_ups, "_skew", lambda _info: timedelta())
    said = await press(wallet, "button")
    assert said == pending_top_ups.EXPIRED and "Check your wallet before you pay again" in said
    assert (await state_of(wallet))[0] == "failed"
    assert await credited(wallet, account) == 0
    dialog = await wallet.review(account)
    assert wallet.top_up.step == "review", "another one may be signed now"
    await wallet.leave(dialog)


async def test_where_no_service_tells_its_clock_a_day_is_enough(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.faucet_wallet()
    await left_open(wallet, account, landed=False)
    monkeypatch.setattr(pending_top_ups, "_skew", lambda _info: None)
    monkeypatch.setattr(X402Resource, "transactions", not_now)
    for later, is_over in ((timedelta(hours=23), False), (timedelta(hours=25), True)):
        both_clocks_later(wallet, monkeypatch, later)
        await press(wallet, "button")
        (payment,) = wallet.top_ups.open.payments
        assert payment.is_over == is_over
    assert (await state_of(wallet))[0] == "unknown"


# E20: accounts and restored backups


async def test_a_wallet_that_is_added_again_has_its_open_payment_and_signs_no_second(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    key = await wallet.place.read(account.id)
    assert key is not None
    await left_open(wallet, account, landed=False)
    wallet.book.remove(account.id)
    wallet.book.forget(account.id)  # deleted permanently
    wallet.presenter.reload()
    await wallet.top_ups.open.reload()
    (card,) = wallet.payment_cards()
    assert card.again.isEnabled(), "the payment can be sent again without the account"
    again = await wallet.keys.add_from_key("Once more", key, "evm", wallet.sandbox_account)
    assert again.id != account.id
    await refuses_another(wallet, again)
    await press(wallet, "again")
    assert wallet.payment_cards() == []
    assert await credited(wallet, again) == USD


async def test_top_up_pressed_during_an_open_payment_shows_that_payment(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    wallet.page.top_up(account.id)
    assert wallet.top_up_dialog is dialog
    monkeypatch.setattr(wallet.top_ups, "_paying", True)  # the dialog is closed over a payment that is being sent
    await wallet.leave(dialog)
    await until(lambda: wallet.top_up_dialog is None)
    shown = wallet.top_up
    wallet.page.top_up(account.id)
    await until(lambda: wallet.top_up_dialog is not None)
    assert wallet.top_up is shown, "the payment under way is shown, and no other one is begun"
    monkeypatch.undo()
    await wallet.leave(wallet.top_up_dialog)
    await left_open(wallet, account, landed=False)
    wallet.page.list.show()
    focused = []
    wallet.page.list.focus_payment = focused.append  # type: ignore[method-assign]
    assert "still open" in await wallet.blocked_top_up(account)
    assert focused == [wallet.top_ups.open.payments[0].intent_id]


@pytest.mark.parametrize("way", ["removed", "forgotten"])
async def test_a_payment_of_a_removed_wallet_is_settled_without_it(wallet: WalletHarness, way: str) -> None:
    account = await wallet.faucet_wallet()
    await left_open(wallet, account, landed=False)
    wallet.book.remove(account.id)
    if way == "forgotten":
        wallet.book.forget(account.id)
    await press(wallet, "again")
    assert wallet.payment_cards() == []
    assert await credited(wallet, account) == USD


async def test_two_accounts_of_one_wallet_share_their_open_payment(wallet: WalletHarness) -> None:
    await wallet.control("/settings", "PUT", dialect="venice")
    key = PrivateKey.generate("evm").to_text()
    root = wallet.sandbox.base_url
    accounts = [
        await wallet.keys.add_from_key(name, key, "evm", new_account(name, address, dialect="venice"))
        for name, address in (("One", root), ("Two", root.replace("127.0.0.1", "localhost")))
    ]
    one, two = accounts
    assert one.id != two.id
    intent = await wallet.intents.open("x402", one.id, {"wallet": one.address.lower(), "amount": "5"}, "0x00")
    await wallet.intents.sent(intent.id)
    await wallet.intents.unknown(intent.id)
    for account in accounts:
        await refuses_another(wallet, account)


async def test_an_open_payment_of_play_money_blocks_no_real_one(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    await left_open(wallet, account, landed=False)
    real = new_account("Real", "https://api.example.com/v1", kind="wallet", address=account.address)
    assert await wallet.top_ups.open.of(account) is not None
    assert await wallet.top_ups.open.of(real) is None


async def test_a_restored_backup_forgets_no_open_payment(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme, qapp: QApplication
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with open_wallet(home, sandbox, theme) as wallet:
        account = await wallet.faucet_wallet()
        key = await wallet.place.read(account.id)
        assert key is not None
    backup = sqlite3.connect(tmp_path / "backup.sqlite3")
    with closing(sqlite3.connect(home / "rialto.sqlite3")) as database:
        database.backup(backup)
    backup.close()
    async with open_wallet(home, sandbox, theme) as wallet:
        await wallet.place.write(account.id, key)
        await left_open(wallet, account, landed=False)
    assert has_mode(home / "open-payments.json", 0o600)
    for end in ("", "-wal", "-shm"):
        (home / f"rialto.sqlite3{end}").unlink(missing_ok=True)
    (tmp_path / "backup.sqlite3").rename(home / "rialto.sqlite3")
    async with open_wallet(home, sandbox, theme) as wallet:
        await wallet.place.write(account.id, key)
        await refuses_another(wallet, account)
        await press(wallet, "again")
        assert wallet.payment_cards() == []
        assert await credited(wallet, account) == USD
    assert json.loads((home / "open-payments.json").read_text()) == {"payments": []}


def test_the_file_of_open_payments_keeps_what_it_cannot_read_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "open-payments.json"
    file = OpenPayments(path)
    payment = OpenPayment("a", "b", datetime(2026, 11, 29, tzinfo=UTC), {"amount": "5"}, "0x00")
    for broken in (b"", b"[]", b'{"payments": [1]}', b'{"payments": [{"id": "a"}]}', b"\xff"):
        path.write_bytes(broken)
        assert file.load() == ()
        file.put(payment)
        assert file.load() == (payment,)
        file.put(replace(payment, id="c"))
        file.drop("a")
        assert [each.id for each in file.load()] == ["c"]
        file.drop("c")
    assert len(list(tmp_path.glob("open-payments.json.broken-*"))) == 5


async def test_a_payment_that_cannot_be_written_next_to_the_database_is_not_sent(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    (wallet.home / "open-payments.json").mkdir()
    dialog.go.click()
    await until(lambda: bool(wallet.top_up.problem) and not wallet.top_ups.is_paying)
    assert (await state_of(wallet))[0] == "cancelled"
    assert await credited(wallet, account) == 0
    await wallet.leave(dialog)


# The chain


@pytest.mark.parametrize("landed", [True, False])
async def test_the_chain_tells_whether_a_payment_was_carried_out_for_the_price_on_the_button(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, landed: bool
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.control(f"/wallets/{account.address}", "PUT", usd="1")
    await left_open(wallet, account, landed=landed)
    monkeypatch.setattr(X402Resource, "transactions", not_now)
    before = await credited(wallet, account)
    (card,) = wallet.payment_cards()
    assert card.chain.text() == "Ask the chain for $0.000014"
    said = await press(wallet, "chain")
    assert await credited(wallet, account) == before - Decimal("0.000014")
    if landed:
        assert said == pending_top_ups.CARRIED_OUT
        assert (await state_of(wallet))[0] == "answered"
        return
    assert said == "The chain does not show it yet."
    await refuses_another(wallet, account)
    await two_hours_later(wallet, monkeypatch)
    monkeypatch.setattr(pending_top_ups, "_skew", lambda _info: timedelta())
    assert await press(wallet, "chain") == pending_top_ups.NOT_CARRIED_OUT
    assert (await state_of(wallet))[0] == "failed"


async def test_an_answer_of_the_chain_that_is_neither_yes_nor_no_settles_nothing(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.control(f"/wallets/{account.address}", "PUT", usd="1")
    await left_open(wallet, account, landed=True)
    monkeypatch.setattr(X402Resource, "transactions", not_now)
    await two_hours_later(wallet, monkeypatch)
    monkeypatch.setattr(pending_top_ups, "_skew", lambda _info: timedelta())

    async def odd(_service: Service, *_args: object) -> None:
        return None

    monkeypatch.setattr(pending_top_ups, "used_on_chain", odd)
    assert await press(wallet, "chain") == pending_top_ups.OVER_UNSEEN
    assert (await state_of(wallet))[0] == "unknown"


# The recipient


@pytest.mark.parametrize("is_changed", [True, False])
async def test_a_recipient_that_is_not_the_last_one_of_the_host_is_said_before_signing(
    wallet: WalletHarness, is_changed: bool
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.leave(await pay(wallet, account))
    (intent,) = await wallet.intents.recent("x402")
    assert intent.state == "answered"
    if is_changed:
        other = "0x" + "42" * 20
        await wallet.database.execute(
            "UPDATE intents SET request = json_set(request, '$.receiver', ?) WHERE id = ?", [other, intent.id]
        )
    dialog = await wallet.review(account)
    assert wallet.top_up.step == "review"
    assert dialog.warning.isVisibleTo(dialog) == is_changed
    if is_changed:
        assert "is not the one you paid on" in dialog.warning.text() and other in dialog.warning.text()
    await wallet.leave(dialog)
