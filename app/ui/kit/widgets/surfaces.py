"""Backgrounds by name: the tones of the panes, hairlines, and the properties that the style sheet looks for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScrollArea, QWidget

SCROLL_BAR_PX = 14  # its width in the style sheet
STAY_ABOVE = "toasts-stay-above"  # object name of a part at the foot of a page that notices do not cover


def zone(widget: QWidget, name: str) -> None:
    """Give a widget the tone of a zone: `rail`, `pane`, `canvas`, `surface` or `sunken`."""
    widget.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    widget.setProperty("zone", name)


def set_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet selects by, and let the style look again when it changed."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()


def retain_size_when_hidden(widget: QWidget) -> None:
    """Let what comes and goes keep its place, so that nothing around it moves under the pointer."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def keep_scroll_bar(view: QAbstractScrollArea) -> None:
    """Let the room of the vertical scroll bar stay while there is nothing to scroll, and the bar be empty then."""
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    bar = view.verticalScrollBar()
    bar.rangeChanged.connect(lambda low, high: bar.setEnabled(high > low))
    bar.setEnabled(bar.maximum() > bar.minimum())


def float_scroll_bar(area: QScrollArea) -> None:
    """Lay the vertical scroll bar over the content's margin: what is under the pointer stays when the bar comes."""
    keep_scroll_bar(area)
    area.setViewportMargins(0, 0, -SCROLL_BAR_PX, 0)
    viewport = QWidget()  # of our own: for Qt's, PySide would look through all kinds of widgets, 6 ms of a start
    viewport.setObjectName("qt_scrollarea_viewport")
    area.setViewport(viewport)
    viewport.lower()


def rule(vertical: bool = False) -> QFrame:
    """Return a hairline."""
    line = QFrame()
    line.setProperty("part", "vrule" if vertical else "rule")
    return line
