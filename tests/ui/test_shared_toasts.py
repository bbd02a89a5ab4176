"""Toasts: at most three, in the corner, gone by themselves unless somebody reads them."""

from __future__ import annotations

import itertools

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from app.core.problems import ActionSpec
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.frames import SHADOW_MARGINS
from app.ui.kit.widgets.surfaces import STAY_ABOVE
from app.ui.kit.widgets.toast import MAX_TOASTS, ToastHost

LEFT = Qt.MouseButton.LeftButton


RETRY = ActionSpec("retry", "Try again")


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


def test_a_toast_stays_for_as_long_as_the_settings_say(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    host.stay_s = 20
    clock = host.show_toast("News").findChild(QTimer)
    assert clock.isActive() and clock.interval() == 20_000
    host.stay_s = None
    assert not host.show_toast("More news").findChild(QTimer).isActive(), "until it is closed"


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


def test_toasts_stay_off_what_stands_at_the_foot_of_the_page(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    foot = QWidget(window)
    foot.setObjectName(STAY_ABOVE)
    foot.setGeometry(100, window.height() - 140, window.width() - 200, 100)
    foot.show()
    toast = host.show_toast("News")
    card = toast.geometry().marginsRemoved(SHADOW_MARGINS)
    assert card.bottom() < foot.y()
    toast.close_toast()
    foot.setGeometry(0, window.height() - 140, 100, 100)  # it is beside them
    card = host.show_toast("News").geometry().marginsRemoved(SHADOW_MARGINS)
    assert card.bottom() > foot.y()


def test_toasts_move_up_when_what_they_stay_off_grows_or_is_shown(window: QWidget, theme: Theme) -> None:
    """As when one types several lines, or goes to another tab."""
    host = ToastHost(theme, window)
    foot = QWidget(window)
    foot.setObjectName(STAY_ABOVE)
    foot.setGeometry(0, window.height() - 140, window.width(), 100)
    foot.hide()
    toast = host.show_toast("News")
    assert toast.geometry().marginsRemoved(SHADOW_MARGINS).bottom() > foot.y()
    foot.show()
    assert toast.geometry().marginsRemoved(SHADOW_MARGINS).bottom() < foot.y()
    foot.setGeometry(0, window.height() - 200, window.width(), 160)
    assert toast.geometry().marginsRemoved(SHADOW_MARGINS).bottom() < foot.y()


def test_the_same_words_are_shown_once_and_what_can_be_undone_is_kept(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    for _ in range(3):
        host.show_toast("Copied")
    assert len(host.toasts) == 1
    for key in ("trash-1", "trash-2"):
        host.show_toast("Moved to trash", actions=(ActionSpec("undo", "Undo"),), key=key)
    assert len(host.toasts) == 3, "each Undo is of another thing"


def test_toasts_stay_off_a_main_action_in_the_upper_half_but_not_over_the_header(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    window.resize(700, 400)
    foot = QWidget(window)
    foot.setObjectName(STAY_ABOVE)
    foot.setGeometry(0, 180, 700, 60)
    foot.show()
    card = host.show_toast("News").geometry().marginsRemoved(SHADOW_MARGINS)
    assert card.bottom() < foot.y()
    host.toasts[0].close_toast()
    foot.setGeometry(0, 60, 700, 60)  # above it there is the header alone
    card = host.show_toast("News").geometry().marginsRemoved(SHADOW_MARGINS)
    assert card.top() > foot.geometry().bottom()
    host.toasts[0].close_toast()
    foot.setGeometry(0, 60, 700, 300)  # as a message box with many attachments
    card = host.show_toast("News").geometry().marginsRemoved(SHADOW_MARGINS)
    assert theme.px(52) <= card.top() and card.bottom() < foot.geometry().center().y()


def test_a_toast_has_room_for_its_words_after_a_change_of_the_text_size(window: QWidget, theme: Theme) -> None:
    host = ToastHost(theme, window)
    toast = host.show_toast("Saved as a file with a name", "Its words need several lines in a narrow card. " * 4)
    for percent in (110, 200, 100):
        theme.set_text_percent(percent)
        assert toast.height() >= toast.heightForWidth(toast.width()), percent
