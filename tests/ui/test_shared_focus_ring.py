"""The ring around what the keyboard is on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QListView,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QStackedWidget,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.ui.kit.json.editor import JsonEditor
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.focus_ring import GAP, TAB_MARGIN, WIDTH, FocusRing
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.switch import Switch
from app.ui.kit.widgets.toast import ToastHost
from app.ui.speech.editor import SpeechEditor

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def ring(window: QWidget, theme: Theme) -> FocusRing:
    return FocusRing(theme, window)


def add(window: QWidget, widget: QWidget, x: int = 50, y: int = 50) -> QWidget:
    widget.setParent(window)
    widget.move(x, y)
    widget.resize(widget.sizeHint())
    widget.show()
    return widget


def around(widget: QWidget, window: QWidget, outset: int = GAP + WIDTH) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).adjusted(-outset, -outset, outset, outset)


def test_the_ring_stands_two_px_away_from_the_keyboards_place(window: QWidget, theme: Theme, ring: FocusRing) -> None:
    button = add(window, Button(theme, "Copy"))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.target is button
    assert ring.geometry() == around(button, window)


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit, QTextEdit])
def test_the_menu_of_a_text_field_opens_on_its_first_entry_by_key(
    qtbot: QtBot, window: QWidget, ring: FocusRing, kind: type[QWidget]
) -> None:
    field = add(window, kind())
    field.setFocus()
    QTest.keyClicks(field, "A harbour")
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())  # as the Menu key becomes
    QApplication.sendEvent(window.windowHandle(), asked)

    def entry() -> str:
        menu = QApplication.activePopupWidget()
        action = menu.activeAction() if isinstance(menu, QMenu) else None
        return action.text() if action is not None else ""

    qtbot.waitUntil(lambda: entry().startswith("&Undo"))
    QApplication.activePopupWidget().close()


def test_the_ring_follows_a_widget_that_moves_and_goes_with_it(window: QWidget, theme: Theme, ring: FocusRing) -> None:
    button = add(window, Button(theme, "Copy"))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    button.move(200, 120)
    assert ring.geometry() == around(button, window)
    button.hide()
    assert not ring.isVisible()


@pytest.mark.parametrize("percent", [100, 200])
def test_the_ring_around_a_tab_leaves_its_neighbours_alone(window: QWidget, theme: Theme, percent: int) -> None:
    theme.set_text_percent(percent)
    ring = FocusRing(theme, window)
    tabs = add(window, PaneTabs(theme, "Inspector", ("Voice", "My voices", "Request")), 0, 0)
    tabs.resize(600, tabs.height())
    bar = tabs.bar
    bar.setFocus(Qt.FocusReason.TabFocusReason)
    for chosen in range(bar.count()):
        bar.setCurrentIndex(chosen)
        ring._place()
        place = ring.geometry().translated(-bar.mapTo(window, QPoint(0, 0)))
        for other in range(bar.count()):
            rect = bar.tabRect(other)
            words = rect.adjusted(theme.px(2), 0, -theme.px(TAB_MARGIN) - theme.px(2), 0)
            if other == chosen:
                assert place.left() < words.left() and words.right() < place.right()
            else:
                assert not place.intersects(words)


def test_a_click_shows_no_ring_but_a_field_always_has_one(
    qtbot, window: QWidget, theme: Theme, ring: FocusRing
) -> None:
    button, field = add(window, Button(theme, "Copy")), add(window, QLineEdit(), y=150)
    qtbot.mousePress(window.windowHandle(), LEFT, pos=QPoint(5, 5))
    button.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not ring.isVisible()
    field.setFocus(Qt.FocusReason.MouseFocusReason)
    assert ring.target is field
    qtbot.keyPress(window.windowHandle(), Qt.Key.Key_Shift)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.target is button


def test_text_that_is_only_read_has_no_ring_after_a_click(qtbot, window: QWidget, ring: FocusRing) -> None:
    text = QPlainTextEdit("Read me")
    text.setReadOnly(True)
    add(window, text)
    qtbot.mousePress(window.windowHandle(), LEFT, pos=QPoint(5, 5))
    text.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not ring.isVisible()


def test_a_pane_that_only_scrolls_has_a_ring_for_travellers_alone(qtbot, window: QWidget, ring: FocusRing) -> None:
    pane = QScrollArea()
    pane.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    add(window, pane)
    qtbot.mousePress(window.windowHandle(), LEFT, pos=QPoint(5, 5))
    pane.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.keyPress(window.windowHandle(), Qt.Key.Key_Shift)
    assert not ring.isVisible()
    window.setFocus()
    qtbot.keyPress(window.windowHandle(), Qt.Key.Key_Tab)
    pane.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.target is pane


@pytest.mark.parametrize("kind", ["json", "speech"])
def test_a_text_that_fills_its_pane_has_a_ring_inside_when_a_key_led_there(
    qtbot, window: QWidget, theme: Theme, ring: FocusRing, kind: str
) -> None:
    editor = add(window, JsonEditor(theme, "Request as JSON") if kind == "json" else SpeechEditor(theme))
    editor.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.target is editor
    assert ring.geometry() == around(editor, window, -GAP)
    window.setFocus()
    qtbot.mousePress(window.windowHandle(), LEFT, pos=QPoint(5, 5))
    editor.setFocus(Qt.FocusReason.MouseFocusReason)
    qtbot.keyPress(window.windowHandle(), Qt.Key.Key_A)
    assert window.focusWidget() is editor
    assert ring.target is None, "a click leaves the caret where one looks, also for what is typed there"


def test_a_ring_is_not_painted_over_a_notice(window: QWidget, theme: Theme, ring: FocusRing) -> None:
    toast = ToastHost(theme, window).show_toast("Saved")
    button = add(window, Button(theme, "Copy"))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    shown = window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert shown.index(ring) < shown.index(toast), "children are painted in their order"


def test_a_list_draws_its_own_ring_on_the_row(window: QWidget, ring: FocusRing) -> None:
    view = QListView()
    add(window, view)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert not ring.isVisible()


def test_the_ring_goes_around_the_whole_choice_and_around_the_track_of_a_switch(
    window: QWidget, theme: Theme, ring: FocusRing
) -> None:
    choice = SegmentedChoice(theme, "Web", (("off", "Off"), ("on", "On")))
    add(window, choice)
    choice._segments["off"].setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.geometry() == around(choice, window)
    switch = Switch(theme, "Cite sources")
    add(window, switch, y=200)
    switch.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.height() == 18 + 2 * (GAP + WIDTH)


def test_the_ring_is_cut_by_the_scroll_area_that_holds_its_widget(
    window: QWidget, theme: Theme, ring: FocusRing
) -> None:
    area = QScrollArea()
    inner = QWidget()
    column = QVBoxLayout(inner)
    buttons = [Button(theme, f"Button {number}") for number in range(30)]
    for button in buttons:
        column.addWidget(button)
    area.setWidget(inner)
    add(window, area)
    area.resize(200, 150)
    QApplication.processEvents()
    buttons[0].setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.isVisible()
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    assert not ring.isVisible()
    area.verticalScrollBar().setValue(0)
    assert ring.isVisible()


def test_a_ring_does_not_stop_the_window_from_being_taken_down(window: QWidget, theme: Theme, ring: FocusRing) -> None:
    import shiboken6

    other = QWidget()
    button = add(other, Button(theme, "Copy"))
    other.show()
    rings = [FocusRing(theme, other) for _ in range(3)]
    button.setFocus()
    shiboken6.delete(other)
    assert not any(alive(item) for item in rings)
    window.setFocus()  # the application goes on telling them


def test_a_dialog_opened_by_the_mouse_begins_without_a_ring(qtbot, window: QWidget, theme: Theme) -> None:
    outer = FocusRing(theme, window)
    opener = add(window, Button(theme, "Open"))
    qtbot.mouseClick(window.windowHandle(), LEFT, pos=opener.geometry().center())
    assert outer.target is None
    dialog = QDialog(window)
    button = Button(theme, "Copy", parent=dialog)
    ring = FocusRing(theme, dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.isActiveWindow())
    button.setFocus(Qt.FocusReason.OtherFocusReason)
    assert ring.target is None
    qtbot.keyClick(dialog.windowHandle(), Qt.Key.Key_Shift)
    assert ring.target is button


def test_a_page_that_nothing_can_be_done_on_has_no_ring(qtbot, window: QWidget, theme: Theme, ring: FocusRing) -> None:
    pages = QStackedWidget()
    first, second = QWidget(), QWidget()
    button = Button(theme, "Compare now", parent=first)
    pages.addWidget(first)
    pages.addWidget(second)
    add(window, pages)
    pages.show()
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(window.windowHandle(), Qt.Key.Key_Shift)
    assert ring.target is button
    pages.setCurrentWidget(second)
    assert QApplication.focusWidget() is second  # so Qt does, whether or not a page takes the keyboard
    assert ring.target is None
