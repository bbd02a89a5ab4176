"""A small table of words, for lists of some hundred lines at most."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QHeaderView

from app.ui.kit.lists.row_table import RowTable
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_TOP = QModelIndex()


class PlainModel(QAbstractTableModel):
    """`roles` of a row colors it: "" for the usual text."""

    def __init__(self, theme: Theme, titles: tuple[str, ...], amounts: Collection[int]) -> None:
        super().__init__()
        self._theme = theme
        self._titles = titles
        self._amounts = amounts
        self.lines: Sequence[tuple[str, ...]] = ()
        self._roles: Sequence[str] = ()

    def set_lines(self, lines: Sequence[tuple[str, ...]], roles: Sequence[str] = ()) -> None:
        self.beginResetModel()
        self.lines, self._roles = lines, roles
        self.endResetModel()

    def rowCount(self, parent: Index = _TOP) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = _TOP) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self._titles[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return self._alignment(section)
        return None

    def _alignment(self, column: int) -> int:
        side = Qt.AlignmentFlag.AlignRight if column in self._amounts else Qt.AlignmentFlag.AlignLeft
        return int(side | Qt.AlignmentFlag.AlignVCenter)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.lines[index.row()][index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self.lines[index.row()][index.column()])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.FontRole:
            return self._theme.font("small", tabular=True)
        if role == Qt.ItemDataRole.ForegroundRole and index.row() < len(self._roles) and self._roles[index.row()]:
            return self._theme.color(self._roles[index.row()])
        return None


AROUND_HEADING = 38  # px beside its words


class PlainTable(RowTable):
    def __init__(
        self,
        theme: Theme,
        name: str,
        titles: tuple[str, ...],
        widths: tuple[int, ...],
        amounts: Collection[int] = (),
    ) -> None:
        """A width of 0 takes what is left; widths in px at 100 %. `amounts`: columns of numbers, at the right."""
        super().__init__(name)
        self._theme, self._titles, self._widths = theme, titles, widths
        self.rows = PlainModel(theme, titles, amounts)
        self.setModel(self.rows)
        for column, width in enumerate(widths):
            if not width:
                self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.height_px(30, 17))
        self.horizontalHeader().setFont(self._theme.font("small", 500))
        for column, width in enumerate(self._widths):
            heading = self.horizontalHeader().fontMetrics().horizontalAdvance(self._titles[column])
            least = heading + self._theme.px(AROUND_HEADING)
            if width:
                self.setColumnWidth(column, max(self._theme.type_px(width), least))
            else:
                self.horizontalHeader().setMinimumSectionSize(least)
