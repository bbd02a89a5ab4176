"""What the window is asked about money by parts that know no window; the words are loaded by the first question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.core.spending_limits import Question
    from app.ui.wallet.page import WalletPage

_STATUS_PAGES = {"limits": "overview", "spending": "receipts", "balance": "overview"}


async def ask_budget(rialto: Rialto, question: Question) -> bool:
    """Ask before a call goes past a limit that asks."""
    from app.ui.kit.widgets.dialogs import confirm

    return await confirm(
        rialto.theme, rialto.window, question.title, question.text, action=tr("Send anyway"), cancel=tr("Do not send")
    )


async def ask_elsewhere(rialto: Rialto, name: str, text: str) -> str | None:
    """Show a watched wallet's owner what is to be signed elsewhere."""
    from app.ui.wallet.wallet_dialogs import WalletDialogs

    return await WalletDialogs(rialto.theme, rialto.window, rialto.account_services.wallet_keys).ask_elsewhere(
        name, text
    )


async def ask_wallets(rialto: Rialto) -> bool:
    """Ask whether to unlock the wallets for a call that waits for its signature."""
    from app.ui.kit.widgets.dialogs import confirm

    return await confirm(
        rialto.theme, rialto.window, tr("Your wallets are locked"), tr("Unlock to send."), action=tr("Unlock")
    )


def show_status_page(rialto: Rialto, page_name: str) -> None:
    """Show what a press on the status bar is about: money and limits are the wallet's, the rest is the request's."""
    name = _STATUS_PAGES.get(page_name)
    if name is None:
        rialto.chat_page.open_request()
        return
    _wallet_page(rialto).main.show_page(name)


def show_limits(rialto: Rialto, scope: str) -> None:
    """Let the person change the limits of a scope: "day", "call", "tab speech", "account <id>"."""
    _wallet_page(rialto).change_limits(scope)


def _wallet_page(rialto: Rialto) -> WalletPage:
    from app.ui.wallet.page import WalletPage

    rialto.window.show_tab("wallet")
    page = rialto.window.tab("wallet")
    assert isinstance(page, WalletPage)
    return page
