"""The frame of a pane with a list: title and buttons, a filter, the list or why it is empty, and a foot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHBoxLayout,
    QStackedLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.lists.filter_keys import FilterKeys, choosable_rows
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.tab_order import put_in_order
from app.ui.kit.widgets.buttons import IconButton, QuietButton
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.core.tasks import TaskScope
    from app.core.trash import Trash
    from app.ui.kit.lists.trash_pane import TrashPane
    from app.ui.kit.theme import Theme


class ListPane(QWidget):
    """The list itself comes by `hold`, when there is time for it: at once, or after the first paint."""

    _way_out: QAbstractButton | None = None
    trash_pane: TrashPane | None = None  # made when it is first opened
    is_read = False  # before that nobody knows whether the list is empty, so it is not called empty

    def __init__(
        self,
        theme: Theme,
        title: str,
        search: str,
        clear: str,
        foot: QWidget,
        parent: QWidget | None = None,
        *,
        shortcut: str = "Ctrl+F",
    ) -> None:
        """`shortcut` is written into the filter; "" where the key usually leads elsewhere."""
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        self.header = PaneHeader(theme, title)
        self.filter = SearchField(theme, search, results=self._results, shortcut=shortcut)
        self.filter.setProperty("sizing", "small")
        self.nothing = Label(theme, "", "body", "text2", wrap=True)
        self.clear = QuietButton(theme, clear, size="small")
        self._places = QStackedWidget()
        self._places.addWidget(QWidget())  # until the list is there
        empty = QWidget()
        self._empty = QVBoxLayout(empty)
        self._empty.addWidget(self.nothing)
        self._empty.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignLeft)
        self._empty.addStretch(1)
        self._places.addWidget(empty)
        self._above = QHBoxLayout()
        self._above.addWidget(self.filter)
        self._panes = QStackedLayout(self)  # the list, the trash in its place
        self._list_side = QWidget()
        self._panes.addWidget(self._list_side)
        layout = QVBoxLayout(self._list_side)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addLayout(self._above)
        layout.addWidget(self._places, 1)
        layout.addWidget(rule())
        layout.addWidget(foot)
        self.clear.clicked.connect(self.filter.clear)
        theme.changed.connect(self._apply_frame_theme)
        self._apply_frame_theme()

    def hold(self, view: QWidget) -> None:
        """Put the list into its place; the search field hands the keyboard to it."""
        at = self._places.currentIndex()
        self._places.insertWidget(0, view)
        stand_in = self._places.widget(1)
        if stand_in is not None:
            self._places.removeWidget(stand_in)
            discard(stand_in)
        self._places.setCurrentIndex(at)
        self.filter.left.connect(view.setFocus)
        if isinstance(view, QAbstractItemView):
            FilterKeys(view, self.filter, take_nothing=self._take_way_out, selects_first=True, is_quiet=True)
        put_in_order((*self.header.findChildren(QAbstractButton), self.filter, view))

    def add_to_empty(self, button: QAbstractButton) -> None:
        """Offer one more way out of an empty list, above "Clear"; Enter in the filter presses it."""
        self._way_out = button
        self._empty.insertWidget(1, button, 0, Qt.AlignmentFlag.AlignLeft)

    def _take_way_out(self, _event: QKeyEvent) -> None:
        if self._way_out is not None and self._way_out.isVisible():
            self._way_out.click()

    # The trash

    def offer_trash(self, trash: Trash, tasks: TaskScope, opener: QAbstractButton, back: str) -> None:
        """Let `opener` and `open_trash` show this trash in place of the list; `back` says where leaving it leads."""

        def make() -> TrashPane:
            from app.ui.kit.lists.trash_pane import TrashPane

            return TrashPane(self._theme, trash, tasks, back)

        self._make_trash = make
        opener.clicked.connect(self.open_trash)

    _make_trash: Callable[[], TrashPane]

    def open_trash(self) -> None:
        """Show the trash in place of the list."""
        if self.trash_pane is None:
            self.trash_pane = self._make_trash()
            self.trash_pane.left.connect(self.leave_trash)
            self._panes.addWidget(self.trash_pane)
            put_in_order((self._list_view, *self.trash_pane.stops))
        self._panes.setCurrentWidget(self.trash_pane)
        self.trash_pane.open()

    def leave_trash(self) -> bool:
        """Show the list again; False when it is shown."""
        if self._panes.currentWidget() is self._list_side:
            return False
        self._panes.setCurrentWidget(self._list_side)
        shown = self._list_view if self._places.currentIndex() == 0 else self.filter
        shown.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def filter_field(self) -> SearchField:
        """The filter, with the list that it filters in sight."""
        self.leave_trash()
        return self.filter

    @property
    def _list_view(self) -> QWidget:
        view = self._places.widget(0)
        assert view is not None
        return view

    def show_filled(self, filled: bool, nothing: str) -> None:
        """Show the list, or the sentence that says why there is nothing in it."""
        self.clear.setVisible(bool(self.filter.text().strip()))
        self.nothing.set_text(nothing)
        self._places.setCurrentIndex(0 if filled or not self.is_read else 1)
        self.filter.say_results()

    def _results(self) -> str:
        view = self._list_view
        if self._places.currentIndex() != 0 or not isinstance(view, QAbstractItemView):
            return self.nothing.text()
        return results_words(len(choosable_rows(view.model())))

    def _apply_frame_theme(self) -> None:
        px = self._theme.px
        self._above.setContentsMargins(px(12), px(10), px(12), px(2))
        self._empty.setContentsMargins(px(16), px(16), px(16), px(16))
        self._empty.setSpacing(px(8))


class StorageFooter(QWidget):
    """How much of something is kept on this computer, and the way to its trash."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.words = Label(theme, "", "small", "text3", tabular=True, elide=True)
        self.trash = IconButton(theme, "trash", tr("Open trash"), size="small", icon_size=14, role="text3")
        self._line = QHBoxLayout(self)
        self._line.addWidget(IconLabel(theme, "drive", "text3", px=16))
        self._line.addWidget(self.words, 1)
        self._line.addWidget(self.trash)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def add(self, button: QWidget) -> None:
        """Put one more button before the trash."""
        self._line.insertWidget(self._line.count() - 1, button)

    def show_kept(self, words: str) -> None:
        """Show how much there is: "2 clips, 84 KB". Where it is kept has no room in a narrow list."""
        self.words.set_text(words)
        self.setToolTip(plain_tip(tr("{words} on this computer", words=words)))

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._line.setContentsMargins(px(16), px(5), px(10), px(5))
        self._line.setSpacing(px(8))
