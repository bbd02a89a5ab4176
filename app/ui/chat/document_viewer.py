"""A document of a project at the place that a text was taken from, as it was read on this computer: plain text only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from app.service.http.sanitize import sanitize_line, sanitize_text
from app.translation import tr
from app.ui.kit.file_dialogs import show_in_folder
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.dialogs import MAX_SHARE, Dialog
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.chat.session.chat_documents import DocumentExcerpt
    from app.ui.kit.theme import Theme

WIDTH = 760
LINES, FEWEST = 24, 5  # of text that are shown at once


class DocumentViewer(Dialog):
    """Shows an excerpt, scrolled to what is marked in it."""

    def __init__(self, theme: Theme, parent: QWidget, name: str, found: DocumentExcerpt) -> None:
        super().__init__(theme, parent, sanitize_line(name), width=WIDTH)
        self.note = Label(theme, found.note, "small", "text2" if found.is_as_sent else "warn", wrap=True)
        self.body.addWidget(self.note)
        before, marked, after = sanitize_text(found.before), sanitize_text(found.marked), sanitize_text(found.after)
        self.text = TextArea()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("Document text"))
        self.text.setFont(theme.font("body"))
        self.text.setPlainText(before + marked + after)
        self.body.addWidget(self.text)
        cursor = self.text.textCursor()
        cursor.setPosition(_qt_length(before))
        self._start = QTextCursor(cursor)
        cursor.setPosition(_qt_length(before + marked), QTextCursor.MoveMode.KeepAnchor)
        self._marked = QTextEdit.ExtraSelection()
        self._marked.cursor = cursor
        theme.changed.connect(self._mark)
        self._mark()
        self.show_folder = self.add_button(tr("Show in folder"))
        self.show_folder.setEnabled(bool(found.path))
        self.show_folder.setToolTip(plain_tip(sanitize_line(found.path)))
        self.show_folder.clicked.connect(lambda: show_in_folder(Path(found.path)))
        self.add_button(tr("Close"), kind="primary", accepts=True, default=True)

    def _mark(self) -> None:
        self._marked.format.setBackground(QColor(self._theme.color("accent_tint")))
        self._marked.format.setForeground(QColor(self._theme.color("text")))
        self.text.setExtraSelections([self._marked])

    def _fit(self) -> None:
        """Scroll the text and not the dialog, and have the place in the middle, once lines are as wide as they stay."""
        parent = self.parentWidget()
        most = round(parent.window().height() * MAX_SHARE) if parent is not None else 0
        beside = self.sizeHint().height() - self.text.sizeHint().height()
        wanted = LINES * self._theme.line_px("body") + self._theme.px(12)
        self.text.setFixedHeight(max(FEWEST * self._theme.line_px("body"), min(wanted, most - beside)))
        super()._fit()
        self.text.setTextCursor(self._start)
        self.text.centerCursor()


def _qt_length(text: str) -> int:
    """How far Qt counts: characters beyond the first 65,536 are two."""
    return len(text) + sum(sign > "\uffff" for sign in text)
