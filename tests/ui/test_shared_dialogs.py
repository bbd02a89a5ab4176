"""Questions: awaited, dimming the window behind, answered no by Esc."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QScrollArea,
    QWidget,
)

from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import WIDTH, Dialog, Scrim, ask_text, confirm
from app.ui.kit.widgets.fields import TextField

LEFT = Qt.MouseButton.LeftButton


async def opened(window: QWidget) -> QDialog:
    async with asyncio.timeout(60):
        while True:
            await asyncio.sleep(0.005)
            dialog = next((item for item in window.findChildren(QDialog) if item.isVisible()), None)
            if dialog is not None:
                return dialog


def dialog_button(dialog: QDialog, text: str) -> Button:
    return next(button for button in dialog.findChildren(Button) if button.text() == text)


async def test_a_question_is_answered_and_the_window_dimmed_meanwhile(qtbot, window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(
        confirm(theme, window, "Delete it?", "It cannot be undone.", action="Delete", danger=True)
    )
    dialog = await opened(window)
    assert window.findChildren(Scrim)
    assert dialog_button(dialog, "Cancel").isDefault()
    assert not dialog_button(dialog, "Delete").isDefault()
    qtbot.mouseClick(dialog_button(dialog, "Delete"), LEFT)
    assert await asked is True
    assert all(scrim.isHidden() for scrim in window.findChildren(Scrim))


async def test_escape_answers_no(qtbot, window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(confirm(theme, window, "Leave?", "Work is running.", action="Leave"))
    dialog = await opened(window)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert await asked is False


async def test_a_dialog_ends_with_the_task_that_waits_for_it(window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(confirm(theme, window, "Leave?", "Work is running.", action="Leave"))
    dialog = await opened(window)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    assert not alive(dialog) or not dialog.isVisible()


async def test_an_empty_name_cannot_be_saved(qtbot, window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(ask_text(theme, window, "Rename chat", "Name", value="Old"))
    dialog = await opened(window)
    field = dialog.findChild(QLineEdit)
    assert field.accessibleName() == "Name"
    field.clear()
    assert not dialog_button(dialog, "Save").isEnabled()
    field.setText("  New  ")
    qtbot.mouseClick(dialog_button(dialog, "Save"), LEFT)
    assert await asked == "New"


async def test_a_long_dialog_is_read_by_page_keys_from_its_buttons(qtbot, window: QWidget, theme: Theme) -> None:
    window.resize(600, 300)
    asked = asyncio.ensure_future(confirm(theme, window, "Leave?", "Work is running. " * 200, action="Leave"))
    dialog = await opened(window)
    button, bar = dialog_button(dialog, "Leave"), dialog.findChild(QScrollArea).verticalScrollBar()
    assert button.hasFocus() and bar.maximum() > bar.pageStep()
    qtbot.keyClick(button, Qt.Key.Key_PageDown)
    assert bar.value() == bar.pageStep() and button.hasFocus()
    qtbot.keyClick(button, Qt.Key.Key_PageUp)
    assert bar.value() == 0
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert await asked is False


async def test_an_open_dialog_grows_and_shrinks_with_the_text(window: QWidget, theme: Theme) -> None:
    window.resize(1440, 900)
    percent = theme.text_percent
    asked = asyncio.ensure_future(confirm(theme, window, "Leave?", "Work is running. " * 12, action="Leave"))
    dialog = await opened(window)
    before = dialog.size()
    try:
        theme.set_text_percent(200)
        assert dialog.width() == theme.type_px(WIDTH) > before.width()
        assert dialog.height() > before.height()
        theme.set_text_percent(percent)
        assert dialog.size() == before
    finally:
        theme.set_text_percent(percent)
        dialog.close()
        await asked


@pytest.mark.parametrize("careful", [False, True])
async def test_ctrl_enter_presses_the_primary_button_unless_another_one_is_the_default(
    theme: Theme, window: QWidget, careful: bool
) -> None:
    dialog = Dialog(theme, window, "Repeat request")
    field = TextField(theme, "Times", parent=dialog)
    dialog.body.addWidget(field)
    dialog.add_button("Cancel", accepts=False, default=careful)
    go = dialog.add_button("Repeat", kind="primary", accepts=True)
    pressed: list[bool] = []
    go.clicked.connect(lambda: pressed.append(True))
    dialog.show()
    field.setFocus()
    go.setEnabled(False)
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert pressed == []
    go.setEnabled(True)
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(pressed) == (0 if careful else 1)
