"""Startup milestones: detects the first paint and notifies those who wait for it."""

from __future__ import annotations

import importlib
import os
import threading
import time
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

READY_FILE = "RIALTO_READY_FILE"  # the bench learns from it when the window is painted


class FirstPaint(QObject):
    """Says `over` once: when the window has been painted and the event loop turns again."""

    over = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__()
        self.is_over = False
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self._finish)
        return False

    def _finish(self) -> None:
        self.is_over = True
        self.over.emit()


class BackgroundImport(QObject):
    """Imports modules in a thread, so that a window can be used meanwhile; says `done` when they are there."""

    done = Signal()

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._names = names
        self._thread = threading.Thread(target=self._load, name="loading")

    def start(self) -> None:
        self._thread.start()

    def _load(self) -> None:
        try:
            for name in self._names:
                importlib.import_module(name)
        finally:
            self.done.emit()  # whoever needs a module that is not there says so better than this thread could

    def join(self) -> None:
        """Wait for the thread, if it was started."""
        if self._thread.ident is not None:
            self._thread.join()


def mark(moment: str) -> None:
    """Tell the bench, where one listens, that a moment of the start has come."""
    path = os.environ.get(READY_FILE)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{moment} {time.monotonic_ns()}\n")
