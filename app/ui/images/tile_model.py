"""The images as Qt's list sees them. Rows that stay where they are keep their place; a changed one is repainted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.service.http.sanitize import sanitize_line
from app.ui.images.state import Tile
from app.ui.kit.lists.rows import sanitized_row
from app.ui.kit.plain_tooltip import plain_tip

Index = QModelIndex | QPersistentModelIndex
TILE_ROLE = int(Qt.ItemDataRole.UserRole)
PAGE = 60
REVEALED_PAGES = 7
_ROOT = QModelIndex()


class TileModel(QAbstractListModel):
    """One row for each image, newest first; of thousands a page, and the next when the view comes to its end.

    `more_requested`: the view came to the end of all that was read, and there are more.
    """

    more_requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Tile, ...] = ()
        self._rest: Iterator[Tile] | None = None  # behind what is shown
        self._has_unread = self._waits = False
        self._places: dict[str, int] = {}

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == TILE_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return sanitize_line(row.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.title)
        return sanitize_line(row.spoken()) if role == Qt.ItemDataRole.AccessibleTextRole else None

    def row(self, place: int) -> Tile | None:
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def index_of(self, image_id: str) -> QModelIndex:
        place = self._places.get(image_id)
        return self.index(place, 0) if place is not None else QModelIndex()

    def reveal(self, image_id: str, *, is_there: bool = False) -> None:
        """Take more pages until an image is shown: some, or as many as it takes where it is known to be there."""
        for _ in count() if is_there else range(REVEALED_PAGES):
            if image_id in self._places or not self._take_page():
                return

    def set_rows(self, rows: Sequence[Tile], *, from_top: bool = False, has_unread: bool = False) -> None:
        """Show these. Equal ones are left alone, new ones on top are inserted, anything else resets the list.

        `from_top`: one page of them, however far the list was scrolled. `has_unread`: `rows` are not all there are.
        """
        self._has_unread = has_unread
        self._set_rows(rows, from_top)
        if self._waits and self._take_page():
            self._waits = False  # the view stands at the end and does not ask again

    def _set_rows(self, rows: Sequence[Tile], from_top: bool) -> None:
        old, first = self._rows, self._rows[0].id if self._rows else ""
        rest = iter(rows)
        shown = tuple(map(sanitized_row, islice(rest, PAGE if from_top else max(PAGE, len(old)))))
        more = next((place for place, row in enumerate(shown[:PAGE]) if row.id == first), 0)
        if not from_top:
            shown += tuple(map(sanitized_row, islice(rest, more)))
        self._rest = rest if len(shown) < len(rows) else None
        if [row.id for row in shown] == [row.id for row in old]:
            self._rows = shown
            for place, (before, after) in enumerate(zip(old, shown, strict=True)):
                if before is not after and before != after:
                    self.dataChanged.emit(self.index(place, 0), self.index(place, 0))
            return
        if old and more > 0 and [row.id for row in shown[more:]] == [row.id for row in old]:
            self.beginInsertRows(QModelIndex(), 0, more - 1)
            self._take(shown)
            self.endInsertRows()
            return
        self.beginResetModel()
        self._take(shown)
        self.endResetModel()

    def canFetchMore(self, parent: Index = _ROOT) -> bool:
        return not parent.isValid() and (self._rest is not None or self._has_unread)

    def fetchMore(self, parent: Index = _ROOT) -> None:
        if not parent.isValid():
            self._waits = not self._take_page() and self._has_unread
            if self._waits:
                self.more_requested.emit()

    def _take_page(self) -> bool:
        """Show one page more of what was read; False when there is none."""
        page = tuple(map(sanitized_row, islice(self._rest or (), PAGE)))
        if len(page) < PAGE:
            self._rest = None
        if page:
            self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows) + len(page) - 1)
            self._take(self._rows + page)
            self.endInsertRows()
        return bool(page)

    def _take(self, rows: tuple[Tile, ...]) -> None:
        self._rows = rows
        self._places = {row.id: place for place, row in enumerate(rows)}
