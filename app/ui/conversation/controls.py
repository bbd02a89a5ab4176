"""How the buttons inside messages look. They are painted, not widgets; their role is exposed to screen readers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPen

from app.translation import tr
from app.ui.conversation.boxes import Control, PaintState, paint_focus_ring
from app.ui.kit import icons

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.kit.theme import Theme

SMALL = 26  # px high at 100 %: the buttons of code, receipts and notes
COPY_LABEL, DONE_LABEL = tr("Copy"), tr("Copied")
LARGE = 32  # px high: the buttons of an error card


def button_height(theme: Theme, large: bool = False) -> int:
    """Return the height of a button with text; at least 24 at every scale."""
    return max(24, theme.height_px(LARGE if large else SMALL, 19 if large else 17))


def button_font(theme: Theme, look: str, large: bool = False) -> QFont:
    return theme.font("body" if large else "small", 600 if look == "primary" else 500)


def button_width(theme: Theme, look: str, label: str, icon: str, large: bool = False) -> float:
    """Return the width that a button needs."""
    if look == "icon":
        return button_height(theme)
    label = DONE_LABEL if label == COPY_LABEL else label  # the wider of the two: the button keeps its size
    wide = 2.0 * theme.px(12 if large else 9)
    if icon:
        wide += theme.icon_px(14) + (theme.px(5) if label else 0)
    return wide + QFontMetricsF(button_font(theme, look, large)).horizontalAdvance(label)


def place_right(theme: Theme, controls: list[Control], right: float, middle: float, gap: float = 0) -> float:
    """Give small buttons their places from `right` leftwards, centered on `middle`; return the left end."""
    high = button_height(theme)
    for control in reversed(controls):
        wide = button_width(theme, control.look, control.label, control.icon)
        control.rect = QRectF(right - wide, middle - high / 2, wide, high)
        right -= wide + gap
    return right + gap


def paint_control(painter: QPainter, theme: Theme, control: Control, state: PaintState) -> None:
    """Draw a button in the state that it is in now."""
    hovered = state.hovered == control.id
    pressed = state.pressed == control.id and hovered
    rect = control.rect
    large = rect.height() > button_height(theme) + 1
    painter.setRenderHint(painter.RenderHint.Antialiasing)
    role = _background(painter, theme, control, hovered, pressed)
    is_done = state.done == control.id
    label = DONE_LABEL if is_done and control.label == COPY_LABEL else control.label
    _content(painter, theme, replace(control, label=label), "check" if is_done else control.icon, role, large)
    if state.focused == control.id:
        paint_focus_ring(painter, theme, rect)


def _background(painter: QPainter, theme: Theme, control: Control, hovered: bool, pressed: bool) -> str:
    """Draw what is under the label and return the label's color role."""
    look, rect = control.look, control.rect
    if control.dimmed:
        return "text3"
    fill, border, role = "", "", "text2"
    if look == "primary":
        fill, role = ("accent_hover" if hovered or pressed else "accent"), "on_accent"
    elif look == "plain":
        fill, border, role = ("line" if pressed else "hover" if hovered else "surface"), "line2", "text"
    elif look == "link":
        fill, role = ("hover" if hovered else ""), "accent"
    elif control.checked:
        fill, role = "accent_tint", "accent"
    elif hovered:
        fill, role = ("line" if pressed else "hover"), "text"
    painter.setBrush(theme.color(fill) if fill else Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color(border), 1) if border else Qt.PenStyle.NoPen)
    if fill or border:
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    return role


def _content(painter: QPainter, theme: Theme, control: Control, icon: str, role: str, large: bool) -> None:
    rect = control.rect
    if control.look == "icon":
        side = theme.icon_px(15)
        at = QPointF(round(rect.center().x() - side / 2), round(rect.center().y() - side / 2))
        icons.paint(painter, theme, icon, QRectF(at.x(), at.y(), side, side), role)
        return
    x = rect.left() + theme.px(12 if large else 9)
    if control.icon:
        side = theme.icon_px(14)
        icons.paint(
            painter, theme, control.icon, QRectF(round(x), round(rect.center().y() - side / 2), side, side), role
        )
        x += side + theme.px(5)
    painter.setFont(button_font(theme, control.look, large))
    painter.setPen(theme.color(role))
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
    painter.drawText(QRectF(x, rect.top(), rect.right() - x, rect.height()), int(flags.value), control.label)
