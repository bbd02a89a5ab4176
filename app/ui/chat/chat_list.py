"""The left pane: every chat by time, a filter above, their number below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListView, QMenu, QStackedWidget, QVBoxLayout, QWidget

from app.ui.chat.chat_delegate import TURN_MS, ChatDelegate
from app.ui.chat.chat_list_model import ROW_ROLE, ChatListModel
from app.ui.chat.state import ChatEntry
from app.ui.shared.buttons import IconButton, QuietButton
from app.ui.shared.header import PaneHeader
from app.ui.shared.icons import pixmap
from app.ui.shared.label import Label
from app.ui.shared.search_field import SearchField
from app.ui.shared.surfaces import rule, zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.shared.theme import Theme

FRAME_MS = 80  # of the ring beside a chat that is being written; it is small, and text streams meanwhile


class ChatListView(QListView):
    """The list itself. Enter opens, Delete moves to the trash, F2 renames."""

    open_wanted = Signal(str)
    rename_wanted = Signal(str)
    trash_wanted = Signal(str)

    def chat_at(self, index: QModelIndex) -> ChatEntry | None:
        row = index.data(ROW_ROLE)
        return row if isinstance(row, ChatEntry) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entry = self.chat_at(self.currentIndex())
        key = event.key()
        if entry is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_wanted.emit(entry.id)
        elif entry is not None and key == Qt.Key.Key_Delete:
            self.trash_wanted.emit(entry.id)
        elif entry is not None and key == Qt.Key.Key_F2:
            self.rename_wanted.emit(entry.id)
        else:
            super().keyPressEvent(event)


class ChatListPane(QWidget):
    """Shows the chats and says which one is wanted, and for what."""

    new_wanted = Signal()
    characters_wanted = Signal()
    open_wanted = Signal(str)
    rename_wanted = Signal(str)
    pin_wanted = Signal(str, bool)
    duplicate_wanted = Signal(str)
    trash_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._open_chat: str | None = None
        self._clock = QElapsedTimer()
        self._turner = QTimer(self)
        self._turner.setInterval(FRAME_MS)
        self._turner.timeout.connect(self._turn)
        zone(self, "pane")

        self.header = PaneHeader(theme, self.tr("Chats"))
        self.characters = IconButton(theme, "mask", self.tr("Characters"), shortcut="Ctrl+Shift+P")
        self.new = IconButton(theme, "plus", self.tr("New chat"), shortcut="Ctrl+N", framed=True)
        self.header.add(self.characters)
        self.header.add(self.new)
        self.filter = SearchField(theme, self.tr("Filter chats"), shortcut="Ctrl+F")
        self.filter.setProperty("sizing", "small")
        self.model = ChatListModel(self)
        self.view = ChatListView()
        self.delegate = ChatDelegate(theme, self.view)
        self._nothing = Label(theme, "", "body", "text2", wrap=True)
        self._clear = QuietButton(theme, self.tr("Clear filter"), size="small")
        self._places = QStackedWidget()
        self._count = Label(theme, "", "small", "text3", tabular=True)
        self._drive = Label(theme)

        self._set_up_view()
        self._build()
        self._connect()
        theme.changed.connect(self._dress)
        self._dress()

    def _set_up_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        view.setItemDelegate(self.delegate)
        view.setAccessibleName(self.tr("Chats"))
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.setResizeMode(QListView.ResizeMode.Adjust)

    def _build(self) -> None:
        empty = QWidget()
        inside = QVBoxLayout(empty)
        inside.addWidget(self._nothing)
        inside.addWidget(self._clear, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addStretch(1)
        self._empty_box = inside
        self._places.addWidget(self.view)
        self._places.addWidget(empty)
        self._above = QHBoxLayout()
        self._above.addWidget(self.filter)
        self._below = QHBoxLayout()
        self._below.addWidget(self._drive)
        self._below.addWidget(self._count, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addLayout(self._above)
        layout.addWidget(self._places, 1)
        layout.addWidget(rule())
        layout.addLayout(self._below)

    def _connect(self) -> None:
        self.new.clicked.connect(self.new_wanted)
        self.characters.clicked.connect(self.characters_wanted)
        self.filter.search_changed.connect(self._filter)
        self.filter.left.connect(self.view.setFocus)
        self._clear.clicked.connect(self.filter.clear)
        self.view.clicked.connect(self._open)
        self.view.open_wanted.connect(self.open_wanted)
        self.view.rename_wanted.connect(self.rename_wanted)
        self.view.trash_wanted.connect(self.trash_wanted)
        self.view.customContextMenuRequested.connect(self.open_menu)

    def _dress(self) -> None:
        theme = self._theme
        self._above.setContentsMargins(theme.px(12), theme.px(10), theme.px(12), theme.px(2))
        self._below.setContentsMargins(theme.px(16), theme.px(9), theme.px(16), theme.px(9))
        self._below.setSpacing(theme.px(8))
        self._empty_box.setContentsMargins(theme.px(16), theme.px(16), theme.px(16), theme.px(16))
        self._empty_box.setSpacing(theme.px(8))
        self._drive.setPixmap(pixmap(theme, "drive", theme.icon_px(16), "text3", self.devicePixelRatioF()))
        self.view.doItemsLayout()

    # What the page tells

    def show_entries(self, entries: Sequence[ChatEntry]) -> None:
        """Show these chats, in this order; selection and scroll position stay."""
        self.model.set_entries(entries)
        number = len(entries)
        words = (
            self.tr("1 chat")
            if number == 1
            else self.tr("{number:,} chats").format(number=number)
            if number
            else self.tr("No chats")
        )
        self._count.set_text(self.tr("{words} on this computer").format(words=words))
        self._agree()

    def show_open_chat(self, chat_id: str | None) -> None:
        """Mark the chat that the canvas shows."""
        if chat_id != self._open_chat:
            self._open_chat = self.delegate.open_chat = chat_id
            self.view.viewport().update()
        self._agree()

    def neighbour(self, step: int) -> str | None:
        """The chat after or before the open one, as filtered."""
        return self.model.neighbour(self._open_chat, step)

    # Inside

    def _agree(self) -> None:
        """Selection, ring and the empty page follow the rows."""
        index = self.model.index_of(self._open_chat)
        selection = self.view.selectionModel()
        if index.isValid() and selection.currentIndex() != index:
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        elif not index.isValid():
            selection.clearSelection()
        writing = bool(self.model.writing_rows())
        if writing and not self._turner.isActive() and not self._theme.reduced_motion:
            self._clock.start()
            self._turner.start()
        elif not writing:
            self._turner.stop()
        shown = self.model.chats_shown()
        searched = self.filter.text().strip()
        self._clear.setVisible(bool(searched))
        self._nothing.set_text(
            self.tr("No chat is called “{searched}”.").format(searched=searched)
            if searched
            else self.tr("Your chats are kept here, on this computer only.")
        )
        self._places.setCurrentIndex(0 if shown else 1)

    def _turn(self) -> None:
        if not self.view.isVisible():
            return
        self.delegate.turn = (self._clock.elapsed() % TURN_MS) / TURN_MS
        for index in self.model.writing_rows():
            self.view.update(index)

    def _filter(self, text: str) -> None:
        self.model.set_filter(text)
        self._agree()

    def _open(self, index: QModelIndex) -> None:
        entry = self.view.chat_at(index)
        if entry is not None:
            self.open_wanted.emit(entry.id)

    def open_menu(self, where: QPoint) -> QMenu | None:
        """What can be done with the chat under the pointer."""
        entry = self.view.chat_at(self.view.indexAt(where))
        if entry is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Open"), lambda: self.open_wanted.emit(entry.id))
        menu.addAction(self.tr("Rename"), lambda: self.rename_wanted.emit(entry.id))
        pin_text = self.tr("Unpin") if entry.pinned else self.tr("Pin")
        menu.addAction(pin_text, lambda: self.pin_wanted.emit(entry.id, not entry.pinned))
        menu.addAction(self.tr("Duplicate"), lambda: self.duplicate_wanted.emit(entry.id))
        menu.addSeparator()
        menu.addAction(self.tr("Move to trash"), lambda: self.trash_wanted.emit(entry.id))
        menu.popup(self.view.viewport().mapToGlobal(where))
        return menu
