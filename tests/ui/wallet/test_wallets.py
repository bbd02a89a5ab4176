"""Making, importing, watching, locking and exporting wallets, and calling as one in every tab."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget

from app.core.problems import describe
from app.credentials.accounts import AccountRefused, new_account
from app.credentials.stores import SessionStore
from app.service.errors import AuthenticationFailed, CredentialUnavailable
from app.ui.kit.widgets.buttons import Button
from app.ui.wallet.account_card import AccountView
from app.wallet.keys import open_key_file
from app.wallet.signer import EthAccountSigner, PrivateKey, address_of
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness, choose_way, phrase_words, wanted_words
from tests.ui.wallet.test_spending_limits import QUESTION

PASSWORD = "a long enough password"


async def test_a_new_wallet_hides_its_words_while_it_wants_them_confirmed(wallet: WalletHarness) -> None:
    wallet.page.new_wallet()
    await until(lambda: wallet.dialog is not None)
    dialog = wallet.dialog
    dialog.keep.click()
    said = set()
    while not dialog.phrase.text():
        await asyncio.sleep(0)
        said.add((dialog.keep.text(), dialog.keep.isEnabled()))
    assert ("Preparing", False) in said
    await until(dialog.keep.isEnabled)
    assert dialog.keep.text() == "Continue"
    assert dialog.phrase.margin() > 4, "the ring of the focus stands off the words"
    words = phrase_words(dialog)
    assert len(words) == 12
    dialog.keep.click()
    await until(lambda: dialog.answers[0].isVisible())
    assert not dialog.phrase.isVisible()
    dialog.again.click()
    assert (dialog.phrase.isVisible(), dialog.answers[0].isVisible()) == (True, False)
    dialog.keep.click()
    await until(lambda: dialog.answers[0].isVisible())
    dialog.keep.click()
    await until(lambda: "do not match" in dialog.problem.text())
    assert len(wallet.book.list()) == 1
    for place, field in wanted_words(dialog):
        field.setText(words[place])
    dialog.keep.click()
    await until(lambda: len(wallet.book.list()) == 2)
    await wallet.tasks.idle()
    account = wallet.book.list()[1]
    assert account.kind == "wallet"
    kept = await wallet.place.read(account.id)
    assert kept is not None
    assert kept.startswith("0x")
    stored = (wallet.home / "accounts.json").read_text()
    assert kept[2:] not in stored
    assert " ".join(words) not in stored
    card = next(each for each in wallet.page.list.findChildren(AccountView) if each.card.id == account.id)
    shown = [label.text() for label in card.findChildren(QLabel)]
    assert "Base" in shown
    assert not any("8453" in words for words in shown)


async def test_the_main_button_of_a_new_wallet_stays_under_the_pointer(wallet: WalletHarness) -> None:
    wallet.page.new_wallet()
    await until(lambda: wallet.dialog is not None and wallet.dialog.isVisible())
    dialog = wallet.dialog

    def place() -> QRect:
        return QRect(dialog.keep.mapTo(dialog, QPoint()), dialog.keep.size())

    first = place()
    for way in ("import", "file", "watch", "new"):
        choose_way(dialog, way)
        await until(lambda: place() == first)
    dialog.keep.click()
    await until(lambda: dialog.phrase.text())
    await until(lambda: place() == first)
    dialog.keep.click()
    await until(lambda: dialog.answers[0].isVisible())
    await until(lambda: place() == first)


async def test_a_wallet_may_be_for_a_service_that_no_account_is_for_yet(wallet: WalletHarness) -> None:
    wallet.page.new_wallet()
    await until(lambda: wallet.dialog is not None)
    dialog = wallet.dialog
    assert not dialog.elsewhere.isVisible()
    choose_way(dialog, "import")
    dialog.site.setCurrentIndex(dialog.site.findText("Another service"))
    dialog.secret.setText(PrivateKey.generate("evm").to_text())
    dialog.elsewhere.setText("http://api.example.com/v1")
    dialog.keep.click()
    await until(lambda: "https" in dialog.problem.text())
    dialog.elsewhere.setText("https://api.example.com/v1")
    dialog.keep.click()
    await until(lambda: len(wallet.book.list()) == 2)
    await wallet.tasks.idle()
    assert (wallet.book.list()[1].base_url, wallet.book.list()[1].kind) == ("https://api.example.com/v1", "wallet")


@pytest.mark.parametrize("chain", ["evm", "solana"])
async def test_r_auth_03_a_wallet_is_an_account_that_signs_in_afresh_for_every_call(
    wallet: WalletHarness, chain: str
) -> None:
    if chain == "evm":
        account = await wallet.faucet_wallet()
    else:
        key = PrivateKey.generate("solana").to_text()
        account = await wallet.keys.add_from_key("Other", key, "solana", wallet.sandbox_account)
    await wallet.control(f"/wallets/{account.address}", "PUT", usd="5")
    await wallet.use(account)
    service = wallet.current_account.service
    assert service is not None
    for _ in range(2):
        assert (await service.chat.complete(QUESTION)).text
    await wallet.tasks.idle()
    signed = await wallet.keys.signed_lately()
    nonces = {row.document.split("Nonce: ")[1].split("\n")[0] for row in signed}
    assert len(nonces) == len(signed) >= 3  # two answers and the balance
    assert all(row.document.startswith("127.0.0.1:") and account.address in row.document for row in signed)
    assert wallet.current_account.is_sandbox
    assert wallet.current_account.balance is not None
    assert 0 < wallet.current_account.balance < Decimal(5)


async def test_cards_of_accounts_keep_their_order_when_another_one_is_used(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    order = [card.id for card in wallet.presenter.cards()]
    await wallet.use(account)
    assert [card.id for card in wallet.presenter.cards()] == order
    assert [card.in_use for card in wallet.presenter.cards()] == [each == account.id for each in order]


async def test_a_locked_wallet_signs_nothing_until_it_is_unlocked(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    await wallet.use(account)
    wallet.page.act("lock", account.id)
    service = wallet.current_account.service
    assert service is not None
    with pytest.raises(CredentialUnavailable, match="locked"):
        await service.x402.balance(account.address)
    card = wallet.presenter.card(account.id)
    assert card is not None
    assert card.is_locked
    wallet.page.act("unlock", account.id)
    assert (await service.x402.balance(account.address)).balance_usd == 0
    await wallet.tasks.idle()


async def test_r_auth_13_a_wallet_that_is_refused_is_told_which_credential_is_wanted(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    await wallet.use(account)
    service = wallet.current_account.service
    assert service is not None
    with pytest.raises(AuthenticationFailed) as caught:
        await service.account.rate_limits()
    assert "needs an API key" in describe(caught.value).meaning
    wallet.keys.lock()
    with pytest.raises(CredentialUnavailable) as locked:
        await service.x402.balance(account.address)
    problem = describe(locked.value)
    assert "Unlock" in problem.meaning
    await wallet.tasks.idle()


async def test_wallets_lock_themselves_after_the_time_that_was_chosen(wallet: WalletHarness) -> None:
    await wallet.faucet_wallet()
    wallet.keys.set_lock_minutes("5")
    assert wallet.lock_timer.remainingTime() > 4 * 60_000
    wallet.lock_timer.timeout.emit()
    assert wallet.keys.is_locked
    wallet.keys.unlock()
    wallet.keys.set_lock_minutes("")
    assert not wallet.lock_timer.isActive()
    await wallet.tasks.idle()


async def test_a_key_leaves_only_as_an_encrypted_key_file(wallet: WalletHarness, tmp_path: Path) -> None:
    account = await wallet.faucet_wallet()
    path = tmp_path / "key.json"
    wallet.page.act("export", account.id)
    await until(lambda: wallet.dialog is not None)
    dialog = wallet.dialog
    dialog.password.setText(PASSWORD)
    dialog.again.setText("another")
    assert not dialog.save.isEnabled()
    dialog.again.setText(PASSWORD)
    assert dialog.save.isEnabled()
    dialog.set_path(path)
    await wallet.tasks.idle()
    assert json.loads(path.read_text())["version"] == 3
    with await open_key_file(path.read_bytes(), PASSWORD) as key:
        assert await address_of(key) == account.address
    kept = await wallet.place.read(account.id)
    assert kept is not None
    assert kept[2:] not in path.read_text()


async def test_a_watched_wallet_signs_elsewhere_and_pays_with_a_pasted_signature(wallet: WalletHarness) -> None:
    owner = await wallet.faucet_wallet()
    key = await wallet.place.read(owner.id)
    assert key is not None

    async def read_key() -> PrivateKey:
        return PrivateKey(bytearray.fromhex(key[2:]), "evm")

    signer = EthAccountSigner(owner.address, read_key)
    wallet.book.remove(owner.id)
    watched = await wallet.keys.add_watched("Device", owner.address.lower(), wallet.sandbox_account)
    assert watched.address == owner.address
    dialog = await wallet.review(watched)
    assert not dialog.go.isEnabled()
    prepared = wallet.prepared_payment
    assert prepared is not None
    dialog.signature.setText("0x" + "12" * 65)
    dialog.go.click()
    await until(lambda: wallet.top_up.problem)
    assert [each.state for each in await wallet.intents.recent("x402")] == ["cancelled"]
    dialog.signature.setText(await signer.sign_authorization(prepared.authorization))
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    assert Decimal((await wallet.wallet_state(watched))["usd"]) == Decimal("7.25")
    await wallet.leave(dialog)


async def test_a_lost_service_is_looked_for_without_a_signature(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    await wallet.use(account)
    await wallet.tasks.idle()
    signed: list[bool] = []
    wallet.keys.signed.connect(lambda: signed.append(True))
    wallet.current_account.set_reach("network")
    await wallet.switch.probe()
    assert (wallet.current_account.reach, signed) == ("", [])


async def test_everything_on_the_tab_has_a_name(wallet: WalletHarness) -> None:
    await wallet.faucet_wallet()
    wallet.presenter.reload()
    for root in (wallet.page.list, wallet.page.main):
        for kind in (QAbstractButton, QLineEdit):
            for widget in root.findChildren(kind):
                assert widget.isHidden() or widget.accessibleName() or getattr(widget, "text", str)(), _path(widget)
    await wallet.tasks.idle()


def _path(widget: QWidget) -> str:
    return f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}"


async def test_a_key_that_was_kept_for_one_session_is_given_back_to_its_wallet(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    key = await wallet.place.read(account.id)
    assert key is not None
    wallet.place.store = SessionStore()  # as after a restart
    again = await wallet.keys.add_from_key("Another name", key, "evm", wallet.sandbox_account)
    assert again == account
    assert await wallet.place.read(account.id) == key
    with pytest.raises(AccountRefused, match="already"):
        await wallet.keys.add_from_key("Another name", key, "evm", wallet.sandbox_account)
    await wallet.tasks.idle()


@pytest.mark.parametrize("sandbox_first", [True, False])
async def test_a_key_is_for_play_money_or_for_real_money(wallet: WalletHarness, sandbox_first: bool) -> None:
    key = "0x" + "5a" * 32
    real = wallet.keys.site_at("https://api.example.com/v1")
    first, second = (wallet.sandbox_account, real) if sandbox_first else (real, wallet.sandbox_account)
    await wallet.keys.add_from_key("Pocket", key, "evm", first)
    words = "The Sandbox has this key as Pocket" if sandbox_first else "This key is for real money, as Pocket"
    with pytest.raises(AccountRefused, match=words):
        await wallet.keys.add_from_key("Again", key, "evm", second)
    if sandbox_first:  # an address alone signs nothing
        (account,) = (each for each in wallet.book.list() if each.name == "Pocket")
        await wallet.keys.add_watched("Seen", account.address, real)
    await wallet.tasks.idle()


async def test_a_warning_advises_against_importing_a_key_into_the_sandbox(wallet: WalletHarness) -> None:
    wallet.page.new_wallet()
    await until(lambda: wallet.dialog is not None)
    dialog = wallet.dialog
    assert not dialog.practice.isVisible()
    for way in ("import", "file"):
        choose_way(dialog, way)
        assert dialog.practice.isVisible() and "Never use a key that holds real money" in dialog.practice.text()
    dialog.site.setCurrentIndex(dialog.site.findText("Another service"))
    assert not dialog.practice.isVisible()
    dialog.reject()
    await wallet.tasks.idle()


@pytest.mark.parametrize("way", ["new", "import"])
async def test_esc_while_a_wallet_is_being_made_ends_its_work_before_the_widgets_are_gone(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    began = asyncio.Event()

    async def never(_work: Awaitable[object]) -> str:
        if asyncio.iscoroutine(_work):
            _work.close()
        began.set()
        await asyncio.Event().wait()
        return ""

    monkeypatch.setattr(wallet.keys, "attempt", never)
    wallet.page.new_wallet()
    await until(lambda: wallet.dialog is not None and wallet.dialog.isVisible())
    choose_way(wallet.dialog, way)
    wallet.dialog.keep.click()
    await began.wait()
    QTest.keyClick(wallet.dialog, Qt.Key.Key_Escape)
    await until(lambda: wallet.dialog is None)
    await wallet.tasks.idle()
    assert len(wallet.book.list()) == 1


async def open_new(wallet: WalletHarness) -> Any:
    wallet.page.new_wallet()
    await until(lambda: wallet.dialog is not None and wallet.dialog.isVisible())
    return wallet.dialog


async def test_a_new_wallet_has_a_free_name_and_says_a_taken_one_before_the_phrase(wallet: WalletHarness) -> None:
    first = await wallet.faucet_wallet()
    assert first.name == "Pocket wallet"
    dialog = await open_new(wallet)
    assert dialog.name.text() == "Pocket wallet 2"
    dialog.name.setText("pocket WALLET")
    dialog.keep.click()
    await until(lambda: "already called Pocket wallet" in dialog.problem.text())
    assert dialog.phrase.text() == "" and dialog.focusWidget() is dialog.name
    dialog.reject()
    await wallet.tasks.idle()


async def test_the_service_in_use_is_chosen_first_and_its_host_is_not_said_twice(wallet: WalletHarness) -> None:
    wallet.book.add(new_account("api.example.com", "https://api.example.com/v1"))
    account = await wallet.faucet_wallet()
    await wallet.use(account)
    dialog = await open_new(wallet)
    assert dialog.site.currentData() == account.id
    assert dialog.site.findText("api.example.com") >= 0
    dialog.reject()
    await wallet.tasks.idle()


@pytest.mark.parametrize("in_memory", [True, False])
async def test_a_key_in_memory_only_is_said_before_the_phrase(wallet: WalletHarness, in_memory: bool) -> None:
    wallet.keys.is_session_only = lambda: in_memory
    dialog = await open_new(wallet)
    assert dialog.memory_only.isVisibleTo(dialog) == in_memory
    assert "lost when Rialto quits" in dialog.memory_only.text()
    dialog.reject()
    await wallet.tasks.idle()


async def test_a_wrong_service_address_is_said_at_its_field_and_in_view(wallet: WalletHarness) -> None:
    dialog = await open_new(wallet)
    dialog.site.setCurrentIndex(dialog.site.findText("Another service"))
    dialog.keep.click()
    await until(lambda: "Enter the service’s address" in dialog.problem.text())
    assert dialog.focusWidget() is dialog.elsewhere
    assert not dialog.problem.visibleRegion().isEmpty()
    dialog.reject()
    await wallet.tasks.idle()


async def test_a_wallet_without_its_key_gets_it_back_by_its_own_card(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    key = await wallet.place.read(account.id)
    assert key is not None
    wallet.place.store = SessionStore()  # as after a restart
    wallet.page.act("check", account.id)
    await wallet.tasks.idle()
    names = [button.text() for button in wallet.card_of(account.id).findChildren(Button)]
    assert "Enter recovery phrase…" in names and "Top up…" not in names
    next(each for each in wallet.card_of(account.id).findChildren(Button) if "phrase" in each.text()).click()
    await until(lambda: wallet.dialog is not None and wallet.dialog.isVisible())
    dialog = wallet.dialog
    dialog.secret.setText(PrivateKey.generate("evm").to_text())
    dialog.keep.click()
    await until(lambda: dialog.problem.text() == "This is the key of another wallet.")
    assert await wallet.place.read(account.id) is None
    dialog.secret.setText(key)
    dialog.keep.click()
    await until(lambda: wallet.dialog is None)
    await wallet.tasks.idle()
    assert await wallet.place.read(account.id) == key
    assert [each.id for each in wallet.book.list() if each.kind == "wallet"] == [account.id]
    names = [button.text() for button in wallet.card_of(account.id).findChildren(Button)]
    assert "Top up…" in names and "Enter recovery phrase…" not in names
