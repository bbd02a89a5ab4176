"""A list under headings, as the left pane of every tab shows one: its model, its view and what its delegates share.

A row is any value with a title and with what it says aloud; it stands in the list under a key of its own. A heading
is a row that cannot be chosen. A list without headings is one group without a title.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby, islice
from typing import Protocol, TypeVar

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    Qt,
)
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView

from app.service.http.sanitize import sanitize_line
from app.ui.kit.lists.rows import sanitized_row
from app.ui.kit.plain_tooltip import plain_tip

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()


class RowLike(Protocol):
    """What stands in such a list. Two rows are equal when they look alike."""

    @property
    def title(self) -> str:
        """What typing in the list finds, and what the pointer is told when the row has no room for it."""

    @property
    def spoken(self) -> str:
        """What a screen reader says."""


@dataclass(frozen=True, slots=True)
class Heading:
    title: str

    @property
    def spoken(self) -> str:
        return self.title


R = TypeVar("R", bound=RowLike)
Group = tuple[str, Iterable[tuple[Hashable, RowLike]]]


def under_headings(rows: Iterable[R], key: Callable[[R], Hashable], heading: Callable[[R], str]) -> Iterator[Group]:
    """Return `rows` in their order as groups for `GroupedModel.set_rows`: a new group wherever the heading changes.

    Both are taken from `rows` as they are asked for: a list of thousands shows the first hundreds.
    """
    for title, members in groupby(rows, heading):
        yield title, ((key(row), row) for row in members)


class GroupedModel(QAbstractListModel):
    """Resets only when rows came, went or moved; else it says which rows changed.

    It begins with one page of a long list, and takes half of one when the view comes to its end (`fetchMore`).
    """

    page = 100

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rest: Iterator[tuple[Hashable, RowLike]] | None = None  # behind what is shown
        self._ahead: list[tuple[Hashable, RowLike]] = []  # what `reveal` has looked at before the rest
        self._newer: dict[Hashable, RowLike] = {}  # of the rest
        self._keys: list[Hashable] = []  # of a heading: the heading itself, so that no row's key can equal it
        self._rows: list[RowLike] = []
        self._places: dict[Hashable, int] = {}

    # What Qt asks

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.row(index), Heading):
            return Qt.ItemFlag.ItemNeverHasChildren
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return usual | Qt.ItemFlag.ItemIsDragEnabled  # where the view drags rows

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return sanitize_line(row.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.title)
        return sanitize_line(row.spoken) if role == Qt.ItemDataRole.AccessibleTextRole else None

    # What a pane asks

    def row(self, index: Index) -> RowLike | None:
        place = index.row()
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def key(self, index: Index) -> Hashable | None:
        """The key of the row there; None for a heading and for no row."""
        row = self.row(index)
        return None if row is None or isinstance(row, Heading) else self._keys[index.row()]

    def shown_keys(self) -> list[Hashable]:
        """The rows so far that are no headings, in order."""
        return list(self._places)

    def index_of(self, key: Hashable) -> QModelIndex:
        """Where a row stands, or an invalid index when it is not in the list."""
        place = self._places.get(key)
        return QModelIndex() if place is None else self.index(place, 0)

    def row_of(self, key: Hashable) -> RowLike | None:
        place = self._places.get(key)
        return None if place is None else self._rows[place]

    def neighbor(self, key: Hashable, step: int) -> Hashable | None:
        """The row after (1) or before (-1) this one; the first or last when it is not there; None in an empty list."""
        self.reveal(key)
        keys = self.shown_keys()
        if not keys:
            return None
        if key not in self._places:
            return keys[0] if step > 0 else keys[-1]
        if key == keys[-1] and step > 0 and self.canFetchMore():
            self.fetchMore()
            keys = self.shown_keys()
        return keys[max(0, min(len(keys) - 1, keys.index(key) + step))]

    def where(self, test: Callable[[RowLike], bool]) -> list[QModelIndex]:
        """The rows, headings left out, for which `test` is true."""
        return [self.index(place, 0) for place in self._places.values() if test(self._rows[place])]

    # What a pane tells

    def set_rows(self, groups: Iterable[Group], *, from_top: bool = False) -> None:
        """Show these groups; one without a title has no heading. A key stands in the list once.

        `from_top`: one page of them, however far the list was scrolled.
        """
        lines = _lines(groups)
        taken = self._take(lines, self.page if from_top else max(self.page, len(self._rows)))
        keys, rows = [key for key, _row in taken], [row for _key, row in taken]
        self._newer.clear()
        self._ahead.clear()
        if keys != self._keys:
            self.beginResetModel()
            self._keys, self._rows = keys, rows
            self._places.clear()
            self._place_from(0)
            self.endResetModel()
            return
        before, self._rows = self._rows, rows
        for place, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self._say_changed(place)

    def set_row(self, key: Hashable, row: RowLike) -> None:
        """Show a newer state of one row; one that is not in the list is left out."""
        row = sanitized_row(row)
        place = self._places.get(key)
        if place is None and self._rest is not None:
            self._newer[key] = row
        elif place is not None and self._rows[place] != row:
            self._rows[place] = row
            self._say_changed(place)

    def canFetchMore(self, parent: Index = _ROOT) -> bool:
        return not parent.isValid() and self._rest is not None

    def fetchMore(self, parent: Index = _ROOT) -> None:
        if parent.isValid() or self._rest is None:
            return
        first = len(self._rows)
        lines, self._ahead = chain(self._ahead, self._rest), []
        taken = self._take(lines, self.page // 2)  # while somebody scrolls: within a frame
        self.beginInsertRows(_ROOT, first, first + len(taken) - 1)
        self._keys += [key for key, _row in taken]
        self._rows += [self._newer.pop(key, row) for key, row in taken]
        self._place_from(first)
        self.endInsertRows()

    def reveal(self, key: Hashable | None, most: int | None = None) -> None:
        """Take more pages until a row is among them, where it is in the list at all, or among the first `most`."""
        if not key or key in self._places or self._rest is None:
            return
        if all(known != key for known, _row in self._ahead):
            more = None if most is None else max(0, most - len(self._rows) - len(self._ahead))
            for line in islice(self._rest, more):
                self._ahead.append(line)
                if line[0] == key:
                    break
            else:
                return
        while key not in self._places and self.canFetchMore():
            self.fetchMore()

    def _take(self, lines: Iterator[tuple[Hashable, RowLike]], count: int) -> list[tuple[Hashable, RowLike]]:
        """Return the next `count` of them, made harmless; whatever comes behind is the rest."""
        taken = [(key, sanitized_row(row)) for key, row in islice(lines, count)]
        ahead = next(lines, None)
        self._rest = chain((ahead,), lines) if ahead is not None else None
        return taken

    def _place_from(self, first: int) -> None:
        keys = enumerate(self._keys[first:], first)
        self._places.update((key, place) for place, key in keys if not _is_heading(self._rows[place]))

    def _say_changed(self, place: int) -> None:
        index = self.index(place, 0)
        self.dataChanged.emit(index, index)


def _lines(groups: Iterable[Group]) -> Iterator[tuple[Hashable, RowLike]]:
    for title, members in groups:
        if title:
            heading = Heading(title)
            yield heading, heading
        yield from members


def _is_heading(row: RowLike) -> bool:
    return isinstance(row, Heading)


def menu_place(view: QAbstractItemView, event: QContextMenuEvent) -> tuple[QModelIndex, QPoint]:
    """The row that a context menu is for, and where on the screen it opens.

    By mouse it is the row under the pointer, an invalid one on the empty part; by key the current row.
    """
    place = event.pos()
    index = view.indexAt(place)
    if event.reason() == QContextMenuEvent.Reason.Keyboard:
        index = view.currentIndex()
        place = view.visualRect(index).center()
    return index, view.viewport().mapToGlobal(place)


def keep_in_sight(view: QAbstractItemView, index: QModelIndex) -> None:
    """Make a row the current and only chosen one, and scroll to it if it is out of sight.

    Not by the view itself: in the middle of a shortcut it takes Ctrl or Shift for a wish to select more rows.
    """
    if index.isValid() and view.currentIndex() != index:
        view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        view.scrollTo(index)
