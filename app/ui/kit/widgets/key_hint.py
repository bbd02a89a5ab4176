"""A key drawn as a key: `Ctrl K` in a small frame."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui.kit.key_text import key_text
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label


def hint_size(theme: Theme, text: str) -> QSize:
    """Return the room that a key hint takes: 18 px high, at least as wide as high."""
    height = theme.height_px(18, 16)
    width = QFontMetricsF(theme.font("caption")).horizontalAdvance(text) + 2 * theme.px(5)
    return QSize(max(height, round(width)), height)


def paint_hint(painter: QPainter, theme: Theme, text: str, rect: QRectF, role: str, *, on_fill: bool = False) -> None:
    """Draw a key hint; `on_fill` is for keys inside a filled button, where the frame takes the color of the words."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if on_fill:
        painter.setOpacity(0.8)
    painter.setPen(theme.color(role if on_fill else "line2"))
    painter.setBrush(Qt.BrushStyle.NoBrush if on_fill else theme.color("surface"))
    radius = theme.px(4)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.setFont(theme.font("caption"))
    painter.setPen(theme.color(role))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()


def key_words(theme: Theme, key: str, words: str) -> Label:
    """Return what a key does, to stand behind its hint; screen readers hear the key before it."""
    label = Label(theme, words, "small", "text2")
    label.setAccessibleName(key_text(key) or key)
    return label


class KeyHint(QWidget):
    """Shows a shortcut, or any key by its sign."""

    def __init__(self, theme: Theme, shortcut: str, *, role: str = "text2", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._role = role
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_shortcut(shortcut)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        return self._text

    def set_shortcut(self, shortcut: str) -> None:
        """Show another key."""
        self._text = key_text(shortcut) or shortcut
        self.setAccessibleName(self._text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return hint_size(self._theme, self._text)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_hint(QPainter(self), self._theme, self._text, QRectF(self.rect()), self._role)
