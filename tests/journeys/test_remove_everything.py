"""Everything that Rialto keeps is removed when it is asked for, and nothing that is not Rialto's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.storage.paths import Paths
from app.storage.removal import remove_all
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.settings import change_settings
from tests.kit.waiting import until

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
