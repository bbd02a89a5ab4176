"""The placeholder line of an answer that has not begun: room for the caret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from app.ui.conversation.boxes import Box, PaintState

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.kit.markdown.style import MarkdownStyle

CARET_WIDE, CARET_HIGH, CARET_LEFT = 8, 16, 3


class CaretLineBox(Box):
    """One empty line of an answer that has not begun."""

    above = below = "text"

    def __init__(self, style: MarkdownStyle) -> None:
        super().__init__(style.theme)
        self._line_px = style.line

    def layout(self, width: int) -> int:
        self.width = width
        self.height = self._line_px
        return self.height

    def paint(self, painter: QPainter, state: PaintState) -> None:
        """Draw nothing; the view draws the caret."""

    def end_rect(self) -> QRectF | None:
        return QRectF(-CARET_LEFT, 0, 1, self._line_px)


def caret_rect(end: QRectF, scale: float) -> QRectF:
    """Return the caret block behind the last character, whose line `end` tells."""
    high = CARET_HIGH * scale
    top = end.center().y() - high / 2 + scale
    return QRectF(end.left() + CARET_LEFT * scale, round(top), CARET_WIDE * scale, high)
