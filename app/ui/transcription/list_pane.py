"""The left pane: everything that was recorded or added, by time, with a search through all texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QVBoxLayout, QWidget

from app.ui.shared.buttons import IconButton, QuietButton
from app.ui.shared.grouped_list import RowLike, under_headings
from app.ui.shared.grouped_list_view import GroupedView
from app.ui.shared.header import PaneHeader
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.menu import Menu
from app.ui.shared.search_field import SearchField
from app.ui.shared.surfaces import rule, zone
from app.ui.transcription.list_delegate import TranscriptDelegate
from app.ui.transcription.state import Entry

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme


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
        zone(self, "pane")
        self.header = PaneHeader(theme, self.tr("Transcribe"))
        self.table = IconButton(theme, "list", self.tr("Table of files"))
        self.files = IconButton(theme, "folder", self.tr("Open files or drop them here"), shortcut="Ctrl+O")
        self.new = IconButton(theme, "plus", self.tr("New recording"), shortcut="Ctrl+N", framed=True)
        for button in (self.table, self.files, self.new):
            self.header.add(button)
        self.filter = SearchField(theme, self.tr("Search all transcripts"), shortcut="Ctrl+F")
        self.filter.setProperty("sizing", "small")
        self.view = GroupedView(theme, self.tr("Recordings and transcripts"), has_start_sign=False, turns=_is_under_way)
        self.view.setItemDelegate(TranscriptDelegate(theme, self.view))
        self._nothing = Label(theme, "", "body", "text2", wrap=True)
        self._clear = QuietButton(theme, self.tr("Clear search"), size="small")
        self._places = QStackedWidget()
        self._drive = IconLabel(theme, "drive", "text3", px=16)
        self.footer = Label(theme, "", "small", "text3", tabular=True, elide=True)
        self._build()
        self._connect()
        theme.changed.connect(self._dress)
        self._dress()

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
        self.view.chosen.connect(lambda key: self.open_wanted.emit(str(key)))
        self.view.rename_wanted.connect(lambda key: self.rename_wanted.emit(str(key)))
        self.view.trash_wanted.connect(self._throw_away)
        self.view.menu_wanted.connect(lambda key, place: self.menu_of(str(key)).popup(place))

    def _dress(self) -> None:
        px = self._theme.px
        self._above.setContentsMargins(px(12), px(10), px(12), px(2))
        self._below.setContentsMargins(px(16), px(9), px(16), px(9))
        self._below.setSpacing(px(8))
        self._empty_box.setContentsMargins(px(16), px(16), px(16), px(16))
        self._empty_box.setSpacing(px(8))

    # What the page tells

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show these rows, in this order; selection and scroll position stay."""
        self.view.show_groups(under_headings(entries, lambda entry: entry.id, lambda entry: entry.group))
        self.view.show_open(self._open_row)
        self._agree()

    def show_open_row(self, row_id: str | None) -> None:
        """Mark the row that the canvas shows."""
        self._open_row = row_id
        self.view.show_open(row_id)

    def show_footer(self, words: str) -> None:
        self.footer.set_text(words)

    def neighbour(self, step: int) -> str | None:
        """The row after (1) or before (-1) the open one; None in an empty list."""
        key = self.view.rows.neighbour(self._open_row, step)
        return None if key is None else str(key)

    # Inside

    def _agree(self) -> None:
        searched = self.filter.text().strip()
        self._clear.setVisible(bool(searched))
        self._nothing.set_text(
            self.tr("No title and no transcript holds “{searched}”.").format(searched=searched)
            if searched
            else self.tr("Recordings and transcripts are kept here, on this computer only.")
        )
        self._places.setCurrentIndex(0 if self.view.rows.rowCount() else 1)

    def _throw_away(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.trash_wanted.emit(key)

    def menu_of(self, row_id: str) -> QMenu:
        """What can be done with a row."""
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.add(self.tr("Open")).triggered.connect(lambda: self.open_wanted.emit(row_id))
        menu.add(self.tr("Rename"), "pencil", shortcut="F2").triggered.connect(lambda: self.rename_wanted.emit(row_id))
        menu.addSeparator()
        menu.add(self.tr("Move to trash"), "trash", shortcut="Del").triggered.connect(
            lambda: self.trash_wanted.emit(row_id)
        )
        return menu


def _is_under_way(row: RowLike) -> bool:
    return isinstance(row, Entry) and row.state == "sending"
