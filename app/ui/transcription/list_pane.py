"""The left pane: everything that was recorded or added, by time, with a search through all texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QListView, QMenu, QStackedWidget, QVBoxLayout, QWidget

from app.ui.shared.buttons import IconButton, QuietButton
from app.ui.shared.header import PaneHeader
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.menu import Menu
from app.ui.shared.search_field import SearchField
from app.ui.shared.surfaces import rule, zone
from app.ui.transcription.list_delegate import TranscriptDelegate
from app.ui.transcription.list_model import ROW_ROLE, TranscriptListModel
from app.ui.transcription.state import Entry

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

FRAME_MS, TURN_MS = 80, 900


class TranscriptListView(QListView):
    """Enter opens, Delete moves to the trash, F2 renames."""

    open_wanted = Signal(str)
    rename_wanted = Signal(str)
    trash_wanted = Signal(str)

    def entry_at(self, index: QModelIndex) -> Entry | None:
        row = index.data(ROW_ROLE)
        return row if isinstance(row, Entry) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entry = self.entry_at(self.currentIndex())
        key = event.key()
        if entry is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_wanted.emit(entry.id)
        elif entry is not None and key == Qt.Key.Key_Delete:
            self.trash_wanted.emit(entry.id)
        elif entry is not None and key == Qt.Key.Key_F2:
            self.rename_wanted.emit(entry.id)
        else:
            super().keyPressEvent(event)


class TranscriptListPane(QWidget):
    """Shows the rows and says which one is wanted, and for what."""

    record_wanted = Signal()
    files_wanted = Signal()
    table_wanted = Signal()
    open_wanted = Signal(str)
    rename_wanted = Signal(str)
    trash_wanted = Signal(str)
    search_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._open_row: str | None = None
        self._clock = QElapsedTimer()
        self._turner = QTimer(self)
        self._turner.setInterval(FRAME_MS)
        self._turner.timeout.connect(self._turn)
        zone(self, "pane")
        self.header = PaneHeader(theme, self.tr("Transcribe"))
        self.table = IconButton(theme, "list", self.tr("Table of files"))
        self.files = IconButton(theme, "folder", self.tr("Open files or drop them here"), shortcut="Ctrl+O")
        self.new = IconButton(theme, "plus", self.tr("New recording"), shortcut="Ctrl+N", framed=True)
        for button in (self.table, self.files, self.new):
            self.header.add(button)
        self.filter = SearchField(theme, self.tr("Search all transcripts"), shortcut="Ctrl+F")
        self.filter.setProperty("sizing", "small")
        self.model = TranscriptListModel(self)
        self.view = TranscriptListView()
        self.delegate = TranscriptDelegate(theme, self.view)
        self._nothing = Label(theme, "", "body", "text2", wrap=True)
        self._clear = QuietButton(theme, self.tr("Clear search"), size="small")
        self._places = QStackedWidget()
        self._drive = IconLabel(theme, "drive", "text3", px=16)
        self.footer = Label(theme, "", "small", "text3", tabular=True, elide=True)
        self._set_up_view()
        self._build()
        self._connect()
        theme.changed.connect(self._dress)
        self._dress()

    def _set_up_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        view.setItemDelegate(self.delegate)
        view.setAccessibleName(self.tr("Recordings and transcripts"))
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.setResizeMode(QListView.ResizeMode.Adjust)

    def _build(self) -> None:
        empty = QWidget()
        self._empty_box = QVBoxLayout(empty)
        self._empty_box.addWidget(self._nothing)
        self._empty_box.addWidget(self._clear, 0, Qt.AlignmentFlag.AlignLeft)
        self._empty_box.addStretch(1)
        self._places.addWidget(self.view)
        self._places.addWidget(empty)
        self._above = QHBoxLayout()
        self._above.addWidget(self.filter)
        self._below = QHBoxLayout()
        self._below.addWidget(self._drive)
        self._below.addWidget(self.footer, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addLayout(self._above)
        layout.addWidget(self._places, 1)
        layout.addWidget(rule())
        layout.addLayout(self._below)

    def _connect(self) -> None:
        self.new.clicked.connect(self.record_wanted)
        self.files.clicked.connect(self.files_wanted)
        self.table.clicked.connect(self.table_wanted)
        self.filter.search_changed.connect(self.search_wanted)
        self.filter.left.connect(self.view.setFocus)
        self._clear.clicked.connect(self.filter.clear)
        self.view.clicked.connect(self._open)
        self.view.open_wanted.connect(self.open_wanted)
        self.view.rename_wanted.connect(self.rename_wanted)
        self.view.trash_wanted.connect(self.trash_wanted)
        self.view.customContextMenuRequested.connect(self.open_menu)

    def _dress(self) -> None:
        px = self._theme.px
        self._above.setContentsMargins(px(12), px(10), px(12), px(2))
        self._below.setContentsMargins(px(16), px(9), px(16), px(9))
        self._below.setSpacing(px(8))
        self._empty_box.setContentsMargins(px(16), px(16), px(16), px(16))
        self._empty_box.setSpacing(px(8))
        self.view.doItemsLayout()

    # What the page tells

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show these rows, in this order; selection and scroll position stay."""
        self.model.set_entries(entries)
        self._agree()

    def show_open_row(self, row_id: str | None) -> None:
        """Mark the row that the canvas shows."""
        if row_id != self._open_row:
            self._open_row = self.delegate.open_row = row_id
            self.view.viewport().update()
        self._agree()

    def show_footer(self, words: str) -> None:
        self.footer.set_text(words)

    def neighbour(self, step: int) -> str | None:
        return self.model.neighbour(self._open_row, step)

    # Inside

    def _agree(self) -> None:
        index = self.model.index_of(self._open_row)
        selection = self.view.selectionModel()
        if index.isValid() and selection.currentIndex() != index:
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        elif not index.isValid():
            selection.clearSelection()
        busy = bool(self.model.busy_rows())
        if busy and not self._turner.isActive() and not self._theme.reduced_motion:
            self._clock.start()
            self._turner.start()
        elif not busy:
            self._turner.stop()
        searched = self.filter.text().strip()
        self._clear.setVisible(bool(searched))
        self._nothing.set_text(
            self.tr("No title and no transcript holds “{searched}”.").format(searched=searched)
            if searched
            else self.tr("Recordings and transcripts are kept here, on this computer only.")
        )
        self._places.setCurrentIndex(0 if self.model.entries() else 1)

    def _turn(self) -> None:
        if self.view.isVisible():
            self.delegate.turn = (self._clock.elapsed() % TURN_MS) / TURN_MS
            for index in self.model.busy_rows():
                self.view.update(index)

    def _open(self, index: QModelIndex) -> None:
        entry = self.view.entry_at(index)
        if entry is not None:
            self.open_wanted.emit(entry.id)

    def open_menu(self, where: QPoint) -> QMenu | None:
        """What can be done with the row under the pointer."""
        entry = self.view.entry_at(self.view.indexAt(where))
        if entry is None:
            return None
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.add(self.tr("Open")).triggered.connect(lambda: self.open_wanted.emit(entry.id))
        menu.add(self.tr("Rename"), "pencil", shortcut="F2").triggered.connect(
            lambda: self.rename_wanted.emit(entry.id)
        )
        menu.addSeparator()
        menu.add(self.tr("Move to trash"), "trash", shortcut="Del").triggered.connect(
            lambda: self.trash_wanted.emit(entry.id)
        )
        menu.popup(self.view.viewport().mapToGlobal(where))
        return menu
