"""Paints an excerpt on two lines with the found words on a tint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QFont, QPainter, QTextCharFormat, QTextLayout, QTextOption

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LINES = 2


def paint_marked(
    painter: QPainter, theme: Theme, rect: QRect, text: str, marks: Sequence[tuple[int, int]], role: str = "text2"
) -> None:
    """Draw `text` in `rect`, as many lines as fit into two; `marks` are stretches of characters."""
    layout = QTextLayout(text, theme.font("small"))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    formats = []
    for start, end in marks:
        made = QTextLayout.FormatRange()
        made.start, made.length = start, end - start
        made.format = QTextCharFormat()
        made.format.setBackground(theme.color("warn_tint"))
        made.format.setForeground(theme.color("text"))
        made.format.setFontWeight(QFont.Weight.DemiBold)
        formats.append(made)
    layout.setFormats(formats)
    line_px = theme.line_px("small")
    layout.beginLayout()
    for number in range(LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(rect.width())
        line.setPosition(QPointF(0, number * line_px + (line_px - line.height()) / 2))
    layout.endLayout()
    painter.setPen(theme.color(role))
    layout.draw(painter, QPointF(rect.topLeft()))
