"""The Console's tab in a window of its own, over a real Sandbox, handled by keyboard."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.core.tasks import TaskScope
from app.storage.rpc_collections import RpcCollections
from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.crypto_rpc.state import CallEntry
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.console import ConsolePresenterHarness, open_console_presenter
from tests.kit.waiting import until

LIST_WIDTH = 264


class ConsoleHarness:
    """List and canvas side by side. `key` presses a shortcut of the tab, as the window would hand it over."""

    def __init__(self, desk: ConsolePresenterHarness, theme: Theme) -> None:
        self.desk = desk
        self.presenter = desk.presenter
        self.page = CryptoRpcPage(theme, desk.presenter, desk.tasks, lambda: desk.running.base_url)
        self.toasts: list[tuple[str, str, str]] = []
        self.page.toast_wanted.connect(lambda *words: self.toasts.append(words))
        self.main, self.list = self.page.main, self.page.list
        self.request, self.response = self.main.request, self.main.response
        self.window = QWidget()
        for pane in (self.list, self.main):
            pane.setParent(self.window)
        self.resize(1368, 848)
        self.window.show()
        self.window.activateWindow()
        QApplication.processEvents()

    def resize(self, width: int, height: int) -> None:
        self.window.resize(width, height)
        self.list.setGeometry(0, 0, LIST_WIDTH, height)
        self.main.setGeometry(LIST_WIDTH, 0, width - LIST_WIDTH, height)
        QApplication.processEvents()

    def key(self, keys: str) -> None:
        """Press a shortcut of the tab."""
        wanted = QKeySequence(keys)
        for action in self.page.actions():
            if wanted in [QKeySequence(each) for each in (action.shortcut, *action.also) if each]:
                if action.enabled():
                    action.run()
                return
        raise LookupError(f"no action of the Console has the key {keys}")

    def run(self, title: str) -> None:
        """Run an action by its name, as the palette does."""
        next(action for action in self.page.actions() if action.text == title).run()

    def undo(self) -> None:
        """Undo what was done last, as Ctrl+Z in the window does."""
        assert self.desk.undo_stack.undo_last("crypto_rpc")

    async def settle(self) -> None:
        await self.desk.tasks.idle()
        QApplication.processEvents()

    async def send(self) -> None:
        self.key("Ctrl+Return")
        await self.settle()

    def type_json(self, value: object) -> None:
        """Write a request in the JSON view, as a person would paste it there."""
        if self.presenter.draft.mode != "json":
            self.key("Ctrl+Shift+J")
        editor = self.request.text
        editor.setFocus()
        editor.selectAll()
        QGuiApplication.clipboard().setText(value if isinstance(value, str) else json.dumps(value))
        QTest.keyClick(editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)

    @property
    def entries(self) -> list[CallEntry]:
        rows = self.list.view.rows
        return [row for at in range(rows.rowCount()) if isinstance(row := rows.row(rows.index(at, 0)), CallEntry)]

    async def dialog(self) -> Dialog:
        """The dialog that is open, as soon as it is."""
        await until(lambda: bool(self._dialogs()))
        return self._dialogs()[0]

    def _dialogs(self) -> list[Dialog]:
        return [each for each in self.window.findChildren(Dialog) if each.isVisible()]


def press(dialog: QWidget, words: str) -> None:
    """Press the button with these words by keyboard."""
    button = next(each for each in dialog.findChildren(QPushButton) if each.text() == words)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)


def call(method: str, *params: object, number: int = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


@asynccontextmanager
async def open_console(folder: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console_presenter(folder, tasks) as desk:
        desk.presenter.collections.files = RpcCollections(folder / "collections")
        window = ConsoleHarness(desk, theme)
        desk.presenter.caps.refresh()
        await window.settle()
        try:
            yield window
        finally:
            await tasks.aclose()
            window.window.hide()
            window.window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
