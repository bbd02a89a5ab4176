"""A removed wallet: every way asks before its private key goes, the key is kept for 30 days, and nothing loses it."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton

from app.core.account_removal import WalletFacts
from app.core.secret_storage import Secrets
from app.credentials.accounts import SANDBOX_ADDRESS, Account, Accounts, new_account
from app.credentials.stores import SecretStoreError, StoreLocked
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.settings.accounts.page import AccountsPage
from app.ui.settings.accounts.presenter import AccountsPresenter
from tests.kit.shell import SettingsHarness, ShellHarness, make_settings
from tests.kit.waiting import until
from tests.kit.widgets import words

WALLET = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"
KEY = "0x" + "ab" * 32
ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


async def a_wallet(settings: SettingsHarness, name: str = "Travel fund", key: str = KEY) -> Account:
    account = settings.book.add(new_account(name, SANDBOX_ADDRESS, kind="wallet", address=WALLET))
    await settings.secrets.write(account.id, key)
    settings.accounts.refresh()
    return account


def knowing(facts: WalletFacts) -> Callable[..., Awaitable[WalletFacts]]:
    """What the presenter tells about every wallet."""

    async def told(_presenter: AccountsPresenter, _account_id: str) -> WalletFacts:
        return facts

    return told


def keys_of(settings: SettingsHarness) -> list[str]:
    return list(settings.keychain.items.values())


async def dialog_of(harness: ShellHarness) -> Dialog:
    def shown() -> list[Dialog]:
        return [each for each in harness.window.findChildren(Dialog) if each.isVisible()]

    await until(lambda: bool(shown()))
    return shown()[0]


def press(dialog: Dialog, text: str) -> None:
    next(each for each in dialog.findChildren(QPushButton) if each.text() == text).click()


def said(dialog: Dialog) -> str:
    return " ".join(label.text() for label in dialog.findChildren(QLabel))


@pytest.fixture
async def page(harness: ShellHarness, settings: Any, settings_harness: SettingsHarness, tasks: Any) -> AccountsPage:
    settings.show_section("accounts")
    await tasks.idle()
    found = settings.page("accounts")
    assert isinstance(found, AccountsPage)
    return found


def by_menu(page: AccountsPage, account: Account) -> None:
    """The entry of the row's menu, as a click does."""
    menu = page.rows[account.id].open_menu()
    next(item for item in menu.actions() if item.text().startswith("Remove")).trigger()


def by_table(page: AccountsPage, account: Account) -> None:
    """The button of the table of secrets."""
    name = f"Remove the private key of {account.name}"
    next(each for each in page.table.findChildren(QAbstractButton) if each.accessibleName() == name).click()


@pytest.mark.parametrize(("way", "action"), [(by_menu, "Remove"), (by_table, "Remove private key")])
@pytest.mark.parametrize("answer", ["Cancel", "Export first…", "go"])
async def test_every_way_to_a_private_key_asks_first_and_offers_its_export(
    harness: ShellHarness,
    settings_harness: SettingsHarness,
    page: AccountsPage,
    tasks: Any,
    monkeypatch: pytest.MonkeyPatch,
    way: Callable[[AccountsPage, Account], None],
    action: str,
    answer: str,
) -> None:
    facts = WalletFacts(Decimal("4.10"), Decimal(25) if way is by_menu else None)
    monkeypatch.setattr(AccountsPresenter, "facts", knowing(facts))
    account = await a_wallet(settings_harness)
    exported: list[str] = []
    page.export_requested.connect(exported.append)
    way(page, account)
    dialog = await dialog_of(harness)
    text = said(dialog)
    assert "Last known balance: $4.10." in text and "30 days" in text and "money is then lost" in text
    assert ("A top-up of $25.00 is still open" in text) == (way is by_menu)
    default = [each.text() for each in dialog.findChildren(QPushButton) if each.isDefault()]
    assert default == ["Cancel"]
    press(dialog, action if answer == "go" else answer)
    await tasks.idle()
    assert keys_of(settings_harness) == [KEY], "whatever was pressed, the key is still in its place"
    assert exported == ([account.id] if answer == "Export first…" else [])
    listed = settings_harness.book.get(account.id)
    removed = [row.name for row in settings_harness.accounts.state.removed_wallets]
    if answer == "go":
        assert removed == ["Travel fund"]
        assert listed is None if way is by_menu else listed is not None and listed.watch_only
    else:
        assert (listed, removed) == (account, [])


