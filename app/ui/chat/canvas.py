"""The middle of the tab: header, character, conversation or welcome, and the composer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.ui.chat.chat_header import CharacterBar, ChatHeader
from app.ui.chat.chat_welcome import ChatWelcome
from app.ui.chat.composer import Composer
from app.ui.chat.message_view import MessageView
from app.ui.shared.buttons import Button, LinkButton
from app.ui.shared.error_card import ErrorCard
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.chat.state import ChatHead
    from app.ui.shared.theme import Theme

READING_COLUMN = 760  # px at 100 %; what is typed stands under what is read


class Canvas(QWidget):
    """Lays the parts out; the page connects them."""

    resized = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._narrow = False
        self._has_character = False
        zone(self, "canvas")
        self.header = ChatHeader(theme)
        self.character = CharacterBar(theme)
        self._rule = rule()
        self.view = MessageView(theme)
        self.welcome = ChatWelcome(theme)
        self.places = QStackedWidget()
        self.places.addWidget(self.welcome)
        self.places.addWidget(self.view)
        self.newest = Button(theme, self.tr("New text below"), "arrow-down", size="small", parent=self)
        self.newest.hide()
        self.problem = ErrorCard(theme)
        self.problem.hide()
        self.editing = EditingStrip(theme)
        self.editing.hide()
        self.composer = Composer(theme)
        self._build()
        self.newest.clicked.connect(self._to_the_end)
        self.view.installEventFilter(self)
        self.view.verticalScrollBar().installEventFilter(self)
        theme.changed.connect(self._dress)
        self._dress()

    def _build(self) -> None:
        self._box = QVBoxLayout()
        for widget in (self.problem, self.editing, self.composer):
            self._box.addWidget(widget)
        self._below = QWidget()
        around = QHBoxLayout(self._below)
        around.addStretch(1)
        self._column = QWidget()
        self._column.setLayout(self._box)
        around.addWidget(self._column, 1000)
        around.addStretch(1)
        self._around = around
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.character)
        layout.addWidget(self._rule)
        layout.addWidget(self.places, 1)
        layout.addWidget(self._below)

    def _dress(self) -> None:
        theme = self.theme
        self._column.setMaximumWidth(theme.type_px(READING_COLUMN))
        bar = self.view.verticalScrollBar()
        beside = bar.width() if bar.isVisibleTo(self.view) and self.places.currentWidget() is self.view else 0
        self._around.setContentsMargins(theme.px(24), theme.px(8), theme.px(24) + beside, theme.px(14))
        self._around.setSpacing(0)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(theme.px(8))
        self._place_newest()

    # Showing

    def show_head(self, head: ChatHead) -> None:
        """Header, character and composer of the open chat."""
        self.header.show_head(head)
        self._has_character = head.character is not None
        if head.character is not None:
            self.character.show_character(head.character)
        self._fold()
        self.welcome.show_head(head)
        self.places.setCurrentWidget(self.welcome if head.is_empty else self.view)
        self.composer.show_head(head)
        self.editing.setVisible(head.editing)
        self.problem.setVisible(head.problem is not None)
        if head.problem is not None and self.problem.problem != head.problem:
            self.problem.set_problem(head.problem)
        self._dress()

    def set_narrow(self, narrow: bool) -> None:
        """Below 1000 px of effective width the character's header folds into the title."""
        self._narrow = narrow
        self._fold()

    def _fold(self) -> None:
        shown = self._has_character and not self._narrow
        self.character.setVisible(shown)
        self._rule.setVisible(shown)

    def show_new_text_below(self, on: bool) -> None:
        """Offer the way back to the end while the reader is further up."""
        self.newest.setVisible(on and self.places.currentWidget() is self.view)
        self._place_newest()

    def _to_the_end(self) -> None:
        self.view.scroll_to_end()
        self.newest.hide()
        self.composer.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place_newest(self) -> None:
        area = self.places.geometry()
        size = self.newest.sizeHint()
        x = area.center().x() - size.width() // 2
        self.newest.setGeometry(x, area.bottom() - size.height() - self.theme.px(10), size.width(), size.height())
        self.newest.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_newest()
        self.resized.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.view and event.type() == QEvent.Type.Resize:
            self._place_newest()
        elif watched is self.view.verticalScrollBar() and event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._dress()  # the box stays under the text, which the bar makes narrower
        return super().eventFilter(watched, event)


class EditingStrip(QWidget):
    """One line over the composer while an earlier turn is in it."""

    cancelled = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(4), 0, 0, 0)
        row.setSpacing(theme.px(8))
        row.addWidget(IconLabel(theme, "pencil", "text2", px=14))
        words = self.tr("You are editing an earlier message. The old one stays as a branch.")
        row.addWidget(Label(theme, words, "small", "text2", wrap=True), 1)
        cancel = LinkButton(theme, self.tr("Cancel"))
        cancel.clicked.connect(self.cancelled)
        row.addWidget(cancel)
