"""Paints the rows of the list: a sign, the title and its length above, model and cost below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.shared import icons
from app.ui.shared.spinner import paint_spinner
from app.ui.transcription.list_model import ROW_ROLE, Heading
from app.ui.transcription.state import Entry

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
SIGNS = {
    "recording": ("record", "bad"),
    "recorded": ("microphone", "text3"),
    "queued": ("clock", "text3"),
    "done": ("document", "text3"),
    "failed": ("error", "bad"),
    "unknown": ("warning", "warn"),
}
_LINE = int(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_END = int(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


class TranscriptDelegate(QStyledItemDelegate):
    """`turn` is the place of the rings, 0 to 1; `open_row` the row that the canvas shows."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.turn = 0.0
        self.open_row: str | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        width = option.rect.width()
        if isinstance(index.data(ROW_ROLE), Heading):
            return QSize(width, theme.px(12) + theme.type_px(16) + theme.px(4))
        return QSize(width, theme.px(15) + theme.type_px(19) + theme.type_px(17))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            theme = self._theme
            painter.setFont(theme.font("small", QFont.Weight.DemiBold))
            painter.setPen(theme.color("text3"))
            inside = rect.adjusted(theme.px(16), theme.px(12), -theme.px(16), -theme.px(4))
            painter.drawText(inside, _LINE, row.text)
        elif isinstance(row, Entry):
            is_open = row.id == self.open_row
            self._paint_back(painter, rect, option.state, is_open)
            self._paint_entry(painter, rect, row, is_open)
        painter.restore()

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
            right_to_left = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
            left = card.right() - 3 if right_to_left else card.left()
            painter.drawRoundedRect(QRectF(left, card.top() + inset, 3, card.height() - 2 * inset), 1.5, 1.5)
        focused = QStyle.StateFlag.State_HasFocus | QStyle.StateFlag.State_KeyboardFocusChange
        if state & focused == focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(card.adjusted(1, 1, -1, -1), theme.px(6), theme.px(6))

    def _paint_entry(self, painter: QPainter, rect: QRect, row: Entry, is_open: bool) -> None:
        theme = self._theme
        right_to_left = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        side, gap = theme.icon_px(14), theme.px(10)
        upper = QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))
        lower = QRect(inside.left(), upper.bottom() + 2, inside.width(), theme.type_px(17))
        sign_left = inside.right() - side + 1 if right_to_left else inside.left()
        sign = QRectF(sign_left, upper.center().y() - side / 2 + 1, side, side)
        if row.state == "sending":
            paint_spinner(painter, theme, sign, self.turn)
        else:
            name, role = SIGNS.get(row.state, ("document", "text3"))
            if row.state == "recorded" and row.origin == "file":
                name = "wave"
            icons.paint(painter, theme, name, sign, role)
        shift = side + gap
        for line in (upper, lower):
            line.adjust(0 if right_to_left else shift, 0, -shift if right_to_left else 0, 0)
        small = theme.font("small", tabular=True)
        body = theme.font("body", 600 if is_open else 500)
        self._pair(painter, upper, (row.title, body, theme.color("text")), (row.right, small, theme.color("text2")))
        quiet = theme.color("text3")
        self._pair(painter, lower, (row.second_line, small, quiet), (row.cost, small, quiet))

    def _pair(
        self, painter: QPainter, rect: QRect, left: tuple[str, QFont, QColor], right: tuple[str, QFont, QColor]
    ) -> None:
        """Two texts on one line; the first gives way to the second."""
        taken = 0
        if right[0]:
            taken = QFontMetrics(right[1]).horizontalAdvance(right[0]) + self._theme.px(8)
            painter.setFont(right[1])
            painter.setPen(right[2])
            painter.drawText(rect, _END, right[0])
        painter.setFont(left[1])
        painter.setPen(left[2])
        room = max(0, rect.width() - taken)
        painter.drawText(rect, _LINE, QFontMetrics(left[1]).elidedText(left[0], Qt.TextElideMode.ElideRight, room))
