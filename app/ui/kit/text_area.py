"""The text field of many lines, and what happens to text that an input method is still composing."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit


class TextArea(QPlainTextEdit):
    """A plain text field. Its placeholder gives way to text that an input method composes, which Qt draws over it."""

    _placeholder = ""
    _composed = ""

    @property
    def is_composing(self) -> bool:
        """True while an input method shows text that is not entered yet."""
        return bool(self._composed)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composed = event.preeditString()
        super().inputMethodEvent(event)
        self._show_placeholder()

    def commit_composed(self) -> None:
        """Enter what is being composed, as input methods do when the focus moves."""
        composed, ended = self._composed, QInputMethodEvent()
        if composed:
            ended.setCommitString(composed)
            QApplication.sendEvent(self, ended)
            QGuiApplication.inputMethod().reset()

    def setPlaceholderText(self, text: str) -> None:
        self._placeholder = text
        self._show_placeholder()

    def placeholderText(self) -> str:
        return self._placeholder

    def _show_placeholder(self) -> None:
        shown = "" if self._composed else self._placeholder
        if shown != super().placeholderText():
            super().setPlaceholderText(shown)


def commit_composed() -> None:
    """Have the focused field enter what an input method composes in it, before a press elsewhere reads the field.

    In Korean the last syllable is always being composed, and a button without focus does not end that.
    """
    field = QApplication.focusWidget()
    if field is None:
        return
    QGuiApplication.inputMethod().commit()
    if isinstance(field, TextArea):
        field.commit_composed()  # the input method did not
