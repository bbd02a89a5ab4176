"""The canvas of a file or recording that is not transcribed yet: facts, price, and progress."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.core import number_format
from app.core.time_format import position
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.sound.player_bar import PlayerBar
from app.ui.kit.ticker import SECOND_MS, Ticker
from app.ui.kit.widgets.buttons import Button, PrimaryButton, QuietButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.fields import NumberField
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.spinner import Progress
from app.ui.kit.widgets.surfaces import retain_size_when_hidden, rule, zone
from app.ui.transcription.session.rows import work_words
from app.ui.transcription.state import Head

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MEGABYTE = 1_000_000
LARGEST_TARGET_MB = 25


class SoundView(QWidget):
    """`treatment_requested` is "", "flac", "split" or "compress:BYTES"."""

    transcribe_requested = Signal()
    cancel_requested = Signal()
    treatment_requested = Signal(str)
    action = Signal(str)
    copy_requested = Signal()  # of the sound, as a file elsewhere

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        self._theme = theme
        self._head: Head | None = None
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the parts and put them into their places, some at each step."""
        theme = self._theme
        self.player = PlayerBar(theme)
        self.save = Button(theme, tr("Save as…"), "download", size="small")
        self.player.extras.addWidget(self.save)
        yield
        self.facts = Label(theme, "", role="text2", wrap=True, tabular=True)
        self.note = Label(theme, "", wrap=True)
        self._note_icon = IconLabel(theme, "info", "warn", px=16)
        self.error = ErrorCard(theme)
        self.large = Card(theme, border="warn")
        self.choices = QButtonGroup(self)
        self.flac = QRadioButton(tr("Convert to FLAC"))
        self.split = QRadioButton(tr("Split on silence"))
        self.squeeze = QRadioButton(tr("Compress to"))
        self.target = NumberField(theme, tr("Size in MB"), low=1, high=LARGEST_TARGET_MB, step=1, decimals=0, value=20)
        yield
        self.working = Label(theme, "", weight=500, tabular=True, wrap=True)
        self.bar = Progress(theme, tr("Progress"))
        self.price = Label(theme, "", weight=600, tabular=True)
        self.price_words = Label(theme, "", role="text2", tabular=True, wrap=True)
        self.send = PrimaryButton(theme, tr("Transcribe"), "transcribe", size="large", hint="Ctrl+Enter")
        self.stop = Button(theme, tr("Stop"), "stop", size="large", hint="Esc")
        self.beta = Label(theme, "", "small", "text3", wrap=True)
        yield
        yield from self._arrange()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _arrange(self) -> BuildSteps[None]:
        theme = self._theme
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._top = QFrame()
        zone(self._top, "pane")
        above = QVBoxLayout(self._top)
        above.setContentsMargins(0, 0, 0, 0)
        above.addWidget(self.player)
        above.addWidget(rule())
        outer.addWidget(self._top)
        scroll = ScrollPane(tr("Audio to transcribe"))
        outer.addWidget(scroll, 1)
        yield
        column = scroll.fill(theme, "canvas", (24, 20, 24, 20), 14)
        column.addWidget(self.facts)
        note = self._note_row = QHBoxLayout()
        note.addWidget(self._note_icon, 0, Qt.AlignmentFlag.AlignTop)
        note.addWidget(self.note, 1)
        column.addLayout(note)
        column.addWidget(self.error)
        yield
        self._build_large(theme)
        column.addWidget(self.large)
        yield
        column.addWidget(self.working)
        column.addWidget(self.bar)
        row = self._price_row = QHBoxLayout()
        row.addWidget(self.price)
        row.addWidget(self.price_words, 1)
        column.addLayout(row)
        holder = QWidget()
        flow = FlowLayout(theme, parent=holder)
        flow.addWidget(self.send)
        flow.addWidget(self.stop)
        column.addWidget(holder)
        column.addWidget(self.beta)
        column.addStretch(1)

    def _build_large(self, theme: Theme) -> None:
        top = QHBoxLayout()
        top.setSpacing(theme.px(8))
        top.addWidget(IconLabel(theme, "warning", "warn", px=18), 0, Qt.AlignmentFlag.AlignTop)
        self.large_words = Label(theme, "", weight=600, wrap=True)
        top.addWidget(self.large_words, 1)
        self.large.body.addLayout(top)
        for button in (self.flac, self.split, self.squeeze):
            self.choices.addButton(button)
        self.large.body.addWidget(self.flac)
        self.large.body.addWidget(
            Label(
                theme,
                tr("Mono at 16 kHz, with no loss of quality. If the file is still over 25 MB, it is split at pauses."),
                "small",
                "text2",
                wrap=True,
            )
        )
        self.large.body.addWidget(self.split)
        self.split_words = Label(
            theme,
            tr("Splits at pauses, sends the parts in order and joins the results. No quality is lost."),
            "small",
            "text2",
            wrap=True,
        )
        self.large.body.addWidget(self.split_words)
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        row.addWidget(self.squeeze)
        row.addWidget(self.target)
        row.addWidget(Label(theme, "MB"))
        row.addStretch(1)
        self.large.body.addLayout(row)
        self.squeeze_words = Label(theme, "", "small", "text2", wrap=True)
        self.large.body.addWidget(self.squeeze_words)
        self.forget = QuietButton(theme, tr("Send original"), size="small")
        retain_size_when_hidden(self.forget)
        self._as_it_is = QWidget()
        as_it_is = QHBoxLayout(self._as_it_is)
        as_it_is.setContentsMargins(0, 0, 0, 0)
        as_it_is.addWidget(self.forget)
        as_it_is.addStretch(1)
        self.large.body.addWidget(self._as_it_is)

    def _connect(self) -> None:
        self._work_words = ""
        self._begun: tuple[str | None, float] | None = None  # the row that is worked on, and since when
        self._seconds = Ticker(self, self._show_elapsed, SECOND_MS, lambda: self._begun is not None)
        self.send.clicked.connect(self.transcribe_requested)
        self.stop.clicked.connect(self.cancel_requested)
        self.save.clicked.connect(self.copy_requested)
        self.error.action.connect(self.action)
        self.flac.clicked.connect(lambda: self.treatment_requested.emit("flac"))
        self.split.clicked.connect(lambda: self.treatment_requested.emit("split"))
        self.squeeze.clicked.connect(self._want_squeeze)
        self.target.value_edited.connect(self._want_squeeze)
        self.forget.clicked.connect(lambda: self.treatment_requested.emit(""))

    def _want_squeeze(self) -> None:
        self.treatment_requested.emit(f"compress:{round(self.target.value()) * MEGABYTE}")

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._price_row.setSpacing(px(8))
        self._note_row.setSpacing(px(8))

    def show_head(self, head: Head) -> None:
        """Make every widget agree with the open row."""
        if head.view != "sound":
            return
        self._head = head
        sound, work = head.sound, head.work
        words = [sound.kind, number_format.size(sound.size_bytes) if sound.size_bytes else ""]
        words.append(position(sound.duration_s) if sound.duration_s else tr("length unknown"))
        words.append(sound.name)
        self.facts.set_text("  ·  ".join(word for word in words if word))
        note = head.note or sound.why_not
        self.note.set_text(note)
        self.note.setVisible(bool(note))
        self._note_icon.setVisible(bool(note))
        self.error.setVisible(head.problem is not None)
        if head.problem is not None and head.problem != self.error.problem:
            self.error.set_problem(head.problem)
        self._show_large(head)
        self._show_work(head)
        self.price.set_text(tr("Estimate {price}", price=head.price) if head.price else "")
        self.price_words.set_text(head.price_words if head.price or head.price_words else "")
        self._show_player(head)
        ready = head.can_send and work is None and sound.is_there
        if ready:
            self.send.setEnabled(True)  # so that it can take the keyboard from Stop
        self._show_main_button(self.send if work is None else self.stop)
        self.send.setEnabled(ready)
        sentences = [
            tr("Nothing is sent until you choose Transcribe.") if work is None else "",
            tr("This feature is in beta."),
            tr("The Sandbox’s recognizer is simple, so expect wrong words.") if head.is_sandbox else "",
        ]
        self.beta.set_text(head.why_not or " ".join(filter(None, sentences)))
        tried = head.problem is not None and head.problem.primary is not None
        self.send.set_kind("" if tried else "primary")  # one main button: the card's own

    def _show_main_button(self, shown: QPushButton) -> None:
        """Transcribe or Stop; the keyboard goes along from the one to the other."""
        other = self.stop if shown is self.send else self.send
        had_focus = other.hasFocus()
        shown.show()
        if had_focus:
            shown.setFocus(Qt.FocusReason.OtherFocusReason)
        other.hide()

    def _show_player(self, head: Head) -> None:
        """What will be sent can be heard first."""
        sound = head.sound
        length = sound.duration_s or 0.0
        can_be_heard = sound.is_there and bool(sound.kind) and not sound.why_not
        self.player.waveform.set_sound(sound.peaks, length if sound.peaks is not None else 0.0, length)
        self.player.set_length(length)
        self.player.set_ready(can_be_heard)
        self._top.setVisible(can_be_heard)
        self.save.setVisible(head.origin == "recording")

    def _show_large(self, head: Head) -> None:
        sound = head.sound
        self.large.setVisible(sound.too_large and head.work is None)
        if not sound.too_large:
            return
        size = number_format.size(sound.size_bytes)
        if sound.is_over_limit:
            words = tr("{size} is over the service’s limit of 25 MB. Choose how to send it:", size=size)
        else:
            words = tr(
                "{size} is close to the service’s limit of 25 MB and may be refused. To be safe, choose:", size=size
            )
        self.large_words.set_text(words)
        self.choices.setExclusive(False)
        self.flac.setChecked(head.treatment == "flac")
        self.split.setChecked(head.treatment == "split")
        self.squeeze.setChecked(head.treatment == "compress")
        self.choices.setExclusive(True)
        if head.treatment == "compress":
            self.target.set_value(head.target_bytes / MEGABYTE)
        self._as_it_is.setVisible(not sound.is_over_limit)
        self.forget.setVisible(bool(head.treatment))
        target = self.target.value() * MEGABYTE
        rate = target * 8 / sound.duration_s / 1000 if sound.duration_s else None
        told = [tr("Converts to Opus, mono at 16 kHz.")]
        if rate is not None and rate < 12:
            told.append(tr("About {rate} kbit/s. Accuracy may suffer.", rate=round(rate)))
        elif rate is not None:
            told.append(tr("Speech stays clear."))
        self.squeeze_words.set_text(" ".join(told))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.player.handle_key(event):
            super().keyPressEvent(event)

    def _show_work(self, head: Head) -> None:
        work = head.work
        self.working.setVisible(work is not None)
        self.bar.setVisible(work is not None)
        if work is None:
            self._begun = None
        elif self._begun is None or self._begun[0] != head.id:
            self._begun = (head.id, time.monotonic())
        self._seconds.look()
        if work is None:
            return
        self._work_words = work_words(work)
        self._show_elapsed()
        self.bar.set_share(work.share)

    def _show_elapsed(self) -> None:
        """How far it is, and since when somebody waits for it."""
        if self._begun is not None:
            elapsed = position(int(time.monotonic() - self._begun[1]))
            self.working.set_text(tr("{words} · {elapsed}", words=self._work_words, elapsed=elapsed))
