"""Buttons: heights, icons, keys, and what hover, press and off look like."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton, PrimaryButton
from app.ui.kit.widgets.key_hint import KeyHint


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


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


def test_where_room_is_short_a_button_gives_up_its_key_and_keeps_its_words(qtbot, theme: Theme) -> None:
    full, plain = Button(theme, "Send call", "arrow-up", hint="Ctrl+Enter"), Button(theme, "Send call", "arrow-up")
    for button in (full, plain):
        qtbot.addWidget(button)
    assert full.minimumSizeHint().width() <= plain.sizeHint().width() + 1
    assert full.sizePolicy().horizontalPolicy() is QSizePolicy.Policy.Preferred, "a layout may make it smaller"
    full.resize(plain.sizeHint())
    plain.resize(plain.sizeHint())
    assert picture(full) == picture(plain)
