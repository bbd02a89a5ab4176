"""A field that takes a key combination instead of text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit

from app.ui.kit.key_text import key_text
from app.ui.kit.theme import Theme

_MODIFIERS = (
    Qt.Key.Key_Control,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Alt,
    Qt.Key.Key_Meta,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_unknown,
)


class KeyCapture(QLineEdit):
    """While it has the focus every combination belongs to it, those of the window too.

    `captured` carries Qt's portable text; Backspace gives "", no key. Esc and Tab leave as they do everywhere.
    """

    captured = Signal(str)
    left = Signal()

    def __init__(self, theme: Theme, name: str, shortcut: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setProperty("sizing", "small")
        self.setText(key_text(shortcut))
        self.setPlaceholderText("Press a key")
        self.setFixedWidth(theme.type_px(150))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # or the window would run the action whose key is being typed
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key in _MODIFIERS:
            event.accept()
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Backspace and not event.modifiers():
            self.captured.emit("")
        else:
            combination = QKeySequence(event.keyCombination())
            self.captured.emit(combination.toString(QKeySequence.SequenceFormat.PortableText))
