"""A button that opens a picker: shows the chosen item, a fact about it, and an arrow."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from app.service.http.sanitize import sanitize_text
from app.ui.kit.icons import paint
from app.ui.kit.plain_tooltip import tip_while_cut
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button

LEAST_TEXT = 36  # px at 100 % of the text; the rest gives way where room is short


class PickButton(Button):
    def __init__(self, theme: Theme, text: str, icon_name: str = "", *, size: str = "") -> None:
        super().__init__(theme, sanitize_text(text), icon_name, size=size)
        self._sign = icon_name
        self._small = size == "small"
        self._fact = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def setText(self, text: str) -> None:
        super().setText(sanitize_text(text))

    def set_fact(self, words: str) -> None:
        """Show a few words behind the text, in another color."""
        if words != self._fact:
            self._fact = words
            self.updateGeometry()
            self.update()

    def _widths(self) -> tuple[float, float, float, float]:
        """Of sign, text, fact and arrow, each with the gap behind it."""
        theme, gap = self._theme, self._theme.px(6)
        sign = theme.icon_px(14 if self._small else 16) + gap if self._sign else 0.0
        text = QFontMetricsF(self.font()).horizontalAdvance(self.text()) + gap
        fact = QFontMetricsF(self._fact_font()).horizontalAdvance(self._fact) + gap if self._fact else 0.0
        return sign, text, fact, float(theme.icon_px(14))

    def _fact_font(self) -> QFont:
        return self._theme.font("small", tabular=True)

    def sizeHint(self) -> QSize:
        wide = sum(self._widths()) + 2 * self._theme.px(9 if self._small else 12)
        return QSize(round(wide + 0.5), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        size = self.sizeHint()
        spare = max(0, round(self._widths()[1]) - self._theme.type_px(LEAST_TEXT))
        return size - QSize(spare, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        role = self._paint_frame(painter)
        sign, text, fact, arrow = self._widths()
        gap, middle = theme.px(6), self.height() / 2
        x = max((self.width() - sign - text - fact - arrow) / 2, theme.px(8))
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft

        def place(left: float, width: float, height: float) -> QRectF:
            return QRectF(self.width() - left - width if mirrored else left, middle - height / 2, width, height)

        line = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading)
        if sign:
            paint(painter, theme, self._sign, place(x, sign - gap, sign - gap), "accent" if self._fact else role)
        room = max(0.0, self.width() - x - sign - fact - arrow - theme.px(8))
        shown = QFontMetricsF(self.font()).elidedText(self.text(), Qt.TextElideMode.ElideRight, min(room, text))
        tip_while_cut(self, self.text(), shown != self.text())
        painter.setFont(self.font())
        painter.setPen(theme.color(role))
        painter.drawText(place(x + sign, min(room, text), self.height()), line, shown)
        x += sign + min(room, text)
        if fact:
            painter.setFont(self._fact_font())
            painter.setPen(theme.color("text2" if self.isEnabled() else role))
            painter.drawText(place(x, fact, self.height()), line, self._fact)
        paint(painter, theme, "chevron-down", place(x + fact, arrow, arrow), "text2")
