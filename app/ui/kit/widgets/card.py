"""A card: surface, a line, 8 px corners, no shadow. Its `body` takes the content."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import solid_frame


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
