"""Everything that Rialto keeps is removed when it is asked for, and nothing that is not Rialto's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from app.credentials.accounts import SANDBOX_ADDRESS, new_account
from app.storage.paths import Paths
from app.storage.removal import remove_all
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.settings import change_settings
from tests.kit.waiting import until

WALLET = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"
TABS = ("chat", "speech", "transcription", "images", "video", "crypto_rpc", "wallet", "settings")


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")} if folder.exists() else set()


async def test_what_every_tab_wrote_is_gone_and_what_is_somebodys_stays(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with start() as rialto:
        change_settings(rialto.settings, welcome_done=True)
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
        await until(lambda: rialto.chat.head().can_send)
        for name in TABS:
            rialto.window.show_tab(name)
        rialto.window.show_tab("chat")
        rialto.chat_page.send("What can I try in the Sandbox?")
        await until(lambda: [row.state for row in rialto.chat_page.rows()] == ["complete", "complete"])
        (home / "data" / "my own notes.txt").write_text("not Rialto's")
        rialto.window.open_settings("files")
        page = rialto.window.tab("settings").page("files")
        QTest.keyClick(page.remove, Qt.Key.Key_Space)
        await until(lambda: rialto.window.findChild(Dialog) is not None)
        dialog = rialto.window.findChild(Dialog)
        await until(dialog.isVisible)
        assert not rialto.leaves_no_trace
        button = next(each for each in dialog.findChildren(QPushButton) if each.text() == "Remove everything")
        assert not button.isDefault()
        QTest.keyClick(button, Qt.Key.Key_Space)
        await until(lambda: rialto.leaves_no_trace)
    assert len(files_below(home)) > 5
    assert remove_all(Paths.below(home)) == ()
    assert files_below(home) == {"data", "data/my own notes.txt"}


async def test_every_private_key_is_named_before_everything_is_removed_and_goes_with_it(
    start: Callable[..., Any],
) -> None:
    async with start() as rialto:
        change_settings(rialto.settings, welcome_done=True)
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
        await until(lambda: rialto.chat.head().can_send)
        rialto.places.keep_for_session()
        await until(lambda: rialto.places.state.is_ready)
        book = rialto.account_services.accounts
        elsewhere = "https://api.example.com/v1"
        wallets = [
            book.add(new_account(name, base_url, kind="wallet", address=WALLET)).id
            for name, base_url in (("Pocket", elsewhere), ("Play", SANDBOX_ADDRESS), ("Old", SANDBOX_ADDRESS))
        ]
        for account_id in wallets:
            await rialto.places.write(account_id, "0x" + "11" * 32)
        book.remove(wallets[-1])
        for answer in ("Export first…", "Remove everything"):
            rialto.window.open_settings("files")
            rialto.window.tab("settings").page("files").remove.click()
            await until(lambda: rialto.window.findChild(Dialog) is not None)
            dialog = rialto.window.findChild(Dialog)
            await until(dialog.isVisible)
            said = [label.text() for label in dialog.findChildren(QLabel)]
            for name in ("Pocket", "Play", "Old"):
                assert f"{name}: Its balance has not been checked." in said
            assert all([await rialto.places.read(account_id) for account_id in wallets])
            next(each for each in dialog.findChildren(QPushButton) if each.text() == answer).click()
            if answer == "Export first…":
                await until(lambda: rialto.window.findChild(Dialog) is None)
                assert rialto.window.current_tab == "settings" and not rialto.leaves_no_trace
        await until(lambda: rialto.leaves_no_trace)
        assert not any([await rialto.places.read(account_id) for account_id in wallets])
