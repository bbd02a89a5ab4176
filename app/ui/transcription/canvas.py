"""The middle of the tab: a header, and below it what the open row needs. Takes files that are dropped on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.focus import let_go
from app.ui.kit.leaving_strip import LeavingStrip
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.file_drop import FileDrop
from app.ui.kit.widgets.receipt_line import runs_text
from app.ui.kit.widgets.surfaces import zone
from app.ui.transcription.batch_view import BatchView
from app.ui.transcription.header import TranscriptHeader
from app.ui.transcription.recording_view import RecordingView
from app.ui.transcription.result_view import ResultView
from app.ui.transcription.sound_view import SoundView
from app.ui.transcription.start_view import StartView
from app.ui.transcription.state import Head

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

VIEWS = ("empty", "recording", "sound", "result", "batch")


class Canvas(QFrame):
    """`files_dropped` carries the paths. Letter keys of a recording work while no text has the focus."""

    files_dropped = Signal(object)  # tuple[Path, ...]
    pause_pressed = Signal()
    mark_pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        self._theme = theme
        self._shown_id: str | None = None
        zone(self, "canvas")
        FileDrop(theme, self).dropped.connect(self.files_dropped)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the header and the views, one at each step; from the outside in, so that none is styled twice."""
        theme = self._theme
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.header = TranscriptHeader(theme)
        layout.addWidget(self.header)
        self.leaving = LeavingStrip(theme)
        layout.addWidget(self.leaving)
        yield
        self.places = QStackedWidget(self)
        layout.addWidget(self.places, 1)
        yield
        self.start = StartView(theme, self.places)
        self.places.addWidget(self.start)
        yield
        self.recording = RecordingView(theme, self.places)
        self.places.addWidget(self.recording)
        yield
        self.sound = SoundView(theme, self.places, whole=False)
        self.places.addWidget(self.sound)
        yield from self.sound.build()
        yield
        self.result = ResultView(theme, self.places)
        self.places.addWidget(self.result)
        yield
        self.batch = BatchView(theme, self.places)
        self.places.addWidget(self.batch)
        yield

    @property
    def view(self) -> str:
        return VIEWS[self.places.currentIndex()]

    def show_head(self, head: Head) -> None:
        """Show the open row, whatever it is."""
        self.header.show_head(head)
        before = self.view
        had_focus = before != head.view and let_go(self)
        if before == "sound" and head.view == "result" and head.id == self._shown_id and self.isVisible():
            without_ids = [run for run in head.receipt if not run.mono]
            announce(self, tr("Transcript ready. {receipt}", receipt=runs_text(without_ids)))
        self._shown_id = head.id
        self.places.setCurrentIndex(VIEWS.index(head.view))
        self.start.show_head(head)
        self.sound.show_head(head)
        self.result.show_head(head)
        if head.view == "recording":
            self.recording.show_head(head)
        if had_focus or (before != head.view and head.view == "recording"):
            self.main_input().setFocus(Qt.FocusReason.OtherFocusReason)

    def main_input(self) -> QWidget:
        """Where the keyboard is best put; on Pause while it records, so that Space pauses."""
        places: dict[str, QWidget] = {
            "empty": self.start.main,
            "recording": self.recording.pause,
            "sound": self.sound.send if self.sound.send.isEnabled() else self.sound.stop,
            "result": self.result.view,
            "batch": self.batch.table,
        }
        return places[self.view]

    # Keys of a recording

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self.view == "recording" and plain and event.key() == Qt.Key.Key_Space:
            self.pause_pressed.emit()
        elif self.view == "recording" and plain and event.key() == Qt.Key.Key_M:
            self.mark_pressed.emit()
        else:
            super().keyPressEvent(event)
