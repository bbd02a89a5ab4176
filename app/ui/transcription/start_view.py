"""The canvas before anything is open: record, or drop files; try the microphone first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.widgets.buttons import Button, PrimaryButton
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.surfaces import retain_size_when_hidden
from app.ui.transcription.level_meter import LevelMeter
from app.ui.transcription.state import Head, Microphones, Tick

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


class StartView(ScrollPane):
    """What belongs here, the first step as a button, one key."""

    record_requested = Signal()
    files_requested = Signal()
    folder_requested = Signal()
    test_requested = Signal()
    action = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(tr("New recording"), parent)
        self._theme = theme
        self._words = ""
        self._is_opening = False
        middle = Qt.AlignmentFlag.AlignHCenter
        column = self.fill(theme, "canvas", (24, 16, 24, 16), 8)
        self.error = ErrorCard(theme)
        self.error.setMaximumWidth(theme.type_px(560))
        self.error.hide()
        self.error.action.connect(self.action)
        column.addStretch(2)
        column.addWidget(IconLabel(theme, "transcribe", "text2", px=32), 0, middle)
        title = Label(theme, tr("Record, or drop a file"), "heading")
        self.text = Label(
            theme,
            tr(
                "Recordings are saved on this computer from the first second. You can also drop WAV, FLAC, M4A, "
                "AAC, MP4, MP3, OGG and WEBM files, or whole folders, here."
            ),
            role="text2",
            wrap=True,
        )
        self.text.setMaximumWidth(theme.type_px(560))
        title.setAlignment(middle)
        self.text.setAlignment(middle)
        column.addWidget(title)
        words = QHBoxLayout()
        words.addStretch(1)
        words.addWidget(self.text, 100)
        words.addStretch(1)
        column.addLayout(words)
        holder = QWidget()
        flow = FlowLayout(theme, parent=holder)
        self.record = PrimaryButton(theme, tr("Record"), "record")
        self.files = Button(theme, tr("Choose files…"), "document")
        self.folder = Button(theme, tr("Choose a folder…"), "folder")
        self.test = Button(theme, tr("Test microphone"), "microphone")
        for button in (self.record, self.files, self.folder, self.test):
            flow.addWidget(button)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(holder)
        row.addStretch(1)
        column.addSpacing(theme.px(8))
        column.addLayout(row)
        keys = QHBoxLayout()
        keys.setSpacing(theme.px(4))
        keys.addStretch(1)
        keys.addWidget(Label(theme, tr("Or press"), "small", "text2"))
        keys.addWidget(KeyHint(theme, "Ctrl+Shift+R"))
        keys.addWidget(Label(theme, tr("to record"), "small", "text2"))
        keys.addStretch(1)
        column.addLayout(keys)
        self.meter = LevelMeter(theme)
        self.meter.setFixedWidth(theme.type_px(360))
        self.said = Label(theme, "", "small", "text2", wrap=True)
        self.said.setAlignment(middle)
        words_without = tr("Nothing to transcribe? Speak a line in the Speech tab and press Transcribe there.")
        self.without = Label(theme, words_without, "small", "text2", wrap=True)
        self.without.setAlignment(middle)
        self.without.hide()
        retain_size_when_hidden(self.without)
        column.addSpacing(theme.px(12))
        column.addWidget(self.meter, 0, middle)
        column.addWidget(self.said)
        column.addWidget(self.without)
        card = QHBoxLayout()
        card.addStretch(1)
        card.addWidget(self.error, 6)
        card.addStretch(1)
        column.addLayout(card)
        column.addStretch(3)
        self.meter.hide()
        self.record.clicked.connect(self.record_requested)
        self.files.clicked.connect(self.files_requested)
        self.folder.clicked.connect(self.folder_requested)
        self.test.clicked.connect(self.test_requested)

    def show_head(self, head: Head) -> None:
        problem = head.problem if head.view == "empty" else None
        self.error.setVisible(problem is not None)
        if problem is not None and problem != self.error.problem:
            self.error.set_problem(problem)
        self._agree()

    def show_inputs(self, inputs: Microphones) -> None:
        self.test.setEnabled(not inputs.test and bool(inputs.microphones))
        self.test.setText(tr("Test microphone"))
        self.meter.setVisible(inputs.test == "recording")
        words = {
            "recording": tr("Say something. Rialto records three seconds, then plays them back."),
            "playing": tr("This is how you sound."),
        }.get(inputs.test, inputs.problem)
        if not words and inputs.missing:
            words = tr("The previous microphone is not connected. The system default is used.")
        self._words = words
        is_without = inputs.is_known and not inputs.microphones
        self.without.setVisible(is_without)
        had_focus = self.main.hasFocus()
        self.record.set_kind("" if is_without else "primary")
        self.files.set_kind("primary" if is_without else "")
        if had_focus:
            self.main.setFocus(Qt.FocusReason.OtherFocusReason)
        self._agree()

    @property
    def main(self) -> Button:
        """What to press first: there may be nothing to record with."""
        return self.record if self.record.kind == "primary" else self.files

    def _agree(self) -> None:
        """A card says it already."""
        self.said.set_text(tr("Opening the microphone…") if self._is_opening else self._words)
        self.said.setVisible(bool(self.said.text()) and self.error.isHidden())

    def show_tick(self, tick: Tick) -> None:
        if tick.phase == "test":
            self.meter.set_level(tick.level_db, tick.peak_db)
        elif self._is_opening != (tick.phase == "opening"):
            self._is_opening = not self._is_opening  # a sound server may take two seconds
            self._agree()
