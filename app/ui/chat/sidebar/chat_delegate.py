"""Paints the rows of the chat tab's left pane: chats, found places."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle

from app.ui.chat.sidebar.chat_search_paint import paint_marked
from app.ui.chat.state import ChatEntry, Hit
from app.ui.kit import icons
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate, at_end, without_end

if TYPE_CHECKING:
    from app.ui.kit.lists.grouped_list import RowLike
    from app.ui.kit.theme import Theme


class ChatDelegate(GroupedDelegate):
    """Two lines per chat: title and mark above, partner and cost below."""

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if not isinstance(row, ChatEntry):
            return
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        upper = QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))
        lower = QRect(inside.left(), upper.bottom() + 2, inside.width(), theme.type_px(17))
        if row.writing or row.pinned:
            mark = theme.icon_px(13)
            spot = at_end(painter, upper, mark)
            if row.writing:
                paint_ring(painter, theme, spot, self.turn)
            else:
                icons.paint(painter, theme, "pin", spot, "text3")
            upper = without_end(painter, upper, mark + theme.px(6))
        self.text(painter, upper, row.title, theme.font("body", 600 if is_on else 500), "text")
        small = theme.font("small", tabular=True)
        line = row.second_line if theme.reduced_motion else row.counting_line(datetime.now(UTC))
        self.pair(painter, lower, (line, small, "text3"), (row.cost, small, "text3"))


class _PickedDelegate(GroupedDelegate):
    """Of a list that is worked from a field or by its own keys: the row that Enter means is plain to see."""

    def paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_on: bool) -> None:
        super().paint_ground(painter, rect, state, is_on or bool(state & QStyle.StateFlag.State_Selected))


class HitDelegate(_PickedDelegate):
    """Title and time on a line each, the excerpt with its marked words on two."""

    def row_height(self, row: RowLike) -> int:
        theme = self._theme
        return theme.line_px("body") + 3 * theme.line_px("small") + theme.px(14)

    def key_of(self, row: RowLike) -> Hashable:
        return None

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if not isinstance(row, Hit):
            return
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), -theme.px(7))
        line, small = theme.line_px("body"), theme.line_px("small")
        title = QRect(inside.left(), inside.top(), inside.width(), line)
        self.text(painter, title, row.chat_title, theme.font("body", 500), "text")
        note = QRect(inside.left(), title.bottom() + 1, inside.width(), small)
        self.text(painter, note, row.note, theme.font("small", tabular=True), "text3")
        words = QRect(inside.left(), note.bottom() + 1, inside.width(), 2 * small)
        paint_marked(painter, theme, words, row.text, row.marks)


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
