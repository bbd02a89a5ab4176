"""Puts the Console together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.storage.paths import resources
from app.translation import tr
from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
from app.ui.crypto_rpc.session.transacting import OwnWallet
from app.ui.kit.copy_command import changes_at_each_start

if TYPE_CHECKING:
    from app.bootstrap.account_services import AccountServices
    from app.bootstrap.rialto import Rialto
    from app.ui.kit.tab import TabPieces
    from app.wallet.transactions import Transaction


class OwnWallets:
    """What the Console may know of wallets: which there are, and a signature when the person agreed to one."""

    def __init__(self, services: AccountServices) -> None:
        self._services = services

    def offered(self) -> tuple[OwnWallet, ...]:
        found = self._services.wallet_keys.transaction_wallets(in_sandbox=self._services.current_account.is_sandbox)
        return tuple(OwnWallet(each.id, each.name, each.address) for each in found)

    async def unlock(self) -> bool:
        return await self._services.unlock_wallets()

    async def sign(self, wallet_id: str, transaction: Transaction, network: str) -> str:
        return await self._services.wallet_keys.sign_transaction(wallet_id, transaction, network)


def make_crypto_rpc_tab(rialto: Rialto) -> TabPieces:
    """Make the tab and begin as soon as the database is open."""
    presenter = CryptoRpcPresenter(
        rialto.current_account, rialto.tasks, resources() / "data", rialto.paths.data, rialto.window.undo_stack
    )

    # set here because this tab is made soon after the start, in quiet time
    changes_at_each_start(lambda: (rialto.account_services.sandbox.address() or ("", ""))[0])
    presenter.transacting.wallets = OwnWallets(rialto.account_services)

    def base_url() -> str:
        account = rialto.current_account.account
        if account is not None and account.is_sandbox:
            running = rialto.account_services.sandbox.address()  # what is written down for it has neither port nor path
            return running[0] if running is not None else account.base_url
        return account.base_url if account is not None else ""

    page = CryptoRpcPage(rialto.theme, presenter, rialto.tasks, base_url, whole=False)
    yield page
    yield from page.build()
    page.help_requested.connect(rialto.help)
    page.toast_requested.connect(rialto.toast)
    page.wallet_needed.connect(
        lambda sentence: rialto.toast(sentence, tr("Add a wallet…"), partial(_add_wallet, rialto))
    )
    rialto.when_open("crypto_rpc", presenter.start)
    rialto.on_end(presenter.aclose)
    return page


def _add_wallet(rialto: Rialto) -> None:
    from app.ui.wallet.page import WalletPage

    rialto.window.show_tab("wallet")
    page = rialto.window.tab("wallet")
    assert isinstance(page, WalletPage)
    page.new_wallet()
