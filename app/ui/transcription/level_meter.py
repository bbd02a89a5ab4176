"""How loud the microphone is: sixty lamps on a scale in dB, and a line where the peak was. And the large clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QProgressBar, QSizePolicy, QWidget

from app.translation import tr

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LOW_DB = -60.0
LAMPS = 60
WARN_FROM_DB, BAD_FROM_DB = -18.0, -3.0
SCALE_DB = (-60, -48, -36, -24, -12, 0)
LAMP_HEIGHT = 14


class LevelMeter(QProgressBar):
    """A progress bar by role, so that screen readers read it. `set_level` takes dB of full scale."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._level_db = self._peak_db = LOW_DB
        self.setRange(0, 100)
        self.setAccessibleName(tr("Microphone level"))
        self.setTextVisible(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def set_level(self, level_db: float, peak_db: float) -> None:
        """Show another level; painted only when a lamp changes."""
        before = (self._lamps(self._level_db), self._lamps(self._peak_db))
        self._level_db, self._peak_db = level_db, peak_db
        if before != (self._lamps(level_db), self._lamps(peak_db)):
            self.setValue(round(self._share(level_db) * 100))
            self.setAccessibleDescription(tr("{level_db} dB", level_db=round(level_db)))
            self.update()

    @staticmethod
    def _share(decibels: float) -> float:
        return max(0.0, min(1.0, (decibels - LOW_DB) / -LOW_DB))

    def _lamps(self, decibels: float) -> int:
        return round(self._share(decibels) * LAMPS)

    def sizeHint(self) -> QSize:
        theme = self._theme
        return QSize(theme.px(240), theme.px(LAMP_HEIGHT + 6) + theme.line_px("caption"))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(160), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        step = self.width() / LAMPS
        height = theme.px(LAMP_HEIGHT)
        lit = self._lamps(self._level_db)
        for lamp in range(LAMPS):
            decibels = LOW_DB + (lamp + 1) * -LOW_DB / LAMPS
            role = (
                "line"
                if lamp >= lit
                else "bad"
                if decibels > BAD_FROM_DB
                else "warn"
                if decibels > WARN_FROM_DB
                else "ok"
            )
            painter.setBrush(theme.color(role))
            painter.drawRoundedRect(QRectF(lamp * step, 0, step * 0.8, height), 1.5, 1.5)
        peak = self._share(self._peak_db)
        if peak > 0:
            painter.fillRect(
                QRectF(min(self.width() - 2.0, peak * self.width()), -1, 2, height + 2), theme.color("text")
            )
        painter.setFont(theme.font("caption", tabular=True))
        painter.setPen(theme.color("text3"))
        top, line = height + theme.px(4), theme.line_px("caption")
        for place, decibels_shown in enumerate(SCALE_DB):
            x = self._share(decibels_shown) * self.width()
            text = f"{decibels_shown} dB" if decibels_shown == 0 else str(decibels_shown).replace("-", "−")
            room = QRectF(x - 30, top, 60, line)
            flag = Qt.AlignmentFlag.AlignHCenter
            if place == 0:
                room, flag = QRectF(0, top, 60, line), Qt.AlignmentFlag.AlignLeft
            elif place == len(SCALE_DB) - 1:
                room, flag = QRectF(self.width() - 60, top, 60, line), Qt.AlignmentFlag.AlignRight
            painter.drawText(room, int(flag | Qt.AlignmentFlag.AlignVCenter), text)


class RecordingClock(QLabel):
    """How much is recorded, large, tenths of a second smaller beside it. Its text is the time, for screen readers."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("00:00", parent)
        self._theme = theme
        self._tenth = 0
        self.setAccessibleName(tr("Recorded: {time}", time=self.text()))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        theme.changed.connect(self.update)

    def set_seconds(self, seconds: float) -> None:
        hours, rest = divmod(int(seconds), 3600)
        minutes, whole = divmod(rest, 60)
        text = f"{hours}:{minutes:02d}:{whole:02d}" if hours else f"{minutes:02d}:{whole:02d}"
        tenth = int(seconds * 10) % 10
        if text != self.text():
            wider = len(text) != len(self.text())
            self.setText(text)
            self.setAccessibleName(tr("Recorded: {time}", time=text))
            if wider:
                self.updateGeometry()
        if tenth != self._tenth:
            self._tenth = tenth
            self.update()

    def _fonts(self) -> tuple[QFont, QFont]:
        large, small = self._theme.font("display", 500, tabular=True), self._theme.font("display", 400, tabular=True)
        large.setPixelSize(self._theme.type_px(52))
        small.setPixelSize(self._theme.type_px(24))
        return large, small

    def sizeHint(self) -> QSize:
        large, small = (QFontMetricsF(font) for font in self._fonts())
        wide = large.horizontalAdvance(self.text()) + small.horizontalAdvance(".0") + self._theme.px(4)
        return QSize(round(wide) + 2, round(large.ascent() + large.descent() * 0.6))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        large, small = self._fonts()
        metrics = QFontMetricsF(large)
        base = metrics.ascent()
        painter.setFont(large)
        painter.setPen(self._theme.color("text"))
        painter.drawText(0, round(base), self.text())
        painter.setFont(small)
        painter.setPen(self._theme.color("text2"))
        painter.drawText(
            round(metrics.horizontalAdvance(self.text()) + self._theme.px(3)), round(base), f".{self._tenth}"
        )
