"""The line drawing at the foot of the first page: the bridge that Rialto is named after."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from app.ui.kit.theme import Theme

WIDTH, HEIGHT = 1364, 230  # the drawing's own coordinates
_WATER = 217
# Pieces of water that are visible: from, to.
_RIPPLES = ((40, 220), (260, 320), (420, 540), (600, 764), (810, 900), (980, 1180), (1230, 1320))


def paint_bridge(painter: QPainter, theme: Theme, area: QRectF) -> None:
    """Draw the bridge in the middle of `area`, standing on its lower edge; its road runs on to both sides."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(theme.color("line"), 1.5)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    scale = min(1.0, area.width() / WIDTH)
    painter.translate(area.left() + (area.width() - WIDTH * scale) / 2, area.bottom() - HEIGHT * scale)
    painter.scale(scale, scale)
    beyond = max(0.0, (area.width() / scale - WIDTH) / 2)
    painter.drawPath(_masonry(beyond))
    pen.setDashPattern([46 / 1.5, 14 / 1.5])
    painter.setPen(pen)
    for start, end in _RIPPLES:
        painter.drawLine(start, _WATER, end, _WATER)
    painter.restore()


def _masonry(beyond: float) -> QPainterPath:
    path = QPainterPath()
    for road, crown in ((150, 52), (163, 66)):  # the parapet's two lines
        path.moveTo(-beyond, road)
        path.lineTo(270, road)
        path.cubicTo(400, road, 520, crown, 682, crown)
        path.cubicTo(844, crown, 964, road, 1094, road)
        path.lineTo(WIDTH + beyond, road)
    _arch(path, 538, 826, 128)
    _arch(path, 550, 814, 116)
    for left, right, rise in ((392, 484, 42), (880, 972, 42), (290, 354, 26), (1010, 1074, 26)):
        _arch(path, left, right, rise)
    for start, end in ((-beyond, 290), (354, 392), (484, 538), (826, 880), (972, 1010), (1074, WIDTH + beyond)):
        path.moveTo(start, 205)
        path.lineTo(end, 205)
    return path


def _arch(path: QPainterPath, left: float, right: float, rise: float) -> None:
    """Half an ellipse standing on the water line."""
    box = QRectF(left, 205 - rise, right - left, 2 * rise)
    path.arcMoveTo(box, 180)
    path.arcTo(box, 180, -180)
