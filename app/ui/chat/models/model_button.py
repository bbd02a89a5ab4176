"""The button in the header that names the model and opens the picker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.key_text import set_tip
from app.ui.kit.widgets.frames import solid_frame

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MAX_NAME = 220  # px at 100 %


class ModelButton(QPushButton):
    """Name and context of the model. Gives way to the title: it elides before the title vanishes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = ""
        self._context = ""
        self._compact = False
        self._missing = False
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        self._told: tuple[str, str, bool] | None = None
        self.show_model("", "")

    def show_model(self, name: str, context: str, *, missing: bool = False) -> None:
        """`context` is such as "131K". `missing`: the service does not have this model, so another is to be chosen."""
        told = (name, context, missing)
        if told == self._told:
            return
        self._told = told
        self._name, self._missing = name, missing
        self._context = tr("Not available") if missing else context
        if missing:
            spoken = tr("{name} is not on this service. Choose another model.", name=name)
        else:
            spoken = tr("Model: {name}", name=name) if name else tr("Choose a model")
        self.setAccessibleName(spoken)
        set_tip(self, spoken if missing else name or tr("Choose a model"), "Ctrl+Shift+M")
        self.updateGeometry()
        self.update()

    def set_compact(self, on: bool) -> None:
        """Leave out the context size where the header is narrow."""
        if on != self._compact:
            self._compact = on
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        theme = self._theme
        width = 0.0 + theme.px(13) * 2 + theme.icon_px(16) + theme.icon_px(14) + theme.px(6) * 2
        width += min(theme.type_px(MAX_NAME), self._width_of(self._shown_name(), "body", 500))
        if self._shows_context():
            width += theme.px(6) + self._width_of(self._context, "small", None)
        return QSize(round(width), theme.height_px(32))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _shows_context(self) -> bool:
        return bool(self._context) and not self._compact

    def _shown_name(self) -> str:
        return self._name or tr("Choose a model")

    def _width_of(self, text: str, style: str, weight: int | None) -> float:
        return QFontMetricsF(self._theme.font(style, weight, tabular=True)).horizontalAdvance(text) + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        quiet, line = ("warn_tint", "warn") if self._missing else ("surface", "line2")
        fill = "line" if self.isDown() else "hover" if self.underMouse() else quiet
        solid_frame(painter, theme, QRectF(self.rect()), theme.px(6), fill, line)
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)  # icons and gaps; the words are turned back below
        middle = self.height() / 2
        left = float(theme.px(13))
        spark, arrow = theme.icon_px(16), theme.icon_px(14)
        sign, role = ("warning", "warn") if self._missing else ("sparkle", "accent")
        icons.paint(painter, theme, sign, QRectF(left, middle - spark / 2, spark, spark), role)
        left += spark + theme.px(6)
        right = float(self.width() - theme.px(13) - arrow)
        icons.paint(painter, theme, "chevron-down", QRectF(right, middle - arrow / 2, arrow, arrow), "text2")
        right -= theme.px(6)
        if self._shows_context():
            wide = self._width_of(self._context, "small", None)
            place = QRectF(right - wide, 0, wide, self.height())
            self._write(painter, place, self._context, "small", "warn" if self._missing else "text3")
            right -= wide + theme.px(6)
        self._write(painter, QRectF(left, 0, right - left, self.height()), self._shown_name(), "body", "text")

    def _write(self, painter: QPainter, rect: QRectF, text: str, style: str, role: str) -> None:
        theme = self._theme
        font = theme.font(style, 500 if style == "body" else None, tabular=True)
        painter.save()
        painter.setFont(font)
        painter.setPen(QColor(theme.color(role)))
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            painter.translate(QPointF(2 * rect.center().x(), 0))
            painter.scale(-1, 1)
        shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)
        painter.restore()
