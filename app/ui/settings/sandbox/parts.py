"""What the pages about the Sandbox share: groups under each other, a copy button, text as it went over the wire."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule

_SAID_MS = 2000
_MOST_LINES = 22


class Groups(QWidget):
    """A column of groups with headings, like a section of Settings."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        theme.changed.connect(self._space)
        self._space()

    def group(self, title: str, *content: QWidget) -> None:
        """Add a heading with what belongs under it."""
        inner = QVBoxLayout()
        inner.setSpacing(self.theme.px(8))
        if title:
            inner.addWidget(Label(self.theme, title, "heading"))
        for widget in content:
            inner.addWidget(widget)
        self.column.addLayout(inner)

    def _space(self) -> None:
        self.column.setSpacing(self.theme.px(24))


class CopyButton(Button):
    """Copies what `read` gives at the moment of the press, and says so for two seconds."""

    def __init__(self, theme: Theme, name: str, read: Callable[[], str]) -> None:
        super().__init__(theme, tr("Copy"), "copy", size="small")
        self.setAccessibleName(name)
        self._read = read
        self.clicked.connect(self._copy)

    def read_from(self, read: Callable[[], str]) -> None:
        """Copy something else from now on."""
        self._read = read

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._read())
        self.setText(tr("Copied"))
        QTimer.singleShot(_SAID_MS, self, lambda: self.setText(tr("Copy")))


class CodeCard(Card):
    """Text in the mono font that can be selected and copied; never interpreted. As high as its lines, up to a bound."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__(theme, padding=(0, 0), spacing=0, fill="sunken")
        self._code_theme = theme
        top = QHBoxLayout()
        side, down = theme.px(12), theme.px(6)
        top.setContentsMargins(side, down, theme.px(6), down)
        self.title = Label(theme, title, "small", "text2", weight=500, elide=True)
        top.addWidget(self.title, 1)
        self.copy = CopyButton(theme, tr("Copy: {title}", title=title), lambda: self.edit.toPlainText())
        top.addWidget(self.copy)
        self.body.addLayout(top)
        self.body.addWidget(rule())
        self.edit = TextArea()
        self.edit.setReadOnly(True)
        self.edit.setProperty("bare", True)
        self.edit.setLineWrapMode(TextArea.LineWrapMode.NoWrap)
        self.edit.setTabChangesFocus(True)
        self.edit.setAccessibleName(title)
        self.edit.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.body.addWidget(self.edit)
        theme.changed.connect(self._apply_code_theme)
        self._apply_code_theme()

    def set_title(self, title: str) -> None:
        """Name what is shown."""
        self.title.set_text(title)
        self.edit.setAccessibleName(title)
        self.copy.setAccessibleName(tr("Copy: {title}", title=title))

    def set_text(self, text: str) -> None:
        """Show another text; the same one keeps the selection."""
        if text != self.edit.toPlainText():
            self.edit.setPlainText(text)
            self._apply_code_theme()

    def _apply_code_theme(self) -> None:
        theme = self._code_theme
        self.edit.setFont(theme.font("code"))
        self.edit.document().setDocumentMargin(theme.px(10))
        lines = min(_MOST_LINES, max(3, self.edit.blockCount()))
        bar = self.edit.horizontalScrollBar().sizeHint().height()
        inside = lines * self.edit.fontMetrics().lineSpacing() + 2 * theme.px(10)
        self.edit.setFixedHeight(inside + bar + theme.px(6))  # a little more, or the last line would be scrolled to
