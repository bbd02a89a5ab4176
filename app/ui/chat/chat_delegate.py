"""Paints the rows of the list of chats. Reads the theme, never a style sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.chat.chat_list_model import ROW_ROLE, Heading
from app.ui.chat.state import ChatEntry
from app.ui.shared import icons

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
TURN_MS = 900  # of the ring beside a chat that is being written


class ChatDelegate(QStyledItemDelegate):
    """Two lines per chat: title and mark above, partner and cost below. `turn` is the ring's position, 0 to 1."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.turn = 0.0
        self.open_chat: str | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        row = index.data(ROW_ROLE)
        width = option.rect.width()
        if isinstance(row, Heading):
            return QSize(width, theme.px(12) + theme.type_px(16) + theme.px(4))
        return QSize(width, theme.px(15) + theme.type_px(19) + theme.type_px(17))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            self._paint_heading(painter, rect, row)
        elif isinstance(row, ChatEntry):
            is_open = row.id == self.open_chat
            self._paint_back(painter, rect, state, is_open)
            self._paint_chat(painter, rect, row, is_open, right_to_left=painter.layoutDirection() == RIGHT_TO_LEFT)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, row: Heading) -> None:
        theme = self._theme
        painter.setFont(theme.font("small", QFont.Weight.DemiBold))
        painter.setPen(theme.color("text3"))
        inside = rect.adjusted(theme.px(16), theme.px(12), -theme.px(16), -theme.px(4))
        painter.drawText(inside, _LINE, row.text)

    def _paint_back(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_open: bool) -> None:
        theme = self._theme
        card = QRectF(rect.adjusted(theme.px(6), 0, -theme.px(6), 0))
        fill: QColor | None = None
        if is_open:
            fill = theme.color("accent_tint")
        elif state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            fill = theme.color("hover")
        painter.setPen(Qt.PenStyle.NoPen)
        if fill is not None:
            painter.setBrush(fill)
            painter.drawRoundedRect(card, theme.px(6), theme.px(6))
        if is_open:
            painter.setBrush(theme.color("accent"))
            inset = theme.px(9)
            left = card.right() - 3 if painter.layoutDirection() == RIGHT_TO_LEFT else card.left()
            painter.drawRoundedRect(QRectF(left, card.top() + inset, 3, card.height() - 2 * inset), 1.5, 1.5)
        focused = QStyle.StateFlag.State_HasFocus | QStyle.StateFlag.State_KeyboardFocusChange
        if state & focused == focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(card.adjusted(1, 1, -1, -1), theme.px(6), theme.px(6))

    def _paint_chat(self, painter: QPainter, rect: QRect, row: ChatEntry, is_open: bool, right_to_left: bool) -> None:
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        upper = QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))
        lower = QRect(inside.left(), upper.bottom() + 2, inside.width(), theme.type_px(17))

        mark = theme.icon_px(13)
        room = upper.width()
        if row.writing or row.pinned:
            room -= mark + theme.px(6)
            left = upper.left() if right_to_left else upper.right() - mark + 1
            spot = QRectF(left, upper.center().y() - mark / 2 + 1, mark, mark)
            if row.writing:
                paint_ring(painter, theme, spot, self.turn)
            else:
                icons.paint(painter, theme, "pin", spot, "text3")
        _text(painter, upper, room, row.title, theme.font("body", 600 if is_open else 500), theme.color("text"))

        small = theme.font("small", tabular=True)
        cost_width = 0
        if row.cost:
            painter.setFont(small)
            painter.setPen(theme.color("text3"))
            cost_width = QFontMetrics(small).horizontalAdvance(row.cost) + theme.px(6)
            painter.drawText(lower, _END, row.cost)
        _text(painter, lower, lower.width() - cost_width, row.second_line, small, theme.color("text3"))


def paint_ring(painter: QPainter, theme: Theme, rect: QRectF, turn: float) -> None:
    """A ring with a quarter in the accent colour; `turn` from 0 to 1 is where the quarter begins."""
    width = max(1.5, rect.width() / 8)
    inside = rect.adjusted(width / 2, width / 2, -width / 2, -width / 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("line2"), width))
    painter.drawEllipse(inside)
    pen = QPen(theme.color("accent"), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.drawArc(inside, round((90 - turn * 360) * 16), -100 * 16)


def _text(painter: QPainter, rect: QRect, room: int, text: str, font: QFont, color: QColor) -> None:
    """One line, cut with an ellipsis to `room` px, at the leading edge of `rect`."""
    painter.setFont(font)
    painter.setPen(color)
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, max(0, room))
    painter.drawText(rect, _LINE, shown)


RIGHT_TO_LEFT = Qt.LayoutDirection.RightToLeft
_LINE = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_END = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
