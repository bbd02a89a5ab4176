"""One page of the gallery: columns under headings, and the shapes that only a gallery needs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QGridLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.focus_ring import FocusRing
from app.ui.kit.widgets.frames import SHADOW_MARGINS, paint_shadow, solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import zone

Build = Callable[["Page"], None]


class _HeldRing(FocusRing):
    """A ring that stays where it was put, for states that can only be had one at a time."""

    def __init__(self, theme: Theme, window: QWidget, target: QWidget) -> None:
        super().__init__(theme, window)
        QApplication.instance().focusChanged.disconnect(self._focus_changed)
        super()._focus_changed(None, target)


class _Swatch(QWidget):
    def __init__(self, theme: Theme, role: str) -> None:
        super().__init__()
        self._theme, self._role = theme, role
        self.setFixedSize(76, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), 6, self._role, "line2")


class _ShadowCard(QWidget):
    """What a popover looks like, without being a window of its own."""

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__()
        self._theme = theme
        margins = SHADOW_MARGINS
        layout = QHBoxLayout(self)
        layout.setContentsMargins(margins.left() + 14, margins.top() + 11, margins.right() + 14, margins.bottom() + 11)
        layout.addWidget(Label(theme, text))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        card = self.rect().marginsRemoved(SHADOW_MARGINS)
        paint_shadow(painter, self._theme, card, 10)
        solid_frame(painter, self._theme, QRectF(card), 10, "surface", "line2")


class Page(QWidget):
    """Three columns of titled cards."""

    def __init__(self, theme: Theme, title: str, sentence: str) -> None:
        super().__init__()
        self.theme = theme
        self.to_ring: list[QWidget] = []
        zone(self, "pane")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(28, 20, 28, 20)
        outer.setSpacing(16)
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(IconLabel(theme, "logo", "accent", px=34))
        top.addWidget(Label(theme, title, "title"))
        top.addWidget(Label(theme, sentence, role="text2"))
        top.addStretch(1)
        outer.addLayout(top)
        row = QHBoxLayout()
        row.setSpacing(24)
        outer.addLayout(row)
        outer.addStretch(1)
        self.columns = []
        for _ in range(3):
            column = QVBoxLayout()
            column.setSpacing(7)
            row.addLayout(column, 1)
            self.columns.append(column)

    def section(self, column: int, title: str) -> None:
        layout = self.columns[column]
        if layout.count():
            layout.addSpacing(9)
        layout.addWidget(Label(self.theme, title, "small", "text2", weight=600))

    def card(self, column: int, title: str) -> Card:
        self.section(column, title)
        card = Card(self.theme)
        self.columns[column].addWidget(card)
        return card

    def finish(self) -> None:
        for column in self.columns:
            column.addStretch(1)

    def hold_rings(self) -> None:
        for widget in self.to_ring:
            _HeldRing(self.theme, self, widget)


def line(*widgets: QWidget, gap: int = 8, stretch: bool = True) -> QHBoxLayout:
    layout = QHBoxLayout()
    layout.setSpacing(gap)
    for widget in widgets:
        layout.addWidget(widget)
    if stretch:
        layout.addStretch(1)
    return layout


def swatches(page: Page, column: int, title: str, names: list[tuple[str, str]]) -> None:
    card = page.card(column, title)
    grid = QGridLayout()
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(4)
    for place, (name, role) in enumerate(names):
        grid.addWidget(_Swatch(page.theme, role), place // 5 * 2, place % 5)
        grid.addWidget(Label(page.theme, name, "caption"), place // 5 * 2 + 1, place % 5)
    card.body.addLayout(grid)
