"""Signs that something is going on: the turning ring, the ring that counts down, and the sliding bar.

Each of them wakes up only while it can be seen. With reduced motion the ring stands still and a word stands beside it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from app.core.time_format import countdown
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import SpokenCountdown

TURN_MS = 900
FRAME_MS = 33


def paint_spinner(painter: QPainter, theme: Theme, rect: QRectF, turn: float, role: str = "accent") -> None:
    """Draw the ring with its quarter at `turn` (0 to 1); delegates use it for rows that are working."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    width = rect.width() * 0.12
    ring = rect.adjusted(width, width, -width, -width)
    painter.setPen(QPen(theme.color("line2"), width))
    painter.setBrush(Qt.BrushStyle.NoBrush)  # a list leaves the brush of its selection mark
    painter.drawEllipse(ring)
    pen = QPen(theme.color(role), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.drawArc(ring, round((90 - 360 * turn) * 16), -77 * 16)
    painter.restore()


class _Animated(QWidget):
    """A widget with a clock that runs only while it is shown and motion is wanted."""

    def __init__(self, theme: Theme, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._turn = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._step)
        theme.changed.connect(self._theme_changed)

    def _theme_changed(self) -> None:
        self.updateGeometry()
        self._run()
        self.update()

    def _run(self) -> None:
        if self.isVisible() and not self._theme.reduced_motion:
            self._timer.start()
        else:
            self._timer.stop()

    def _step(self) -> None:
        self._turn = (self._turn + FRAME_MS / TURN_MS) % 1.0
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._run()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()


class Spinner(_Animated):
    """A small ring that turns once in 900 ms. Never alone for more than 5 s: say beside it what is awaited."""

    def __init__(self, theme: Theme, *, px: int = 14, role: str = "accent", parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._px = px
        self._role = role
        self.setAccessibleName(tr("Working"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        side = self._theme.icon_px(self._px)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_spinner(QPainter(self), self._theme, QRectF(self.rect()), self._turn, self._role)


class CountdownRing(QWidget):
    """Counts down to a moment, once a second; `finished` comes when it is reached, shown or not."""

    finished = Signal()

    def __init__(self, theme: Theme, *, role: str = "warn", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._role = role
        self._until: datetime | None = None
        self._whole = 1.0
        self._spoken = SpokenCountdown(self)
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._tick)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    @property
    def left_s(self) -> float:
        """Seconds left, never below 0."""
        if self._until is None:
            return 0.0
        return max(0.0, (self._until - datetime.now(UTC)).total_seconds())

    def start(self, until: datetime, role: str = "warn") -> None:
        """Begin to count down to `until`, an aware time."""
        self._role = role
        self._until = until
        self._whole = max(1.0, self.left_s)
        self._spoken.begin(self.left_s)
        self._timer.start()
        self._tick()

    def stop(self) -> None:
        """Count no further and tell nobody."""
        self._until = None
        self._timer.stop()

    def _tick(self) -> None:
        left = self.left_s
        self.setAccessibleName(tr("{left} left", left=countdown(left)))
        if self._until is not None:
            self._spoken.pass_to(left)
        self.update()
        if left <= 0 and self._until is not None:
            self.stop()
            self.finished.emit()

    def sizeHint(self) -> QSize:
        side = self._theme.type_px(40)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self.width() * 3 / 40
        ring = QRectF(self.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2)
        painter.setPen(QPen(self._theme.color("line"), width))
        painter.drawEllipse(ring)
        pen = QPen(self._theme.color(self._role), width)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(ring, 90 * 16, round(-360 * 16 * self.left_s / self._whole))
        painter.setPen(self._theme.color("text"))
        font = self._theme.font("small", 600, tabular=True)
        if self.left_s >= 600:
            font.setPixelSize(max(8, round(self.width() * 0.24)))
        painter.setFont(font)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, countdown(self.left_s))


class Progress(QProgressBar):
    """A bar of 6 px. `set_share(None)` slides a piece along, for work whose end the service does not tell.

    `tone` is "" (accent), ok, warn or bad. Numbers stand beside the bar as text, never in it.
    """

    def __init__(self, theme: Theme, name: str, *, tone: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if not name.strip():
            raise ValueError("a progress bar needs a name")
        self._theme = theme
        self._tone = tone
        self._share: float | None = 0.0
        self._turn = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._step)
        self.setAccessibleName(name)
        self.setTextVisible(False)
        self.setRange(0, 1000)
        theme.changed.connect(self.update)

    def set_share(self, share: float | None) -> None:
        """Show 0 to 1, or None for "nobody knows"."""
        self._share = share
        self.setRange(0, 0 if share is None else 1000)
        if share is not None:
            self.setValue(round(share * 1000))
        self._run()
        self.update()

    def set_tone(self, tone: str) -> None:
        """Say with the color what the words beside the bar say."""
        self._tone = tone
        self.update()

    def _run(self) -> None:
        if self._share is None and self.isVisible() and not self._theme.reduced_motion:
            self._timer.start()
        else:
            self._timer.stop()

    def _step(self) -> None:
        self._turn = (self._turn + FRAME_MS / (2 * TURN_MS)) % 1.0
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._run()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.px(6))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(24), self._theme.px(6))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        area = QRectF(self.rect())
        radius = area.height() / 2
        painter.setBrush(self._theme.color("line"))
        painter.drawRoundedRect(area, radius, radius)
        painter.setBrush(self._theme.color(self._tone or "accent"))
        if self._share is None:
            piece = area.width() * 0.24
            left = (area.width() - piece) * (0.5 if self._theme.reduced_motion else _there_and_back(self._turn))
            painter.drawRoundedRect(QRectF(left, 0, piece, area.height()), radius, radius)
        elif self._share > 0:
            done = max(area.height(), area.width() * min(1.0, self._share))
            left = area.width() - done if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else 0
            painter.drawRoundedRect(QRectF(left, 0, done, area.height()), radius, radius)


def _there_and_back(turn: float) -> float:
    """0 → 1 → 0 over one turn, slow at the ends."""
    place = 2 * turn if turn < 0.5 else 2 - 2 * turn
    return place * place * (3 - 2 * place)
