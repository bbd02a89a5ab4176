"""Text in one of the eight styles: it follows the theme, keeps the designed line height, wraps or elides."""

from __future__ import annotations

import re

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QShowEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.service.http.sanitize import sanitize_text
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme

LONGEST_PX = 640  # of a line that is neither broken nor cut; longer ones are some stranger's
SURELY_SHORT = 40  # characters that need no measuring
_WORD = re.compile(r"\w+")
_UNBOUNDED = 16_000.0  # px; wider than any window


class Label(QLabel):
    """One piece of plain text. `wrap` breaks lines; `elide` cuts with an ellipsis and shows all in a tooltip.

    No text widens what it stands in: a word longer than a line is broken, and a plain label that has less room than
    it wants is cut, too. What could deceive in a stranger's text is shown as a sign (`sanitize_text`).

    `lead` is a first sentence in semibold, as banners have it. Markup is never interpreted.
    """

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        style: str = "body",
        role: str = "text",
        *,
        weight: int | None = None,
        mono: bool = False,
        tabular: bool = False,
        wrap: bool = False,
        elide: bool = False,
        lead: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._style = style
        self._role = role
        self._weight = weight
        self._mono = mono
        self._tabular = tabular
        self._elide = elide
        self._lead = sanitize_text(lead)
        self._rest = text
        self._caption = ""
        self._heights: dict[int, int] = {}  # width → height; layouts ask for the same ones dozens of times in a row
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
        elif elide:
            self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            self.setMinimumWidth(theme.px(24))
        self.setText(text)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def setText(self, text: str) -> None:
        text = sanitize_text(text)
        self._rest = text
        self._heights.clear()
        super().setText(f"{self._lead} {text}".strip() if self._lead else text)
        if self._caption:
            self._name_with_text()
        self._show_whole_in_tip()

    def setAccessibleName(self, name: str) -> None:
        """Say what the text is, while there is one: a reader collects the labels of a dialog.

        The text itself is never left out: it follows the name that does not hold its words.
        """
        self._caption = name
        self._name_with_text()

    def _name_with_text(self) -> None:
        text = self.text()
        is_said = all(word in self._caption for word in _WORD.findall(text))
        name = f"{self._caption}: {text}" if self._caption and not is_said else self._caption
        super().setAccessibleName(name if text else "")

    def set_text(self, text: str, lead: str | None = None) -> None:
        """Replace the text, and the semibold first sentence when one is given."""
        if sanitize_text(text) == self._rest and lead in (None, self._lead):
            return
        if lead is not None:
            self._lead = sanitize_text(lead)
        self.setText(text)
        self.updateGeometry()
        self.update()

    def set_role(self, role: str) -> None:
        """Change the color role."""
        if role != self._role:
            self._role = role
            self._apply_theme()

    def showEvent(self, event: QShowEvent) -> None:
        """A label that was hidden meanwhile was given an old font or the usual color by the style sheet."""
        super().showEvent(event)
        has_font = self.font().pixelSize() == self._theme.font(self._style).pixelSize()
        if not has_font or self.palette().color(QPalette.ColorRole.WindowText) != self._theme.color(self._role):
            self._apply_theme()

    def _apply_theme(self) -> None:
        self._heights.clear()
        self.setFont(self._theme.font(self._style, self._weight, mono=self._mono, tabular=self._tabular))
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.WindowText, self._theme.color(self._role))
        self.setPalette(palette)
        self.updateGeometry()
        self.update()

    # -- measuring and painting -----------------------------------------------------------------------------------

    def _own_paint(self) -> bool:
        return self.wordWrap() or self._elide or self._is_cut()

    def _is_cut(self) -> bool:
        """A plain label that has less room than its text."""
        wanted = self.fontMetrics().horizontalAdvance(self.text()) if len(self.text()) > SURELY_SHORT else 0
        return wanted > self.contentsRect().width()

    def _lay_out(self, width: float) -> tuple[QTextLayout, float, int]:
        layout = QTextLayout(self.text().replace("\n", "\u2028"), self.font())  # a new line is one here, too
        option = QTextOption(self.alignment())
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(self.layoutDirection())
        layout.setTextOption(option)
        if self._lead:
            from PySide6.QtGui import QTextCharFormat  # 1.3 ms for its properties; the first frame has no lead

            strong = QTextCharFormat()
            strong.setFont(self._theme.font(self._style, 600))
            piece = QTextLayout.FormatRange()
            piece.start, piece.length, piece.format = 0, len(self._lead), strong
            layout.setFormats([piece])
        line_height = self._theme.line_px(self._style)
        layout.beginLayout()
        top, widest = 0, 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, top + (line_height - line.height()) / 2))
            widest = max(widest, line.naturalTextWidth())
            top += line_height
        layout.endLayout()
        return layout, widest, max(top, line_height)

    def hasHeightForWidth(self) -> bool:
        return self.wordWrap()

    def heightForWidth(self, width: int) -> int:
        if not self.wordWrap():
            return super().heightForWidth(width)
        margins = self.contentsMargins()
        inner = max(1, width - margins.left() - margins.right())
        height = self._heights.get(inner)
        if height is None:
            height = self._heights[inner] = self._lay_out(inner)[2]
        return height + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        around = QSize(margins.left() + margins.right(), margins.top() + margins.bottom())
        if self.wordWrap():
            width = self.maximumWidth() if self.maximumWidth() < _UNBOUNDED else self._theme.type_px(360)
            _, widest, height = self._lay_out(min(width, self._theme.type_px(360)))
            return QSize(int(widest) + 1, height) + around
        if self._elide:
            return (
                QSize(self.fontMetrics().horizontalAdvance(self.text()) + 1, self._theme.line_px(self._style)) + around
            )
        hint = super().sizeHint().expandedTo(QSize(0, self._theme.line_px(self._style) + around.height()))
        return hint.boundedTo(QSize(self._theme.type_px(LONGEST_PX), hint.height()))

    def minimumSizeHint(self) -> QSize:
        if self.wordWrap():
            longest = max((self.fontMetrics().horizontalAdvance(word) for word in self.text().split()), default=0)
            return QSize(min(longest, self._theme.type_px(160)), self._theme.line_px(self._style))
        if self._elide:
            return QSize(self._theme.px(24), self._theme.line_px(self._style))
        hint = super().minimumSizeHint().expandedTo(QSize(0, self._theme.line_px(self._style)))
        is_a_strangers = hint.width() > self._theme.type_px(LONGEST_PX)
        return QSize(self._theme.type_px(160), hint.height()) if is_a_strangers else hint

    def setMinimumWidth(self, width: int) -> None:
        """QLabel keeps the hint that it reckoned with the old minimum until something of its own changes."""
        super().setMinimumWidth(width)
        self.setIndent(self.indent())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_whole_in_tip()

    def _show_whole_in_tip(self) -> None:
        if self._elide:
            cut = self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width()
            self.setToolTip(plain_tip(self.text()) if cut else "")

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._own_paint():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setPen(self._theme.color(self._role if self.isEnabled() else "text3"))
        area = self.contentsRect()
        if not self.wordWrap():
            metrics = QFontMetrics(self.font())
            painter.setFont(self.font())
            shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(area, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), shown)
            return
        layout, _, height = self._lay_out(area.width())
        spare = max(0, area.height() - height)
        top = area.top() + (spare // 2 if self.alignment() & Qt.AlignmentFlag.AlignVCenter else 0)
        layout.draw(painter, QPointF(area.left(), top))
