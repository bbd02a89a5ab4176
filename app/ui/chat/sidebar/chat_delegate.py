"""Paints the rows of the chat tab's left pane: chats, found places."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle

from app.ui.chat.state import ChatEntry, Hit, ProjectEntry
from app.ui.kit import icons
from app.ui.kit.lists.grouped_list_delegate import (
    GroupedDelegate,
    at_end,
    at_start,
    is_right_to_left,
    without_end,
    without_start,
)

if TYPE_CHECKING:
    from app.ui.kit.lists.grouped_list import RowLike
    from app.ui.kit.theme import Theme


LINES = 2
INDENT = 14  # px, of chats below their project
# What a project's color is painted with: the colors of charts, which are told apart in both themes.
PROJECT_ROLES = {
    "red": "chart_images",
    "orange": "chart_speech",
    "green": "ok",
    "teal": "chart_chat",
    "blue": "chart_transcribe",
    "purple": "chart_video",
}


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


class ChatDelegate(GroupedDelegate):
    """Two lines per chat: title and mark above, partner and cost below."""

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if isinstance(row, ProjectEntry):
            self._paint_project(painter, rect, row)
            return
        if not isinstance(row, ChatEntry):
            return
        theme = self._theme
        if row.in_project:
            rect = without_start(painter, rect, theme.px(INDENT))
        inside, upper = self._lines(rect)
        lower = QRect(inside.left(), upper.bottom() + 2, inside.width(), theme.type_px(17))
        if row.writing or row.pinned:
            mark = theme.icon_px(13)
            spot = at_end(painter.layoutDirection(), upper, mark)
            if row.writing:
                paint_ring(painter, theme, spot, self.turn)
                if spot.toAlignedRect().contains(self.wanted.boundingRect()):
                    return  # it turns; the words beside it stand
            else:
                icons.paint(painter, theme, "pin", spot, "text3")
            upper = without_end(painter, upper, mark + theme.px(6))
        self.text(painter, upper, row.title, theme.font("body", 600 if is_on else 500), "text")
        small = theme.font("small", tabular=True)
        line = row.second_line if theme.reduced_motion else row.counting_line(datetime.now(UTC))
        self.pair(painter, lower, (line, small, "text3"), (row.cost, small, "text3"))

    def row_height(self, row: RowLike) -> int:
        if isinstance(row, ProjectEntry):
            return self._theme.px(14) + self._theme.type_px(19)
        return super().row_height(row)

    def _paint_project(self, painter: QPainter, rect: QRect, row: ProjectEntry) -> None:
        """A sign that says whether its chats are shown, its color, its name and how many chats it has."""
        theme = self._theme
        inside = rect.adjusted(theme.px(12), 0, -theme.px(16), 0)
        mark = theme.icon_px(13)
        closed = "chevron-left" if is_right_to_left(painter) else "chevron-right"
        icons.paint(painter, theme, closed if row.folded else "chevron-down", at_start(painter, inside, mark), "text3")
        inside = without_start(painter, inside, mark + theme.px(6))
        sign = at_start(painter, inside, mark)
        icons.paint(painter, theme, "folder", sign, PROJECT_ROLES.get(row.color, "text2"))
        inside = without_start(painter, inside, mark + theme.px(8))
        name = (row.title, theme.font("body", 600), "text2" if row.archived or not row.id else "text")
        self.pair(painter, inside, name, (row.number, theme.font("small", tabular=True), "text3"))

    def spinner_rect(self, rect: QRect, row: RowLike, direction: Qt.LayoutDirection) -> QRect:
        if isinstance(row, ChatEntry) and row.waits_until is not None:
            return rect  # its words count down
        return at_end(direction, self._lines(rect)[1], self._theme.icon_px(13)).toAlignedRect()

    def _lines(self, rect: QRect) -> tuple[QRect, QRect]:
        """What is inside a row's margins, and its upper line."""
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        return inside, QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))


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
    """A ring with a quarter in the accent color; `turn` from 0 to 1 is where the quarter begins."""
    width = max(1.5, rect.width() / 8)
    inside = rect.adjusted(width / 2, width / 2, -width / 2, -width / 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("line2"), width))
    painter.drawEllipse(inside)
    pen = QPen(theme.color("accent"), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.drawArc(inside, round((90 - turn * 360) * 16), -100 * 16)
