"""Rounded frames as every painted control draws them: solid, dashed for "not used", and the soft shadow."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QMargins, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap

from app.ui.kit.theme import Theme

SHADOW_BLUR = 24  # px wide
SHADOW_DROP = 8  # px down
SHADOW_MARGINS = QMargins(SHADOW_BLUR, SHADOW_BLUR - SHADOW_DROP, SHADOW_BLUR, SHADOW_BLUR + SHADOW_DROP)


def solid_frame(
    painter: QPainter, theme: Theme, rect: QRectF, radius: float, fill: str, border: str, width: float = 1.0
) -> None:
    """Draw a rounded rectangle; `fill` and `border` are roles, or "" for none."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(theme.color(fill) if fill else QBrush(Qt.BrushStyle.NoBrush))
    painter.setPen(QPen(theme.color(border), width) if border else QPen(Qt.PenStyle.NoPen))
    half = width / 2 if border else 0.0
    radius = max(0.0, radius - half)
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius, radius)


def dashed_frame(
    painter: QPainter,
    theme: Theme,
    rect: QRectF,
    radius: float,
    fill: str = "sunken",
    border: str = "line2",
    width: float = 1.0,
) -> None:
    """Draw the frame of a control that stays in its place but is not used."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(theme.color(fill) if fill else QBrush(Qt.BrushStyle.NoBrush))
    pen = QPen(theme.color(border), width, Qt.PenStyle.CustomDashLine)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([3 / width, 3 / width])
    painter.setPen(pen)
    half = width / 2
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius - half, radius - half)


def paint_shadow(painter: QPainter, theme: Theme, card: QRect, radius: int) -> None:
    """Draw the soft shadow around `card` (8 px down, 24 px wide), stretched from one small cached image.

    The image has the corners in it; its middle row and column are stretched, so that a large popover costs as
    little as a small one.
    """
    device = painter.device()
    dpr = device.devicePixelRatioF() if device is not None else 1.0
    image = _shadow(radius, theme.color("shadow").rgba(), dpr)
    corner = SHADOW_BLUR + radius + SHADOW_BLUR  # where the corner's curve has faded out
    target = card.marginsAdded(SHADOW_MARGINS)
    side = 2 * corner + 1
    # a card smaller than two corners takes less of each corner
    across, down = min(corner, target.width() // 2), min(corner, target.height() // 2)
    columns = (
        (0, across, 0, across),
        (across, target.width() - across, corner, corner + 1),
        (target.width() - across, target.width(), side - across, side),
    )
    rows = (
        (0, down, 0, down),
        (down, target.height() - down, corner, corner + 1),
        (target.height() - down, target.height(), side - down, side),
    )
    for left, right, source_left, source_right in columns:
        for top, bottom, source_top, source_bottom in rows:
            if right <= left or bottom <= top or (source_left == corner and source_top == corner):
                continue  # the middle lies under the card
            painter.drawPixmap(
                QRectF(target.left() + left, target.top() + top, right - left, bottom - top),
                image,
                QRectF(
                    source_left * dpr,
                    source_top * dpr,
                    (source_right - source_left) * dpr,
                    (source_bottom - source_top) * dpr,
                ),
            )


@cache
def _shadow(radius: int, argb: int, dpr: float) -> QPixmap:
    """Draw the smallest shadow with all four corners, as thin rings that fade out by the square."""
    corner = SHADOW_BLUR + radius + SHADOW_BLUR
    side = 2 * corner + 1
    image = QPixmap(round(side * dpr), round(side * dpr))
    image.setDevicePixelRatio(dpr)
    image.fill(Qt.GlobalColor.transparent)
    color = QColor.fromRgba(argb)
    strongest = color.alphaF()
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
    painter.setPen(Qt.PenStyle.NoPen)
    for inset in range(SHADOW_BLUR + radius):  # from the outside in, each ring replacing what it covers
        share = min(1.0, (inset + 1) / (SHADOW_BLUR + radius))
        color.setAlphaF(strongest * share * share)
        painter.setBrush(color)
        rest = float(max(1, SHADOW_BLUR + radius - inset))
        painter.drawRoundedRect(QRectF(inset, inset, side - 2 * inset, side - 2 * inset), rest, rest)
    painter.end()
    return image
