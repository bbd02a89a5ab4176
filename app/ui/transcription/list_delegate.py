"""Paints the rows of the list: a sign, the title and its length above, model and cost below."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from app.ui.kit import icons
from app.ui.kit.lists.grouped_list import RowLike
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate, at_start, without_start
from app.ui.kit.widgets.spinner import paint_spinner
from app.ui.transcription.state import Entry

SIGNS = {
    "recording": ("record", "bad"),
    "recorded": ("microphone", "text3"),
    "queued": ("clock", "text3"),
    "done": ("document", "text3"),
    "failed": ("error", "bad"),
    "unknown": ("warning", "warn"),
}


class TranscriptDelegate(GroupedDelegate):
    """The sign of a row says its state, the words below say it again."""

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if isinstance(row, Entry):
            self._paint_entry(painter, rect, row, is_on)

    def _paint_entry(self, painter: QPainter, rect: QRect, row: Entry, is_on: bool) -> None:
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        upper = QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))
        lower = QRect(inside.left(), upper.bottom() + 2, inside.width(), theme.type_px(17))
        side = theme.icon_px(14)
        sign = at_start(painter, upper.translated(0, 1), side)
        if row.state == "sending":
            paint_spinner(painter, theme, sign, self.turn)
        else:
            name, role = SIGNS.get(row.state, ("document", "text3"))
            if row.state == "recorded" and row.origin == "file":
                name = "wave"
            icons.paint(painter, theme, name, sign, role)
        taken = side + theme.px(10)
        small = theme.font("small", tabular=True)
        body = theme.font("body", 600 if is_on else 500)
        self.pair(painter, without_start(painter, upper, taken), (row.title, body, "text"), (row.right, small, "text2"))
        self.pair(
            painter,
            without_start(painter, lower, taken),
            (row.second_line, small, "text3"),
            (row.cost, small, "text3"),
        )
