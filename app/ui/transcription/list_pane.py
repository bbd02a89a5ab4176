"""The left pane: everything that was recorded or added, by time, with a search through all texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QMenu, QWidget

from app.core.time_format import position
from app.translation import tr, tr_n
from app.ui.kit import icons
from app.ui.kit.lists.grouped_list import RowLike, under_headings
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate, at_start, without_start
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.lists.list_pane import ListPane, StorageFooter
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.spinner import paint_spinner
from app.ui.transcription.state import Entry, Tick

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


SIGNS = {
    "recording": ("record", "bad"),
    "recorded": ("microphone", "text3"),
    "queued": ("clock", "text3"),
    "done": ("document", "text3"),
    "failed": ("error", "bad"),
    "unknown": ("warning", "warn"),
}


class TranscriptDelegate(GroupedDelegate):
    """The sign of a row says its state, the words below say it again."""

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if isinstance(row, Entry):
            self._paint_entry(painter, rect, row, is_on)

    def _paint_entry(self, painter: QPainter, rect: QRect, row: Entry, is_on: bool) -> None:
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        upper = QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))
        lower = QRect(inside.left(), upper.bottom() + 2, inside.width(), theme.type_px(17))
        side = theme.icon_px(14)
        sign = at_start(painter, upper.translated(0, 1), side)
        if row.state == "sending":
            paint_spinner(painter, theme, sign, self.turn)
        else:
            name, role = SIGNS.get(row.state, ("document", "text3"))
            if row.state == "recorded" and row.origin == "file":
                name = "wave"
            icons.paint(painter, theme, name, sign, role)
        taken = side + theme.px(10)
        small = theme.font("small", tabular=True)
        body = theme.font("body", 600 if is_on else 500)
        self.pair(painter, without_start(painter, upper, taken), (row.title, body, "text"), (row.right, small, "text2"))
        self.pair(
            painter,
            without_start(painter, lower, taken),
            (row.second_line, small, "text3"),
            (row.cost, small, "text3"),
        )


class TranscriptListPane(ListPane):
    """Shows the rows and says which one is wanted, and for what."""

    record_requested = Signal()
    files_requested = Signal()
    table_requested = Signal()
    open_requested = Signal(str)
    rename_requested = Signal(str)
    trash_requested = Signal(object)  # ids
    search_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.foot = StorageFooter(theme)
        super().__init__(
            theme,
            tr("Transcribe"),
            tr("Search all transcripts"),
            tr("Clear search"),
            self.foot,
            parent,
        )
        self._open_row: str | None = None
        self._tick = Tick()
        self.table = IconButton(theme, "list", tr("File table"))
        self.files = IconButton(theme, "folder", tr("Open files or drop them here"), shortcut="Ctrl+O")
        self.new = IconButton(theme, "plus", tr("New recording"), shortcut="Ctrl+N", framed=True)
        for button in (self.table, self.files, self.new):
            self.header.add(button)
        self.view = GroupedView(
            theme, tr("Recordings and transcripts"), has_start_sign=False, selects_many=True, turns=_is_under_way
        )
        self.view.setItemDelegate(TranscriptDelegate(theme, self.view))
        self.hold(self.view)
        self.new.clicked.connect(self.record_requested)
        self.files.clicked.connect(self.files_requested)
        self.table.clicked.connect(self.table_requested)
        self.filter.search_changed.connect(self.search_requested)
        self.view.chosen.connect(lambda key: self.open_requested.emit(str(key)))
        self.view.rename_requested.connect(lambda key: self.rename_requested.emit(str(key)))
        self.view.trash_requested.connect(self.trash_requested)
        self.view.menu_requested.connect(lambda key, place: self.menu_of(str(key)).popup(place))

    # What the page tells

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show these rows, in this order; selection and scroll position stay."""
        shown = (self._as_it_grows(entry) for entry in entries)
        groups = under_headings(shown, lambda entry: entry.id, lambda entry: entry.group)
        self.view.show_groups(groups, self.filter.text())
        self.view.show_open(self._open_row)
        self.is_read = True
        self._agree()

    def show_recording(self, tick: Tick) -> None:
        """Let the row of the recording tell how long it is now and whether it pauses."""
        self._tick = tick
        for index in self.view.rows.where(lambda row: isinstance(row, Entry) and row.state == "recording"):
            entry = self.view.rows.row(index)
            if isinstance(entry, Entry):
                self.view.show_row(entry.id, self._as_it_grows(entry))

    def _as_it_grows(self, entry: Entry) -> Entry:
        if entry.state != "recording" or not self._tick.seconds:
            return entry
        words = tr("Paused") if self._tick.phase == "paused" else entry.second_line
        return replace(entry, right=position(self._tick.seconds), second_line=words)

    def show_open_row(self, row_id: str | None) -> None:
        """Mark the row that the canvas shows."""
        self._open_row = row_id
        self.view.show_open(row_id)

    def show_footer(self, words: str) -> None:
        self.foot.show_kept(words)

    def neighbor(self, step: int) -> str | None:
        """The row after (1) or before (-1) the open one; None in an empty list."""
        key = self.view.rows.neighbor(self._open_row, step)
        return None if key is None else str(key)

    # Inside

    def _agree(self) -> None:
        searched = self.filter.text().strip()
        self.show_filled(
            bool(self.view.rows.rowCount()),
            tr("No results for “{searched}”.", searched=searched)
            if searched
            else tr("Recordings and transcripts appear here. They stay on this computer."),
        )

    def menu_of(self, row_id: str) -> QMenu:
        """What can be done with a row."""
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chosen = self.view.selected_with(row_id)
        if len(chosen) == 1:
            menu.add(tr("Open"), "transcribe", shortcut="Return").triggered.connect(
                lambda: self.open_requested.emit(row_id)
            )
            menu.add(tr("Rename"), "pencil", shortcut="F2").triggered.connect(
                lambda: self.rename_requested.emit(row_id)
            )
        trash = menu.add_trash(tr_n("Move to trash", "Move {n} items to trash", len(chosen)))
        trash.triggered.connect(lambda: self.trash_requested.emit(chosen))
        return menu


def _is_under_way(row: RowLike) -> bool:
    return isinstance(row, Entry) and row.state == "sending"
