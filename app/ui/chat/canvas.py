"""The middle of the tab: header, character, conversation or welcome, and the composer."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.chat.chat_header import CharacterBar, ChatHeader
from app.ui.chat.chat_welcome import ChatWelcome
from app.ui.chat.composer.composer import Composer
from app.ui.chat.composer.input_box import can_be_attached, local_files
from app.ui.kit.focus import leave_focus
from app.ui.kit.tab_order import put_in_order
from app.ui.kit.widgets.buttons import Button, LinkButton
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import zone

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from app.core.problems import Problem
    from app.ui.chat.state import ChatHead
    from app.ui.conversation.view import MessageView
    from app.ui.kit.theme import Theme
    from app.ui.kit.widgets.error_card import ErrorCard

READING_COLUMN = 760  # px at 100 %; what is typed stands under what is read


class Canvas(QWidget):
    """Lays the parts out; the page connects them. What a new chat does not show is made when it is first needed."""

    change_character_requested = Signal()
    remove_character_requested = Signal()
    cancel_edit_requested = Signal()
    cancel_queued_requested = Signal()
    problem_action = Signal(str)
    files_given = Signal(object)  # list[Path], dropped anywhere on the conversation
    image_given = Signal(object)  # QImage

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._narrow = False
        self._instead: QWidget | None = None
        self._has_character = False
        zone(self, "canvas")
        self.setAcceptDrops(True)
        self.header = ChatHeader(theme)
        self.welcome = ChatWelcome(theme)
        self.places = QStackedWidget()
        self._nothing = QWidget()  # while the last chat is read from the disk
        self.places.addWidget(self.welcome)
        self.places.addWidget(self._nothing)
        self._has_news, self._is_up = False, False
        self.newest = Button(theme, "", "arrow-down", size="small", parent=self)
        leave_focus(self.newest)
        self.newest.hide()
        self.composer = Composer(theme)
        self._build()
        self.newest.clicked.connect(self._to_the_end)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        self._box = QVBoxLayout()
        self._box.addWidget(self.composer)
        self._below = QWidget()
        around = QHBoxLayout(self._below)
        around.addStretch(1)
        self._column = QWidget()
        self._column.setLayout(self._box)
        around.addWidget(self._column, 1000)
        around.addStretch(1)
        self._around = around
        self._top = QVBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addLayout(self._top)
        layout.addWidget(self.places, 1)
        layout.addWidget(self._below)

    # Parts that are made when they are needed

    @cached_property
    def view(self) -> MessageView:
        """The conversation."""
        from app.ui.conversation.view import MessageView

        view = MessageView(self.theme)
        self.places.addWidget(view)
        put_in_order((self.header.inspector_button, view))
        view.installEventFilter(self)
        view.typed.connect(self.type_on)
        view.at_end_changed.connect(self._show_up)
        return view

    @cached_property
    def character(self) -> CharacterBar:
        """Who the chat speaks with, under the header."""
        bar = CharacterBar(self.theme)
        bar.change_requested.connect(self.change_character_requested)
        bar.remove_requested.connect(self.remove_character_requested)
        bar.hide()
        self._top.addWidget(bar)
        return bar

    @cached_property
    def editing(self) -> ComposerStrip:
        """The line that says that an earlier turn is in the box."""
        return self._add_strip("pencil", self.cancel_edit_requested)

    @cached_property
    def queued(self) -> ComposerStrip:
        """The line that says that the box is sent once the answer is complete."""
        strip = self._add_strip("clock", self.cancel_queued_requested)
        strip.set_text(tr("Sends when the answer is complete."))
        return strip

    def _add_strip(self, icon_name: str, cancelled: SignalInstance) -> ComposerStrip:
        strip = ComposerStrip(self.theme, icon_name)
        strip.cancelled.connect(cancelled)
        strip.hide()
        self._box.insertWidget(self._box.indexOf(self.composer), strip)
        return strip

    @cached_property
    def problem(self) -> ErrorCard:
        """What is wrong with the tab as a whole, such as a full disk."""
        from app.ui.kit.widgets.error_card import ErrorCard

        card = ErrorCard(self.theme)
        card.action.connect(self.problem_action)
        card.hide()
        self._box.insertWidget(0, card)
        return card

    def add_on_top(self, widget: QWidget) -> None:
        """Put something between header and conversation."""
        self._top.addWidget(widget)

    def add_over_box(self, widget: QWidget) -> None:
        """Put a line between conversation and box."""
        self._box.insertWidget(0, widget)

    def show_instead(self, widget: QWidget | None) -> None:
        """Show something in place of the conversation; None shows that again."""
        if widget is not None and self.places.indexOf(widget) < 0:
            self.places.addWidget(widget)
        self._instead = widget
        self.places.setCurrentWidget(widget or self.view)
        self._apply_theme()

    def _is_made(self, name: str) -> bool:
        return name in self.__dict__

    def _apply_theme(self) -> None:
        theme = self.theme
        self._column.setMaximumWidth(theme.type_px(READING_COLUMN))
        self._around.setContentsMargins(theme.px(24), theme.px(8), theme.px(24), theme.px(14))
        self._around.setSpacing(0)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(theme.px(8))
        self._place_newest()

    # Showing

    def leave_welcome(self) -> None:
        """Show the conversation that has begun, before the box shrinks and the welcome would move for one painting."""
        if self.places.currentWidget() is self.welcome:
            self.places.setCurrentWidget(self.view)

    def show_head(self, head: ChatHead) -> None:
        """Header, character and composer of the open chat."""
        self.header.show_head(head)
        if head.character is not None:
            self.character.show_character(head.character)
        self._has_character = head.character is not None
        self._fold()
        self.welcome.show_head(head)
        self.places.setCurrentWidget(self._nothing if head.is_coming else self.welcome if head.is_empty else self.view)
        if self._instead is not None and not head.is_empty:
            self.places.setCurrentWidget(self._instead)
        if self._is_made("view"):
            self._offer_the_end()
        self.composer.show_head(head)
        if head.queued or self._is_made("queued"):
            self.queued.setVisible(head.queued)
        if head.editing or self._is_made("editing"):
            self.editing.setVisible(head.editing)
            self.editing.set_text(_editing_note(head))
        if head.problem is not None or self._is_made("problem"):
            self._show_problem(head.problem)
        self._place_newest()

    def _show_problem(self, problem: Problem | None) -> None:
        self.problem.setVisible(problem is not None)
        if problem is not None and self.problem.problem != problem:
            self.problem.set_problem(problem)

    def set_narrow(self, narrow: bool) -> None:
        """Below 1000 px of effective width the character's header folds into the title."""
        self._narrow = narrow
        self._fold()

    def _fold(self) -> None:
        if self._has_character or self._is_made("character"):
            self.character.setVisible(self._has_character and not self._narrow)

    def show_new_text_below(self, on: bool) -> None:
        """Say that text has come below what is on screen."""
        self._has_news = on
        self._offer_the_end()

    def _show_up(self, at_end: bool) -> None:
        self._is_up = not at_end
        self._offer_the_end()

    def _offer_the_end(self) -> None:
        """Offer the way back to the end while the reader is further up."""
        self.newest.setText(tr("New text below") if self._has_news else tr("Jump to end"))
        self.newest.setVisible((self._has_news or self._is_up) and self.places.currentWidget() is self.view)
        self._place_newest()

    def _to_the_end(self) -> None:
        self.view.scroll_to_end()
        self.newest.hide()
        self.composer.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def _place_newest(self) -> None:
        if not self.newest.isVisibleTo(self):
            return
        area = self.places.geometry()
        size = self.newest.sizeHint()
        x = area.center().x() - size.width() // 2
        self.newest.setGeometry(x, area.bottom() - size.height() - self.theme.px(10), size.width(), size.height())
        self.newest.raise_()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if can_be_attached(event.mimeData()):
            event.acceptProposedAction()
            self.composer.frame.set_target(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.composer.frame.set_target(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """What is dropped on the conversation is attached to the next message."""
        self.composer.frame.set_target(False)
        source = event.mimeData()
        files = local_files(source)
        if files:
            self.files_given.emit(files)
        elif source.hasImage():
            self.image_given.emit(source.imageData())
        event.acceptProposedAction()

    def type_on(self, event: QKeyEvent) -> None:
        """Take what is typed while a conversation has the focus into the message."""
        self.composer.box.setFocus(Qt.FocusReason.OtherFocusReason)
        QApplication.sendEvent(self.composer.box, event.clone())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_newest()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._place_newest()
        return super().eventFilter(watched, event)


class ComposerStrip(QWidget):
    """One line over the composer about what is in it, with Cancel."""

    cancelled = Signal()

    def __init__(self, theme: Theme, icon_name: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(4), 0, 0, 0)
        row.setSpacing(theme.px(8))
        row.addWidget(IconLabel(theme, icon_name, "text2", px=14))
        self._words = Label(theme, "", "small", "text2", wrap=True)
        row.addWidget(self._words, 1)
        cancel = LinkButton(theme, tr("Cancel"))
        leave_focus(cancel)
        cancel.clicked.connect(self.cancelled)
        row.addWidget(cancel)

    def set_text(self, text: str) -> None:
        self._words.set_text(text)


def _editing_note(head: ChatHead) -> str:
    if head.edits_answer:
        return tr("You are editing the answer. Saving is free. The original stays as a version.")
    if head.is_taken_back:
        return tr("Your message is back here. Send it again, or change it first.")
    return tr("You are editing an earlier message. The original stays as a branch.")
