"""The left pane while the trash is looked at: what is in it, bring back, delete for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui.chat.chat_delegate import TrashDelegate
from app.ui.chat.state import TrashEntry
from app.ui.shared.buttons import Button, IconButton
from app.ui.shared.flow import FlowLayout
from app.ui.shared.grouped_list import GroupedModel
from app.ui.shared.grouped_list_view import GroupedView
from app.ui.shared.header import PaneHeader
from app.ui.shared.label import Label
from app.ui.shared.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme


class TrashPane(QWidget):
    """Tells what is wanted; the page asks before anything is deleted for good."""

    restore_wanted = Signal(str)
    purge_wanted = Signal(str, str)  # chat id, its title
    empty_wanted = Signal(int)  # how many chats there are
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        self.back = IconButton(theme, "chevron-left", self.tr("Back to the chats"))
        self.header = PaneHeader(theme, self.tr("Trash"))
        self.header.add_before_title(self.back)
        self.view = GroupedView(theme, self.tr("Chats in the trash"), has_start_sign=False, click_chooses=False)
        self.view.setItemDelegate(TrashDelegate(theme, self.view))
        self.view.setUniformItemSizes(True)
        self.note = Label(theme, "", "small", "text3", wrap=True)
        self.restore = Button(theme, self.tr("Bring back"), "undo", size="small")
        self.purge = Button(theme, self.tr("Delete for good…"), size="small", kind="danger")
        self.empty = Button(theme, self.tr("Empty the trash…"), size="small", kind="danger")
        self.stops = (self.back, self.view, self.restore, self.purge, self.empty)  # as Tab reaches them
        buttons = QWidget()
        flow = FlowLayout(theme, gap=8, line_gap=8, parent=buttons)
        for button in (self.restore, self.purge, self.empty):
            flow.addWidget(button)
        self._below = QVBoxLayout()
        self._below.addWidget(self.note)
        self._below.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        self._list = QVBoxLayout()
        self._list.addWidget(self.view)
        layout.addLayout(self._list, 1)
        layout.addWidget(rule())
        layout.addLayout(self._below)
        self.back.clicked.connect(self.left)
        self.view.chosen.connect(lambda chat_id: self.restore_wanted.emit(chat_id))
        self.view.trash_wanted.connect(lambda _keys: self._purge())
        self.restore.clicked.connect(self._restore)
        self.purge.clicked.connect(self._purge)
        self.empty.clicked.connect(lambda: self.empty_wanted.emit(self.model.rowCount()))
        theme.changed.connect(self._dress)
        self._dress()
        self.show_entries(())

    def _dress(self) -> None:
        theme = self._theme
        self._list.setContentsMargins(0, theme.px(8), 0, 0)
        self._below.setContentsMargins(theme.px(16), theme.px(9), theme.px(16), theme.px(12))
        self._below.setSpacing(theme.px(8))

    @property
    def model(self) -> GroupedModel:
        """What is in the trash, last thrown away first."""
        return self.view.rows

    def show_entries(self, entries: Sequence[TrashEntry]) -> None:
        """Show what is in the trash now."""
        place = max(0, self.view.currentIndex().row())
        self.view.show_groups([("", [(entry.id, entry) for entry in entries])])
        number = len(entries)
        if number and self.view.current_key is None:
            self.view.show_current(entries[min(place, number - 1)].id)
        for button in (self.restore, self.purge, self.empty):
            button.setEnabled(bool(number))
        self.note.set_text(
            self.tr("Chats stay here until you delete them. Searches leave them out.")
            if number
            else self.tr("The trash is empty.")
        )

    def _entry(self) -> TrashEntry | None:
        entry = self.model.row_of(self.view.current_key)
        return entry if isinstance(entry, TrashEntry) else None

    def _restore(self) -> None:
        entry = self._entry()
        if entry is not None:
            self.restore_wanted.emit(entry.id)

    def _purge(self) -> None:
        entry = self._entry()
        if entry is not None:
            self.purge_wanted.emit(entry.id, entry.title)
