"""The text field of many lines: it reports what a person typed, also by an input method, and nothing else."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

TYPING_PAUSE_MS = 400


class TextArea(QPlainTextEdit):
    """A plain text field. `edited` gives the text after a person changed it: by typing, pasting, dropping or undoing.

    Qt's own `textChanged` also follows new fonts, new colors and text set by the program. Connect to it only for what
    depends on the text alone, such as a counter. The placeholder gives way to text that an input method composes, which
    Qt draws over it. Tab leaves the field.
    """

    edited = Signal(str)

    _placeholder = ""
    _composed = ""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, name: str = "", placeholder: str = "") -> None:
        super().__init__(text, parent)
        self.setTabChangesFocus(True)
        if name:
            self.setAccessibleName(name)
        if placeholder:
            self.setPlaceholderText(placeholder)
        self._seen = self.toPlainText()
        self._by_program = False
        self.textChanged.connect(self._report)

    def set_text(self, text: str) -> None:
        """Replace the text without reporting an edit. The same text keeps the caret and what can be undone."""
        if text == self.toPlainText():
            return
        caret = self.caret_after(text)
        self._by_program = True
        try:
            self.setPlainText(text)
        finally:
            self._by_program = False
        cursor = self.textCursor()
        cursor.setPosition(min(caret, self.document().characterCount() - 1))
        self.setTextCursor(cursor)

    def caret_after(self, text: str) -> int:
        """Return the caret's position in `text`: unchanged where it continues what was typed, else the beginning."""
        before = self.toPlainText()
        return self.textCursor().position() if before and text.startswith(before) else 0

    def _report(self) -> None:
        text = self.toPlainText()
        if text == self._seen:
            return
        self._seen = text
        if not self._by_program:
            self.edited.emit(text)

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


class DebouncedTextArea(TextArea):
    """A few lines of text. `settled` gives them a moment after the last key, or on `flush`."""

    settled = Signal(str)

    def __init__(self, name: str, placeholder: str) -> None:
        super().__init__(name=name, placeholder=placeholder)
        self.setProperty("sizing", "small")
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_PAUSE_MS)
        self._typing.timeout.connect(lambda: self.settled.emit(self.toPlainText()))
        self.edited.connect(lambda _text: self._typing.start())

    @property
    def is_typing(self) -> bool:
        """True from a key until `settled`."""
        return self._typing.isActive()

    def show_text(self, text: str, *, replace: bool = False) -> None:
        """Show a text. What is being typed stays, unless `replace` is set: it belongs to something else."""
        if self.toPlainText() == text or ((self.is_typing or self.hasFocus()) and not replace):
            return
        self._typing.stop()
        self.set_text(text)

    def flush(self) -> None:
        """Report what was typed a moment ago."""
        if self.is_typing:
            self._typing.stop()
            self.settled.emit(self.toPlainText())


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
