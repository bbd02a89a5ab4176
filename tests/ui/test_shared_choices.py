"""Switches, choices, pills and sliders: by mouse, by key, and what a person chose."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import NumberField
from app.ui.kit.widgets.pill import CyclePill, PillButton
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.switch import Switch

LEFT = Qt.MouseButton.LeftButton


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


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


def test_a_switch_set_behind_blocked_signals_shows_its_knob_where_it_is(qtbot, theme: Theme) -> None:
    silent, told = Switch(theme, "Audio"), Switch(theme, "Audio")
    for switch in (silent, told):
        qtbot.addWidget(switch)
        switch.resize(40, 24)
    with QSignalBlocker(silent):
        silent.setChecked(True)
    told.setChecked(True)
    assert silent.grab().toImage() == told.grab().toImage()


def test_a_switch_slides_and_arrives(qtbot, theme: Theme) -> None:
    theme.set_reduced_motion(False)
    switch = Switch(theme, "Cite sources")
    qtbot.addWidget(switch)
    switch.show()
    qtbot.mouseClick(switch, LEFT)
    qtbot.waitUntil(lambda: switch._place == 1.0, timeout=60_000)


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
    qtbot.waitUntil(choice.isActiveWindow, timeout=60_000)
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
    pill.set_usable(False, "This model does not show its reasoning.")
    assert pill.sizeHint() == size
    assert pill.toolTip() == "This model does not show its reasoning."


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
