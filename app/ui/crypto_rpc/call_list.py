"""The left pane: collections, then every request that was sent, newest first; a filter above, the credits below."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core import number_format
from app.translation import tr
from app.ui.crypto_rpc.call_rows import CallDelegate, CollectionKey, CollectionRow, groups_of
from app.ui.crypto_rpc.state import CallEntry, CapsView, CollectionEntry
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.lists.list_pane import ListPane
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import Progress

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LOW_SHARE = 0.9  # of a cap, from which on it is said in another color


class CreditsFooter(QWidget):
    """How much of a day's credits is spent."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.title = Label(theme, tr("Credits, last 24 h"), "small", "text2")
        self.credits = Label(theme, "", "small", weight=600, tabular=True)
        self.meter = Progress(theme, tr("Credits in the last 24 hours"))
        line = QHBoxLayout()
        line.addWidget(self.title, 1)
        line.addWidget(self.credits)
        self._column = QVBoxLayout(self)
        self._column.addLayout(line)
        self._column.addWidget(self.meter)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_caps(CapsView())

    def show_caps(self, caps: CapsView) -> None:
        share = min(1.0, caps.credits / caps.credits_limit)
        used, limit = number_format.short_count(caps.credits), number_format.short_count(caps.credits_limit)
        self.credits.set_text(f"{used} / {limit}")
        self.meter.set_share(share)
        self.meter.set_tone("warn" if share >= LOW_SHARE else "")

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(16), px(10), px(16), px(12))
        self._column.setSpacing(px(6))


class CallListPane(ListPane):
    """Shows the requests and says which one is wanted."""

    new_requested = Signal()
    collect_requested = Signal()
    open_requested = Signal(str)
    saved_requested = Signal(str, int)  # a collection's file and the place of a request in it
    rename_requested = Signal(str)  # a collection's file
    remove_requested = Signal(object)  # CollectionKey
    trash_requested = Signal(object)  # tuple of ids
    search_changed = Signal(str)
    menu_requested = Signal(object, QPoint)  # a call's id or a CollectionKey, where on the screen

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.foot = CreditsFooter(theme)
        super().__init__(theme, tr("Console"), tr("Filter calls"), tr("Clear filter"), self.foot, parent)
        self._entries: tuple[CallEntry, ...] = ()
        self._collections: tuple[CollectionEntry, ...] = ()
        self._unfolded: set[str] = set()
        self.folder = IconButton(theme, "folder", tr("Save calls to a collection"))
        self.new = IconButton(theme, "plus", tr("New batch"), shortcut="Ctrl+N", framed=True)
        self.trash = IconButton(theme, "trash", tr("Open trash"))
        self.header.add(self.trash)
        self.header.add(self.folder)
        self.header.add(self.new)
        self.view = GroupedView(theme, tr("Collections and sent calls"), has_start_sign=False, selects_many=True)
        self.view.setItemDelegate(CallDelegate(theme, self.view))
        self.hold(self.view)
        self.new.clicked.connect(self.new_requested)
        self.folder.clicked.connect(self.collect_requested)
        self.filter.search_changed.connect(self.search_changed)
        self.filter.search_changed.connect(lambda _text: self._agree())
        self.view.chosen.connect(self._choose)
        self.view.trash_requested.connect(self._remove)
        self.view.rename_requested.connect(self._rename)
        self.view.menu_requested.connect(self.menu_requested)
        self.view.key_pressed.connect(self._key)
        self._agree()

    def show_entries(self, entries: Sequence[CallEntry]) -> None:
        """Show these requests, which were searched already."""
        self._entries, self.is_read = tuple(entries), True
        self._agree()

    def show_collections(self, collections: Sequence[CollectionEntry]) -> None:
        self._collections = tuple(collections)
        self._agree()

    def _agree(self) -> None:
        searched = self.filter.text().strip()
        groups = groups_of(self._entries, self._collections, self._unfolded, searched)
        self.view.show_groups(groups, searched)
        self.show_filled(
            bool(groups),
            tr("No results for “{text}”.", text=searched)
            if searched
            else tr("Calls you send appear here with their cost."),
        )

    def show_open(self, call_id: str) -> None:
        """Mark the request that the canvas shows."""
        self.view.show_open(call_id or None)

    def unfold(self, file: str, on: bool) -> None:
        """Show what is saved in a collection, or hide it again."""
        (self._unfolded.add if on else self._unfolded.discard)(file)
        self._agree()

    def neighbor(self, call_id: str, step: int) -> str | None:
        """The request after (1) or before (-1) this one."""
        ids = [entry.id for entry in self._entries]
        if not ids:
            return None
        if call_id not in ids:
            return ids[0]
        return ids[max(0, min(len(ids) - 1, ids.index(call_id) + step))]

    def _choose(self, key: Hashable) -> None:
        if not isinstance(key, CollectionKey):
            self.open_requested.emit(str(key))
        elif key.place is not None:
            self.saved_requested.emit(key.file, key.place)
        else:
            self.unfold(key.file, key.file not in self._unfolded)

    def _key(self, event: QKeyEvent, key: Hashable) -> None:
        """Left and right fold and unfold, as in a tree."""
        wanted = {Qt.Key.Key_Right: True, Qt.Key.Key_Left: False}.get(Qt.Key(event.key()))
        if wanted is not None and isinstance(key, CollectionKey):
            self.unfold(key.file, wanted)
            self.view.show_current(CollectionKey(key.file) if not wanted else key)
            event.accept()

    def chosen_calls(self, call_id: str) -> tuple[str, ...]:
        """What an action on a call acts on: all calls that are selected with it."""
        return tuple(key for key in self.view.selected_with(call_id) if isinstance(key, str))

    def _remove(self, keys: Sequence[Hashable]) -> None:
        calls = tuple(key for key in keys if isinstance(key, str))
        if calls:
            self.trash_requested.emit(calls)
        for key in keys:
            if isinstance(key, CollectionKey):
                self.remove_requested.emit(key)

    def _rename(self, key: Hashable) -> None:
        if isinstance(key, CollectionKey) and isinstance(self.view.rows.row_of(CollectionKey(key.file)), CollectionRow):
            self.rename_requested.emit(key.file)
