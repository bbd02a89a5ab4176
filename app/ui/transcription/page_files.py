"""The dialogs in which the tab asks for files, and where to save. None of them begins a loop of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.ui.kit.save_dialog import ask_to_save
from app.ui.transcription.presenter import TranscriptionPresenter

FILE_FILTER = "Sound (*.wav *.wave *.flac *.m4a *.aac *.mp4 *.mp3 *.ogg *.oga *.webm);;All files (*)"


class FileDialogs(QObject):
    """`over` is the widget that the dialogs belong to, `title` tells the title of the open row."""

    def __init__(self, presenter: TranscriptionPresenter, over: QWidget, title: Callable[[], str]) -> None:
        super().__init__(over)
        self._presenter = presenter
        self._over = over
        self._title = title

    def choose_files(self) -> None:
        dialog = self._make(self.tr("Files to transcribe"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilter(FILE_FILTER)
        dialog.filesSelected.connect(lambda names: self._presenter.add_files(tuple(map(Path, names))))
        dialog.open()

    def choose_folder(self) -> None:
        dialog = self._make(self.tr("A folder to transcribe"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.filesSelected.connect(lambda names: self._presenter.add_files(tuple(map(Path, names))))
        dialog.open()

    def save_export(self) -> None:
        kind = self._presenter.export_choice.kind
        self._ask_where(self.tr("Save the transcript"), kind, self._presenter.save_export)

    def save_sound(self) -> None:
        """A copy of the recording; the tab keeps its own."""
        self._ask_where(self.tr("Save a copy of the recording"), "wav", self._presenter.save_sound)

    def _ask_where(self, words: str, kind: str, save: Callable[[Path], None]) -> None:
        ask_to_save(self._over, words, f"{self._title() or 'transcript'}.{kind}", save)

    def _make(self, words: str) -> QFileDialog:
        dialog = QFileDialog(self._over, words)
        dialog.finished.connect(dialog.deleteLater)
        return dialog
