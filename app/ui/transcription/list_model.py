"""The rows of the list of recordings, files and transcripts, under the headings of their days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.ui.transcription.state import Entry

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True, slots=True)
class Heading:
    """A day between the rows. It cannot be chosen."""

    text: str


Row = Heading | Entry


class TranscriptListModel(QAbstractListModel):
    """Resets only when rows came, went or moved; else it says which rows changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Row, ...] = ()

    # What Qt asks

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.row(index), Entry):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        text = row.title if isinstance(row, Entry) else row.text
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken if isinstance(row, Entry) else text
        return None

    # What the pane asks

    def row(self, index: Index) -> Row | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def index_of(self, row_id: str | None) -> QModelIndex:
        for number, row in enumerate(self._rows):
            if isinstance(row, Entry) and row.id == row_id:
                return self.index(number, 0)
        return QModelIndex()

    def entries(self) -> list[Entry]:
        return [row for row in self._rows if isinstance(row, Entry)]

    def busy_rows(self) -> list[QModelIndex]:
        """The rows whose ring turns."""
        return [
            self.index(number, 0)
            for number, row in enumerate(self._rows)
            if isinstance(row, Entry) and row.state == "sending"
        ]

    def neighbour(self, row_id: str | None, step: int) -> str | None:
        """The row after (1) or before (-1) this one; the first or last when it is not shown."""
        ids = [row.id for row in self.entries()]
        if not ids:
            return None
        if row_id not in ids:
            return ids[0] if step > 0 else ids[-1]
        return ids[max(0, min(len(ids) - 1, ids.index(row_id) + step))]

    def set_entries(self, entries: Sequence[Entry]) -> None:
        rows: list[Row] = []
        group = None
        for entry in entries:
            if entry.group != group:
                group = entry.group
                rows.append(Heading(group))
            rows.append(entry)
        self._show(tuple(rows))

    def _show(self, rows: tuple[Row, ...]) -> None:
        if [_identity(row) for row in rows] != [_identity(row) for row in self._rows]:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        before, self._rows = self._rows, rows
        for number, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self.dataChanged.emit(self.index(number, 0), self.index(number, 0))


def _identity(row: Row) -> tuple[type, str]:
    return (type(row), row.id if isinstance(row, Entry) else row.text)
