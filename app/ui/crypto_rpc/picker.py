"""The popovers that choose a network or a method: a field that filters at once, rows with their price, keys for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.crypto_rpc.picker_rows import ColumnHead, PickDelegate, PickModel, PickRow, Row
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.lists.grouped_list import ROW_ROLE
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.key_hint import KeyHint, key_words
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

WIDTH, LIST_HEIGHT = 540, 330  # px at 100 %
ROUNDED = 4  # px that labels lose to rounding
Find = Callable[[str, frozenset[str]], Sequence[Row]]


class Picker(Popover):
    """`find` gives the rows for a text and the pills that are down. `chosen` tells a key, and whether Ctrl was held."""

    chosen = Signal(str, bool)
    star_requested = Signal(str)
    help_requested = Signal(str)  # F1 on a row

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        *,
        name: str,
        placeholder: str,
        find: Find,
        pills: Sequence[str] = (),
        hints: Sequence[tuple[str, str]] = (),
        count: Callable[[Sequence[Row]], str] = lambda _rows: "",
        note: Callable[[], str] = lambda: "",
        free: bool = False,
        columns: Sequence[str] = (),
    ) -> None:
        super().__init__(theme, parent, name=name, padding=0)
        self._find = find
        self._count = count
        self._note = note
        self._free = free  # what is typed may be chosen although no row has it, and several with Shift
        self._list_theme = theme
        self.search = SearchField(theme, placeholder, results=None)
        self.search.installEventFilter(self)
        self.search.textChanged.connect(self.refresh)
        self.pills = {text: PillButton(theme, text) for text in pills}
        self.view = QListView()
        self.rows = PickModel(self.view)
        self.delegate = PickDelegate(theme, self.view)
        self.view.setModel(self.rows)
        self.view.setItemDelegate(self.delegate)
        self.view.setAccessibleName(name)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.viewport().installEventFilter(self)
        self.nothing = Label(theme, "", role="text2", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.count = Label(theme, "", "small", "text2", tabular=True)
        self.note = Label(theme, "", "small", "text2", elide=True)
        self._found: Sequence[Row] = ()
        self._head = ColumnHead(theme, columns, self.view) if columns else None
        self._places = QStackedWidget()
        self._build(hints)
        self.set_first_focus(self.search)
        FilterKeys(
            self.view,
            self.search,
            take=lambda event: self._choose(self.view.currentIndex(), event.modifiers()),
            take_nothing=lambda event: self._choose(QModelIndex(), event.modifiers()),
            nothing=self.nothing.text,
        )
        theme.changed.connect(self._apply_list_theme)
        self._apply_list_theme()

    def _build(self, hints: Sequence[tuple[str, str]]) -> None:
        theme = self._list_theme
        top = QVBoxLayout()
        top.setContentsMargins(theme.px(10), theme.px(10), theme.px(10), theme.px(8))
        top.setSpacing(theme.px(8))
        inside = QHBoxLayout(self.search)
        inside.setContentsMargins(0, 0, theme.px(36), 0)
        inside.addStretch(1)
        inside.addWidget(self.count)
        self.count.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        top.addWidget(self.search)
        if self.pills:
            holder = QWidget()
            flow = FlowLayout(theme, gap=6, line_gap=6, parent=holder)
            for pill in self.pills.values():
                pill.toggled.connect(self.refresh)
                flow.addWidget(pill)
            top.addWidget(holder)
        self._places.addWidget(self.view)
        self._places.addWidget(self.nothing)
        footer = self._footer = QFrame()
        zone(footer, "pane")
        row = QHBoxLayout(footer)
        row.setContentsMargins(theme.px(14), theme.px(8), theme.px(14), theme.px(8))
        row.setSpacing(theme.px(6))
        for key, words in hints:
            row.addWidget(KeyHint(theme, key))
            row.addWidget(key_words(theme, key, words))
            row.addSpacing(theme.px(6))
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.note, 1)
        self.body.setSpacing(0)
        self.body.addLayout(top)
        self.body.addWidget(rule())
        if self._head is not None:
            self.body.addWidget(self._head)
        self.body.addWidget(self._places)
        self.body.addWidget(rule())
        self.body.addWidget(footer)

    def open_under(self, button: QWidget) -> None:
        """Open below the button with everything shown."""
        self.search.clear()
        for pill in self.pills.values():
            pill.setChecked(False)
        self.refresh()
        room = round(button.window().width() / self._list_theme.scale) - 32
        wanted = round(self._footer.sizeHint().width() / self._list_theme.scale) + ROUNDED  # where the hints are long
        self.open_at(button, width=min(max(WIDTH, wanted), room))

    def refresh(self) -> None:
        """Ask again for the rows; the first that can be chosen is under the keyboard."""
        pills = frozenset(text for text, pill in self.pills.items() if pill.isChecked())
        self._found = self._find(self.search.text(), pills)
        self.rows.show(self._found)
        self.count.set_text(self._count(self._found))
        self.note.set_text(self._note())
        typed = self.search.text().strip()
        found = bool(self._found)
        self._places.setCurrentIndex(0 if found else 1)
        words = tr("No results for “{typed}”.", typed=typed)
        self.nothing.set_text(
            tr("{words} Press Enter to add it anyway.", words=words) if self._free and typed else words
        )
        self.view.setCurrentIndex(self.rows.first())

    def _choose(self, index: QModelIndex, held: Qt.KeyboardModifier) -> None:
        """With Shift the next one may be typed at once, where several can be chosen."""
        row = index.data(ROW_ROLE)
        typed = self.search.text().strip()
        if isinstance(row, PickRow) and row.usable:
            key = row.key
        elif self._free and typed and not self.rows.first().isValid():
            key = typed
        else:
            return
        if self._free and held & Qt.KeyboardModifier.ShiftModifier:
            self.search.selectAll()
        else:
            self.close()
        self.chosen.emit(key, bool(held & Qt.KeyboardModifier.ControlModifier))

    def _apply_list_theme(self) -> None:
        self._places.setFixedHeight(self._list_theme.type_px(LIST_HEIGHT))
        self.view.doItemsLayout()

    def _apply_theme(self) -> None:
        """The footer's tone reaches the card's edge, so this popover has no padding of its own."""
        super()._apply_theme()
        self.body.setSpacing(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease:
            self._clicked(event)
        return super().eventFilter(watched, event)

    def _clicked(self, event: QMouseEvent) -> None:
        where = event.position().toPoint()
        index = self.view.indexAt(where)
        row = index.data(ROW_ROLE)
        starred = isinstance(row, PickRow) and row.starred is not None
        if starred and self.delegate.star_rect(self.view.visualRect(index)).contains(where):
            self.star_requested.emit(row.key)
            self.refresh()
        else:
            self._choose(index, event.modifiers())

    def _key(self, event: QKeyEvent) -> bool:
        key, control = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key == Qt.Key.Key_D and control:
            row = self.view.currentIndex().data(ROW_ROLE)
            if isinstance(row, PickRow) and row.starred is not None:
                self.star_requested.emit(row.key)
                self.refresh()
            return True
        if key == Qt.Key.Key_F1:
            row = self.view.currentIndex().data(ROW_ROLE)
            if isinstance(row, PickRow):
                self.help_requested.emit(row.key)
            return True
        return False
