"""The Settings tab: its presenter, its page, and what it shows of the rest of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import __version__
from app.credentials.stores import SecretStoreError
from app.translation import tr
from app.ui.kit.widgets.dialogs import confirm
from app.ui.settings.accounts.removal import LOST, ask_about_key, balance_words
from app.ui.settings.page import SettingsPage
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.sections import SECTIONS

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.ui.kit.tab import TabPieces


def make_settings_tab(rialto: Rialto) -> TabPieces:
    """Build the page; it works with no network and before the history is open."""
    account_services, window = rialto.account_services, rialto.window
    presenter = SettingsPresenter(
        rialto.settings,
        rialto.paths,
        rialto.current_account,
        account_services.sandbox,
        rialto.tasks,
        calls=account_services.calls,
    )
    presenter.notify = rialto.notifications.show
    page = SettingsPage(
        rialto.theme,
        presenter,
        rialto.accounts,
        rialto.places,
        window.registry,
        rialto.tasks,
        version=__version__,
        undo_stack=window.undo_stack,
        open_help=lambda place: window.overlays.open_help(place),
        connection=lambda: account_services.connection,
        about=lambda: rialto.about,
    )
    page.export_requested.connect(
        lambda account_id: rialto.tasks.start_unless_running("wallet export", _export_key, rialto, account_id)
    )
    page.wallet_requested.connect(lambda: _add_wallet(rialto))
    page.removal_requested.connect(
        lambda: rialto.tasks.start_unless_running("remove everything", remove_everything, rialto)
    )
    yield page
    yield from page.make_page(SECTIONS[0].key)  # the one that the first look opens
    return page


def _add_wallet(rialto: Rialto) -> None:
    rialto.window.show_tab("wallet")
    rialto.window.registry.run("wallet.new")


async def _export_key(rialto: Rialto, account_id: str) -> None:
    """Ask for a password and a file, and write the private key of a wallet there."""
    from app.ui.wallet.wallet_dialogs import WalletDialogs

    dialogs = WalletDialogs(rialto.theme, rialto.window, rialto.account_services.wallet_keys)
    dialogs.notice.connect(lambda sentence: rialto.toast(sentence))
    await dialogs.export(account_id)


QUESTION = tr(
    "Deletes all chats, recordings, clips, images, videos, receipts, settings and accounts from this computer, and the "
    "accounts’ keys. This cannot be undone. What services store for you stays there. Rialto then quits."
)


async def remove_everything(rialto: Rialto) -> None:
    """Ask; then delete the keys and let the window close. `Rialto.leaves_no_trace` tells the start to do the rest."""
    if not await _agrees(rialto):
        return
    try:
        await rialto.accounts.removal.delete_all()
        if rialto.settings.value.proxy_user:
            await rialto.places.forget_proxy_password()
    except SecretStoreError as error:
        rialto.toast(tr("{sentence} Nothing else was removed.", sentence=error.sentence))
        return
    rialto.leaves_no_trace = True
    rialto.window.close()


async def _agrees(rialto: Rialto) -> bool:
    """Ask whether to remove everything; name each wallet whose private key would be deleted, and offer its export."""
    title, action = tr("Remove everything?"), tr("Remove everything")
    accounts = rialto.account_services.accounts
    wallets = [account for account in accounts.list() if account.has_private_key]
    wallets += [removed.account for removed in accounts.removed() if removed.account.has_private_key]
    if not wallets:
        return await confirm(rialto.theme, rialto.window, title, QUESTION, action=action, danger=True)
    words = [f"{each.name}: {balance_words(await rialto.accounts.facts(each.id))}" for each in wallets]
    answer = await ask_about_key(
        rialto.theme, rialto.window, title, QUESTION, tr("Private keys that are deleted:"), *words, LOST, action=action
    )
    if answer == "export" and len(wallets) == 1:
        await _export_key(rialto, wallets[0].id)
    elif answer == "export":  # each wallet has its own way to export there
        page = rialto.window.tab("settings")
        assert isinstance(page, SettingsPage)
        rialto.window.show_tab("settings")
        page.show_section("accounts")
    return answer == "go"
