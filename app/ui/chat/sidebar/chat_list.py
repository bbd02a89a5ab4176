"""The left pane: every chat by time, a filter above, their number below."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QWidget

from app.translation import tr, tr_n
from app.ui.kit.lists.list_pane import ListPane, StorageFooter
from app.ui.kit.lists.rows import matching
from app.ui.kit.lists.typed_words import TypedWords
from app.ui.kit.widgets.buttons import IconButton, QuietButton
from app.ui.kit.widgets.file_drop import FileDrop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.chat.state import ChatEntry
    from app.ui.kit.lists.grouped_list import GroupedModel
    from app.ui.kit.lists.grouped_list_view import GroupedView
    from app.ui.kit.theme import Theme


class ChatListPane(ListPane):
    """Shows the chats and says which one is wanted, and for what.

    The list is made by `complete`, after the first paint: the chats are still on the disk then.
    """

    new_wanted = Signal()
    characters_wanted = Signal()
    open_wanted = Signal(str)
    rename_wanted = Signal(str)
    menu_wanted = Signal(object, QPoint)  # a chat, and where on the screen
    import_wanted = Signal()
    trash_wanted = Signal(object)  # ids
    search_wanted = Signal()  # in all messages, not only in titles
    files_given = Signal(object)  # list[Path], dropped on the list: exports of chats

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.foot = StorageFooter(theme)
        title, words, clear = tr("Chats"), tr("Filter chats"), tr("Clear filter")
        super().__init__(theme, title, words, clear, self.foot, parent, shortcut="")  # Ctrl+F finds in the open chat
        self._open_chat: str | None = None
        self._entries: Sequence[ChatEntry] = ()
        self._is_read = False  # before that nobody knows whether there are chats
        FileDrop(theme, self).dropped.connect(lambda paths: self.files_given.emit(list(paths)))
        self.characters = IconButton(theme, "mask", tr("Characters"), shortcut="Ctrl+Shift+P")
        self.new = IconButton(theme, "plus", tr("New chat"), shortcut="Ctrl+N", framed=True)
        self.header.add(self.characters)
        self.header.add(self.new)
        self._everywhere = QuietButton(theme, tr("Search all messages"), "search", size="small")
        self.add_to_empty(self._everywhere)
        self.bring_in = IconButton(theme, "upload", tr("Import chats"), size="small", icon_size=14, role="text3")
        self.foot.add(self.bring_in)
        self.bring_in.clicked.connect(self.import_wanted)
        self.new.clicked.connect(self.new_wanted)
        self.characters.clicked.connect(self.characters_wanted)
        self.filter.search_changed.connect(self._filter)
        self._everywhere.clicked.connect(self.search_wanted)

    @cached_property
    def view(self) -> GroupedView:
        """The list itself."""
        from app.ui.chat.sidebar.chat_delegate import ChatDelegate
        from app.ui.kit.lists.grouped_list_view import GroupedView

        view = GroupedView(
            self._theme,
            tr("Chats"),
            has_start_sign=False,
            selects_many=True,
            turns=lambda row: getattr(row, "writing", False),
            ground="pane",
        )
        view.setItemDelegate(ChatDelegate(self._theme, view))
        view.chosen.connect(lambda chat_id: self.open_wanted.emit(chat_id))
        view.rename_wanted.connect(lambda chat_id: self.rename_wanted.emit(chat_id))
        view.trash_wanted.connect(self.trash_wanted)
        view.menu_wanted.connect(self.menu_wanted)
        self.hold(view)
        return view

    @property
    def model(self) -> GroupedModel:
        """The rows that are shown, headings among them."""
        return self.view.rows

    def complete(self) -> None:
        """The first paint is over: there is time for the list."""
        self._agree()

    # What the page tells

    def show_entries(self, entries: Sequence[ChatEntry]) -> None:
        """Show these chats, in this order; selection and scroll position stay."""
        self._entries, self._is_read = entries, True
        self._show_rows()
        number = len(entries)
        words = tr_n("{n} chat", "{n} chats", number) if number else tr("No chats")
        self.foot.show_kept(words)
        self._agree()

    def show_open_chat(self, chat_id: str | None) -> None:
        """Mark the chat that the canvas shows."""
        self._open_chat = chat_id
        if "view" in self.__dict__:
            self._agree()

    def selected_with(self, chat_id: str | None) -> tuple[str, ...]:
        """What an action on a chat acts on: all that are selected when it is among them, else the chat alone."""
        if chat_id is None or "view" not in self.__dict__:
            return ()
        return tuple(str(each) for each in self.view.selected_with(chat_id))

    def neighbor(self, step: int) -> str | None:
        """The chat after or before the open one, as filtered."""
        found = self.model.neighbor(self._open_chat, step)
        return found if isinstance(found, str) else None

    def _show_rows(self) -> None:
        """The chats whose title or partner holds every word of the filter, in any case."""
        from app.ui.kit.lists.grouped_list import under_headings

        words = TypedWords(self.filter.text())
        shown = matching(self._entries, words, lambda entry: (entry.title, entry.second_line))
        self.view.show_groups(under_headings(shown, key=lambda entry: entry.id, heading=lambda entry: entry.group))

    # Inside

    def _agree(self) -> None:
        """The list and the empty page follow the rows."""
        self.view.show_open(self._open_chat)
        if self.view.current_key is None:
            self.view.show_current(self._open_chat)
        searched = self.filter.text().strip()
        self._everywhere.setVisible(bool(searched))
        self.show_filled(
            bool(self.model.rowCount()) or not self._is_read,
            tr("No results for “{searched}”.", searched=searched)
            if searched
            else tr("Your chats appear here. They stay on this computer."),
        )

    def _filter(self, _text: str) -> None:
        self._show_rows()
        self._agree()
