"""Lets the caret rest while nobody types: its blinking is all that would wake an idle window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.theme import Theme

REST_AFTER_MS = 10_000  # desktops that stop the blinking themselves do so as soon
_TYPING = (QEvent.Type.KeyPress, QEvent.Type.InputMethod, QEvent.Type.MouseButtonPress)


class CaretBlink(QObject):
    """Follows the focus; when nobody has typed in the field that has it for ten seconds, its caret stops blinking.

    With reduced motion no caret blinks at all.
    """

    def __init__(self, parent: QObject, theme: Theme, after_ms: int = REST_AFTER_MS) -> None:
        super().__init__(parent)
        self._theme = theme
        self._field: QWidget | None = None
        self._usual: int | None = None  # ms of a whole blink, while the caret rests
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(after_ms)
        self._timer.timeout.connect(self._rest)
        qt_app = QApplication.instance()
        assert isinstance(qt_app, QApplication)
        qt_app.focusChanged.connect(self._follow)
        self._follow(None, qt_app.focusWidget())
        theme.changed.connect(self._follow_theme)

    @property
    def rests(self) -> bool:
        return self._usual is not None

    def _follow(self, _old: QWidget | None, field: QWidget | None) -> None:
        if self._field is not None and alive(self._field):
            self._field.removeEventFilter(self)
        self._field = field
        self._wake()
        if field is None:
            self._timer.stop()
        else:
            field.installEventFilter(self)
            self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _TYPING:
            self._wake()
            self._timer.start()
        return False

    def _rest(self) -> None:
        hints = QGuiApplication.styleHints()
        if hints.cursorFlashTime() > 0:
            self._usual = hints.cursorFlashTime()
            hints.setCursorFlashTime(0)

    def _follow_theme(self) -> None:
        self._wake()
        if self._field is not None:
            self._timer.start()

    def _wake(self) -> None:
        if self._theme.reduced_motion:
            self._rest()
        elif self._usual is not None:
            QGuiApplication.styleHints().setCursorFlashTime(self._usual)
            self._usual = None
