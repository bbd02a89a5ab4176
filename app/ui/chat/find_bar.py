"""The line under the header in which a person looks for words in the open chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.formats import format_number
from app.translation import tr
from app.ui.conversation.find import Finder
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.conversation.view import MessageView
    from app.ui.kit.theme import Theme


class FindBar(QWidget):
    """Enter and Shift+Enter go on and back, Esc closes. `closed` says that the focus may go elsewhere."""

    closed = Signal()

    def __init__(self, theme: Theme, view: MessageView, parent: QWidget | None = None) -> None:
        super().__init__(parent)

        self._theme = theme
        self._view = view
        self.finder: Finder = Finder(view)
        zone(self, "pane")
        self.field = SearchField(theme, tr("Find in this chat"), results=self._spoken_place, is_filter=False)
        self.field.setProperty("sizing", "small")
        self.count = Label(theme, "", "small", "text2", tabular=True)
        self.previous = IconButton(theme, "chevron-up", tr("Previous match"), shortcut="Ctrl+Shift+G", size="small")
        self.next = IconButton(theme, "chevron-down", tr("Next match"), shortcut="Ctrl+G", size="small")
        self.close_button = IconButton(theme, "close", tr("Close search"), size="small")
        self._row = QHBoxLayout()
        self._row.addWidget(self.field, 1)
        self._row.addSpacing(6)  # the ring around the field
        for widget in (self.count, self.previous, self.next, self.close_button):
            self._row.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row)
        column.addWidget(rule())
        self.field.installEventFilter(self)
        self.field.search_changed.connect(self._look)
        self.field.left.connect(self.leave)
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.close_button.clicked.connect(self.leave)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._publish()

    def _apply_theme(self) -> None:
        theme = self._theme
        self._row.setContentsMargins(theme.px(24), theme.px(6), theme.px(16), theme.px(6))
        self._row.setSpacing(theme.px(6))
        self.count.setMinimumWidth(theme.type_px(76))

    def search_for(self, text: str, row_id: str = "") -> None:
        """Show the bar with `text` in it, at the first place from a message on."""
        self.show()
        self.field.blockSignals(True)
        self.field.setText(text)
        self.field.blockSignals(False)
        self.finder.search_for(text, row_id)
        self._publish()

    def step(self, by: int) -> None:
        """Go to the next match or back."""
        if self.field.text() != self.finder.text:
            self.finder.search_for(self.field.text())
        else:
            self.finder.step(by)
        self._publish()
        self.field.say_step()

    def _spoken_place(self) -> str:
        """The place that is shown and its sentence."""
        return ": ".join(part for part in (self.count.text(), self.finder.sentence) if part)

    def recount(self) -> None:
        """The conversation has changed."""
        if self.isVisible():
            self.finder.recount()
            self._publish()

    def leave(self) -> None:
        """Close, and take the marks away."""
        self.hide()
        self.finder.stop()
        self.closed.emit()

    def _look(self, text: str) -> None:
        self.finder.search_for(text)
        self._publish()

    def _publish(self) -> None:
        finder = self.finder
        if not finder.text.strip():
            words = ""
        elif not finder.count:
            words = tr("Not found")
        else:
            words = tr("{place} of {count}", place=format_number(finder.place), count=format_number(finder.count))
        self.count.set_text(words)
        for button in (self.previous, self.next):
            button.setEnabled(finder.count > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.leave()
                return True
        return super().eventFilter(watched, event)
