"""Plain text on several lines, as high as the theme's lines are; `QPainter` alone would set them as the font likes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QTextLayout, QTextOption

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.kit.theme import Theme


class WrappedText:
    """A text broken into lines for one width. `height` is in whole lines of the style."""

    def __init__(
        self,
        theme: Theme,
        style: str,
        text: str,
        width: float,
        weight: int | None = None,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        font = theme.font(style, weight)
        metrics = QFontMetricsF(font)
        self._line_px = theme.line_px(style)
        self._shift = (self._line_px - metrics.height()) / 2
        self._layout = QTextLayout(text.replace("\n", "\u2028"), font)
        option = QTextOption(align)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._layout.setTextOption(option)
        self._layout.beginLayout()
        count = 0
        while (line := self._layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width))
            line.setPosition(QPointF(0, count * self._line_px + self._shift))
            count += 1
        self._layout.endLayout()
        self.height = max(1, count) * self._line_px
        self.last_line_width = self._layout.lineAt(count - 1).naturalTextWidth() if count else 0.0

    def paint(self, painter: QPainter, at: QPointF) -> None:
        """Draw with the painter's pen, the first line's top left at `at`."""
        self._layout.draw(painter, at)
