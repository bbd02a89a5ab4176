"""A progress indicator of steps: a circle for each, checked when done, joined by lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.translation import tr
from app.ui.kit.accessible_role import show_as
from app.ui.kit.icons import paint
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce

CIRCLE = 22  # px across at 100 %
GAP = 8  # between a circle, its word and the line to the next
LINE = (16, 40)  # the shortest and the longest line, px


class Steps(QWidget):
    """Where there is no room for all the words, only the step at hand keeps its own."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._names: tuple[str, ...] = ()
        self._at = 0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        show_as(self, "StaticText")
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def show_step(self, names: Sequence[str], at: int) -> None:
        """Show the steps and which of them is at hand, counted from 0."""
        self._names, self._at = tuple(names), at
        words = tr("Step {at} of {count}: {names}", at=at + 1, count=len(names), names=names[at])
        if words != self.accessibleName():
            self.setAccessibleName(words)
            if self.isVisible():
                announce(self, words)
        self.updateGeometry()
        self.update()

    def words_shown(self) -> tuple[str, ...]:
        """The words that there is room for, "" for a step that shows its circle alone."""
        if self.width() >= self._width(self._names, LINE[0]):
            return self._names
        return tuple(name if place == self._at else "" for place, name in enumerate(self._names))

    def sizeHint(self) -> QSize:
        return QSize(self._width(self._names, LINE[1]), self._side() + self._theme.px(4))

    def minimumSizeHint(self) -> QSize:
        alone = [name if place == self._at else "" for place, name in enumerate(self._names)]
        return QSize(self._width(alone, LINE[0]), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter, words = self._theme, QPainter(self), self.words_shown()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lines = max(1, len(words) - 1)
        spare = (self.width() - self._width(words, 0)) / lines
        line = min(spare, theme.px(LINE[1]))
        x, middle = 1.0, self.height() / 2
        for place, word in enumerate(words):
            if place:
                painter.setPen(QPen(theme.color("line2"), 1))
                painter.drawLine(QPointF(x, middle), QPointF(x + line, middle))
                x += line + theme.px(GAP)
            x += self._paint_circle(painter, place, QPointF(x, middle)) + theme.px(GAP)
            if word:
                painter.setFont(self._font(place))
                painter.setPen(theme.color("text" if place == self._at else "text2"))
                width = self._word_width(place, word)
                room = QRectF(x, 0, width + 1, self.height())
                painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), word)
                x += width + theme.px(GAP)
        painter.end()

    def _paint_circle(self, painter: QPainter, place: int, left: QPointF) -> float:
        theme, side = self._theme, self._side()
        circle = QRectF(left.x(), left.y() - side / 2, side, side)
        fill, ring, ink = ("", "control", "text2")
        if place == self._at:
            fill, ring, ink = "accent", "accent", "on_accent"
        elif place < self._at:
            fill, ring, ink = "accent_tint", "accent", "accent"
        painter.setBrush(theme.color(fill) if fill else Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color(ring), 1.5))
        painter.drawEllipse(circle.adjusted(0.75, 0.75, -0.75, -0.75))
        if place < self._at:
            tick = side * 0.6
            paint(painter, theme, "check", QRectF(circle.center().x() - tick / 2, left.y() - tick / 2, tick, tick), ink)
        else:
            painter.setFont(theme.font("small", 600, tabular=True))
            painter.setPen(theme.color(ink))
            painter.drawText(circle, int(Qt.AlignmentFlag.AlignCenter), str(place + 1))
        return side

    def _side(self) -> int:
        return self._theme.height_px(CIRCLE, 16)

    def _font(self, place: int) -> QFont:
        return self._theme.font("body", 600 if place == self._at else 500)

    def _word_width(self, place: int, word: str) -> float:
        return QFontMetricsF(self._font(place)).horizontalAdvance(word)

    def _width(self, words: Sequence[str], line: int) -> int:
        """The room for these words with lines of `line` px between them."""
        px = self._theme.px
        width = 2.0
        for place, word in enumerate(words):
            width += self._side() + (px(line) + 2 * px(GAP) if place else 0)
            width += self._word_width(place, word) + px(GAP) if word else 0
        return round(width + 0.5)
