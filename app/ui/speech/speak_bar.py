"""Under the text: how much it is, how it is cut, what it costs, and the buttons that speak it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core import money, number_format, time_format
from app.service.speech_text import MAX_CHARS
from app.translation import tr, tr_n
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, PrimaryButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import STAY_ABOVE
from app.ui.speech.state import Meter

MAX_BARS = 12
ROOM_FOR_ALL = 520  # px at 100 %


class MeterBars(QWidget):
    """One bar for each part, as full as the part is; more than twelve parts share one bar."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shares: tuple[float, ...] = (0.0,)
        self.setAccessibleName(tr("Text length"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_parts(self, lengths: tuple[int, ...]) -> None:
        shares = tuple(length / MAX_CHARS for length in lengths) or (0.0,)
        self._shares = shares if len(shares) <= MAX_BARS else (1.0,)
        self.setAccessibleDescription(
            tr_n("{n} character", "{n} characters", sum(lengths))
            if len(lengths) < 2
            else tr("{lengths} characters in {count} parts", lengths=sum(lengths), count=len(lengths))
        )
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.type_px(300), self._theme.px(6))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(40), self._theme.px(6))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        gap = self._theme.px(4)
        wide = (self.width() - gap * (len(self._shares) - 1)) / len(self._shares)
        radius = self.height() / 2
        for place, share in enumerate(self._shares):
            bar = QRectF(place * (wide + gap), 0, wide, self.height())
            painter.setBrush(self._theme.color("line2"))
            painter.drawRoundedRect(bar, radius, radius)
            if share > 0:
                painter.setBrush(self._theme.color("accent"))
                bar.setWidth(max(2 * radius, wide * min(1.0, share)))
                painter.drawRoundedRect(bar, radius, radius)


class SpeakBar(QFrame):
    speak_requested = Signal()
    file_requested = Signal()
    stop_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.is_speaking = self._is_priced = False
        self.setProperty("part", "speak-bar")
        self.setObjectName(STAY_ABOVE)
        self.bars = MeterBars(theme)
        self.count = Label(theme, "", "small", weight=600, tabular=True)
        self.cut = Label(theme, "", "small", "text2", tabular=True, elide=True)
        self.length = Label(theme, "", "small", "text2", tabular=True, elide=True)
        self.estimate = Label(theme, tr("Estimate"), "small", "text2")
        self.price = Label(theme, "", "small", weight=600, tabular=True)
        self.to_file = Button(theme, tr("Speak to file"), "download")
        self.speak = PrimaryButton(theme, tr("Speak"), "wave", hint="Ctrl+Enter")
        self._column = QVBoxLayout(self)
        self._upper, self._lower = QHBoxLayout(), QHBoxLayout()
        self._upper.addWidget(self.bars)
        self._upper.addWidget(self.count)
        self._upper.addWidget(self.cut, 1)
        self._lower.addWidget(self.length, 1)
        for widget in (self.estimate, self.price, self.to_file, self.speak):
            self._lower.addWidget(widget)
        self._column.addLayout(self._upper)
        self._column.addLayout(self._lower)
        self.to_file.clicked.connect(self.file_requested)
        self.speak.clicked.connect(lambda: (self.stop_requested if self.is_speaking else self.speak_requested).emit())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave the room to the length and the price where there is little."""
        has_room = self.width() >= self._theme.type_px(ROOM_FOR_ALL)
        self.estimate.setVisible(has_room and self._is_priced)
        self.speak.set_hint(("Esc" if self.is_speaking else "Ctrl+Enter") if has_room else "")

    def _apply_theme(self) -> None:
        self._fit()
        px = self._theme.px
        self._column.setContentsMargins(px(24), px(10), px(24), px(10))
        self._column.setSpacing(px(8))
        self._upper.setSpacing(px(8))
        self._lower.setSpacing(px(8))

    def show_meter(self, meter: Meter) -> None:
        lengths = tuple(len(part) for part in meter.parts)
        self.bars.show_parts(lengths)
        self.count.set_text(number_format.count(meter.characters))
        self.cut.set_text(self._cut_words(lengths))
        self.length.set_text(self._length_words(meter))
        self.price.set_text(money.money(meter.price) if meter.price is not None else tr("Price unknown"))
        self.price.setVisible(meter.characters > 0)
        self._is_priced = meter.characters > 0 and meter.price is not None
        self._fit()
        self.to_file.setEnabled(not meter.why_not and not self.is_speaking)
        self.speak.setEnabled(not meter.why_not or self.is_speaking)
        self.speak.setToolTip(plain_tip(meter.why_not))

    @staticmethod
    def _length_words(meter: Meter) -> str:
        """Why it cannot be spoken, else how long it will be: nobody knows tenths of a second before."""
        if meter.why_not:
            return meter.why_not
        seconds = max(1, round(meter.seconds))
        return tr("About {seconds} of audio", seconds=f"{seconds} s" if seconds < 60 else time_format.duration(seconds))

    @staticmethod
    def _cut_words(lengths: tuple[int, ...]) -> str:
        if len(lengths) < 2:
            return tr("of {max_chars} characters", max_chars=number_format.count(MAX_CHARS))
        first, last = number_format.count(lengths[0]), number_format.count(lengths[-1])
        if len(lengths) > 4:
            shown = tr("{first} to {last}", first=first, last=last)
        else:
            before = ", ".join(number_format.count(length) for length in lengths[:-1])
            shown = tr("{before} and {last}", before=before, last=last)
        return tr(
            "characters in {count} parts: {shown} of {max_chars}",
            count=len(lengths),
            shown=shown,
            max_chars=number_format.count(MAX_CHARS),
        )

    def show_speaking(self, on: bool) -> None:
        """Speak becomes Stop while a clip is being asked for."""
        self.is_speaking = on
        self.speak.setText(tr("Stop") if on else tr("Speak"))
        self.speak.set_icon("stop" if on else "wave")
        self._fit()
        self.speak.set_kind("" if on else "primary")
        self.speak.setEnabled(True)
