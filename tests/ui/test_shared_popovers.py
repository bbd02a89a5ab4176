"""Popovers: where they open, what they give back, and the shadow under them."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QCursor, QImage, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import SHADOW_MARGINS, paint_shadow
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.popover import Popover


def popover_with_field(theme: Theme, window: QWidget) -> tuple[Popover, QLineEdit, QPushButton]:
    opener = QPushButton("Model", window)
    opener.move(100, 100)
    opener.show()
    popover = Popover(theme, window, name="Models")
    field = QLineEdit()
    popover.body.addWidget(field)
    popover.set_first_focus(field)
    return popover, field, opener


def test_a_popover_opens_under_its_opener_and_gives_the_focus_back(qtbot, window: QWidget, theme: Theme) -> None:
    popover, _field, opener = popover_with_field(theme, window)
    opener.setFocus()
    popover.open_at(opener, width=240)
    card = popover.geometry().marginsRemoved(SHADOW_MARGINS)
    anchor = QRect(opener.mapToGlobal(QPoint(0, 0)), opener.size())
    assert card.left() == anchor.left()
    assert card.top() == anchor.bottom() + 5
    assert card.width() == 240
    closed: list[bool] = []
    popover.closed.connect(lambda: closed.append(True))
    qtbot.keyClick(popover, Qt.Key.Key_Escape)
    assert not popover.isVisible()
    assert closed == [True]
    assert QApplication.focusWidget() is opener


def test_a_list_gives_way_where_the_screen_is_too_low_so_what_is_below_it_stays(window: QWidget, theme: Theme) -> None:
    popover, _field, opener = popover_with_field(theme, window)
    rows, footer = QWidget(), Label(theme, "What Enter does")
    screen = window.screen().availableGeometry()
    rows.setFixedHeight(screen.height())
    popover.body.addWidget(rows)
    popover.body.addWidget(footer)
    popover.set_list(rows)
    popover.open_at(opener, width=260)
    popover.grab()
    assert screen.contains(QRect(footer.mapToGlobal(QPoint(0, 0)), footer.size()))


def test_a_popover_opens_above_when_asked_and_stays_on_the_screen(qtbot, window: QWidget, theme: Theme) -> None:
    popover, _, opener = popover_with_field(theme, window)
    opener.move(100, 400)
    popover.open_at(opener, above=True)
    assert popover.geometry().marginsRemoved(SHADOW_MARGINS).bottom() < opener.mapToGlobal(QPoint(0, 0)).y()
    popover.close()
    screen = window.screen().availableGeometry()
    opener.move(-500, 100)
    popover.open_at(opener)
    assert popover.geometry().marginsRemoved(SHADOW_MARGINS).left() >= screen.left()
    popover.close()


def test_a_popover_stays_in_the_window_where_it_fits(window: QWidget, theme: Theme) -> None:
    popover, _, opener = popover_with_field(theme, window)
    room = QRect(window.mapToGlobal(QPoint(0, 0)), window.size())
    opener.move(window.width() - opener.width(), window.height() - opener.height())
    popover.open_at(opener, width=240)
    card = popover.geometry().marginsRemoved(SHADOW_MARGINS)
    assert room.contains(card)
    assert card.bottom() < opener.mapToGlobal(QPoint(0, 0)).y()
    popover.close()


def test_a_popover_without_a_name_cannot_be_made(window: QWidget, theme: Theme) -> None:
    with pytest.raises(ValueError, match="name"):
        Popover(theme, window, name="")


def test_the_shadow_fades_out_and_lies_lower_than_the_card(theme: Theme, qapp: QApplication) -> None:
    image = QImage(300, 300, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    card = QRect(100, 100, 100, 100)
    painter = QPainter(image)
    paint_shadow(painter, theme, card, 10)
    painter.end()
    below = [image.pixelColor(150, 201 + step).alpha() for step in range(0, 31, 3)]
    assert below == sorted(below, reverse=True)
    assert below[0] > 15
    assert below[-1] <= 1
    assert image.pixelColor(150, 206).alpha() > image.pixelColor(150, 94).alpha()
    assert image.pixelColor(20, 20).alpha() == 0


def test_the_shadow_of_a_small_card_is_whole(theme: Theme, qapp: QApplication) -> None:
    image = QImage(160, 120, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_shadow(painter, theme, QRect(60, 50, 40, 20), 10)
    painter.end()
    row = [image.pixelColor(x, 78).alpha() for x in range(36, 124)]
    assert max(abs(one - other) for one, other in itertools.pairwise(row)) <= 6  # no seam


def test_a_popover_fades_in_and_arrives_whole(qtbot, window: QWidget, theme: Theme) -> None:
    theme.set_reduced_motion(False)
    popover, _field, opener = popover_with_field(theme, window)
    popover.open_at(opener)
    assert popover.windowOpacity() < 0.5
    qtbot.waitUntil(lambda: popover.windowOpacity() == 1.0, timeout=60_000)
    popover.close()


def test_with_reduced_motion_a_popover_is_simply_there(window: QWidget, theme: Theme) -> None:
    popover, _field, opener = popover_with_field(theme, window)
    popover.open_at(opener)
    assert popover.windowOpacity() == 1.0
    popover.close()


def test_words_that_break_into_lines_have_room_for_all_of_them(qtbot, window: QWidget, theme: Theme) -> None:
    popover, field, opener = popover_with_field(theme, window)
    words = Label(theme, "Saved prompts work for both images and videos. " * 2, "small", wrap=True)
    popover.body.addWidget(words)
    popover.open_at(opener, width=240)
    assert words.height() == words.heightForWidth(words.width()) > 2 * field.fontMetrics().height()


@pytest.mark.parametrize("kind", ["menu", "popover"])
def test_no_button_looks_hovered_once_what_it_opened_is_closed(qtbot, window: QWidget, theme: Theme, kind: str) -> None:
    """The pointer left while the menu had the mouse, so Qt did not tell the button."""
    popover, _, opener = popover_with_field(theme, window)
    menu = Menu(theme, window)
    menu.add("Rename")
    opened: Menu | Popover = menu if kind == "menu" else popover
    if kind == "menu":
        menu.popup(QPoint(300, 300))
    else:
        popover.open_at(opener, width=240)
    opener.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    QCursor.setPos(window.mapToGlobal(window.rect().bottomRight()))
    opened.close()
    qtbot.waitUntil(lambda: not opener.underMouse())
