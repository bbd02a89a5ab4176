"""One of up to four short words (or icons), shown side by side in one frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QSizePolicy, QWidget

from app.ui.kit.icons import paint
from app.ui.kit.key_text import set_tip
from app.ui.kit.theme import Theme

MAX_ITEMS = 4


class _Segment(QRadioButton):
    """A radio button in looks of its own: the role, the arrow keys and the single tab stop come with the real thing."""

    def __init__(self, theme: Theme, text: str, icon_name: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._icon = icon_name
        self.first = False
        self.last = False
        self.ring_widget = parent
        self.setAccessibleName(text)
        if icon_name:
            set_tip(self, text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        theme = self._theme
        content = (
            theme.icon_px(16) if self._icon else QFontMetricsF(theme.font("small", 600)).horizontalAdvance(self.text())
        )
        return QSize(round(content + 2 * theme.px(10)) + 1, theme.height_px(26))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, on = self._theme, self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect())
        fill = "accent_tint" if on and self.isEnabled() else "hover" if self.underMouse() and self.isEnabled() else ""
        if fill:
            painter.fillPath(self._shape(area), theme.color(fill))
        if not self.last:
            painter.fillRect(QRectF(area.right() - 1, area.top(), 1, area.height()), theme.color("line2"))
        role = "text3" if not self.isEnabled() else "accent" if on else "text2"
        if self._icon:
            side = theme.icon_px(16)
            paint(
                painter,
                theme,
                self._icon,
                QRectF((area.width() - side) / 2, (area.height() - side) / 2, side, side),
                role,
            )
            return
        painter.setFont(theme.font("small", 600 if on else 400))
        painter.setPen(theme.color(role))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self.text())

    def _shape(self, area: QRectF) -> QPainterPath:
        """The segment with the frame's inner corners where it touches the ends."""
        radius = self._theme.px(6) - 1
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        round_left, round_right = (self.last, self.first) if mirrored else (self.first, self.last)
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)
        path.addRoundedRect(area, radius, radius)
        if not round_left:
            path.addRect(QRectF(area.left(), area.top(), area.width() / 2, area.height()))
        if not round_right:
            path.addRect(QRectF(area.center().x(), area.top(), area.width() / 2, area.height()))
        return path


class SegmentedChoice(QWidget):
    """`items` are (key, words) pairs; `changed` tells the key that the person chose, not what a program set.

    `icons` (key → icon name) shows images, and the words become tooltips. Raises `ValueError` without a name.
    """

    changed = Signal(str)

    def __init__(
        self,
        theme: Theme,
        name: str,
        items: Sequence[tuple[str, str]],
        *,
        current: str = "",
        icons: Mapping[str, str] | None = None,
        stretch: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        if not name.strip():
            raise ValueError("a segmented choice needs a name")
        if not 1 <= len(items) <= MAX_ITEMS:
            raise ValueError(f"a segmented choice has 1 to {MAX_ITEMS} items")
        self._theme = theme
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self._segments: dict[str, _Segment] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        for key, words in items:
            segment = _Segment(theme, words, (icons or {}).get(key, ""), self)
            self._segments[key] = segment
            self._group.addButton(segment)
            layout.addWidget(segment, 1 if stretch else 0)
            segment.toggled.connect(self.update)
            segment.clicked.connect(self._report)
        segments = list(self._segments.values())
        segments[0].first = segments[-1].last = True
        horizontal = QSizePolicy.Policy.Preferred if stretch else QSizePolicy.Policy.Fixed
        self.setSizePolicy(horizontal, QSizePolicy.Policy.Fixed)
        self.set_current(current or items[0][0])
        self._reported = self.current
        theme.changed.connect(self._apply_theme)

    @property
    def current(self) -> str:
        """The chosen key."""
        return next((key for key, segment in self._segments.items() if segment.isChecked()), "")

    def set_current(self, key: str) -> None:
        """Choose without telling anybody. Raises `KeyError` for a key that is not there."""
        self._segments[key].setChecked(True)
        self.setFocusProxy(self._segments[key])
        self._reported = key

    def _report(self) -> None:
        if self.current != self._reported:
            self._reported = self.current
            self.setFocusProxy(self._segments[self._reported])
            self.changed.emit(self._reported)

    def _apply_theme(self) -> None:
        for segment in self._segments.values():
            segment.updateGeometry()
            segment.update()
        self.updateGeometry()
        self.update()

    def ring_radius(self) -> float:
        return float(self._theme.px(6))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = painter.pen()
        pen.setColor(self._theme.color("control" if self.isEnabled() else "line2"))
        pen.setStyle(Qt.PenStyle.SolidLine if self.isEnabled() else Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(self._theme.color("surface" if self.isEnabled() else "sunken"))
        radius = self._theme.px(6)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
