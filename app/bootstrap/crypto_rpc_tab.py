"""Puts the Console together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.storage.paths import resources
from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.ui.kit.tab import TabPieces


def make_crypto_rpc_tab(rialto: Rialto) -> TabPieces:
    """Make the tab and begin as soon as the database is open."""
    presenter = CryptoRpcPresenter(
        rialto.current_account, rialto.tasks, resources() / "data", rialto.paths.data, rialto.window.undo_stack
    )

    def base_url() -> str:
        account = rialto.current_account.account
        if account is not None and account.is_sandbox:
            running = rialto.account_services.sandbox.address()  # what is written down for it has neither port nor path
            return running[0] if running is not None else account.base_url
        return account.base_url if account is not None else ""

    page = CryptoRpcPage(rialto.theme, presenter, rialto.tasks, base_url, whole=False)
    yield page
    yield from page.build()
    page.help_wanted.connect(rialto.help)
    page.toast_wanted.connect(rialto.toast)
    rialto.when_open("crypto_rpc", presenter.start)
    rialto.on_end(presenter.aclose)
    return page
