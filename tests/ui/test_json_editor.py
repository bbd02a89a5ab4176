"""The JSON editor: what the person types is theirs, faults have a line, and Tab leaves it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.ui.kit.json.editor import JsonEditor
from app.ui.kit.theme import Theme


@pytest.fixture
def editor(window: QWidget, theme: Theme) -> JsonEditor:
    editor = JsonEditor(theme, "Parameters")
    layout = QVBoxLayout(window)
    layout.addWidget(editor)
    layout.addWidget(QLineEdit())
    editor.setFocus()
    return editor


def test_typing_is_told_and_setting_is_not(editor: JsonEditor, qtbot: QtBot) -> None:
    told: list[str] = []
    editor.edited.connect(told.append)
    editor.set_text("[1]")
    assert told == []
    qtbot.keyClick(editor, Qt.Key.Key_End)
    qtbot.keyClicks(editor, " ")
    assert told == ["[1] "]


def test_another_text_keeps_the_cursor_where_there_is_text(editor: JsonEditor) -> None:
    editor.set_text("[1, 2, 3]")
    cursor = editor.textCursor()
    cursor.setPosition(6)
    editor.setTextCursor(cursor)
    editor.set_text("[1]")
    assert editor.textCursor().position() == 3


def test_a_fault_is_marked_in_its_line_and_can_be_gone_to(editor: JsonEditor) -> None:
    editor.set_text("[\n1\n2\n]")
    editor.set_fault(3)
    assert any(mark.cursor.blockNumber() == 2 for mark in editor.extraSelections())
    editor.go_to(3)
    assert editor.textCursor().blockNumber() == 2
    editor.set_fault(0)
    assert all(
        mark.cursor.blockNumber() != 2 or editor.textCursor().blockNumber() == 2 for mark in editor.extraSelections()
    )


def test_tab_leaves_the_editor(editor: JsonEditor, qtbot: QtBot) -> None:
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert not editor.hasFocus()
    assert editor.toPlainText() == ""


def test_a_very_long_line_is_drawn(editor: JsonEditor) -> None:
    editor.set_text('["' + "0" * 300_000 + '", {{name}}, {"a": true}]')
    assert not editor.grab().isNull()
