"""A chat page in a window over the real Sandbox: what tests of the message box share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QWidget

from app.sandbox.server import RunningSandbox
from app.ui.chat.page import ChatPage
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.waiting import until
from tests.ui.test_chat_sandbox import Tab, open_tab


class Box:
    """A chat page in a window, over a tab of the real Sandbox."""

    def __init__(self, tab: Tab, theme: Theme) -> None:
        self.tab = tab
        self.page = ChatPage(theme, tab.presenter, tab.tasks)
        self.window = QWidget()
        self.window.resize(1300, 800)
        layout = QHBoxLayout(self.window)
        for pane in (self.page.list_pane(), self.page.canvas(), self.page.inspector()):
            layout.addWidget(pane)
        self.window.show()
        QApplication.processEvents()
        self.composer = self.page.main.composer
        self.edit = self.composer.box
        self.edit.setFocus()

    async def type(self, text: str, *, send: bool = True) -> None:
        QTest.keyClicks(self.edit, text)
        if send:
            QTest.keyClick(self.edit, Qt.Key.Key_Return)
        await self.settle()

    async def settle(self) -> None:
        await self.tab.tasks.idle()
        QApplication.processEvents()
        await self.tab.tasks.idle()


@asynccontextmanager
async def open_box(theme: Theme, home: Path, sandbox: RunningSandbox, model: str = "") -> AsyncIterator[Box]:
    async with open_tab(home, sandbox) as tab:
        box = Box(tab, theme)
        if model:
            tab.presenter.use_model(model)
        try:
            yield box
        finally:
            box.window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def dropped(target: QWidget, mime: QMimeData) -> bool:
    """Drag something over a widget and let it go; True when the widget took it."""
    at, action = target.rect().center(), Qt.DropAction.CopyAction
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(at, action, mime, button, none)
    enter.ignore()
    QApplication.sendEvent(target, enter)
    if not enter.isAccepted():
        return False
    QApplication.sendEvent(target, QDropEvent(QPointF(at), action, mime, button, none))
    return True


def press(widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(widget, key)


async def answer_dialog(box: Box, text: str) -> None:
    """Type into the dialog that is open and press Enter."""
    await until(lambda: bool(box.page.main.findChildren(Dialog)))
    (dialog,) = box.page.main.findChildren(Dialog)
    field = dialog.findChild(QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, text)
    press(field, Qt.Key.Key_Return)
    await box.settle()