async def test_a_removed_wallet_is_listed_with_its_balance_and_restored_with_its_key(
    settings_harness: SettingsHarness, page: AccountsPage, tasks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AccountsPresenter, "facts", knowing(WalletFacts(Decimal("4.10"))))
    assert page.removed_wallets.isHidden()
    account = await a_wallet(settings_harness)
    settings_harness.accounts.remove(account.id)
    await tasks.idle()
    assert not page.removed_wallets.isHidden()
    row = page.removed_wallets.rows[account.id]
    for text in ("Travel fund", "0x1a64…14F1", "Last known balance $4.10", "30 days left", "system keyring"):
        assert text in words(page.removed_wallets), text
    settings_harness.book.add(new_account("travel FUND", "https://api.example.com/v1"))
    row.restore.click()
    await tasks.idle()
    restored = settings_harness.book.get(account.id)
    assert restored == account._replace(name="Travel fund 2")
    assert keys_of(settings_harness) == [KEY]
    assert page.removed_wallets.isHidden()


async def test_only_among_the_removed_wallets_is_a_key_deleted_permanently_and_it_asks(
    harness: ShellHarness, settings_harness: SettingsHarness, page: AccountsPage, tasks: Any
) -> None:
    account = await a_wallet(settings_harness)
    settings_harness.accounts.remove(account.id)
    await tasks.idle()
    for answer in ("Cancel", "Delete permanently"):
        assert keys_of(settings_harness) == [KEY]
        menu = page.removed_wallets.rows[account.id].open_menu()
        next(item for item in menu.actions() if item.text() == "Delete permanently…").trigger()
        dialog = await dialog_of(harness)
        assert "has not been checked" in said(dialog) and "cannot be undone" in said(dialog)
        press(dialog, answer)
        await tasks.idle()
    assert (keys_of(settings_harness), settings_harness.book.removed()) == ([], ())
    assert not harness.window.undo_stack.can_undo("settings") or settings_harness.accounts.state.removed == ""


async def test_an_undo_of_an_older_removal_is_not_needed_to_get_a_wallet_back(
    harness: ShellHarness, settings_harness: SettingsHarness, page: AccountsPage, tasks: Any
) -> None:
    wallet = await a_wallet(settings_harness)
    other = settings_harness.book.add(new_account("Work", "https://api.example.com/v1"))
    settings_harness.accounts.refresh()
    settings_harness.accounts.remove(wallet.id)
    await tasks.idle()
    settings_harness.accounts.remove(other.id)
    await tasks.idle()
    harness.window.undo_stack.undo_last("settings")
    await tasks.idle()
    assert settings_harness.book.get(other.id) is not None
    assert keys_of(settings_harness) == [KEY]
    page.removed_wallets.rows[wallet.id].restore.click()
    await tasks.idle()
    assert settings_harness.book.get(wallet.id) == wallet


async def test_no_removed_key_is_in_memory_and_none_after_the_place_was_locked(
    settings_harness: SettingsHarness, tasks: Any
) -> None:
    account = await a_wallet(settings_harness, key="0x" + "cd" * 32)
    settings_harness.accounts.remove(account.id)
    await tasks.idle()
    settings_harness.secrets.locked.emit()
    seen: set[int] = set()
    parts: list[object] = [settings_harness.accounts, settings_harness.book]
    while parts:  # everything that the presenter, or the list, can reach of our own program
        part = parts.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        assert not (isinstance(part, str) and "cdcdcdcd" in part)
        if isinstance(part, (dict, list, tuple, set, frozenset)) or type(part).__module__.startswith("app.ui.settings"):
            parts += gc.get_referents(part)


