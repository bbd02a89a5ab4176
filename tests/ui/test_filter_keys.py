"""Lists that are walked from their field say the row and its place; popovers close on Esc, menus open on a row."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPointF, QStringListModel, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListView, QVBoxLayout, QWidget

from app.ui.chat.sidebar.chat_search import SearchPane
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.focus_ring import FocusRing
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.multi_select import MultiSelectField
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.search_field import SearchField
from tests.kit.waiting import until


@pytest.fixture
def page(qtbot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(400, 300)
    page.show()
    page.activateWindow()
    return page


def walked(page: QWidget, *rows: str) -> tuple[QLineEdit, QListView, QStringListModel]:
    """A list on show, and the field that walks it."""
    field, view = QLineEdit(page), QListView(page)
    model = QStringListModel(rows, view)
    view.setModel(model)
    FilterKeys(view, field, nothing=lambda: "No results.")
    field.show()
    view.show()
    return field, view, model


async def test_the_row_under_the_arrows_is_said_with_its_place(page: QWidget, heard: list[str]) -> None:
    field, _, _ = walked(page, "Ada", "Ben", "Cem")
    field.setFocus()
    down, up = Qt.Key.Key_Down, Qt.Key.Key_Up
    for key, words in ((down, "Ada, 1 of 3"), (down, "Ben, 2 of 3"), (up, "Ada, 1 of 3")):
        QTest.keyClick(field, key)
        await until(lambda words=words: heard[-1:] == [words])


async def test_what_typing_leaves_is_said_once_behind_a_pause(page: QWidget, heard: list[str]) -> None:
    field, view, model = walked(page, "Ada", "Ben")
    field.setFocus()
    for names in (["Ada", "Ben"], ["Ada"], ["Ada"]):
        model.setStringList(names)
        view.setCurrentIndex(model.index(0))
    await until(lambda: heard)
    assert heard == ["Ada, 1 of 1"]
    model.setStringList([])
    await until(lambda: len(heard) > 1)
    assert heard == ["Ada, 1 of 1", "No results."]


async def test_a_search_in_a_profile_without_chats_says_that_it_found_nothing(
    page: QWidget, theme: Theme, heard: list[str]
) -> None:
    pane = SearchPane(theme, page)
    pane.show()
    pane.open("zebra")
    pane.show_hits("zebra", ())
    await until(lambda: heard == ["No results for “zebra”."])


async def test_a_list_is_silent_while_its_field_has_not_the_focus(page: QWidget, heard: list[str]) -> None:
    (_, silent, _), (field, view, _) = walked(page, "Ada", "Ben"), walked(page, "Cem", "Dov")
    field.setFocus()
    for each in (silent, view):
        each.setCurrentIndex(each.model().index(1, 0))
    await until(lambda: heard)
    assert heard == ["Dov, 2 of 2"]


async def test_ticks_are_said_with_the_row(page: QWidget, theme: Theme, heard: list[str]) -> None:
    choice = MultiSelectField(theme, "Models", any_words="Any model", many_words="{number} models", most=3)
    QVBoxLayout(page).addWidget(choice)
    choice.set_options((("a", "Ada"), ("b", "Ben")))
    choice.showPopup()
    assert choice.list is not None
    QTest.keyClick(choice.list.search, Qt.Key.Key_Down)
    await until(lambda: heard[-1:] == ["Ben, not selected, 2 of 2"])
    QTest.keyClick(choice.list.search, Qt.Key.Key_Return)
    await until(lambda: heard[-1:] == ["Ben, selected, 2 of 2"])
    QTest.keyClick(choice.list.search, Qt.Key.Key_Escape)
    assert not choice.list.isVisible()


def test_escape_in_its_empty_search_field_closes_any_popover(page: QWidget, theme: Theme) -> None:
    popover = Popover(theme, page, name="Choose")
    field = SearchField(theme, "Find", results=None)
    popover.body.addWidget(field)
    popover.set_first_focus(field)
    popover.open_at(page)
    QTest.keyClicks(field, "ada")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert popover.isVisible() and not field.text()
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not popover.isVisible()


def test_a_menu_that_a_key_opens_is_on_its_first_entry(page: QWidget, theme: Theme) -> None:
    ring = FocusRing(theme, page)
    menu = Menu(theme, page)
    menu.add("Not now", enabled=False)
    rename = menu.add("Rename")
    menu.popup(page.pos())
    assert menu.activeAction() is rename
    menu.close()
    window = page.windowHandle()
    where = QPointF(5, 5)
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QMouseEvent(QEvent.Type.MouseButtonPress, where, where, left, left, none))
    assert not ring.by_keyboard
    menu.popup(page.pos())
    assert menu.activeAction() is not rename
    menu.close()
