"""The caret blinks for somebody who types, and rests for nobody."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit

from app.ui.chat.composer.input_box import CaretRest


@pytest.fixture
def field(qtbot) -> Iterator[QPlainTextEdit]:
    before = QGuiApplication.styleHints().cursorFlashTime()
    QGuiApplication.styleHints().setCursorFlashTime(1000)
    field = QPlainTextEdit()
    qtbot.addWidget(field)
    field.show()
    yield field
    QGuiApplication.styleHints().setCursorFlashTime(before)


def test_the_caret_rests_when_nothing_is_typed_and_wakes_with_the_next_key(qtbot, field: QPlainTextEdit) -> None:
    caret = CaretRest(field, after_ms=20)
    QTest.keyClick(field, Qt.Key.Key_A)
    qtbot.waitUntil(lambda: caret.rests, timeout=60_000)
    assert QGuiApplication.styleHints().cursorFlashTime() == 0
    QTest.keyClick(field, Qt.Key.Key_B)
    assert QGuiApplication.styleHints().cursorFlashTime() == 1000


def test_a_field_that_goes_away_leaves_the_blinking_to_the_next_one(qtbot, field: QPlainTextEdit) -> None:
    caret = CaretRest(field, after_ms=20)
    QTest.keyClick(field, Qt.Key.Key_A)
    qtbot.waitUntil(lambda: caret.rests, timeout=60_000)
    field.hide()
    assert not caret.rests
    assert QGuiApplication.styleHints().cursorFlashTime() == 1000
