"""Asking for files to attach, and where a copy of an attachment is to be saved. Nothing here blocks or opens a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.ui.kit.save_dialog import ask_to_save

if TYPE_CHECKING:
    from app.core.tasks import TaskScope

_PATTERNS = (
    "*.png *.jpg *.jpeg *.webp *.gif *.bmp *.tif *.tiff *.heic *.avif *.wav *.mp3 *.flac *.ogg *.opus *.aac *.m4a"
    " *.aiff *.mp4 *.mov *.webm *.mpeg *.mpg *.pdf *.txt *.md *.csv *.json *.html *.xml *.py *.log"
)


def ask_for_files(parent: QWidget, chosen: Callable[[list[Path]], object]) -> QFileDialog:
    """Let the person pick files; what they are is checked by content afterwards."""
    dialog = QFileDialog(parent, parent.tr("Attach files"))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.setNameFilters([parent.tr("What can be attached") + f" ({_PATTERNS})", parent.tr("All files") + " (*)"])
    dialog.filesSelected.connect(lambda paths: chosen([Path(path) for path in paths]))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


class CopySaver(QObject):
    """Saves a copy of an attachment where the person says. `told` carries one sentence for a toast."""

    told = Signal(str)

    def __init__(self, parent: QWidget, tasks: TaskScope) -> None:
        super().__init__(parent)
        self._parent = parent
        self._tasks = tasks

    def ask(self, source: Path, name: str) -> QFileDialog:
        return ask_to_save(self._parent, self._parent.tr("Save a copy"), name, lambda path: self.save(source, path))

    def save(self, source: Path, target: Path) -> None:
        """Copy the file off the UI thread and say where it went."""
        self._tasks.start(f"save-copy:{target}", self._save, source, target)

    async def _save(self, source: Path, target: Path) -> None:
        try:
            await asyncio.to_thread(lambda: target.write_bytes(source.read_bytes()))
        except OSError as error:
            words = self.tr("{name} could not be saved: {strerror}")
            self.told.emit(words.format(name=target.name, strerror=error.strerror))
        else:
            self.told.emit(self.tr("Saved {name}").format(name=target.name))
