"""What lies over or between the page: error cards, banners, toasts, popovers, dialogs and the focus ring."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.ui.shared.alive import alive
from app.ui.shared.banner import BannerHost, BannerSpec
from app.ui.shared.buttons import Button
from app.ui.shared.card import Card
from app.ui.shared.dialogs import Scrim, ask_text, confirm
from app.ui.shared.error_card import ErrorCard, QuietLine
from app.ui.shared.focus_ring import GAP, WIDTH, FocusRing
from app.ui.shared.frames import SHADOW_MARGINS, paint_shadow
from app.ui.shared.popover import Popover
from app.ui.shared.problems import ActionSpec, Problem
from app.ui.shared.segmented import SegmentedChoice
from app.ui.shared.switch import Switch
from app.ui.shared.theme import Theme
from app.ui.shared.toast import MAX_TOASTS, ToastHost

LEFT = Qt.MouseButton.LeftButton
RETRY = ActionSpec("retry", "Try again")


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet("")


@pytest.fixture
def window(qtbot, theme: Theme) -> QWidget:
    window = QWidget()
    window.resize(800, 600)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=2000)
    return window


# -- error cards ------------------------------------------------------------------------------------------------------


def problem(**changes: object) -> Problem:
    values: dict[str, object] = {
        "what": "The service did not accept your API key",
        "meaning": "Nothing was charged.",
        "primary": ActionSpec("replace-key", "Replace key…"),
        "alternative": RETRY,
        "details": (("Status", "401 Unauthorized"),),
    }
    return Problem(**{**values, **changes})  # type: ignore[arg-type]  # the fields of Problem by name


def buttons_of(card: QWidget) -> dict[str, Button]:
    return {button.text(): button for button in card.findChildren(Button) if not button.isHidden()}


def test_a_card_tells_which_of_its_buttons_was_pressed(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem())
    qtbot.addWidget(card)
    card.show()
    told: list[str] = []
    card.action.connect(told.append)
    for words in ("Replace key…", "Try again"):
        qtbot.mouseClick(buttons_of(card)[words], LEFT)
    assert told == ["replace-key", "retry"]
    assert card.accessibleName() == "The service did not accept your API key. Nothing was charged."


def test_details_open_and_close(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem())
    qtbot.addWidget(card)
    card.show()
    assert card.details.isHidden()
    qtbot.mouseClick(card.details_link, LEFT)
    assert not card.details.isHidden()
    assert card.details.text() == "Status: 401 Unauthorized"
    qtbot.mouseClick(card.details_link, LEFT)
    assert card.details.isHidden()


def test_a_card_counts_down_and_says_when_the_time_is_up(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme)
    qtbot.addWidget(card)
    card.set_problem(problem(countdown_until=datetime.now(UTC) + timedelta(seconds=30), severity="warn"))
    assert not card.ring.isHidden()
    with qtbot.waitSignal(card.time_is_up, timeout=3000):
        card.set_problem(problem(countdown_until=datetime.now(UTC) + timedelta(milliseconds=300)))


def test_a_card_that_is_over_counts_no_further(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem(countdown_until=datetime.now(UTC) + timedelta(seconds=30)))
    qtbot.addWidget(card)
    card.set_problem(problem())
    assert not card.ring._timer.isActive()
    assert card.ring.isHidden()


def test_another_problem_replaces_buttons_and_facts(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem(facts=(("Minimum", "$5.00"),)))
    qtbot.addWidget(card)
    card.set_problem(problem(primary=ActionSpec("top-up", "Top up $5…"), alternative=None))
    assert set(buttons_of(card)) == {"Top up $5…", "Details", "Copy for support"}
    assert card._facts.isHidden()


def test_a_quiet_line_can_be_stopped(qtbot, theme: Theme) -> None:
    line = QuietLine(
        theme, "The service is busy. Trying again in 4 s, attempt 2 of 5.", stop=ActionSpec("stop", "Stop")
    )
    qtbot.addWidget(line)
    told: list[str] = []
    line.action.connect(told.append)
    assert line.stop_button is not None
    qtbot.mouseClick(line.stop_button, LEFT)
    line.set_text("The service is busy. Trying again in 3 s, attempt 2 of 5.")
    assert told == ["stop"]


# -- banners ----------------------------------------------------------------------------------------------------------


def spec(tone: str, lead: str, *, closable: bool = False) -> BannerSpec:
    return BannerSpec(tone, lead, "More words.", "info", (RETRY,), closable)


def test_one_banner_at_a_time_the_most_serious_first(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("offline", spec("warn", "You are offline."))
    host.show_banner("keychain", spec("info", "The keychain is locked."))
    assert host.current_key == "offline"
    host.show_banner("blocked", spec("bad", "Paused."))
    assert host.current_key == "blocked"
    host.clear("blocked")
    assert host.current_key == "offline"
    host.clear("offline")
    assert host.current_key == "keychain"
    host.clear("keychain")
    assert host.isHidden()


def test_among_equals_the_newest_banner_shows(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("one", spec("warn", "One."))
    host.show_banner("two", spec("warn", "Two."))
    assert host.current_key == "two"


def test_a_countdown_changes_the_words_of_a_banner_in_place(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("blocked", spec("bad", "Paused for 0:18."))
    before = host.banner
    host.show_banner("blocked", spec("bad", "Paused for 0:17."))
    assert host.banner is before
    assert before is not None
    assert before.label.text().startswith("Paused for 0:17.")


def test_a_banner_tells_its_key_and_button_and_can_be_closed(qtbot, theme: Theme) -> None:
    host = BannerHost(theme)
    qtbot.addWidget(host)
    host.show_banner("offline", spec("warn", "You are offline.", closable=True))
    told: list[tuple[str, str]] = []
    host.action.connect(lambda key, action: told.append((key, action)))
    banner = host.banner
    assert banner is not None
    qtbot.mouseClick(banner.findChild(Button), LEFT)
    banner.action.emit("close")
    assert told == [("offline", "retry"), ("offline", "close")]
    assert host.current_key == ""


# -- toasts -----------------------------------------------------------------------------------------------------------


def test_at_most_three_toasts_and_errors_are_the_last_to_go(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    wrong = host.show_toast("The video could not be saved", tone="bad")
    for number in range(4):
        host.show_toast(f"News {number}")
    assert len(host.toasts) == MAX_TOASTS
    assert wrong in host.toasts
    assert host.toasts[-1].accessibleName().startswith("News 3")


def test_toasts_stand_one_above_the_other_inside_the_window(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    for number in range(3):
        host.show_toast(f"News {number}", "A second line", actions=(RETRY,))
    cards = [toast.geometry().marginsRemoved(SHADOW_MARGINS) for toast in host.toasts]
    assert all(not one.intersects(other) for one, other in itertools.pairwise(cards))
    assert all(window.rect().contains(card) for card in cards)
    assert cards[-1].bottom() < window.height() - 28
    window.resize(700, 500)
    assert host.toasts[-1].geometry().marginsRemoved(SHADOW_MARGINS).right() < 700


def test_a_toast_leaves_by_itself_unless_it_is_an_error_or_being_read(qtbot, window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    news, wrong, read = host.show_toast("News"), host.show_toast("Wrong", tone="bad"), host.show_toast("Read")
    read.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    assert not wrong._timer.isActive()
    for toast in (news, read):
        toast._timer.timeout.emit()
    assert host.toasts == (wrong, read)


def test_a_toast_tells_its_key_and_action_and_goes(qtbot, window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    told: list[tuple[str, str]] = []
    host.action.connect(lambda key, action: told.append((key, action)))
    toast = host.show_toast("Chat moved to trash", actions=(ActionSpec("undo", "Undo"),), key="trash-7")
    qtbot.mouseClick(toast.findChild(Button), LEFT)
    assert told == [("trash-7", "undo")]
    assert host.toasts == ()


def test_the_same_news_replaces_itself(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    host.show_toast("1 chat moved", key="trash")
    host.show_toast("2 chats moved", key="trash")
    assert [toast.accessibleName() for toast in host.toasts] == ["2 chats moved."]


def test_escape_closes_the_toast_that_has_the_keyboard(qtbot, window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    toast = host.show_toast("News", actions=(RETRY,))
    qtbot.keyClick(toast, Qt.Key.Key_Escape)
    assert host.toasts == ()


# -- popovers ---------------------------------------------------------------------------------------------------------


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


# -- dialogs ----------------------------------------------------------------------------------------------------------


async def opened(window: QWidget) -> QDialog:
    for _ in range(200):
        await asyncio.sleep(0.005)
        dialog = next((item for item in window.findChildren(QDialog) if item.isVisible()), None)
        if dialog is not None:
            return dialog
    raise AssertionError("no dialog opened")


def dialog_button(dialog: QDialog, text: str) -> Button:
    return next(button for button in dialog.findChildren(Button) if button.text() == text)


async def test_a_question_is_answered_and_the_window_dimmed_meanwhile(qtbot, window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(
        confirm(theme, window, "Delete it?", "It cannot be undone.", action="Delete", danger=True)
    )
    dialog = await opened(window)
    assert window.findChildren(Scrim)
    assert dialog_button(dialog, "Cancel").isDefault()
    assert not dialog_button(dialog, "Delete").isDefault()
    qtbot.mouseClick(dialog_button(dialog, "Delete"), LEFT)
    assert await asked is True
    assert all(scrim.isHidden() for scrim in window.findChildren(Scrim))


async def test_escape_answers_no(qtbot, window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(confirm(theme, window, "Leave?", "Work is running.", action="Leave"))
    dialog = await opened(window)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert await asked is False


async def test_a_dialog_ends_with_the_task_that_waits_for_it(window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(confirm(theme, window, "Leave?", "Work is running.", action="Leave"))
    dialog = await opened(window)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    assert not alive(dialog) or not dialog.isVisible()


async def test_an_empty_name_cannot_be_saved(qtbot, window: QWidget, theme: Theme) -> None:
    asked = asyncio.ensure_future(ask_text(theme, window, "Rename chat", "Name", value="Old"))
    dialog = await opened(window)
    field = dialog.findChild(QLineEdit)
    assert field.accessibleName() == "Name"
    field.clear()
    assert not dialog_button(dialog, "Save").isEnabled()
    field.setText("  New  ")
    qtbot.mouseClick(dialog_button(dialog, "Save"), LEFT)
    assert await asked == "New"


# -- the focus ring ---------------------------------------------------------------------------------------------------


@pytest.fixture
def ring(window: QWidget, theme: Theme) -> FocusRing:
    return FocusRing(theme, window)


def add(window: QWidget, widget: QWidget, x: int = 50, y: int = 50) -> QWidget:
    widget.setParent(window)
    widget.move(x, y)
    widget.resize(widget.sizeHint())
    widget.show()
    return widget


def around(widget: QWidget, window: QWidget) -> QRect:
    outset = GAP + WIDTH
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).adjusted(-outset, -outset, outset, outset)


def test_the_ring_stands_two_px_away_from_the_keyboards_place(window: QWidget, theme: Theme, ring: FocusRing) -> None:
    button = add(window, Button(theme, "Copy"))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert ring.target is button
    assert ring.geometry() == around(button, window)


def test_the_ring_follows_a_widget_that_moves_and_goes_with_it(window: QWidget, theme: Theme, ring: FocusRing) -> None:
    button = add(window, Button(theme, "Copy"))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    button.move(200, 120)
    assert ring.geometry() == around(button, window)
    button.hide()
    assert not ring.isVisible()


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


def test_a_card_frames_its_content(qtbot, theme: Theme) -> None:
    card = Card(theme, border="bad")
    qtbot.addWidget(card)
    card.resize(100, 60)
    image = card.grab().toImage()
    assert image.pixelColor(50, 0) == theme.color("bad")
    assert image.pixelColor(50, 30) == theme.color("surface")
    card.set_border("line")
    assert card.grab().toImage().pixelColor(50, 0) == theme.color("line")
