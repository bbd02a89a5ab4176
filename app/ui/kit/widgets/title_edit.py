"""A title that is renamed in place: a field replaces it while it is edited."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit

from app.ui.kit.focus import FocusReturn
from app.ui.kit.theme import Theme

MAX_CHARS = 200


class TitleEdit(QLineEdit):
    """Hidden until `begin`. Enter and leaving it rename; an empty title is no title.

    After Esc the title is what it was, and what was typed is there when the same title is edited again.

    `renamed` tells another title, `toggled` that the field came or went, for whoever shows the title meanwhile.
    """

    renamed = Signal(str)
    toggled = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        """Raises `ValueError` without a name."""
        super().__init__()
        if not name.strip():
            raise ValueError("a field needs a name")
        self._theme = theme
        self._title = ""
        self._left: dict[str, str] = {}  # by title, what was typed in its place when Esc was pressed
        self._is_open = False
        self._focus_return = FocusReturn(self)
        self.setAccessibleName(name)
        self.setMaxLength(MAX_CHARS)
        self.hide()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    @property
    def is_open(self) -> bool:
        """Whether the field stands in the title's place."""
        return self._is_open

    def begin(self, title: str) -> None:
        """Take the title's place, everything selected."""
        self._focus_return.remember(self.window().focusWidget())
        self._title = title
        self._is_open = True
        self.setText(title)
        if left := self._left.pop(title, ""):
            self.selectAll()
            self.insert(left)
        self.show()
        self.toggled.emit()
        self.end(False)
        self.home(True)  # everything selected, and a long title shown from its start
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self, *, keep: bool) -> None:
        """Give the place back; nothing happens when it was not taken."""
        if not self._is_open:
            return
        self._is_open = False
        text = self.text().strip()
        had_focus = self.window().focusWidget() is self  # else the person has gone elsewhere already
        self.hide()
        self.toggled.emit()
        if had_focus:
            self._focus_return.give_back()
        if not keep and text and text != self._title:
            self._left[self._title] = text
        if keep and text and text != self._title:
            self.renamed.emit(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.leave(keep=True)
        elif event.key() == Qt.Key.Key_Escape:
            self.leave(keep=False)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # its own menu
            self.leave(keep=True)

    def _apply_theme(self) -> None:
        self.setFont(self._theme.font("reading", 600))
