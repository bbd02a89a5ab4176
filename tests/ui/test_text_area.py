"""Fields of many lines while an input method composes in them."""

import json

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from tests.reported_inputs import reported

COMPOSED = json.loads(reported("k27-composing.json"))["then_composing"]


def field_in_window(qtbot: QtBot, window: QWidget, *others: QWidget) -> TextArea:
    layout = QVBoxLayout(window)
    field = TextArea()
    for each in (field, *others):
        layout.addWidget(each)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    return field


def looks(field: TextArea) -> QImage:
    return field.viewport().grab().toImage()


def test_a_placeholder_gives_way_to_what_is_composed(qtbot: QtBot) -> None:
    windows = QWidget(), QWidget()
    plain = field_in_window(qtbot, windows[0])
    plain.setCursorWidth(0)
    QApplication.sendEvent(plain, QInputMethodEvent(COMPOSED, []))
    expected = looks(plain)
    field = field_in_window(qtbot, windows[1])
    field.setCursorWidth(0)
    field.setPlaceholderText("Write a message to somebody")
    empty = looks(field)
    QApplication.sendEvent(field, QInputMethodEvent(COMPOSED, []))
    assert looks(field) == expected
    assert field.placeholderText() == "Write a message to somebody"
    QApplication.sendEvent(field, QInputMethodEvent())
    assert looks(field) == empty


def test_a_press_on_a_button_without_focus_enters_what_is_composed(qtbot: QtBot) -> None:
    window = QWidget()
    button = Button(Theme(), "Generate")
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    field = field_in_window(qtbot, window, button)
    read: list[str] = []
    button.clicked.connect(lambda: read.append(field.toPlainText()))
    QTest.keyClicks(field, "a ")
    QApplication.sendEvent(field, QInputMethodEvent(COMPOSED, []))
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert read == [f"a {COMPOSED}"]
