"""The characters as Qt's list sees them. Rows that came stay where they are when more come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.ui.characters.state import spoken

if TYPE_CHECKING:
    from app.service.characters import Character

Index = QModelIndex | QPersistentModelIndex
CHARACTER_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()


class CharacterListModel(QAbstractListModel):
    """One row for each character, in the service's order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Character, ...] = ()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == CHARACTER_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name or row.slug
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row)
        return None

    def index_of(self, slug: str) -> QModelIndex:
        for place, row in enumerate(self._rows):
            if row.slug == slug:
                return self.index(place, 0)
        return QModelIndex()

    def set_rows(self, rows: tuple[Character, ...]) -> None:
        """Show these. Rows added at the end are inserted, so that the scroll position holds; else the list is reset."""
        known = len(self._rows)
        if rows == self._rows:
            return
        if known and len(rows) > known and rows[:known] == self._rows:
            self.beginInsertRows(QModelIndex(), known, len(rows) - 1)
            self._rows = rows
            self.endInsertRows()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()
