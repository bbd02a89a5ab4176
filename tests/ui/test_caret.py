"""The caret blinks for somebody who types, and rests for nobody."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from app.ui.kit.caret_blink import CaretBlink
from app.ui.kit.theme import Theme
from tests.kit.shell import make_shell


@pytest.fixture
def blinking() -> Iterator[None]:
    hints = QGuiApplication.styleHints()
    before = hints.cursorFlashTime()
    hints.setCursorFlashTime(1000)
    yield
    hints.setCursorFlashTime(before)


@pytest.fixture
def fields(qtbot, blinking: None) -> Iterator[tuple[QPlainTextEdit, QLineEdit]]:
    """Two text fields in a window; the first has the focus."""
    window, first, second = QWidget(), QPlainTextEdit(), QLineEdit()
    layout = QVBoxLayout(window)
    layout.addWidget(first)
    layout.addWidget(second)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    first.setFocus()
    qtbot.waitUntil(first.hasFocus, timeout=60_000)
    yield first, second
    window.deleteLater()


def flash_ms() -> int:
    return QGuiApplication.styleHints().cursorFlashTime()


def test_the_caret_of_any_field_rests_when_nothing_is_typed_and_wakes_with_the_next_key(qtbot, fields) -> None:
    caret = CaretBlink(fields[0], Theme(), after_ms=20)
    for field in fields:
        field.setFocus()
        qtbot.waitUntil(lambda: caret.rests, timeout=60_000)
        assert flash_ms() == 0
        QTest.keyClick(field, Qt.Key.Key_B)
        assert flash_ms() == 1000


def test_a_caret_that_rests_blinks_again_in_the_next_field(qtbot, fields) -> None:
    first, second = fields
    caret = CaretBlink(first, Theme(), after_ms=20)
    qtbot.waitUntil(lambda: caret.rests, timeout=60_000)
    caret._timer.setInterval(60_000)
    second.setFocus()
    assert not caret.rests
    assert flash_ms() == 1000


def test_with_reduced_motion_no_caret_blinks(qtbot, fields) -> None:
    theme = Theme()
    caret = CaretBlink(fields[0], theme)
    assert flash_ms() == 1000
    theme.set_reduced_motion(True)
    for field in fields:
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_B)
        assert caret.rests and flash_ms() == 0
    theme.set_reduced_motion(False)
    assert flash_ms() == 1000


def test_a_field_that_goes_away_leaves_the_blinking_to_the_next_one(qtbot, fields) -> None:
    caret = CaretBlink(fields[1], Theme(), after_ms=20)
    qtbot.waitUntil(lambda: caret.rests, timeout=60_000)
    fields[0].window().hide()
    assert not caret.rests
    assert flash_ms() == 1000


async def test_every_field_of_the_window_is_followed_by_one_watcher(tmp_path: Path, tasks, theme: Theme) -> None:
    window = make_shell(tmp_path, tasks, theme).window
    window.overlays.start(native_menus=False)
    window.overlays.start(native_menus=False)
    assert len(window.overlays.findChildren(CaretBlink)) == 1
    window.deleteLater()
