"""The canvas while it records: the clock, how much room is left, the waveform, the level, and the buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core import number_format, time_format
from app.translation import tr
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, PrimaryButton, QuietButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import Progress
from app.ui.kit.widgets.surfaces import STAY_ABOVE
from app.ui.transcription.level_meter import LevelMeter, RecordingClock
from app.ui.transcription.live_wave import LiveWave
from app.ui.transcription.state import BYTES_PER_S, Head, Tick

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LIMIT_BYTES = 25_000_000
WARNINGS = {
    "silent": tr("Very quiet. Speak closer, choose another input or raise the gain."),
    "muted": tr("The microphone is silent. It is probably muted."),
    "clipping": tr("Too loud. Lower the gain or move farther from the microphone."),
}


class RecordingView(QWidget):
    """Nothing is decided here; each button says what the person wants."""

    stop_requested = Signal()
    save_requested = Signal()
    pause_requested = Signal()
    mark_requested = Signal()
    discard_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tick = Tick()
        self._warned = ""
        self.record_as = "flac"
        self.badge = Badge(theme, tr("Recording"), "bad", icon="record")
        self.promise = Label(theme, "", role="text2", wrap=True)
        self.clock = RecordingClock(theme)
        self.used = Label(theme, "", tabular=True, weight=600)
        self.room = Label(theme, "", "small", "text2", tabular=True)
        self.bar = Progress(theme, tr("Share of the 25 MB limit"))
        self.wave = LiveWave(theme)
        self.meter = LevelMeter(theme)
        self.level = Label(theme, "", weight=600, tabular=True)
        self.peak = Label(theme, "", "small", "text2", tabular=True)
        self._warning_icon = IconLabel(theme, "warning", "warn", px=16)
        self.warning = Label(theme, "", role="warn", wrap=True)
        self.stop = PrimaryButton(theme, tr("Stop and transcribe"), "stop", size="large", hint="Ctrl+Enter")
        self.pause = Button(theme, tr("Pause"), "pause", size="large", hint="Space")
        self.mark = Button(theme, tr("Note"), "flag", size="large", hint="M")
        self.save = QuietButton(theme, tr("Stop without sending"), "save")
        self.discard = Button(theme, tr("Discard"), "trash", kind="quiet", icon_role="bad")
        self.estimate = Label(theme, "", "small", "text2", tabular=True, wrap=True)
        self._build()
        self._connect()
        self._show_warning("")
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        column = self._column = QVBoxLayout(self)
        top = self._top = QHBoxLayout()
        top.addWidget(self.badge, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.promise, 1)
        column.addLayout(top)
        clock = self._clock_row = QHBoxLayout()
        clock.addWidget(self.clock, 0, Qt.AlignmentFlag.AlignBottom)
        clock.addStretch(1)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addStretch(1)
        for label in (self.used, self.room):
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            words.addWidget(label)
        clock.addLayout(words)
        column.addLayout(clock)
        column.addWidget(self.bar)
        column.addWidget(self.wave, 1)
        meter = self._meter_row = QHBoxLayout()
        meter.addWidget(Label(self._theme, tr("Level"), role="text2"), 0, Qt.AlignmentFlag.AlignTop)
        meter.addWidget(self.meter, 1, Qt.AlignmentFlag.AlignTop)
        numbers = QVBoxLayout()
        numbers.setSpacing(0)
        for label in (self.level, self.peak):
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            numbers.addWidget(label)
        meter.addLayout(numbers)
        column.addLayout(meter)
        warning = self._warning_row = QHBoxLayout()
        warning.addWidget(self._warning_icon, 0, Qt.AlignmentFlag.AlignTop)
        warning.addWidget(self.warning, 1)
        column.addLayout(warning)
        column.addStretch(0)
        holder = QWidget()
        holder.setObjectName(STAY_ABOVE)
        flow = FlowLayout(self._theme, parent=holder)
        for button in (self.stop, self.pause, self.mark):
            flow.addWidget(button)
        buttons = QHBoxLayout()
        buttons.addWidget(holder, 1)
        column.addLayout(buttons)
        last = QHBoxLayout()
        last.addWidget(self.estimate, 1)
        last.addWidget(self.save)
        last.addWidget(self.discard)
        column.addLayout(last)

    def _connect(self) -> None:
        self.stop.clicked.connect(self.stop_requested)
        self.pause.clicked.connect(self.pause_requested)
        self.mark.clicked.connect(self.mark_requested)
        self.save.clicked.connect(self.save_requested)
        self.discard.clicked.connect(self.discard_requested)

    def _apply_theme(self) -> None:
        theme = self._theme
        px = theme.px
        self._column.setContentsMargins(px(24), px(20), px(24), px(20))
        self._column.setSpacing(px(14))
        self._top.setSpacing(px(8))
        self._clock_row.setSpacing(px(2))
        self._meter_row.setSpacing(px(20))
        self._warning_row.setSpacing(px(8))
        self.peak.setFixedWidth(theme.type_px(96))  # its widest text: the scale beside it stays where it is

    # What the page tells

    def show_head(self, head: Head) -> None:
        self.wave.show_marks(head.marks)
        self.promise.set_text(
            tr("Nothing is sent until you choose “Stop and transcribe”. The recording is saved to disk as you speak.")
        )

    def show_estimate(self, price: str, words: str) -> None:
        """`about $0.0046`, `2 min 17 s with Whisper large v3`."""
        self.estimate.set_text(tr("So far {price} for {words}", price=price, words=words) if price else "")

    def show_tick(self, tick: Tick) -> None:
        """The recording as it is now, many times a second."""
        self._tick = tick
        if tick.phase in ("", "test"):
            return
        self.clock.set_seconds(tick.seconds)
        self._show_phase(tick.phase)
        self._show_room(tick)
        self.wave.show_tick(tick)
        self.meter.set_level(tick.level_db, tick.peak_db)
        self.level.set_text(tr("{decibels} dB", decibels=_decibels(tick.level_db)))
        self.peak.set_text(tr("peak {level} dB", level=_decibels(tick.peak_db, 1)))
        self._show_warning(tick.warning, tick.lost_s)

    def _show_phase(self, phase: str) -> None:
        words = {
            "opening": tr("Waiting for audio"),
            "paused": tr("Paused"),
            "saving": tr("Saving"),
        }.get(phase, tr("Recording"))
        tone = "warn" if phase == "paused" else "neutral" if phase in ("opening", "saving") else "bad"
        self.badge.set_badge(words, tone, "pause" if phase == "paused" else "record")
        self.pause.setText(tr("Continue") if phase == "paused" else tr("Pause"))
        self.pause.set_icon("record" if phase == "paused" else "pause")

    def _show_room(self, tick: Tick) -> None:
        per_second = BYTES_PER_S[self.record_as]
        share = tick.size_bytes / LIMIT_BYTES
        self.bar.set_share(min(1.0, share))
        self.used.set_text(tr("about {size} of 25 MB", size=number_format.size(tick.size_bytes)))
        left_s = max(0, (LIMIT_BYTES - tick.size_bytes) / per_second)
        self.room.set_text(
            tr("room for about {time} more", time=time_format.duration(left_s // 10 * 10))
            if left_s >= 10
            else tr("too long for one upload, so it will be split at pauses")
        )

    def _show_warning(self, warning: str, lost_s: float = 0) -> None:
        words = WARNINGS.get(warning, "")
        if not words and lost_s:
            words = tr("The disk is slow. {length} of audio was lost.", length=time_format.duration(lost_s))
        self._warning_icon.setVisible(bool(words))
        self.warning.setVisible(bool(words))
        if words != self._warned:
            self._warned = words
            self.warning.set_text(words)
            if words:
                announce(self, words)


def _decibels(value: float, places: int = 0) -> str:
    return f"{value:.{places}f}".replace("-", "−")
