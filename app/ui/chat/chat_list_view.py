"""The rows of the left pane: the list itself, its keys and the ring beside a chat that is being written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QItemSelectionModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListView

from app.ui.chat.chat_delegate import TURN_MS, ChatDelegate
from app.ui.chat.chat_list_model import ROW_ROLE, ChatListModel
from app.ui.chat.state import ChatEntry

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

FRAME_MS = 80  # of the ring beside a chat that is being written; it is small, and text streams meanwhile


class ChatListView(QListView):
    """Enter opens, Delete moves to the trash, F2 renames. The pane tells it which chats there are."""

    open_wanted = Signal(str)
    rename_wanted = Signal(str)
    trash_wanted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._clock = QElapsedTimer()
        self._turner = QTimer(self)
        self._turner.setInterval(FRAME_MS)
        self._turner.timeout.connect(self._turn)
        self.chats = ChatListModel(self)
        self.delegate = ChatDelegate(theme, self)
        self.setModel(self.chats)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName(self.tr("Chats"))
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.clicked.connect(self._open)
        theme.changed.connect(self.doItemsLayout)

    def chat_at(self, index: QModelIndex) -> ChatEntry | None:
        row = index.data(ROW_ROLE)
        return row if isinstance(row, ChatEntry) else None

    def mark(self, chat_id: str | None) -> None:
        """Show which chat is open; selection and ring follow the rows."""
        if self.delegate.open_chat != chat_id:
            self.delegate.open_chat = chat_id
            self.viewport().update()
        index = self.chats.index_of(chat_id)
        selection = self.selectionModel()
        if index.isValid() and selection.currentIndex() != index:
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        elif not index.isValid():
            selection.clearSelection()
        writing = bool(self.chats.writing_rows())
        if writing and not self._turner.isActive() and not self._theme.reduced_motion:
            self._clock.start()
            self._turner.start()
        elif not writing:
            self._turner.stop()

    def _turn(self) -> None:
        if not self.isVisible():
            return
        self.delegate.turn = (self._clock.elapsed() % TURN_MS) / TURN_MS
        for index in self.chats.writing_rows():
            self.update(index)

    def _open(self, index: QModelIndex) -> None:
        entry = self.chat_at(index)
        if entry is not None:
            self.open_wanted.emit(entry.id)

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
