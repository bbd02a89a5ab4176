"""While something lies over the window, nothing behind it receives a key: every layer, every shortcut, in every tab."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget

from app.bootstrap.rialto import Rialto
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.image_viewer import ImageViewer, ViewedImage
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.popover import Popover
from app.ui.shell.help_sheet import HelpSheet
from app.ui.shell.shortcut_sheet import ShortcutSheet
from tests.journeys.conftest import settled
from tests.journeys.test_wallet import in_the_sandbox
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]

# What acts on the layer itself, or on the look of the whole window.
OVER_LAYERS = {
    "window.quit",
    "window.palette",
    "window.help",
    "window.shortcuts",
    "window.text_larger",
    "window.text_smaller",
    "window.text_reset",
    "window.theme",
    "window.full_screen",
    "window.context_menu",
}


@contextmanager
def palette(rialto: Rialto, _home: Path) -> Iterator[QWidget]:
    rialto.window.open_palette()
    yield rialto.window.overlays.palette
    rialto.window.overlays.close_layer()


@contextmanager
def handbook(rialto: Rialto, _home: Path) -> Iterator[QWidget]:
    rialto.window.open_help()
    yield rialto.window.findChild(HelpSheet)
    rialto.window.overlays.close_layer()


@contextmanager
def shortcut_sheet(rialto: Rialto, _home: Path) -> Iterator[QWidget]:
    rialto.window.open_shortcuts()
    yield rialto.window.findChild(ShortcutSheet)
    rialto.window.overlays.close_layer()


@contextmanager
def dialog(rialto: Rialto, _home: Path) -> Iterator[QWidget]:
    opened = Dialog(rialto.theme, rialto.window, "Rename")
    opened.body.addWidget(QLineEdit())
    opened.add_button("Cancel", accepts=False)
    asking = asyncio.get_running_loop().create_task(opened.answer())
    yield opened
    asking.cancel()


@contextmanager
def viewer(rialto: Rialto, home: Path) -> Iterator[QWidget]:
    image = QImage(40, 30, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    path = home / "teal.png"
    image.save(str(path))
    opened = ImageViewer(rialto.theme, rialto.window, [ViewedImage("teal", path)])
    opened.open()
    yield opened
    opened.leave()


@contextmanager
def popover(rialto: Rialto, _home: Path) -> Iterator[QWidget]:
    opened = Popover(rialto.theme, rialto.window, name="Chats")
    field = QLineEdit()
    opened.body.addWidget(field)
    opened.set_first_focus(field)
    opened.open_at(rialto.window.status)
    yield opened
    opened.close()


@contextmanager
def menu(rialto: Rialto, _home: Path) -> Iterator[QWidget]:
    opened = Menu(rialto.theme, rialto.window)
    opened.add("Rename", "pencil")
    opened.popup(rialto.window.mapToGlobal(rialto.window.rect().center()))
    yield opened
    opened.close()


LAYERS = {each.__name__: each for each in (palette, handbook, shortcut_sheet, dialog, viewer, popover, menu)}


POPUPS = ("popover", "menu")  # Qt itself keeps keys from the window below
ENTER_IS_THEIRS = ("palette", "menu")  # it runs the shaded row, with or without Ctrl


async def press(shortcut: str) -> None:
    """Press a shortcut where the keyboard is, as the window system would.

    Not from within a task: QTest runs Qt's events, and asyncio drops the step of a task that is entered from another.
    """
    loop = asyncio.get_running_loop()
    pressed = loop.create_future()

    def run() -> None:
        try:
            _press(shortcut)
        except BaseException as error:
            pressed.set_exception(error)
        else:
            pressed.set_result(None)

    loop.call_soon(run)
    await pressed


def _press(shortcut: str) -> None:
    pressed = QKeySequence(shortcut)[0]  # type: ignore[index]  # the stubs leave out __getitem__
    window = QApplication.activePopupWidget() or QApplication.activeWindow()
    assert window is not None
    QTest.keyClick(window.focusWidget() or window, pressed.key(), pressed.keyboardModifiers())


@pytest.mark.parametrize("layer", LAYERS)
async def test_no_key_goes_through_a_layer(start: Start, tmp_path: Path, layer: str) -> None:
    async with start() as rialto:
        window, registry = rialto.window, rialto.window.registry
        window.activateWindow()
        await in_the_sandbox(rialto)
        ran: list[str] = []
        registry.begins.connect(ran.append)
        for tab in ("chat", "crypto_rpc", "images"):
            window.show_tab(tab)
            await until(lambda tab=tab: any(entry.scope == tab for entry in registry.entries()))
            left = [
                shortcut
                for entry in registry.entries()
                for shortcut in (entry.shortcut, *entry.action.also)
                if shortcut and entry.scope in ("window", tab) and entry.id not in OVER_LAYERS
                if "Return" not in shortcut or layer not in ENTER_IS_THEIRS
            ]
            assert len(left) > 15
            while left:
                with LAYERS[layer](rialto, tmp_path) as over:
                    await until(over.isVisible)
                    if layer not in POPUPS:
                        works = {entry.id for entry in registry.entries() if entry.q_action.isEnabled()}
                        assert works <= OVER_LAYERS
                    while left and over.isVisible():  # a key may close it, such as Enter a menu
                        shortcut = left.pop()
                        await press(shortcut)
                        assert ran == [], f"{shortcut} went through the {layer} in {tab}"
                await until(lambda: window.focusWidget() is not None)
            assert window.current_tab == tab


async def test_the_keys_work_again_when_the_layer_is_gone(start: Start, tmp_path: Path) -> None:
    async with start() as rialto:
        window = rialto.window
        window.activateWindow()
        await in_the_sandbox(rialto)
        window.show_tab("chat")
        await settled(rialto)
        ran: list[str] = []
        window.registry.begins.connect(ran.append)
        for open_layer in LAYERS.values():
            with open_layer(rialto, tmp_path) as over:
                await until(over.isVisible)
            await until(lambda: window.focusWidget() is not None)
            window.activateWindow()
            await until(lambda: QApplication.activeWindow() is window)
            ran.clear()
            await press("Ctrl+L")
            assert ran == ["window.input"], open_layer.__name__


async def test_the_keyboard_is_never_on_what_cannot_be_seen(start: Start) -> None:
    async with start() as rialto:
        window = rialto.window
        window.resize(1440, 900)
        window.activateWindow()
        await in_the_sandbox(rialto)
        for tab in ("images", "settings", "chat"):
            window.show_tab(tab)
            await settled(rialto)
        focused = window.focusWidget()
        assert focused is not None
        images = window.tab("images").main_input()
        assert images is not None
        images.setFocus()  # as a task does that ends after the person went to another tab
        assert window.focusWidget() is focused
        hidden = QPushButton("Hidden", window)
        hidden.hide()
        hidden.setFocus()
        QApplication.processEvents()
        assert window.focusWidget() is focused
        window.open_palette()
        focused.setFocus(Qt.FocusReason.OtherFocusReason)  # behind the palette
        QTest.keyClicks(window.focusWidget(), "dark")
        assert window.overlays.palette.field.text() == "dark"
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
        assert window.focusWidget() is focused
