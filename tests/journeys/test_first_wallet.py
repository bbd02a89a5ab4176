"""The first page's third way, through the whole window: a wallet of one's own is in use when the page has gone."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.ui.settings.secrets.ask import PlaceDialog
from app.ui.shell.welcome import WelcomePage
from app.ui.wallet.add_wallet_dialog import AddWalletDialog
from app.wallet.signer import PrivateKey
from tests.journeys.test_wallet import wallet_page
from tests.kit.settings import change_settings
from tests.kit.waiting import until


async def test_a_person_with_a_wallet_starts_with_it(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        page = rialto.window.findChild(WelcomePage)
        QTest.keyClick(page.start, Qt.Key.Key_3)
        QTest.keyClick(rialto.window.focusWidget(), Qt.Key.Key_Down)  # to "Import a private key"
        page.set_up.setFocus()
        QTest.keyClick(page.set_up, Qt.Key.Key_Space)
        await until(page.question.isVisible)  # there is no keychain here
        page.question.for_session.click()
        page.question.do.click()
        await until(lambda: rialto.window.findChild(AddWalletDialog) is not None)
        dialog = rialto.window.findChild(AddWalletDialog)
        await until(dialog.isVisible)
        assert dialog.way.current == "import"
        QTest.keyClicks(dialog.secret, PrivateKey.generate("evm").to_text())
        QTest.keyClick(dialog.keep, Qt.Key.Key_Space)
        await until(
            lambda: rialto.current_account.service is not None and rialto.current_account.account.kind == "wallet"
        )
        await until(lambda: rialto.window.current_tab == "chat")
        assert rialto.settings.value.welcome_done
        await until(lambda: rialto.chat.head().can_send)


async def test_where_its_key_is_kept_is_asked_before_a_phrase_is_shown(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        change_settings(rialto.settings, welcome_done=True)
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
        await until(lambda: rialto.current_account.service is not None)
        rialto.window.show_tab("wallet")
        page = wallet_page(rialto)
        page.new_wallet()
        await until(lambda: isinstance(page.dialogs.open, AddWalletDialog))
        dialog = page.dialogs.open
        dialog.keep.click()
        await until(lambda: rialto.window.findChild(PlaceDialog) is not None)
        rialto.window.findChild(PlaceDialog).reject()
        await until(lambda: dialog.problem.text() == "Choose where to keep the wallet’s key first.")
        assert not dialog.phrase.text()
        await until(lambda: dialog.keep.isEnabled() and rialto.window.findChild(PlaceDialog) is None)
        dialog.keep.click()
        await until(lambda: rialto.window.findChild(PlaceDialog) is not None)
        place = rialto.window.findChild(PlaceDialog)
        place.question.for_session.click()
        place.question.do.click()
        await until(lambda: dialog.phrase.text())
        assert rialto.places.state.is_ready
        dialog.reject()
