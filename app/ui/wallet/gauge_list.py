"""The rate limits of the account in use: what is left of each, as words and as a bar, and when it is whole again."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core.number_format import count, short_count
from app.core.time_format import due
from app.translation import tr
from app.ui.kit.accessible_role import Value, show_as
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label
from app.ui.wallet.state import Gauge

SCARCE = 0.25  # of a limit: the bar warns below
LONG = 100_000  # from here on, numbers are short


class GaugeBar(QWidget):
    """How much of something is left. The words beside it say the same."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._share = 1.0
        self.setAccessibleName(name)
        show_as(self, "ProgressBar", Value(lambda: round(100 * self._share), 0, 100))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_share(self, share: float, words: str) -> None:
        """Take what is left, 0 to 1."""
        self._share = min(1.0, max(0.0, share))
        self.setAccessibleDescription(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.px(4))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self.height() / 2
        painter.setBrush(self._theme.color("line2" if self._theme.is_dark else "line"))
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        painter.setBrush(self._theme.color("warn" if self._share < SCARCE else "accent"))
        if self._share > 0:
            wide = max(float(self.height()), self.width() * self._share)
            painter.drawRoundedRect(QRectF(0, 0, wide, self.height()), radius, radius)


class GaugeRow(QWidget):
    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(2))
        line = QHBoxLayout()
        line.setSpacing(theme.px(8))
        self.name = Label(theme, name, elide=True)
        self.left = Label(theme, "", weight=600, tabular=True)
        self.of = Label(theme, "", role="text2", tabular=True)
        self.resets = Label(theme, "", "small", "text2", tabular=True)
        self.resets.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.resets.setMinimumWidth(theme.type_px(56))
        line.addWidget(self.name, 1)
        line.addWidget(self.left)
        line.addWidget(self.of)
        line.addWidget(self.resets)
        column.addLayout(line)
        self.bar = GaugeBar(theme, name)
        column.addWidget(self.bar)

    def show_gauge(self, gauge: Gauge, now: datetime) -> None:
        write = short_count if gauge.limit >= LONG else count
        self.name.set_text(gauge.name)
        self.left.set_text(write(gauge.left))
        self.of.set_text(tr("of {limit} left", limit=write(gauge.limit)))
        self.resets.set_text(self._reset_words(gauge, now))
        self.bar.setAccessibleName(gauge.name)
        self.bar.set_share(
            gauge.left / gauge.limit, tr("{write} of {write2} left", write=write(gauge.left), write2=write(gauge.limit))
        )

    def _reset_words(self, gauge: Gauge, now: datetime) -> str:
        if gauge.rolls:
            return tr("rolling")
        if gauge.resets_at is None or gauge.resets_at <= now:
            return tr("full")
        seconds = (gauge.resets_at - now).total_seconds()
        return tr("in {n} s", n=int(seconds) + 1) if seconds < 60 else due(seconds, now)


class GaugeList(QWidget):
    """All limits. It counts down only while it is seen and something runs."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._gauges: tuple[Gauge, ...] = ()
        self._rows: list[GaugeRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.px(6))
        self._column.addStretch(1)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._tick)

    def show_gauges(self, gauges: tuple[Gauge, ...]) -> None:
        """Show how the limits stand now."""
        self._gauges = gauges
        while len(self._rows) < len(gauges):
            row = GaugeRow(self._theme, gauges[len(self._rows)].name)
            self._rows.append(row)
            self._column.insertWidget(len(self._rows) - 1, row)
        for place, row in enumerate(self._rows):
            row.setVisible(place < len(gauges))
        self._tick()

    def _tick(self) -> None:
        now = datetime.now(UTC)
        runs = False
        for row, gauge in zip(self._rows, self._gauges, strict=False):
            if gauge.resets_at is not None and gauge.resets_at <= now:
                gauge = Gauge(gauge.name, gauge.limit, gauge.limit)
            runs = runs or gauge.resets_at is not None
            row.show_gauge(gauge, now)
        if runs and self.isVisible():
            self._clock.start()
        else:
            self._clock.stop()

    def showEvent(self, event: object) -> None:
        self._tick()
