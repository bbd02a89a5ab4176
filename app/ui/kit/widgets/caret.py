"""Lets the caret stand still after a while: its blinking is all that would wake an idle window.

Desktops that stop the blinking themselves do the same after about ten seconds.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

REST_AFTER_MS = 10_000


class CaretRest(QObject):
    """Watches one text field; while it has the focus and nobody types, the caret rests after ten seconds."""

    def __init__(self, field: QWidget, after_ms: int = REST_AFTER_MS) -> None:
        super().__init__(field)
        self._usual: int | None = None  # ms of a whole blink, while the caret rests
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(after_ms)
        self._timer.timeout.connect(self._rest)
        field.installEventFilter(self)

    @property
    def rests(self) -> bool:
        return self._usual is not None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in (QEvent.Type.KeyPress, QEvent.Type.FocusIn, QEvent.Type.InputMethod):
            self._wake()
            self._timer.start()
        elif kind in (QEvent.Type.FocusOut, QEvent.Type.Hide):
            self._timer.stop()
            self._wake()
        return False

    def _rest(self) -> None:
        hints = QGuiApplication.styleHints()
        if self._usual is None and hints.cursorFlashTime() > 0:
            self._usual = hints.cursorFlashTime()
            hints.setCursorFlashTime(0)

    def _wake(self) -> None:
        if self._usual is not None:
            QGuiApplication.styleHints().setCursorFlashTime(self._usual)
            self._usual = None
