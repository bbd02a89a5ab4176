"""A title renamed where it stands, as the chat and the transcript do it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.title_edit import TitleEdit


@pytest.fixture
def edit(window: QWidget, theme: Theme) -> TitleEdit:
    layout = QVBoxLayout(window)
    edit = TitleEdit(theme, "Title")
    layout.addWidget(edit)
    layout.addWidget(QPushButton("Elsewhere"))
    return edit


@pytest.mark.parametrize(
    ("typed", "key", "told"),
    [
        ("  Better ", Qt.Key.Key_Return, ["Better"]),
        ("Better", Qt.Key.Key_Tab, ["Better"]),
        ("Better", Qt.Key.Key_Escape, []),
        ("   ", Qt.Key.Key_Return, []),
        ("Before", Qt.Key.Key_Enter, []),
    ],
)
def test_enter_and_leaving_keep_what_was_typed_and_escape_does_not(
    edit: TitleEdit, typed: str, key: Qt.Key, told: list[str]
) -> None:
    renamed: list[str] = []
    places: list[bool] = []
    edit.renamed.connect(renamed.append)
    edit.toggled.connect(lambda: places.append(edit.is_open))
    assert not edit.isVisible()
    edit.begin("Before")
    QTest.keyClicks(edit, typed)  # everything was selected
    QTest.keyClick(edit, key)
    assert renamed == told
    assert places == [True, False]
    assert not edit.isVisible()


def test_a_field_needs_a_name(theme: Theme) -> None:
    with pytest.raises(ValueError, match="name"):
        TitleEdit(theme, " ")
