"""Saves a code block into a file that the person names."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.ui.kit.save_dialog import ask_to_save

if TYPE_CHECKING:
    from app.core.tasks import TaskScope


class CodeSaver(QObject):
    """`told` carries one sentence for a toast."""

    told = Signal(str)

    def __init__(self, parent: QWidget, tasks: TaskScope) -> None:
        super().__init__(parent)
        self._parent = parent
        self._tasks = tasks

    def ask(self, code: str, file_name: str) -> None:
        """Ask where to save, under any name: code is text. Opens without a nested loop."""
        ask_to_save(self._parent, self.tr("Save code"), file_name, lambda path: self.save(code, path), suffixes=())

    def save(self, code: str, path: Path) -> None:
        """Write the file off the UI thread and say where it went."""
        self._tasks.start(f"save-code:{path}", self._save, code, path)

    async def _save(self, code: str, path: Path) -> None:
        try:
            await asyncio.to_thread(path.write_text, code, encoding="utf-8", newline="")
        except OSError as error:
            self.told.emit(
                self.tr("{name} could not be saved: {strerror}").format(name=path.name, strerror=error.strerror)
            )
        else:
            self.told.emit(self.tr("Saved {name}").format(name=path.name))
