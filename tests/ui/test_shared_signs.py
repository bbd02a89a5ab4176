"""Images, spinners, skeletons and empty places; and every widget at every text size."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QWidget

from app.core.problems import ActionSpec
from app.ui.kit.theme import Theme
from app.ui.kit.widgets import badge
from app.ui.kit.widgets.avatar import Avatar, avatar_pixmap
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, LinkButton
from app.ui.kit.widgets.details_block import DetailsBlock
from app.ui.kit.widgets.empty_state import EmptyState, Skeleton
from app.ui.kit.widgets.fields import NumberField
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.spinner import Progress, Spinner, paint_spinner
from app.ui.kit.widgets.switch import Switch

LEFT = Qt.MouseButton.LeftButton


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


def test_the_ring_of_a_working_row_is_empty_whatever_was_painted_before_it(theme: Theme) -> None:
    image = QImage(14, 14, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setBrush(Qt.GlobalColor.black)  # as the mark of a selected row leaves it
    paint_spinner(painter, theme, QRectF(image.rect()), 0.2)
    painter.end()
    assert image.pixelColor(7, 7) == Qt.GlobalColor.white


def test_a_name_always_gives_the_same_image_and_names_differ(qapp: QApplication) -> None:
    def drawn(name: str) -> QImage:
        avatar_pixmap.cache_clear()
        return avatar_pixmap(name, 44).toImage()

    assert drawn("Marlow") == drawn("Marlow") == drawn("  marlow ")
    names = ("Marlow", "Ines", "Professor Quill", "The Night Editor", "Tomasz", "Bao", "Ledger", "Aurelio")
    different = [drawn(name) for name in names]
    assert sum(one != other for one in different for other in different) >= len(names) * (len(names) - 2)


def test_an_avatar_shows_a_loaded_image_and_then_the_drawn_one(qtbot, theme: Theme) -> None:
    from PySide6.QtGui import QPixmap

    avatar = Avatar(theme, "Marlow")
    qtbot.addWidget(avatar)
    avatar.resize(44, 44)
    drawn = picture(avatar)
    photo = QPixmap(64, 32)
    photo.fill(Qt.GlobalColor.red)
    avatar.set_image(photo)
    assert picture(avatar).pixelColor(22, 22).name() == "#ff0000"
    avatar.set_image(None)
    assert picture(avatar) == drawn


def test_things_that_turn_rest_while_nobody_sees_them(qtbot, theme: Theme) -> None:
    theme.set_reduced_motion(False)
    spinner, bar = Spinner(theme), Progress(theme, "Working")
    bar.set_share(None)
    for widget in (spinner, bar):
        qtbot.addWidget(widget)
        assert not widget._timer.isActive()
        widget.show()
        assert widget._timer.isActive()
        theme.set_reduced_motion(True)
        widget.hide()
        widget.show()
        assert not widget._timer.isActive()
        theme.set_reduced_motion(False)
        widget.hide()


def test_a_skeleton_shows_nothing_at_first_and_then_the_shape(qtbot, theme: Theme) -> None:
    skeleton = Skeleton(theme)
    qtbot.addWidget(skeleton)
    skeleton.resize(300, 300)
    skeleton.show()
    at_first = picture(skeleton)
    qtbot.waitUntil(lambda: picture(skeleton) != at_first, timeout=60_000)


def test_an_empty_place_offers_the_first_step(qtbot, theme: Theme) -> None:
    empty = EmptyState(theme, "No chats yet", "They appear here.", actions=((ActionSpec("new", "New chat"), "plus"),))
    qtbot.addWidget(empty)
    empty.resize(500, 400)
    empty.show()
    told: list[str] = []
    empty.action.connect(told.append)
    qtbot.mouseClick(empty.findChild(Button), LEFT)
    assert told == ["new"]


def test_details_are_copied_without_anything_else(qtbot, theme: Theme) -> None:
    block = DetailsBlock(theme, (("Status", "401 Unauthorized"), ("Request ID", "8c1f")))
    qtbot.addWidget(block)
    qtbot.mouseClick(block.copy_button, LEFT)
    assert QGuiApplication.clipboard().text() == "Status: 401 Unauthorized\nRequest ID: 8c1f"


def test_a_row_of_buttons_wraps_and_mirrors(qtbot, theme: Theme) -> None:
    holder = QWidget()
    flow = FlowLayout(theme, parent=holder)
    buttons = [Button(theme, f"Button {number}") for number in range(4)]
    for button in buttons:
        flow.addWidget(button)
    qtbot.addWidget(holder)
    width = buttons[0].sizeHint().width()
    assert flow.heightForWidth(10 * width) == 32
    assert flow.heightForWidth(2 * width + 8) == 32 * 2 + 8
    holder.resize(2 * width + 8, 200)
    holder.show()
    assert buttons[2].y() == 40
    holder.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    flow.invalidate()
    flow.activate()
    assert buttons[0].geometry().right() == holder.width() - 1


@pytest.mark.parametrize("percent", [80, 100, 150, 200])
def test_nothing_is_smaller_than_its_words_at_any_text_size(qtbot, theme: Theme, percent: int) -> None:
    holder = QWidget()
    row = QHBoxLayout(holder)
    widgets = [
        Button(theme, "Start a chat", "chat"),
        LinkButton(theme, "Details"),
        PillButton(theme, "Read links", "link"),
        SegmentedChoice(theme, "Web", (("off", "Off"), ("auto", "Auto"))),
        Badge(theme, "Advanced ×2", "accent"),
        KeyHint(theme, "Ctrl+K"),
    ]
    for widget in widgets:
        row.addWidget(widget)
    qtbot.addWidget(holder)
    holder.show()
    theme.set_text_percent(percent)
    holder.adjustSize()
    QApplication.processEvents()
    for widget in widgets:
        assert widget.size().width() >= widget.minimumSizeHint().width(), type(widget).__name__
        assert widget.height() >= theme.type_px(15), type(widget).__name__


def test_widgets_grow_when_the_text_does(qtbot, theme: Theme) -> None:
    makers = (
        lambda: Button(theme, "Copy"),
        lambda: PillButton(theme, "Web"),
        lambda: Badge(theme, "Ready"),
        lambda: Switch(theme, "Web"),
        lambda: NumberField(theme, "Seed", low=0, high=9),
        lambda: SegmentedChoice(theme, "Web", (("off", "Off"), ("on", "On"))),
        lambda: KeyHint(theme, "Esc"),
    )
    for make in makers:
        widget = make()
        qtbot.addWidget(widget)
        before: QSize = widget.sizeHint()
        theme.set_text_percent(200)
        after = widget.sizeHint()
        theme.set_text_percent(100)
        assert after.width() > before.width(), type(widget).__name__
        assert after.height() > before.height(), type(widget).__name__


@pytest.mark.parametrize(
    ("actions", "words"), [((), "Press"), (((ActionSpec("new", "New chat"), "plus"),), "Or press")]
)
def test_a_key_is_only_another_way_where_there_is_a_button(
    qtbot, theme: Theme, actions: tuple[tuple[ActionSpec, str], ...], words: str
) -> None:
    empty = EmptyState(theme, "Nothing sent yet", actions=actions, key="Ctrl+Enter", key_does="to send the call")
    qtbot.addWidget(empty)
    assert words in [label.text() for label in empty.hint.findChildren(QLabel)]


def test_a_badge_measures_no_more_of_a_text_than_can_be_seen(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    monkeypatch.setattr(badge, "sanitize_text", lambda text: measured.append(len(text)) or text)
    assert badge.badge_size(theme, "a tag " * 10_000).width() == theme.type_px(badge.LONGEST_PX)
    assert measured == [badge.LONGEST_CHARS]
