"""The Settings tab: its presenter, its page, and what it shows of the rest of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import __version__
from app.core.secret_storage import PROXY_OWNER, PROXY_PASSWORD
from app.credentials.stores import SecretStoreError
from app.translation import tr
from app.ui.kit.widgets.dialogs import confirm
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
    "Deletes all chats, recordings, clips, images, videos, receipts, settings and accounts from this "
    "computer, and the accounts’ keys. This cannot be undone. A wallet without a backup is lost, and so is its "
    "money. What services store for you stays there. Rialto then quits."
)


async def remove_everything(rialto: Rialto) -> None:
    """Ask; then delete the keys and let the window close. `Rialto.leaves_no_trace` tells the start to do the rest."""
    agreed = await confirm(
        rialto.theme, rialto.window, tr("Remove everything?"), QUESTION, action=tr("Remove everything"), danger=True
    )
    if not agreed:
        return
    try:
        for account in rialto.account_services.accounts.list():
            if not account.is_sandbox:
                await rialto.places.delete(account.id)
        if rialto.settings.value.proxy_user:
            await rialto.places.delete(PROXY_OWNER, PROXY_PASSWORD)
    except SecretStoreError as error:
        rialto.toast(tr("{sentence} Nothing else was removed.", sentence=error.sentence))
        return
    rialto.leaves_no_trace = True
    rialto.window.close()
