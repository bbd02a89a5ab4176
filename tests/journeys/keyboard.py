"""Hands that have a keyboard and nothing else: keys go to whatever has the focus, in the window that is active."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit, QWidget

from tests.kit.waiting import until

MOST_STOPS = 160


class Keyboard:
    """Begin with the window that has just been shown."""

    def __init__(self, window: QWidget) -> None:
        self.window = window

    async def begin(self) -> None:
        self.window.activateWindow()
        await until(lambda: QApplication.activeWindow() is not None)

    @property
    def focus(self) -> QWidget:
        """What has the keyboard now: in a popup or dialog what that gave it to."""
        popup = QApplication.activePopupWidget()
        if popup is not None:
            return popup.focusWidget() or popup
        return QApplication.focusWidget() or QApplication.activeWindow() or self.window

    async def press(self, *keys: str) -> None:
        """Press keys by their names: "Ctrl+Return", "Space", "]"."""
        for key in keys:
            combination = QKeySequence(key)[0]
            QTest.keyClick(self.focus, combination.key(), combination.keyboardModifiers())
            await asyncio.sleep(0.01)  # what the key set off has its turn

    async def type(self, text: str) -> None:
        QTest.keyClicks(self.focus, text)
        await asyncio.sleep(0.01)

    async def tab_to(self, widget: QWidget, key: str = "Tab") -> None:
        """Go to a widget by pressing Tab; fails when it is no stop of the keyboard."""
        for _ in range(MOST_STOPS):
            if widget.hasFocus() or (widget.focusProxy() is not None and widget.focusProxy().hasFocus()):
                return
            await self.press(key)
        raise AssertionError(f"{type(widget).__name__} {widget.accessibleName()!r} cannot be reached by Tab")

    async def push(self, inside: QWidget, words: str) -> None:
        """Go to the button whose words begin so, and press it."""
        button = next(one for one in inside.findChildren(QAbstractButton) if one.text().startswith(words))
        await self.tab_to(button)
        await self.press("Space")

    async def command(self, words: str) -> None:
        """Run a command by its name, from the palette."""
        await self.press("Ctrl+K")
        await until(lambda: isinstance(self.focus, QLineEdit))
        await self.type(words)
        await until(lambda: self.focus.text() == words)  # type: ignore[attr-defined]  # a QLineEdit
        await self.press("Return")

    async def undo(self, tab: str, by: str = "") -> None:
        """Undo the newest command of a tab with Ctrl+Z, or by a name from the palette, once there is one."""
        await until(lambda: self.window.undo_stack.can_undo(tab))  # type: ignore[attr-defined]  # a MainWindow
        await (self.command(by) if by else self.press("Ctrl+Z"))

    async def choose_file(self, path: str) -> None:
        """Type a path into the file dialog that is open."""
        await until(lambda: any(isinstance(one, QFileDialog) and one.isVisible() for one in _windows()))
        dialog = next(one for one in _windows() if isinstance(one, QFileDialog) and one.isVisible())
        name = dialog.findChild(QLineEdit)
        assert name is not None
        dialog.activateWindow()
        await until(lambda: QApplication.activeWindow() is dialog)
        name.setFocus()
        await self.press("Ctrl+A")
        await self.type(path)
        await self.press("Return")
        await until(lambda: not _alive(dialog))

    async def dialog(self, kind: type[QWidget], fact: Callable[[QWidget], bool] = lambda _one: True) -> QWidget:
        """Wait for a dialog and let it have the keyboard."""
        await until(lambda: any(isinstance(one, kind) and one.isVisible() and fact(one) for one in _windows()))
        found = next(one for one in _windows() if isinstance(one, kind) and one.isVisible() and fact(one))
        found.activateWindow()
        await until(lambda: QApplication.activeWindow() is found)
        return found


def _windows() -> list[QWidget]:
    return QApplication.topLevelWidgets()


def _alive(dialog: QWidget) -> bool:
    from shiboken6 import isValid

    return isValid(dialog) and dialog.isVisible()
