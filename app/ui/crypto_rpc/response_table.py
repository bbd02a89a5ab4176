"""Lists of objects as a table: virtual, numbers at the right, Ctrl+C as a spreadsheet reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QFrame, QHBoxLayout, QTableView, QVBoxLayout, QWidget

from app.service.http.sanitize import sanitize_text
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.outcomes import Table
from app.ui.kit.json.tree import Reading
from app.ui.kit.json.tree_model import copied, summary
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,32}")
MAX_CELL_CHARS = 160
MAX_COPIED_CELLS = 500_000
LEAST_WIDTH, MOST_WIDTH = 70, 320  # px at 100 %
MEASURED_ROWS = 50


class TableModel(QAbstractTableModel):
    """Cells are made into text when they are looked at. `reading`: what a hexadecimal number means."""

    def __init__(self, reading: Reading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reading = reading
        self.table = Table("", (), ())

    def set_table(self, table: Table) -> None:
        self.beginResetModel()
        self.table = table
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.table.columns)

    def value(self, index: Index) -> object:
        return self.table.rows[index.row()].get(self.table.columns[index.column()])

    def text(self, row: int, column: int) -> str:
        """A cell as it is copied."""
        value = self.table.rows[row].get(self.table.columns[column])
        return "" if value is None else copied(value) if isinstance(value, str) else summary(value)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        value = self.value(index)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if is_number(value) else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.DisplayRole:
            if isinstance(value, str) and _QUANTITY.fullmatch(value):
                return self._reading(self.table.columns[index.column()], value) or value
            return sanitize_text(self.text(index.row(), index.column())[:MAX_CELL_CHARS].replace("\n", " "))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self.text(index.row(), index.column()))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Horizontal and self.table.rows:
            return self.index(0, section).data(role)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            return str(section + 1)
        return self.table.columns[section] if section < len(self.table.columns) else None


def is_number(value: object) -> bool:
    """True for what stands at the right of its cell."""
    if isinstance(value, str):
        return _QUANTITY.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


class TableView(QTableView):
    copied = Signal(str)  # what was copied, in words

    def __init__(self, theme: Theme, reading: Reading, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.cells = TableModel(reading, self)
        self.setModel(self.cells)
        self.setAccessibleName(tr("Response as a table"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.horizontalHeader().setAccessibleName(tr("Columns"))
        self.verticalHeader().setAccessibleName(tr("Rows"))
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        corner = self.findChild(QAbstractButton)
        if corner is not None:
            corner.setAccessibleName(tr("Select all cells"))
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_table(self, table: Table) -> None:
        self.cells.set_table(table)
        self._fit()
        if table.rows:
            self.setCurrentIndex(self.cells.index(0, 0))

    def _fit(self) -> None:
        """Columns as wide as their first rows need, within bounds: never all of the rows are looked at."""
        metrics, head = self.fontMetrics(), QFontMetrics(self._theme.font("small", 500))
        for column, name in enumerate(self.cells.table.columns):
            shown = (
                str(self.cells.index(row, column).data() or "")
                for row in range(min(MEASURED_ROWS, self.cells.rowCount()))
            )
            widest = max(head.horizontalAdvance(name), *map(metrics.horizontalAdvance, shown), 0)
            need = widest + self._theme.px(28)  # the padding of both sides
            self.setColumnWidth(
                column, max(self._theme.type_px(LEAST_WIDTH), min(need, self._theme.type_px(MOST_WIDTH)))
            )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """The selected cells as lines of values between tabs; with a single cell its whole value."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)
            self.copied.emit("selection")

    def selected_text(self) -> str:
        lines: dict[int, list[str]] = {}
        cells = 0
        selection = self.selectionModel().selection()
        for part in (selection.at(place) for place in range(selection.count())):
            for row in range(part.top(), part.bottom() + 1):
                line = lines.setdefault(row, [])
                line += [_cell(self.cells.text(row, column)) for column in range(part.left(), part.right() + 1)]
                cells += len(line)
                if cells > MAX_COPIED_CELLS:
                    return ""
        return "\n".join("\t".join(lines[row]) for row in sorted(lines))

    def _apply_theme(self) -> None:
        self.setFont(self._theme.font("code"))
        self.verticalHeader().setDefaultSectionSize(self._theme.height_px(26, 19))


def _cell(text: str) -> str:
    return text.replace("\t", " ").replace("\r", " ").replace("\n", " ")


class ResponseTable(QWidget):
    """The table, and above it which list of the answer it shows."""

    save_requested = Signal()

    def __init__(self, theme: Theme, reading: Reading, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tables: tuple[Table, ...] = ()
        self.choice = ChoiceField(theme, tr("List"), small=True)
        self.size_words = Label(theme, "", "small", "text2", tabular=True)
        self.view = TableView(theme, reading)
        self.nothing = Label(theme, "", role="text2", wrap=True)
        self._line = QHBoxLayout()
        self._line.addWidget(self.choice)
        self._line.addStretch(1)
        self._line.addWidget(self.size_words)
        self.save = Button(theme, tr("Save as CSV…"), "download", size="small")
        self._line.addWidget(self.save)
        self.save.clicked.connect(self.save_requested)
        self._below = QVBoxLayout()
        self._below.addWidget(self.nothing)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._line)
        layout.addWidget(rule())
        layout.addLayout(self._below)
        layout.addWidget(self.view, 1)
        layout.addStretch(0)
        self.choice.currentIndexChanged.connect(self._show)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_tables(())

    def show_tables(self, tables: Sequence[Table]) -> None:
        before = self.choice.currentText()
        self._tables = tuple(tables)
        self.choice.blockSignals(True)
        self.choice.clear()
        self.choice.addItems([table.title for table in tables])
        self.choice.setCurrentIndex(max(0, self.choice.findText(before)) if tables else -1)
        self.choice.blockSignals(False)
        for widget in (self.choice, self.size_words, self.save, self.view):
            widget.setVisible(bool(tables))
        self.nothing.set_text(tr("This response has no list of objects to show as a table."))
        self.nothing.setVisible(not tables)
        self._apply_theme()
        self._show(self.choice.currentIndex())

    @property
    def shown(self) -> Table | None:
        """The table that is on screen."""
        place = self.choice.currentIndex()
        return self._tables[place] if 0 <= place < len(self._tables) else None

    def _show(self, place: int) -> None:
        if 0 <= place < len(self._tables):
            table = self._tables[place]
            self.view.show_table(table)
            rows, columns = len(table.rows), len(table.columns)
            self.size_words.set_text(
                f"{tr_n('{n} row', '{n} rows', rows)}, {tr_n('{n} column', '{n} columns', columns)}"
            )

    def _apply_theme(self) -> None:
        px = self._theme.px
        line = (px(16), px(8), px(12), px(8)) if self._tables else (0, 0, 0, 0)
        self._line.setContentsMargins(*line)
        self._line.setSpacing(px(8))
        self._below.setContentsMargins(*((0, 0, 0, 0) if self._tables else (px(16), px(12), px(16), px(12))))
