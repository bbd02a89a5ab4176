"""The left pane: every chat by time, a filter above, their number below."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QWidget

from app.translation import tr, tr_n
from app.ui.chat.state import ChatEntry, ProjectEntry, ProjectKey, ProjectSection
from app.ui.kit.lists.list_pane import ListPane, StorageFooter
from app.ui.kit.lists.rows import matching
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import IconButton, QuietButton
from app.ui.kit.widgets.file_drop import FileDrop

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from PySide6.QtGui import QKeyEvent

    from app.ui.chat.sidebar.chat_list_view import ChatListView
    from app.ui.kit.lists.grouped_list import Group, GroupedModel, RowLike
    from app.ui.kit.theme import Theme


class ChatListPane(ListPane):
    """Shows the chats and says which one is wanted, and for what.

    The list is made by `complete`, after the first paint: the chats are still on the disk then.
    """

    new_requested = Signal()
    characters_requested = Signal()
    open_requested = Signal(str)
    rename_requested = Signal(object)  # a chat's id or a `ProjectKey`, as in the next two
    menu_requested = Signal(object, QPoint)  # one of them, and where on the screen
    import_requested = Signal()
    trash_requested = Signal(object)  # several of them
    fold_requested = Signal(str, bool)  # a project, and whether its chats are to be hidden
    step_requested = Signal(str, int)  # a project: up (-1) or down (1) in the list
    new_project_requested = Signal()
    move_requested = Signal(object, object)  # ids of chats, and the project they go to or None
    order_requested = Signal(str, str, int)  # a project, and which it goes above (-1) or below (1)
    search_requested = Signal()  # in all messages, not only in titles
    files_given = Signal(object)  # list[Path], dropped on the list: exports of chats

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.foot = StorageFooter(theme)
        title, words, clear = tr("Chats"), tr("Filter chats"), tr("Clear filter")
        super().__init__(theme, title, words, clear, self.foot, parent, shortcut="")  # Ctrl+F finds in the open chat
        self._open_chat: str | None = None
        self._entries: Sequence[ChatEntry] = ()  # in no project
        self._sections: Sequence[ProjectSection] = ()
        self._shows_archived = False
        FileDrop(theme, self).dropped.connect(lambda paths: self.files_given.emit(list(paths)))
        self.characters = IconButton(theme, "mask", tr("Characters"), shortcut="Ctrl+Shift+P")
        self.new = IconButton(theme, "plus", tr("New chat"), shortcut="Ctrl+N", framed=True)
        self.new_project = IconButton(theme, "folder", tr("New project"))
        self.header.add(self.new_project)
        self.header.add(self.characters)
        self.header.add(self.new)
        self._everywhere = QuietButton(theme, tr("Search all messages"), "search", size="small")
        self.add_to_empty(self._everywhere)
        self.bring_in = IconButton(theme, "upload", tr("Import chats"), size="small", icon_size=14, role="text3")
        self.foot.add(self.bring_in)
        self.bring_in.clicked.connect(self.import_requested)
        self.new.clicked.connect(self.new_requested)
        self.new_project.clicked.connect(self.new_project_requested)
        self.characters.clicked.connect(self.characters_requested)
        self.filter.search_changed.connect(self._filter)
        self._everywhere.clicked.connect(self.search_requested)

    @cached_property
    def view(self) -> ChatListView:
        """The list itself."""
        from app.ui.chat.sidebar.chat_delegate import ChatDelegate
        from app.ui.chat.sidebar.chat_list_view import ChatListView

        view = ChatListView(
            self._theme,
            tr("Chats"),
            has_start_sign=False,
            selects_many=True,
            turns=lambda row: getattr(row, "writing", False),
            ground="pane",
        )
        view.setItemDelegate(ChatDelegate(self._theme, view))
        view.chosen.connect(self._choose)
        view.key_pressed.connect(self._press)
        view.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        view.setDropIndicatorShown(False)  # it paints its own
        view.chats_dropped.connect(self.move_requested)
        view.project_dropped.connect(self.order_requested)
        view.rename_requested.connect(self.rename_requested)
        view.trash_requested.connect(self.trash_requested)
        view.menu_requested.connect(self.menu_requested)
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

    def show_entries(self, entries: Sequence[ChatEntry], sections: Sequence[ProjectSection] = ()) -> None:
        """Show the projects, then the other chats, in this order; selection and scroll position stay."""
        self._entries, self._sections, self.is_read = entries, sections, True
        self._show_rows()
        number = len(entries) + sum(len(each.chats) for each in sections)
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
        return tuple(each for each in self.view.selected_with(chat_id) if isinstance(each, str))

    def selected_chats(self) -> tuple[str, ...]:
        """The chats that are selected, while the list has the keyboard."""
        if "view" not in self.__dict__ or not self.view.hasFocus():
            return ()
        return tuple(each for each in self.view.selected_keys() if isinstance(each, str))

    def current_project(self) -> str | None:
        """The project whose row the keyboard is at."""
        key = self.view.current_key if "view" in self.__dict__ and self.view.hasFocus() else None
        return (key.project_id or None) if isinstance(key, ProjectKey) else None

    def neighbor(self, step: int) -> str | None:
        """The chat after or before the open one, as filtered; the rows of projects are passed over."""
        before: object = self._open_chat
        while True:
            found = self.model.neighbor(self._open_chat if before is None else before, step)
            if isinstance(found, str) or found is None:
                return found
            if found == before:  # a project is the last row there
                return self._open_chat
            before = found

    def _show_rows(self) -> None:
        """The chats whose title or partner holds every word of the filter, in any case.

        A project that is called so is shown with all its chats.
        """
        from app.ui.kit.lists.grouped_list import under_headings

        words = SearchTerms(self.filter.text())
        others = under_headings(_fitting(self._entries, words), key=lambda row: row.id, heading=lambda row: row.group)
        self.view.show_groups(chain(self._project_groups(words), others), self.filter.text())

    def _project_groups(self, words: SearchTerms) -> Iterator[Group]:
        archived = [each for each in self._sections if each.head.archived]
        shown = [each for each in self._sections if not each.head.archived]
        if self._sections and (words or shown):
            yield from _with_title(tr("Projects"), chain.from_iterable(_rows_of(each, words) for each in shown))
        if archived:
            yield (
                "",
                chain(
                    self._archived_row(words, len(archived)),
                    *(_rows_of(each, words) for each in archived if words or self._shows_archived),
                ),
            )

    def _archived_row(self, words: SearchTerms, number: int) -> Iterator[tuple[Hashable, RowLike]]:
        if not words:
            said = tr_n("{n} project", "{n} projects", number)
            row = ProjectEntry(
                "", tr("Archived projects"), folded=not self._shows_archived, number=str(number), words=said
            )
            yield row.key, row

    def _choose(self, key: str | ProjectKey) -> None:
        """Enter and a click: a chat is opened, a project shows or hides its chats."""
        if isinstance(key, ProjectKey):
            self._fold(key, folded=not self._is_folded(key))
        else:
            self.open_requested.emit(key)

    def _is_folded(self, key: ProjectKey) -> bool:
        row = self.model.row_of(key)
        return isinstance(row, ProjectEntry) and row.folded

    def _fold(self, key: ProjectKey, *, folded: bool) -> None:
        if folded != self._is_folded(key):  # Orca says of no row in a list that its name is new
            announce(self.view, tr("collapsed") if folded else tr("expanded"))
        if key.project_id:
            self.fold_requested.emit(key.project_id, folded)
        else:
            self._shows_archived = not folded
            self._show_rows()

    def _press(self, event: QKeyEvent, key: object) -> None:
        """Keys on the row of a project: Left and Right hide and show its chats, with Alt and Shift the others move it.

        Left on one of its chats goes to the project.
        """
        pressed, start, end = event.key(), Qt.Key.Key_Left, Qt.Key.Key_Right
        if self.view.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            start, end = end, start
        moves = event.modifiers() == Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
        if isinstance(key, ProjectKey) and moves and pressed in (Qt.Key.Key_Up, Qt.Key.Key_Down) and key.project_id:
            event.accept()
            self.step_requested.emit(key.project_id, -1 if pressed == Qt.Key.Key_Up else 1)
        elif isinstance(key, ProjectKey) and pressed in (start, end) and not moves:
            event.accept()
            self._fold(key, folded=pressed == start)
        elif isinstance(key, str) and pressed == start and not moves:
            head = self.view.project_above(key) if getattr(self.model.row_of(key), "in_project", False) else None
            if head is not None:
                event.accept()
                self.view.show_current(head)

    # Inside

    def _agree(self) -> None:
        """The list and the empty page follow the rows."""
        self.view.show_open(self._open_chat)
        if self.view.current_key is None:
            self.view.show_current(self._open_chat)
        searched = self.filter.text().strip()
        self._everywhere.setVisible(bool(searched))
        self.show_filled(
            bool(self.model.rowCount()),
            tr("No results for “{searched}”.", searched=searched)
            if searched
            else tr("Your chats appear here. They stay on this computer."),
        )

    def _filter(self, _text: str) -> None:
        self._show_rows()
        self._agree()


def _fitting(entries: Sequence[ChatEntry], words: SearchTerms) -> Iterable[ChatEntry]:
    return matching(entries, words, lambda entry: (entry.title, entry.second_line))


def _rows_of(section: ProjectSection, words: SearchTerms) -> Iterator[tuple[Hashable, RowLike]]:
    """The row of a project and those of its chats, where they are shown."""
    head = section.head
    is_called_so = words and words.are_in(head.title)
    chats = section.chats if is_called_so else _fitting(section.chats, words)
    first = next(iter(chats), None) if words and not is_called_so else None
    if words and not is_called_so and first is None:
        return
    yield head.key, head._replace(folded=False) if words else head
    if words or not head.folded:
        yield from ((each.id, each) for each in chats)


def _with_title(title: str, rows: Iterator[tuple[Hashable, RowLike]]) -> Iterator[Group]:
    """A group, unless it is empty."""
    first = next(rows, None)
    if first is not None:
        yield title, chain((first,), rows)
