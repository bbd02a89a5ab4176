"""The last half minute of a recording as it grows, with its marks and the clock below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core.time_format import position
from app.translation import tr
from app.ui.kit.icons import paint
from app.ui.kit.widgets.frames import solid_frame
from app.ui.transcription.state import Mark, Tick

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

PER_SECOND = 50
BAR_PITCH, BAR_WIDTH = 4.6, 2.0
BARS_PER_SECOND = 6.25  # eight peaks of 20 ms to a bar
PEAKS_PER_BAR = 8
TICK_S = 5
HEIGHT = 280
LONGEST_TAG = 220  # px at 100 %; all of its words stand beside the recording


class LiveWave(QWidget):
    """Bars stand still in time: a bar is always the same eight peaks, so that nothing flickers as it moves left."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tick = Tick()
        self._marks: tuple[Mark, ...] = ()
        self._placed: list[tuple[Mark, str, float, int]] | None = None
        self.tags: list[tuple[QRectF, str]] = []  # of the last painting: where each stood, and its words
        self.setAccessibleName(tr("Recording waveform"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        theme.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        self._placed = None
        self.updateGeometry()
        self.update()

    def show_tick(self, tick: Tick) -> None:
        self._tick = tick
        self.setAccessibleDescription(tr("{time} recorded", time=position(tick.seconds)))
        self.update()

    def show_marks(self, marks: Sequence[Mark]) -> None:
        self._marks, self._placed = tuple(marks), None
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(480), self._theme.px(HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(200), self._theme.px(110))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        solid_frame(painter, theme, QRectF(self.rect()), theme.px(8), "surface", "line")
        pad = theme.px(16)
        foot = theme.line_px("caption") + theme.px(14)
        area = QRectF(pad, theme.px(9), self.width() - 2 * pad, self.height() - theme.px(9) - foot)
        middle = area.center().y()
        painter.setPen(QPen(theme.color("line"), 1))
        painter.drawLine(QPointF(1, middle), QPointF(self.width() - 1, middle))
        scale = theme.px(BAR_PITCH * 10) / 10 * BARS_PER_SECOND  # px a second
        self._paint_bars(painter, area, middle, scale)
        self._paint_clock(painter, area, scale)
        self._paint_marks(painter, area, scale)
        painter.fillRect(QRectF(area.right() - 1, area.top(), 2, area.height()), theme.color("bad"))

    def _x_of(self, area: QRectF, scale: float, seconds: float) -> float:
        return area.right() - (self._tick.peak_count / PER_SECOND - seconds) * scale

    def _paint_bars(self, painter: QPainter, area: QRectF, middle: float, scale: float) -> None:
        theme = self._theme
        peaks = self._tick.peaks
        first_kept = self._tick.peak_count - len(peaks)
        first_bar = -(-first_kept // PEAKS_PER_BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent"))
        width = theme.px(BAR_WIDTH * 10) / 10
        for bar in range(first_bar, -(-self._tick.peak_count // PEAKS_PER_BAR)):
            x = self._x_of(area, scale, bar * PEAKS_PER_BAR / PER_SECOND)
            if x < area.left():
                continue
            start = bar * PEAKS_PER_BAR - first_kept
            piece = peaks[start : start + PEAKS_PER_BAR]
            if not piece:
                continue
            low, high = min(each[0] for each in piece), max(each[1] for each in piece)
            loudness = min(1.0, max(-low, high) * 0.9)
            height = max(width, loudness * area.height())
            painter.drawRoundedRect(QRectF(x, middle - height / 2, width, height), width / 2, width / 2)

    def _paint_clock(self, painter: QPainter, area: QRectF, scale: float) -> None:
        theme = self._theme
        now = self._tick.peak_count / PER_SECOND
        top, line = area.bottom() + theme.px(5), theme.line_px("caption")
        painter.setFont(theme.font("caption", tabular=True))
        painter.setPen(theme.color("bad"))
        painter.drawText(QRectF(area.right() - 80, top, 80, line), int(Qt.AlignmentFlag.AlignRight), tr("now"))
        painter.setPen(theme.color("text3"))
        second = int(now) // TICK_S * TICK_S
        while second >= 0:
            x = self._x_of(area, scale, second)
            if x < area.left():
                break
            if area.right() - x > theme.type_px(40):
                painter.drawText(QRectF(x - 30, top, 60, line), int(Qt.AlignmentFlag.AlignHCenter), position(second))
            second -= TICK_S

    def _tags(self, scale: float) -> list[tuple[Mark, str, float, int]]:
        """Each mark with its words, the width of its tag and the row it hangs in, the top one being 0.

        The rows depend on nothing that moves, so that a tag stays in its row all the way: two share one only where
        they do not touch at the right edge either, where tags wait until there is room behind their line.
        """
        theme = self._theme
        metrics = QFontMetricsF(theme.font("small", 500))
        beside = theme.icon_px(12) + theme.px(18)
        ends: list[float] = []  # of each row: where its last tag ends, px from the beginning of the recording
        tags = []
        for mark in sorted(self._marks, key=lambda mark: mark.at):
            text = metrics.elidedText(
                mark.text or position(mark.at), Qt.TextElideMode.ElideRight, theme.type_px(LONGEST_TAG)
            )
            wide = metrics.horizontalAdvance(text) + beside
            at = mark.at * scale
            row = next((row for row, end in enumerate(ends) if end + theme.px(4) <= at - wide), len(ends))
            ends[row : row + 1] = [at + wide]
            tags.append((mark, text, wide, row))
        return tags

    def _paint_marks(self, painter: QPainter, area: QRectF, scale: float) -> None:
        theme = self._theme
        if self._placed is None:
            self._placed = self._tags(scale)
        high = theme.type_px(17)
        rows = max(1, int(area.height() / 2 / (high + theme.px(3))))
        side = theme.icon_px(12)
        painter.setFont(theme.font("small", 500))
        self.tags = []
        seen = [(self._x_of(area, scale, mark.at), text, wide, row) for mark, text, wide, row in self._placed]
        seen = [each for each in seen if area.left() <= each[0] <= area.right()]
        for x, *_ in seen:  # below all tags
            painter.fillRect(QRectF(x, area.top(), 1.5, area.height()), theme.color("text"))
        for x, text, wide, row in seen:
            if row >= rows:
                continue  # more than there is room for: its line stands there, its words beside the recording
            label = QRectF(min(x, area.right() - wide), area.top() + row * (high + theme.px(3)), wide, high)
            self.tags.append((label, text))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("text"))
            painter.drawRoundedRect(label, 3, 3)
            flag = QRectF(label.left() + theme.px(6), label.center().y() - side / 2, side, side)
            paint(painter, theme, "flag", flag, "canvas")
            painter.setPen(theme.color("canvas"))
            words = label.adjusted(side + theme.px(11), 0, 0, 0)
            painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
