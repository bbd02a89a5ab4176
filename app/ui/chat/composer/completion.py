"""The list that opens over the message box after a slash: commands, prompts, presets, characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.lists.filter_keys import spoken_row
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.preset_popover import DETAIL_ROLE, ROW_HIGH, TwoLines

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

WIDTH, MOST_SHOWN = 380, 7


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to choose. `word` is what is typed behind the slash, `detail` says what it does."""

    word: str
    detail: str
    run: Callable[[], None]


class CompletionList(QFrame):
    """Not a window: the keyboard stays in the box, which hands its keys to `takes_key` first."""

    def __init__(self, theme: Theme, parent: QWidget, chosen: Callable[[Entry], None]) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chosen = chosen
        self._entries: tuple[Entry, ...] = ()
        self._items = QStandardItemModel(self)
        self.list = QListView()
        self.list.setModel(self._items)
        self.list.setItemDelegate(TwoLines(theme, self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setAccessibleName(tr("Commands and characters"))
        self.list.clicked.connect(lambda index: self._choose(index.row()))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.px(6), theme.px(6), theme.px(6), theme.px(6))
        layout.addWidget(self.list)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    @property
    def entries(self) -> tuple[Entry, ...]:
        return self._entries

    def show_entries(self, entries: Sequence[Entry], above: QWidget) -> None:
        """List `entries` over the widget `above`; none closes the list."""
        before = self._current_word() if self.isVisible() else ""
        self._entries = tuple(entries)
        self._items.clear()
        for entry in self._entries:
            item = QStandardItem(f"/{entry.word}")
            item.setData(entry.detail, DETAIL_ROLE)
            item.setData(f"{entry.word}, {entry.detail}", Qt.ItemDataRole.AccessibleTextRole)
            item.setEditable(False)
            self._items.appendRow(item)
        if not self._entries:
            self.hide()
            return
        place = next((place for place, entry in enumerate(self._entries) if entry.word == before), 0)
        self._go_to(place, quietly=self.isVisible())
        self._place(above)
        self.show()
        self.raise_()

    def _place(self, above: QWidget) -> None:
        theme = self._theme
        parent = self.parentWidget()
        assert parent is not None  # it was given one
        corner = above.mapTo(parent, above.rect().topLeft())
        rows = min(MOST_SHOWN, len(self._entries))
        high = min(rows * theme.height_px(ROW_HIGH, 34) + theme.px(12) + 2, max(60, corner.y() - theme.px(8)))
        wide = min(theme.type_px(WIDTH), above.width())
        self.setGeometry(corner.x(), corner.y() - high - theme.px(4), wide, high)

    def takes_key(self, event: QKeyEvent) -> bool:
        """Whether a key of the box means this list."""
        if not self.isVisible() or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        row = self.list.currentIndex().row()
        match event.key():
            case Qt.Key.Key_Up:
                self._go_to((row - 1) % len(self._entries))
            case Qt.Key.Key_Down:
                self._go_to((row + 1) % len(self._entries))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Tab:
                self._choose(row)
            case Qt.Key.Key_Escape:
                self.hide()
            case _:
                return False
        return True

    def _go_to(self, row: int, *, quietly: bool = False) -> None:
        index = self._items.index(row, 0)
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)
        if not quietly and 0 <= row < len(self._entries):
            announce(self.list, spoken_row(index))

    def _current_word(self) -> str:
        row = self.list.currentIndex().row()
        return self._entries[row].word if 0 <= row < len(self._entries) else ""

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._entries):
            self.hide()
            self._chosen(self._entries[row])

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), self._theme.px(10), "surface", "line2")


def matching(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """The entries whose words hold every typed one, those that begin with it first."""
    words = SearchTerms(typed)
    found = [each for each in entries if words.are_in(each.word, each.detail)]
    start = typed.casefold().strip()
    return sorted(found, key=lambda each: not each.word.casefold().startswith(start))
