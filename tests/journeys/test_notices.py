"""Notices with a button: it leads to what the notice is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.bootstrap.rialto import Rialto
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.wallet.add_wallet_dialog import AddWalletDialog
from tests.journeys.talk import in_the_sandbox
from tests.kit.waiting import until


def press(rialto: Rialto, label: str) -> None:
    """A button of one of the notices."""
    links = [link for toast in rialto.window.overlays.toasts.toasts for link in toast.findChildren(LinkButton)]
    next(link for link in links if link.text() == label).click()


async def test_the_button_of_a_notice_leads_to_what_it_is_about(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("chat")
        page = rialto.chat_page
        rialto.chat.deprecation_found.emit("Plain is deprecated. New chats use it.", "")
        press(rialto, "Choose…")
        await until(lambda: page.picker is not None and page.picker.isVisible())
        page.picker.close()
        wallet: Any = rialto.window.tab("wallet")
        wallet.top_up()
        press(rialto, "Add a wallet…")
        await until(lambda: rialto.window.findChild(AddWalletDialog) is not None)
        rialto.window.findChild(AddWalletDialog).reject()
