"""The shape of a sound as bars, with the place that is heard: a slider that looks like sound.

Bars are painted once into two pixmaps (heard, not yet heard); while it plays, only the strip around the playhead is
painted again. What is still to come is a row of dots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from app.audio.waveform import bars_of
from app.core.time_format import position
from app.translation import tr
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme

if TYPE_CHECKING:
    from app.audio.waveform import Pairs

STEP_MS = 5000
BAR_PITCH, BAR_WIDTH, HEIGHT = 4.0, 2.4, 52


class WaveformView(QAbstractSlider):
    """`seek_requested` tells the second the person wants to hear. Value and range are in milliseconds."""

    seek_requested = Signal(float)

    def __init__(self, theme: Theme, name: str = tr("Playback position"), *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if not name.strip():
            raise ValueError("a waveform needs a name")
        self._theme = theme
        self._pairs: Pairs | None = None
        self._known_s = 0.0  # of it there is sound
        self._whole_s = 0.0  # the whole length as far as it is known or expected
        self._marks: tuple[float, ...] = ()
        self._heard: QPixmap | None = None
        self._ahead: QPixmap | None = None
        self._is_dragging = False
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSingleStep(STEP_MS)
        self.setPageStep(3 * STEP_MS)
        self.setMouseTracking(True)
        theme.changed.connect(self._apply_theme)

    # -- what is shown --------------------------------------------------------------------------------------------

    @property
    def position_s(self) -> float:
        return self.value() / 1000

    @property
    def duration_s(self) -> float:
        return self._whole_s

    def set_sound(
        self, pairs: Pairs | None, known_s: float, whole_s: float | None = None, marks: Sequence[float] = ()
    ) -> None:
        """Show other peaks of `app.audio.waveform`: `known_s` long, `whole_s` in the end, dashed lines at `marks`."""
        self._pairs = pairs
        self._known_s = max(0.0, known_s)
        self._whole_s = max(self._known_s, whole_s or 0.0)
        self._marks = tuple(marks)
        self.setRange(0, round(self._whole_s * 1000))
        self._forget()

    def set_position(self, seconds: float) -> None:
        """Move the playhead without telling anybody; only what it leaves and reaches is painted."""
        if self._is_dragging:
            return
        before = self._x_of(self.position_s)
        self.setValue(round(seconds * 1000))
        after = self._x_of(self.position_s)
        self._describe()
        left, right = min(before, after), max(before, after)
        self.update(int(left) - 3, 0, int(right - left) + 7, self.height())

    def _describe(self) -> None:
        self.setAccessibleDescription(
            tr("{position_s} of {whole_s}", position_s=position(self.position_s), whole_s=position(self._whole_s))
        )

    # -- measures -------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(240), self._theme.px(HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(80), self._theme.px(HEIGHT))

    def _x_of(self, seconds: float) -> float:
        return self.width() * min(1.0, seconds / self._whole_s) if self._whole_s else 0.0

    def _seconds_at(self, x: float) -> float:
        return max(0.0, min(1.0, x / max(1, self.width()))) * self._whole_s

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._forget()

    def _apply_theme(self) -> None:
        self.updateGeometry()
        self._forget()

    def _forget(self) -> None:
        self._heard = self._ahead = None
        self._describe()
        self.update()

    # -- hands ----------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._whole_s:
            self._is_dragging = True
            self._drag(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._is_dragging:
            self._drag(event)
        elif self._whole_s:
            self.setToolTip(plain_tip(position(self._seconds_at(event.position().x()))))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._is_dragging and event.button() == Qt.MouseButton.LeftButton:
            self._drag(event)
            self._is_dragging = False
            self.seek_requested.emit(self.position_s)

    def _drag(self, event: QMouseEvent) -> None:
        self.setValue(round(self._seconds_at(event.position().x()) * 1000))
        self._describe()
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {
            Qt.Key.Key_Left: -STEP_MS,
            Qt.Key.Key_Right: STEP_MS,
            Qt.Key.Key_Home: -self.maximum(),
            Qt.Key.Key_End: self.maximum(),
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self._whole_s:
            event.ignore()
            return
        self.seek_requested.emit(max(0, min(self.maximum(), self.value() + step)) / 1000)

    # -- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        if self._heard is None or self._ahead is None:
            self._heard = self._draw(color("accent"))
            self._ahead = self._draw(color("control"))
        x = self._x_of(self.position_s)
        painter.save()
        painter.setClipRect(QRectF(0, 0, x, self.height()))
        painter.drawPixmap(0, 0, self._heard)
        painter.setClipRect(QRectF(x, 0, self.width() - x, self.height()))
        painter.drawPixmap(0, 0, self._ahead)
        painter.restore()
        if self._whole_s:
            painter.fillRect(QRectF(min(x, self.width() - 2.0), 0, 2, self.height()), color("text"))

    def _draw(self, ink: QColor) -> QPixmap:
        """Every bar in one color; parts are told apart by dashed lines."""
        dpr = self.devicePixelRatioF()
        drawn = QPixmap(QSize(max(1, round(self.width() * dpr)), max(1, round(self.height() * dpr))))
        drawn.setDevicePixelRatio(dpr)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        pitch, width = self._theme.px(BAR_PITCH * 2) / 2, self._theme.px(BAR_WIDTH * 5) / 5
        middle, room = self.height() / 2, self.height() - self._theme.px(6)
        for bar, loudness in enumerate(self._loudness(max(1, int(self.width() / pitch)))):
            if loudness is None:
                painter.setBrush(self._theme.color("line2"))
                painter.drawEllipse(QPointF(bar * pitch + width / 2, middle), width / 2, width / 2)
                continue
            painter.setBrush(ink)
            height = max(width, loudness * room)
            painter.drawRoundedRect(QRectF(bar * pitch, middle - height / 2, width, height), width / 2, width / 2)
        pen = QPen(self._theme.color("text2"), 1, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        for mark in self._marks:
            x = round(self._x_of(mark)) + 0.5
            painter.drawLine(QPointF(x, 0), QPointF(x, self.height()))
        painter.end()
        return drawn

    def _loudness(self, count: int) -> list[float | None]:
        """How loud each bar is, from 0 to 1, the loudest nearly full; None where there is no sound yet."""
        bars: list[float | None] = [None] * count
        if self._pairs is None or not len(self._pairs) or not self._whole_s:
            return bars

        known = max(1, min(count, round(count * self._known_s / self._whole_s)))
        found = bars_of(self._pairs, known)
        loudest = max(max(found, default=0.0), 0.15)
        for bar in range(known):
            bars[bar] = min(1.0, 0.95 * found[min(len(found) - 1, bar * len(found) // known)] / loudest)
        return bars
