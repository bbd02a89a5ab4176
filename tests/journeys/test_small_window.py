"""The smallest window with the largest text: nothing is cut, and the keyboard is never on the menu button."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QPushButton, QWidget

from app.bootstrap.rialto import Rialto
from app.storage.paths import Paths
from app.storage.settings import SettingsStore
from app.ui.kit.widgets.focus_ring import FocusRing
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.shell.navigation import RailButton
from app.ui.transcription.page import TranscriptionPage
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS, problem_of
from tests.journeys.test_wallet import control, in_the_sandbox
from tests.kit.settings import change_settings
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]


def cut(tab: str, window: QWidget) -> list[str]:
    """What is smaller than it can be, or reaches beyond what holds it; what scrolls may."""
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, (QAbstractButton, Label)):
            continue
        name = f"{tab}: {type(widget).__name__} “{widget.accessibleName() or widget.text()}”"
        least = widget.minimumSizeHint()
        if isinstance(widget, QPushButton) and widget.width() < least.width():
            found.append(f"{name} has {widget.width()} of {least.width()} px")
        if isinstance(widget, QPushButton | RailButton) and widget.height() < least.height():
            found.append(f"{name} has a height of {widget.height()} of {least.height()} px")
        if isinstance(widget, Label) and widget.hasHeightForWidth():
            needed = widget.heightForWidth(widget.width())
            if widget.height() < needed:
                found.append(f"{name} has a height of {widget.height()} of {needed} px")
        area, holder = widget.rect(), widget.parentWidget()
        while holder is not None and not isinstance(holder.parentWidget(), QAbstractScrollArea):
            if not holder.rect().contains(QRect(widget.mapTo(holder, QPoint(0, 0)), area.size())):
                found.append(f"{name} reaches beyond {type(holder).__name__}")
                break
            holder = None if holder.isWindow() else holder.parentWidget()
    for header in window.findChildren(PaneHeader):
        title = header.title
        if title.isVisible() and QFontMetrics(title.font()).horizontalAdvance(title.text()) > title.width():
            found.append(f"{tab}: the title “{title.text()}” is cut")
    return found


async def test_nothing_is_cut_in_the_smallest_window_with_the_largest_text(start: Start, tmp_path: Path) -> None:
    paths = Paths.below(tmp_path / "home")
    paths.make()
    change_settings(SettingsStore(paths.settings), text_percent=200)
    async with start() as rialto:
        window = rialto.window
        window.resize(1024, 640)
        await in_the_sandbox(rialto)
        for tab in window.tab_names():
            window.show_tab(tab)
            await settled(rialto)
            await until(lambda tab=tab: not cut(tab, window), lambda tab=tab: "\n".join(cut(tab, window)))
            focused = QApplication.focusWidget()
            assert focused is not None
            assert not window.rail.isAncestorOf(focused), f"the keyboard is on the rail in {tab}"
        assert window.rect() == QRect(0, 0, 1024, 640)


async def test_what_went_wrong_is_whole_in_the_smallest_window_with_the_largest_text(
    start: Start, tmp_path: Path
) -> None:
    paths = Paths.below(tmp_path / "home")
    paths.make()
    change_settings(SettingsStore(paths.settings), text_percent=200)
    async with start() as rialto:
        window = rialto.window
        window.resize(1024, 640)
        await in_the_sandbox(rialto)
        for tab in ("speech", "crypto_rpc"):
            window.show_tab(tab)
            await settled(rialto)
            await PAID_ACTIONS[tab].prepare(rialto, tmp_path)
            await control(rialto, "/faults/answer", "PUT", status=402, body={"error": "Insufficient balance"})
            PAID_ACTIONS[tab].begin(rialto)
            await until(lambda tab=tab: problem_of(rialto, tab) is not None)
            await control(rialto, "/faults", "DELETE")
            await until(lambda tab=tab: not cut(tab, window), lambda tab=tab: "\n".join(cut(tab, window)))


@pytest.mark.parametrize("by", ["mouse", "keys"])
async def test_after_the_main_action_the_keyboard_stays_in_the_work(start: Start, tmp_path: Path, by: str) -> None:
    async with start() as rialto:
        window = rialto.window
        window.resize(1440, 900)
        await in_the_sandbox(rialto)
        window.show_tab("transcription")
        await settled(rialto)
        page = window.tab("transcription")
        assert isinstance(page, TranscriptionPage)
        await PAID_ACTIONS["transcription"].prepare(rialto, tmp_path)
        await settled(rialto)
        if by == "mouse":
            sound = page.main.sound
            QTest.mouseClick(sound.send, Qt.MouseButton.LeftButton)
        else:
            QTest.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: PAID_ACTIONS["transcription"].done(rialto))
        await settled(rialto)
        focused = QApplication.focusWidget()
        assert focused is page.main_input(), focused


async def test_the_chart_of_the_wallet_has_a_ring_only_for_keyboard_travel(start: Start) -> None:
    async with start() as rialto:
        window = rialto.window
        await in_the_sandbox(rialto)
        window.show_tab("wallet")
        await settled(rialto)
        ring = next(iter(window.findChildren(FocusRing)))
        assert QApplication.focusWidget() is window.tab("wallet").main_input()
        assert ring.target is None
