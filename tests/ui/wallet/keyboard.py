"""Hands that have a keyboard and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget

from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness

NONE, CTRL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
MOST_TABS = 120


class Keyboard:
    """Types into whatever has the focus, and walks to a widget with Tab alone."""

    def __init__(self, wallet: WalletHarness) -> None:
        self._wallet = wallet
        self.window = QWidget()
        row = QHBoxLayout(self.window)
        row.addWidget(wallet.page.list)
        row.addWidget(wallet.page.main, 1)
        self.window.resize(1280, 860)
        self.window.show()
        self.window.activateWindow()
        wallet.page.main.setFocus()

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        focus = QApplication.focusWidget()
        assert focus is not None, "nothing has the keyboard"
        QTest.keyClick(focus, key, modifiers)

    def type(self, text: str) -> None:
        """Replace what stands in the field."""
        self.press(Qt.Key.Key_A, CTRL)
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClicks(focus, text)

    async def to(self, wanted: QWidget | Callable[[], QWidget | None]) -> QWidget:
        """Walk there with Tab. Fails when Tab does not lead there. A callable finds what may be drawn anew."""
        find = wanted if callable(wanted) else lambda: wanted
        await until(lambda: (found := find()) is not None and found.isVisible() and self._has_focus())
        widget = find()
        assert widget is not None
        passed: list[str] = []
        for _ in range(MOST_TABS):
            focus = QApplication.focusWidget()
            if focus is widget or (focus is not None and widget.isAncestorOf(focus)):
                return widget
            passed.append(f"{type(focus).__name__} {focus.accessibleName() if focus else ''}")
            self.press(Qt.Key.Key_Tab)
        raise AssertionError(f"Tab never comes to {widget.accessibleName() or type(widget).__name__}: {passed[:40]}")

    async def push(self, wanted: QWidget | Callable[[], QWidget | None]) -> None:
        """Walk to a button and press it with the space bar."""
        button = await self.to(wanted)
        assert button.isEnabled(), button.accessibleName()
        self.press(Qt.Key.Key_Space)

    def _has_focus(self) -> bool:
        """Off screen nobody gives the keyboard back when a dialog closes, to the window or to the dialog below it."""
        if QApplication.focusWidget() is None:
            (QApplication.activeModalWidget() or self.window).activateWindow()
        return QApplication.focusWidget() is not None

    async def write(self, field: QWidget, text: str) -> None:
        await self.to(field)
        self.type(text)

    async def dialog(self, opened: Callable[[], Any]) -> Any:
        """Wait until a dialog is open and has the keyboard."""
        await until(opened)
        found = opened()
        found.activateWindow()

        def has_the_keyboard() -> bool:
            focus = QApplication.focusWidget()
            if focus is None:  # off screen, a dialog that closes late takes it away again
                found.activateWindow()
            return focus is not None and found.isVisible() and found.isAncestorOf(focus)

        await until(has_the_keyboard)
        return found

    async def page(self, name: str) -> None:
        """Walk to the row of pages and turn to one with the arrows."""
        bar = self._wallet.page_bar
        await self.to(bar)
        for _ in range(bar.count()):
            if self._wallet.shown_page == name:
                return
            self.press(Qt.Key.Key_Right)
        raise AssertionError(f"the arrows never come to {name}")
