"""A card of facts: a title, a quiet word and a value in each row, painted as one widget because there are many."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.frames import solid_frame

Fact = tuple[str, str, str]  # title, quiet word, value


class FactCard(QWidget):
    """`name` and the facts are read aloud as one text."""

    def __init__(self, theme: Theme, name: str, facts: tuple[Fact, ...]) -> None:
        super().__init__()
        self._theme = theme
        self._facts = facts
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        self.setAccessibleDescription("; ".join(", ".join(part for part in fact if part) for fact in facts))
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.type_px(280), self._row_height() * len(self._facts) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.type_px(160), self.sizeHint().height())

    def _row_height(self) -> int:
        return self._theme.height_px(36)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        solid_frame(painter, theme, QRectF(self.rect()), theme.px(8), "surface", "line")
        side = theme.px(16)
        height = self._row_height()
        third = (self.width() - 2 * side) // 3
        columns = ((side, third, "body", "text"), (side + third, third, "small", "text2"))
        for index, (title, word, value) in enumerate(self._facts):
            top = 1 + index * height
            if index:
                painter.fillRect(1, top, self.width() - 2, 1, theme.color("line"))
            for (left, width, style, role), text in zip(columns, (title, word), strict=True):
                self._text(painter, QRect(left, top, width - theme.px(8), height), text, style, role)
            end = QRect(side + 2 * third, top, self.width() - 2 * side - 2 * third, height)
            self._text(painter, end, value, "body", "text2", at_end=True)

    def _text(self, painter: QPainter, box: QRect, text: str, style: str, role: str, *, at_end: bool = False) -> None:
        painter.setFont(self._theme.font(style, tabular=at_end))
        painter.setPen(self._theme.color(role))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        flags = Qt.AlignmentFlag.AlignVCenter | (Qt.AlignmentFlag.AlignRight if at_end else Qt.AlignmentFlag.AlignLeft)
        where = QStyle.visualRect(self.layoutDirection(), self.rect(), box)
        painter.drawText(where, int(QStyle.visualAlignment(self.layoutDirection(), flags)), shown)
