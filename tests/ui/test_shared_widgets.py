"""What the shared widgets do when they are pressed, typed into, resized and re-dressed."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from app.ui.shared.avatar import Avatar, avatar_pixmap
from app.ui.shared.badge import Badge
from app.ui.shared.buttons import Button, IconButton, LinkButton, PrimaryButton
from app.ui.shared.details_block import DetailsBlock
from app.ui.shared.empty_state import EmptyState, Skeleton
from app.ui.shared.fields import NumberField, TextField
from app.ui.shared.flow import FlowLayout
from app.ui.shared.header import PaneHeader
from app.ui.shared.kbd import KeyHint
from app.ui.shared.label import Label
from app.ui.shared.pill import CyclePill, PillButton
from app.ui.shared.problems import ActionSpec
from app.ui.shared.receipt_line import ReceiptLine, Run, lay_out_runs, receipt_runs, runs_text
from app.ui.shared.search_field import SearchField
from app.ui.shared.segmented import SegmentedChoice
from app.ui.shared.slider_field import SliderField
from app.ui.shared.spinner import Progress, Spinner
from app.ui.shared.switch import Switch
from app.ui.shared.theme import Theme

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme()
    theme.set_mode("light")
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet("")


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


# -- buttons ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "height"), [("", 32), ("small", 26), ("large", 40)])
def test_buttons_have_the_heights_of_the_design(qtbot, theme: Theme, size: str, height: int) -> None:
    button = Button(theme, "Copy", size=size)
    qtbot.addWidget(button)
    assert button.sizeHint().height() == height


def test_a_button_makes_room_for_icon_and_key(qtbot, theme: Theme) -> None:
    plain, full = Button(theme, "Stop"), Button(theme, "Stop", "stop", hint="Esc")
    for button in (plain, full):
        qtbot.addWidget(button)
    key = KeyHint(theme, "Esc").sizeHint().width()
    assert full.sizeHint().width() == plain.sizeHint().width() + theme.icon_px(16) + 6 + key + 6


@pytest.mark.parametrize("kind", ["", "primary", "quiet", "danger", "danger-fill", "link"])
def test_every_kind_of_button_shows_hover_press_and_off(qtbot, theme: Theme, kind: str) -> None:
    button = Button(theme, "Copy", kind=kind)
    qtbot.addWidget(button)
    button.resize(button.sizeHint())
    rest = picture(button)
    button.setEnabled(False)
    off = picture(button)
    button.setEnabled(True)
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    hover = picture(button)
    assert off != rest
    if kind != "danger-fill":  # red stays red; the press shows
        assert hover != rest
    if kind != "link":
        button.setDown(True)
        assert picture(button) != rest


def test_no_button_answers_to_enter_unless_it_is_made_the_default(qtbot, theme: Theme) -> None:
    button = PrimaryButton(theme, "Pay")
    qtbot.addWidget(button)
    assert not button.autoDefault()
    assert not button.isDefault()


def test_an_ampersand_in_a_name_is_shown_once(qtbot, theme: Theme) -> None:
    one, other = Button(theme, "Keys && secrets"), Button(theme, "Keys  secrets")
    for button in (one, other):
        qtbot.addWidget(button)
    assert one._shown_text() == "Keys & secrets"


def test_an_icon_button_says_its_name_and_key_in_the_tooltip(qtbot, theme: Theme) -> None:
    button = IconButton(theme, "plus", "New chat", shortcut="Ctrl+N")
    qtbot.addWidget(button)
    assert button.accessibleName() == "New chat"
    assert button.toolTip().startswith("New chat")
    assert "N" in button.toolTip()


def test_send_can_become_stop(qtbot, theme: Theme) -> None:
    button = Button(theme, "Send", "send", kind="primary")
    qtbot.addWidget(button)
    button.setText("Stop")
    button.set_kind("")
    button.set_icon("stop")
    button.set_hint("Esc")
    assert button.sizeHint().width() > Button(theme, "Stop", "stop").sizeHint().width()


# -- choices ----------------------------------------------------------------------------------------------------------


def test_a_switch_turns_with_the_space_key_and_moves_its_knob(qtbot, theme: Theme) -> None:
    theme.set_reduced_motion(True)
    switch = Switch(theme, "Cite sources")
    qtbot.addWidget(switch)
    switch.resize(switch.sizeHint())
    switch.show()
    off = picture(switch)
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert switch.isChecked()
    assert picture(switch) != off


def test_a_switch_slides_and_arrives(qtbot, theme: Theme) -> None:
    switch = Switch(theme, "Cite sources")
    qtbot.addWidget(switch)
    switch.show()
    qtbot.mouseClick(switch, LEFT)
    qtbot.waitUntil(lambda: switch._place == 1.0, timeout=2000)


def test_a_choice_tells_only_what_the_person_chose(qtbot, theme: Theme) -> None:
    choice = SegmentedChoice(theme, "Web", (("off", "Off"), ("auto", "Auto"), ("on", "On")))
    qtbot.addWidget(choice)
    choice.show()
    told: list[str] = []
    choice.changed.connect(told.append)
    choice.set_current("auto")
    assert told == []
    qtbot.mouseClick(choice._segments["on"], LEFT)
    qtbot.mouseClick(choice._segments["on"], LEFT)
    assert told == ["on"]


def test_arrow_keys_move_in_a_choice(qtbot, theme: Theme) -> None:
    choice = SegmentedChoice(theme, "Web", (("off", "Off"), ("auto", "Auto"), ("on", "On")))
    qtbot.addWidget(choice)
    choice.show()
    told: list[str] = []
    choice.changed.connect(told.append)
    choice.activateWindow()
    qtbot.waitUntil(choice.isActiveWindow, timeout=2000)
    choice._segments["off"].setFocus()
    qtbot.keyClick(choice._segments["off"], Qt.Key.Key_Right)
    assert (choice.current, told) == ("auto", ["auto"])


def test_a_choice_holds_at_most_four(qapp: QApplication, theme: Theme) -> None:
    with pytest.raises(ValueError, match="4"):
        SegmentedChoice(theme, "Web", tuple((str(n), str(n)) for n in range(5)))


def test_a_pill_cycles_through_its_states_and_back_to_off(qtbot, theme: Theme) -> None:
    pill = CyclePill(theme, (("off", "Web"), ("auto", "Web: auto"), ("on", "Web: on")), "globe")
    qtbot.addWidget(pill)
    told: list[str] = []
    pill.changed.connect(told.append)
    seen = []
    for _ in range(3):
        qtbot.mouseClick(pill, LEFT)
        seen.append((pill.text(), pill.isChecked()))
    assert told == ["auto", "on", "off"]
    assert seen == [("Web: auto", True), ("Web: on", True), ("Web", False)]


def test_an_arrow_key_opens_the_states_of_a_pill(qtbot, theme: Theme) -> None:
    pill = CyclePill(theme, (("off", "Web"), ("auto", "Web: auto")))
    qtbot.addWidget(pill)
    pill.show()
    menu = pill.open_menu()
    assert [action.text() for action in menu.actions()] == ["Web", "Web: auto"]
    menu.actions()[1].trigger()
    assert pill.current == "auto"
    menu.close()


def test_an_unused_pill_keeps_its_place_and_says_why(qtbot, theme: Theme) -> None:
    pill = PillButton(theme, "Thinking", "bulb")
    qtbot.addWidget(pill)
    size = pill.sizeHint()
    pill.set_usable(False, "This model does not think aloud.")
    assert pill.sizeHint() == size
    assert pill.toolTip() == "This model does not think aloud."


# -- fields -----------------------------------------------------------------------------------------------------------


def test_slider_and_number_move_together(qtbot, theme: Theme) -> None:
    field = SliderField(theme, "Temperature", low=0, high=2, step=0.01, decimals=2, default=0.7)
    qtbot.addWidget(field)
    told: list[float] = []
    field.value_edited.connect(told.append)
    field.slider.setValue(150)
    assert field.value == pytest.approx(1.5)
    field.number.setValue(0.25)
    assert field.slider.value() == 25
    field.set_value(1.0)
    assert (field.slider.value(), told) == (100, [1.5, 0.25])


def test_a_double_click_sends_a_slider_to_the_models_default(qtbot, theme: Theme) -> None:
    field = SliderField(theme, "Top-p", low=0, high=1, step=0.01, decimals=2, default=0.9)
    qtbot.addWidget(field)
    field.set_value(0.2)
    told: list[float] = []
    field.value_edited.connect(told.append)
    qtbot.mouseDClick(field.slider, LEFT)
    assert field.value == pytest.approx(0.9)
    assert told == [pytest.approx(0.9)]


def test_scrolling_over_a_number_does_not_change_it(qtbot, theme: Theme) -> None:
    from PySide6.QtCore import QPointF
    from PySide6.QtGui import QWheelEvent

    field = NumberField(theme, "Seed", low=0, high=100, value=7)
    qtbot.addWidget(field)
    field.show()
    field.clearFocus()
    wheel = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(0, 0),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field, wheel)
    assert field.value() == 7


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
    field = SearchField(theme, "Filter chats", shortcut="Ctrl+F")
    qtbot.addWidget(field)
    told: list[str] = []
    field.search_changed.connect(told.append)
    qtbot.keyClicks(field, "backoff")
    assert told == []
    qtbot.waitUntil(lambda: told == ["backoff"], timeout=2000)


def test_escape_clears_a_search_and_then_leaves(qtbot, theme: Theme) -> None:
    field = SearchField(theme, "Filter chats")
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


# -- words ------------------------------------------------------------------------------------------------------------


def test_a_label_wraps_at_the_designed_line_height(qtbot, theme: Theme) -> None:
    label = Label(theme, "one two three four five six seven eight nine ten", wrap=True)
    qtbot.addWidget(label)
    narrow = label.heightForWidth(90)
    assert narrow % 19 == 0
    assert narrow >= 3 * 19
    assert label.heightForWidth(2000) == 19


def test_a_label_that_is_cut_shows_the_whole_in_its_tooltip(qtbot, theme: Theme) -> None:
    label = Label(theme, "Sign-in message fields explained", elide=True)
    qtbot.addWidget(label)
    label.resize(60, 19)
    label.show()
    assert label.toolTip() == "Sign-in message fields explained"
    label.resize(600, 19)
    assert label.toolTip() == ""


def test_a_lead_sentence_is_read_with_the_rest(qtbot, theme: Theme) -> None:
    label = Label(theme, "History still works.", lead="You are offline.", wrap=True)
    qtbot.addWidget(label)
    assert label.text() == "You are offline. History still works."
    label.set_text("Drafts too.", "Still offline.")
    assert label.text() == "Still offline. Drafts too."


def test_markup_in_a_label_is_text(qtbot, theme: Theme) -> None:
    label = Label(theme, "<b>not bold</b>")
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText


def test_labels_follow_the_theme(qtbot, theme: Theme) -> None:
    label = Label(theme, "Chats", "heading", "text2")
    qtbot.addWidget(label)
    theme.set_mode("dark")
    assert label.palette().windowText().color() == theme.color("text2")
    theme.set_text_percent(150)
    assert label.font().pixelSize() == 24


def test_headers_of_all_panes_are_52_px(qtbot, theme: Theme) -> None:
    header = PaneHeader(theme, "Chats")
    header.add(IconButton(theme, "plus", "New chat", framed=True))
    header.add_before_title(IconButton(theme, "chevron-left", "Back"))
    header.add_after_title(Badge(theme, "Preview", "outline"))
    holder = QWidget()
    QVBoxLayout(holder).addWidget(header)
    qtbot.addWidget(holder)
    holder.resize(400, 300)
    holder.show()
    assert header.height() == 52
    assert header.title.text() == "Chats"


# -- receipts ---------------------------------------------------------------------------------------------------------


def test_a_receipt_tells_cost_amounts_and_time() -> None:
    units = {"prompt_tokens": 1284, "cached_tokens": 1024, "completion_tokens": 418, "total_tokens": 1702}
    runs = receipt_runs(cost_usd=Decimal("0.0019"), units=units, duration_s=6.9)
    assert runs_text(runs) == "$0.0019 · in 1,284 (1,024 cached) · out 418 · 6.9 s"


def test_a_receipt_of_the_sandbox_ends_with_not_charged() -> None:
    runs = receipt_runs(cost_usd=Decimal("0.0019"), units={"characters": 64}, duration_s=0.4, charged=False)
    assert runs_text(runs) == "$0.0019 · 64 characters · 400 ms · not charged"
    assert runs[-1].role == "sandbox"


def test_a_receipt_without_a_price_says_so() -> None:
    assert runs_text(receipt_runs(cost_usd=None)) == "cost not stated"


def test_a_receipt_wraps_at_its_separators(qtbot, theme: Theme) -> None:
    runs = receipt_runs(
        cost_usd=Decimal("0.0019"), units={"prompt_tokens": 1284, "completion_tokens": 418}, duration_s=6.9
    )
    _, one_line = lay_out_runs(theme, runs, 1000)
    placed, height = lay_out_runs(theme, runs, 150)
    assert one_line == 17
    assert height > 17
    assert all(item.rect.right() <= 151 for item in placed)
    assert all(item.dot is None for item in placed if item.rect.left() == 0)


def test_a_receipt_is_copied_as_plain_text(qtbot, theme: Theme) -> None:
    line = ReceiptLine(theme, (Run("$0.0019", strong=True), Run("6.9 s")))
    qtbot.addWidget(line)
    line.copy()
    assert QGuiApplication.clipboard().text() == "$0.0019 · 6.9 s" == line.accessibleName()


def test_clicking_a_receipt_asks_for_the_request_page(qtbot, theme: Theme) -> None:
    line = ReceiptLine(theme, (Run("$0.0019"),))
    qtbot.addWidget(line)
    line.resize(line.sizeHint())
    with qtbot.waitSignal(line.activated, timeout=1000):
        qtbot.mouseClick(line, LEFT)


# -- pictures, progress, empty places ---------------------------------------------------------------------------------


def test_a_name_always_gives_the_same_picture_and_names_differ(qapp: QApplication) -> None:
    def drawn(name: str) -> QImage:
        avatar_pixmap.cache_clear()
        return avatar_pixmap(name, 44).toImage()

    assert drawn("Marlow") == drawn("Marlow") == drawn("  marlow ")
    names = ("Marlow", "Ines", "Professor Quill", "The Night Editor", "Tomasz", "Bao", "Ledger", "Aurelio")
    different = [drawn(name) for name in names]
    assert sum(one != other for one in different for other in different) >= len(names) * (len(names) - 2)


def test_an_avatar_shows_a_loaded_picture_and_then_the_drawn_one(qtbot, theme: Theme) -> None:
    from PySide6.QtGui import QPixmap

    avatar = Avatar(theme, "Marlow")
    qtbot.addWidget(avatar)
    avatar.resize(44, 44)
    drawn = picture(avatar)
    photo = QPixmap(64, 32)
    photo.fill(Qt.GlobalColor.red)
    avatar.set_picture(photo)
    assert picture(avatar).pixelColor(22, 22).name() == "#ff0000"
    avatar.set_picture(None)
    assert picture(avatar) == drawn


def test_things_that_turn_rest_while_nobody_sees_them(qtbot, theme: Theme) -> None:
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
    qtbot.waitUntil(lambda: picture(skeleton) != at_first, timeout=3000)


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
    block = DetailsBlock(theme, (("Status", "401 Unauthorized"), ("Request id", "8c1f")))
    qtbot.addWidget(block)
    qtbot.mouseClick(block.copy_button, LEFT)
    assert QGuiApplication.clipboard().text() == "Status: 401 Unauthorized\nRequest id: 8c1f"


# -- layouts ----------------------------------------------------------------------------------------------------------


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
