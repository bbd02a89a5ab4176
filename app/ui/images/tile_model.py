"""The images as Qt's list sees them. Rows that stay where they are keep their place; a changed one is repainted."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.service.http.harmless_text import harmless_line
from app.ui.images.state import Tile
from app.ui.kit.lists.rows import harmless_row
from app.ui.kit.plain_tooltip import plain_tip

Index = QModelIndex | QPersistentModelIndex
TILE_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()


class TileModel(QAbstractListModel):
    """One row for each image, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Tile, ...] = ()
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
            return harmless_line(row.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.title)
        return harmless_line(row.spoken()) if role == Qt.ItemDataRole.AccessibleTextRole else None

    def row(self, place: int) -> Tile | None:
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def index_of(self, image_id: str) -> QModelIndex:
        place = self._places.get(image_id)
        return self.index(place, 0) if place is not None else QModelIndex()

    def set_rows(self, rows: tuple[Tile, ...]) -> None:
        """Show these. Equal ones are left alone, new ones on top are inserted, anything else resets the list."""
        rows = tuple(map(harmless_row, rows))
        old = self._rows
        if [row.id for row in rows] == [row.id for row in old]:
            self._rows = rows
            for place, (before, after) in enumerate(zip(old, rows, strict=True)):
                if before is not after and before != after:
                    self.dataChanged.emit(self.index(place, 0), self.index(place, 0))
            return
        more = len(rows) - len(old)
        if old and more > 0 and [row.id for row in rows[more:]] == [row.id for row in old]:
            self.beginInsertRows(QModelIndex(), 0, more - 1)
            self._take(rows)
            self.endInsertRows()
            return
        self.beginResetModel()
        self._take(rows)
        self.endResetModel()

    def _take(self, rows: tuple[Tile, ...]) -> None:
        self._rows = rows
        self._places = {row.id: place for place, row in enumerate(rows)}
