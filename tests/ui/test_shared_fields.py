"""Fields: numbers, marked errors and the search that waits."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import NumberField, TextField
from app.ui.kit.widgets.search_field import SearchField


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


def test_large_numbers_have_commas_and_a_point_in_every_language(qtbot, theme: Theme) -> None:
    field = NumberField(theme, "Reply limit", low=0, high=100_000, value=2048)
    qtbot.addWidget(field)
    assert field.text() == "2,048"


def test_a_wrong_field_is_marked_and_its_reason_kept(qtbot, theme: Theme) -> None:
    field = TextField(theme, "Voice", text="bm_daniel")
    qtbot.addWidget(field)
    field.resize(200, 32)
    before = picture(field)
    field.set_problem("Not an Orpheus voice")
    assert picture(field) != before
    assert field.accessibleDescription() == "Not an Orpheus voice"
    field.set_problem("")
    assert picture(field) == before


def test_a_search_waits_for_the_last_key(qtbot, theme: Theme) -> None:
    field = SearchField(theme, "Filter chats", results=None, shortcut="Ctrl+F")
    qtbot.addWidget(field)
    told: list[str] = []
    field.search_changed.connect(told.append)
    qtbot.keyClicks(field, "backoff")
    assert told == []
    qtbot.waitUntil(lambda: told == ["backoff"], timeout=60_000)


def test_escape_clears_a_search_and_then_leaves(qtbot, theme: Theme) -> None:
    field = SearchField(theme, "Filter chats", results=None)
    qtbot.addWidget(field)
    told: list[str] = []
    left: list[bool] = []
    field.search_changed.connect(told.append)
    field.left.connect(lambda: left.append(True))
    qtbot.keyClicks(field, "x")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert (told, left) == (["x", ""], [])
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert left == [True]


def test_a_field_that_changes_its_parent_has_the_size_of_the_text(window: QWidget, theme: Theme) -> None:
    field = TextField(theme, "Negative prompt", placeholder="Nothing", parent=window)
    field.show()
    theme.set_text_percent(200)
    field.hide()
    field.setParent(None)
    field.setParent(window)
    field.show()
    assert field.font().pixelSize() == theme.font("body").pixelSize() > 20
    theme.set_text_percent(100)


@pytest.mark.parametrize("small", [False, True])
def test_a_number_is_as_large_as_its_field_after_another_text_size(qtbot, theme: Theme, small: bool) -> None:
    field = NumberField(theme, "Width", low=0, high=9999, small=small)
    qtbot.addWidget(field)
    field.show()
    for percent in (200, 100):
        theme.set_text_percent(percent)
        assert field.lineEdit().font().pixelSize() == field.font().pixelSize()