async def test_a_locked_keyring_neither_keeps_an_account_on_the_list_nor_loses_its_key(
    settings_harness: SettingsHarness, tasks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await a_wallet(settings_harness)

    async def locked(*_args: object, **_named: object) -> None:
        raise StoreLocked("Your keys are locked.")

    with monkeypatch.context() as patch:
        for name in ("read", "write", "delete"):
            patch.setattr(Secrets, name, locked)
        settings_harness.accounts.remove(account.id)
        await tasks.idle()
        assert settings_harness.book.list() == ()
        with pytest.raises(SecretStoreError):
            await settings_harness.accounts.removal.delete_permanently(account.id)
        assert settings_harness.book.removed_one(account.id) is not None, "its id is known until its key is gone"
    settings_harness.accounts.restore(account.id)
    await tasks.idle()
    assert (settings_harness.book.list(), keys_of(settings_harness)) == ((account,), [KEY])


@pytest.mark.parametrize(("days", "is_kept"), [(29, True), (31, False)])
async def test_the_key_of_a_removed_wallet_is_deleted_after_thirty_days(
    tmp_path: Path, tasks: Any, days: int, is_kept: bool
) -> None:
    settings = make_settings(tmp_path, tasks)
    account = await a_wallet(settings)
    settings.book.remove(account.id, at=datetime.now(UTC) - timedelta(days=days))
    settings.accounts.refresh()
    assert [row.days_left for row in settings.accounts.state.removed_wallets] == [max(0, 30 - days)]
    settings.accounts.delete_due()
    await tasks.idle()
    assert keys_of(settings) == ([KEY] if is_kept else [])
    assert bool(settings.book.removed()) == is_kept


async def test_a_key_that_an_account_uses_again_is_never_deleted(settings_harness: SettingsHarness, tasks: Any) -> None:
    account = await a_wallet(settings_harness)
    settings_harness.book.remove_key(account.id, at=NOW - timedelta(days=60))
    settings_harness.book.update(account.id, watch_only=False)  # its key was imported again
    settings_harness.accounts.delete_due()
    await tasks.idle()
    assert keys_of(settings_harness) == [KEY]
    assert settings_harness.book.removed() == ()


def test_a_copy_of_the_list_that_is_restored_leaves_no_key_without_an_owner() -> None:
    written: list[bytes] = []
    book = Accounts(lambda: None, written.append)
    old = book.add(new_account("Pocket wallet", SANDBOX_ADDRESS, kind="wallet", address=WALLET))
    copy = written[-1]
    gone = book.add(new_account("Gone", SANDBOX_ADDRESS, kind="wallet", address=WALLET))
    book.remove(old.id)
    book.remove(gone.id, balance_usd=Decimal("4.10"), at=NOW)
    new = book.add(new_account("Pocket wallet", SANDBOX_ADDRESS, kind="wallet", address=WALLET))
    book.restore(copy)
    assert {each.id: each.name for each in book.list()} == {old.id: "Pocket wallet", new.id: "Pocket wallet 2"}
    again = Accounts(lambda: written[-1], written.append)
    assert again.list() == book.list()
    assert [(each.account.id, each.balance_usd, each.removed_at) for each in again.removed()] == [
        (gone.id, Decimal("4.10"), NOW)
    ]


def test_one_place_deletes_the_secrets_of_accounts() -> None:
    """Another way would be one that does not ask: `AccountRemoval` deletes, and rollbacks of what was just written."""
    calls = ("secrets.delete(", "places.delete(", "_place().delete(")
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py")}
    found = {name for name, text in sources.items() if any(call in text for call in calls)}
    assert found == {
        "app/core/account_removal.py",
        "app/ui/settings/accounts/presenter.py",  # an API key
        "app/ui/wallet/session/wallet_keys.py",  # of a wallet that could not be added
    }
