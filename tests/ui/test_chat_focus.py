"""Whatever opens in Chat and closes again, by key or by mouse, leaves the person where they typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.popover import Popover
from tests.kit.chat import ChatHarness, FakeService, open_chat, whole
from tests.kit.waiting import until
from tests.ui.test_chat_desk import capable, run

LEFT, ESCAPE = Qt.MouseButton.LeftButton, Qt.Key.Key_Escape
COMMANDS = (
    "chat.model",
    "chat.compare",
    "chat.find",
    "chat.rename",
    "chat.export",
    "chat.structure",
    "chat.prompts",
    "chat.presets",
)
BUTTONS: dict[str, Callable[[ChatHarness], QWidget]] = {
    "model": lambda shown: shown.header.model,
    "menu": lambda shown: shown.header.more_button,
    "export": lambda shown: shown.header.export_button,
    "pencil": lambda shown: shown.header.rename_button,
    "web": lambda shown: shown.composer.web,
    "thinking": lambda shown: shown.composer.thinking,
}


def opened(shown: ChatHarness) -> list[QWidget]:
    """The windows, menus and fields that are open over the tab."""
    over = [each for each in QApplication.topLevelWidgets() if isinstance(each, (QDialog, QMenu, Popover))]
    fields = [shown.header.edit, *([shown.find_bar] if "find" in shown.page.controller.__dict__ else [])]
    return [each for each in (*over, *fields) if each.isVisible()]


async def close_all(shown: ChatHarness) -> None:
    """Press Esc where the keyboard is, until nothing is open."""
    while opened(shown):
        last = opened(shown)[-1]
        QTest.keyClick(last.focusWidget() or last, ESCAPE)
        await shown.settle()


async def ready(shown: ChatHarness) -> QWidget:
    """A chat with a turn in it, and the keyboard in the message box."""
    await shown.say("A question")
    shown.window.activateWindow()
    shown.page.focus_box()
    assert shown.window.focusWidget() is shown.message_box
    return shown.message_box


@pytest.mark.parametrize("command", COMMANDS)
async def test_what_a_key_opens_gives_the_focus_back_to_the_message(theme: Theme, tmp_home: Path, command: str) -> None:
    async with open_chat(theme, tmp_home, fake=capable(whole("An answer"))) as shown:
        box = await ready(shown)
        run(shown, command)
        await until(lambda: opened(shown))
        await close_all(shown)
        assert shown.window.focusWidget() is box


@pytest.mark.parametrize("name", BUTTONS)
async def test_what_the_mouse_opens_gives_the_focus_back_to_the_message(
    theme: Theme, tmp_home: Path, name: str
) -> None:
    async with open_chat(theme, tmp_home, fake=capable(whole("An answer"))) as shown:
        box = await ready(shown)
        QTest.mouseClick(BUTTONS[name](shown), LEFT)
        if name not in ("web", "thinking"):
            await until(lambda: opened(shown))
        await close_all(shown)
        assert shown.window.focusWidget() is box


async def test_enter_in_a_title_and_a_chosen_model_lead_back_to_the_message(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        box = await ready(shown)
        run(shown, "chat.rename")
        QTest.keyClicks(shown.header.edit, "Another title")
        QTest.keyClick(shown.header.edit, Qt.Key.Key_Return)
        assert shown.window.focusWidget() is box
        picker = shown.page.open_model_picker()
        QTest.keyClicks(picker.search, "other")
        QTest.keyClick(picker.search, Qt.Key.Key_Return)
        await shown.settle()
        assert shown.presenter.opened.model_id == "other"
        assert shown.window.focusWidget() is box


async def test_leaving_a_comparison_leads_back_to_the_message(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("One"), whole("Two")])) as shown:
        shown.window.activateWindow()
        shown.presenter.compare("Which?", ("plain", "other"))
        await shown.settle()
        pane = shown.page.controller.comparison
        pane.columns[0].view.setFocus()
        QTest.mouseClick(pane.back, LEFT)
        assert shown.place is shown.view
        assert shown.window.focusWidget() is shown.message_box


async def test_a_title_is_renamed_in_a_wide_field_that_shows_its_start(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await ready(shown)
        run(shown, "chat.rename")
        QApplication.processEvents()
        edit = shown.header.edit
        room = shown.header.lock.x() - edit.x() - edit.width()
        assert room < 30, "the field takes what is free before the lock"
        assert edit.selectedText() == edit.text()
        assert edit.cursorPosition() == 0


async def test_typing_and_pasting_over_the_conversation_goes_into_the_message(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        box = await ready(shown)
        shown.view.setFocus()
        QTest.keyClick(shown.view, Qt.Key.Key_Down)  # scrolls
        assert shown.window.focusWidget() is shown.view
        QTest.keyClicks(shown.view, "W")
        assert shown.window.focusWidget() is box
        QTest.keyClicks(box, "hy")
        shown.view.setFocus()
        QGuiApplication.clipboard().setText(" not?", QClipboard.Mode.Clipboard)
        QTest.keyClick(shown.view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert shown.composer_text() == "Why not?"


async def test_a_key_with_a_shortcut_over_the_conversation_types_nothing(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await ready(shown)
        shown.view.setFocus()
        QTest.keyClick(shown.view, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(shown.view, Qt.Key.Key_F5)
        assert shown.window.focusWidget() is shown.view
        assert not shown.composer_text()
