"""What holds rows: a card (surface, a line, 8 px corners, no shadow) and a section. Its `body` takes the content."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule


class Card(QFrame):
    """`border` and `fill` are color roles; `padding` in px at 100 %."""

    def __init__(
        self,
        theme: Theme,
        *,
        padding: tuple[int, int] = (16, 14),
        spacing: int = 8,
        fill: str = "surface",
        border: str = "line",
        radius: int = 8,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._padding, self._spacing = padding, spacing
        self._fill, self._border, self._radius = fill, border, radius
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.body = QVBoxLayout(self)
        self._apply_card_theme()
        theme.changed.connect(self._apply_card_theme)

    def set_border(self, role: str) -> None:
        """Say how serious the content is."""
        self._border = role
        self.update()

    def set_fill(self, role: str) -> None:
        """Take another background."""
        self._fill = role
        self.update()

    def _apply_card_theme(self) -> None:
        across, down = (self._theme.px(n) for n in self._padding)
        self.body.setContentsMargins(across, down, across, down)
        self.body.setSpacing(self._theme.px(self._spacing))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        width = 2.0 if self._theme.high_contrast else 1.0
        radius = self._theme.px(self._radius)
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), radius, self._fill, self._border, width)


class Section(QWidget):
    """Options of an inspector under a heading, with a hairline below. `top` is the heading's line."""

    def __init__(self, theme: Theme, title: str = "", *, last: bool = False) -> None:
        super().__init__()
        self._theme = theme
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self.body = QVBoxLayout()
        self.top = QHBoxLayout()
        if title:
            self.top.addWidget(Label(theme, title, "small", "text2", weight=600), 1)
            self.body.addLayout(self.top)
        outer.addLayout(self.body)
        if not last:
            outer.addWidget(rule())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def add(self, widget: QWidget) -> None:
        self.body.addWidget(widget)

    def _apply_theme(self) -> None:
        theme = self._theme
        self.body.setContentsMargins(theme.px(16), theme.px(12), theme.px(16), theme.px(8))
        self.body.setSpacing(theme.px(4))
        self.top.setSpacing(theme.px(8))
