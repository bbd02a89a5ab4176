"""The rows of the list of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.ui.video.state import JobRow

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)


class JobModel(QAbstractListModel):
    """Resets only when rows came, went or moved; else it says which rows changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[JobRow] = []
        self._places: dict[str, int] = {}

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return row.title
        return row.spoken if role == Qt.ItemDataRole.AccessibleTextRole else None

    def row(self, index: Index) -> JobRow | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def rows(self) -> tuple[JobRow, ...]:
        return tuple(self._rows)

    def index_of(self, job_id: str) -> QModelIndex:
        place = self._places.get(job_id)
        return self.index(place, 0) if place is not None else QModelIndex()

    def busy_rows(self) -> list[QModelIndex]:
        """The rows in which something turns: those of which nobody knows how far they are."""
        return [self.index(number, 0) for number, row in enumerate(self._rows) if row.turns]

    def set_rows(self, rows: Sequence[JobRow]) -> None:
        if [row.id for row in rows] != [row.id for row in self._rows]:
            self.beginResetModel()
            self._rows = list(rows)
            self._places = {row.id: number for number, row in enumerate(rows)}
            self.endResetModel()
            return
        for row in rows:
            self.set_row(row)

    def set_row(self, row: JobRow) -> None:
        """Show a newer state of one row; one that is not in the list is left out."""
        number = self._places.get(row.id)
        if number is not None and self._rows[number] != row:
            self._rows[number] = row
            self.dataChanged.emit(self.index(number, 0), self.index(number, 0))
