"""The ledger as a table that draws only what is seen: its rows are read as they come into view."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView

from app.core import money, number_format, time_format
from app.core.tabs import tab_title
from app.translation import tr
from app.ui.kit.icons import icon
from app.ui.kit.lists.row_table import RowTable
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.wallet.state import OUTCOME_WORDS, TAB_ICONS, BookRow

Index = QModelIndex | QPersistentModelIndex
COLUMNS = (
    tr("When"),
    tr("What"),
    tr("Detail"),
    tr("Paid by"),
    tr("Outcome"),
    tr("Estimate"),
    tr("Cost"),
    tr("Balance"),
    tr("Reference"),
)
WHEN, WHAT, DETAIL, PAID_BY, OUTCOME, ESTIMATE, COST, BALANCE, REFERENCE = range(len(COLUMNS))
_RIGHT = (ESTIMATE, COST, BALANCE)
_WIDTHS = (120, 108, 188, 102, 90, 94, 104, 80, 84)
_AROUND_HEADING = 28  # px beside its words
_MAY_GO = (REFERENCE, BALANCE, ESTIMATE, OUTCOME, PAID_BY)  # where there is no room, in this order
_TOP = QModelIndex()
_SHORT = 8


@number_format.or_dash
def day_and_time(at: datetime) -> str:
    """`Today 14:05`, `Yesterday 18:12`, `Nov 18 21:02`."""
    local, today = at.astimezone(), datetime.now().astimezone().date()
    days = (today - local.date()).days
    word = {0: tr("Today"), 1: tr("Yesterday")}.get(
        days, time_format.day_of_year(at) if days < 300 else time_format.day(at)
    )
    return f"{word} {time_format.time_of_day(at)}"


def amount_words(amount: Decimal | None) -> str:
    return "" if amount is None else money.money(amount)


class ReceiptModel(QAbstractTableModel):
    """`row_at` gives a row that is known, or None and reads it."""

    def __init__(self, theme: Theme, row_at: Callable[[int], BookRow | None]) -> None:
        super().__init__()
        self._theme = theme
        self._row_at = row_at
        self._count = 0

    def set_count(self, count: int) -> None:
        self.beginResetModel()
        self._count = count
        self.endResetModel()

    def arrived(self, first: int, last: int) -> None:
        """These rows can be drawn now; a table that shows fewer draws what it has of them."""
        last = min(last, self._count - 1)
        if first <= last:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

    def rowCount(self, parent: Index = _TOP) -> int:
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = _TOP) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return COLUMNS[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        row = self._row_at(index.row())
        if row is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._long_words(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._long_words(row, column))
        if role == Qt.ItemDataRole.DecorationRole and column == WHAT:
            return icon(self._theme, TAB_ICONS.get(row.tab, "info"), "text2").pixmap(self._theme.icon_px(16))
        if role == Qt.ItemDataRole.ForegroundRole and column != DETAIL:
            return self._theme.color(_role(row, column))
        if role == Qt.ItemDataRole.FontRole:
            return self._theme.font("small", mono=column == REFERENCE, tabular=True)
        return None

    def _words(self, row: BookRow, column: int) -> str:
        match column:
            case 0:
                return day_and_time(row.at)
            case 1:
                return tab_title(row.tab)
            case 2:
                return row.detail
            case 3:
                return row.account
            case 4:
                return OUTCOME_WORDS.get(row.outcome, row.outcome)
            case 5:
                return amount_words(row.estimate)
            case 6:
                if row.paid_in is not None:
                    return "+" + money.money(row.paid_in)
                return "" if row.cost is None else money.short_cost(row.cost, row.cost_source)
            case 7:
                return amount_words(row.balance)
        return row.reference[:_SHORT]

    def _long_words(self, row: BookRow, column: int) -> str:
        if column == COST:
            words = (
                money.cost(row.cost, row.cost_source)
                if row.paid_in is None
                else tr("{paid_in} paid in", paid_in=money.money(row.paid_in))
            )
            return f"{words}, {money.PLAY_MONEY}" if row.is_play else words
        return row.reference if column == REFERENCE else self._words(row, column)


class ReceiptTable(RowTable):
    """Ctrl+C copies the whole reference of the row."""

    def __init__(
        self, theme: Theme, row_at: Callable[[int], BookRow | None], *, name: str, hides: bool = False
    ) -> None:
        """`hides`: where there is no room columns go, else the table is scrolled across."""
        super().__init__(name)
        self._theme = theme
        self._row_at = row_at
        self._hides = hides
        self.rows = ReceiptModel(theme, row_at)
        self.setModel(self.rows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        theme = self._theme
        self.verticalHeader().setDefaultSectionSize(theme.height_px(30, 17))
        self.horizontalHeader().setFont(theme.font("small", 500))
        for column, width in enumerate(self._least_widths()):
            self.setColumnWidth(column, width)
        self._fit()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _least_widths(self) -> list[int]:
        """What each column has at least: room for its heading, whatever the language."""
        metrics, around = self.horizontalHeader().fontMetrics(), self._theme.px(_AROUND_HEADING)
        headings = (metrics.horizontalAdvance(words) + around for words in COLUMNS)
        return [max(self._theme.type_px(width), least) for width, least in zip(_WIDTHS, headings, strict=True)]

    def _fit(self) -> None:
        """Give what is left to the detail; when less than it needs is left, let columns go or scroll."""
        room, widths = self.viewport().width(), self._least_widths()
        gone: set[int] = set()
        for column in _MAY_GO if self._hides else ():
            if sum(widths) - sum(widths[each] for each in gone) <= room:
                break
            gone.add(column)
        for column in _MAY_GO:
            self.setColumnHidden(column, column in gone)
        used = sum(width for column, width in enumerate(widths) if column not in gone and column != DETAIL)
        self.setColumnWidth(DETAIL, max(widths[DETAIL], room - used))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self._row_at(self.currentIndex().row()) if self.currentIndex().isValid() else None
        if event.matches(QKeySequence.StandardKey.Copy) and row is not None:
            QGuiApplication.clipboard().setText(row.reference)
            return
        super().keyPressEvent(event)


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def _role(row: BookRow, column: int) -> str:
    if column == COST and row.paid_in is not None:
        return "ok"
    if column == OUTCOME and row.outcome not in ("ok", "stopped"):
        return "bad" if row.outcome in ("error", "unsent") else "warn"
    if column in (ESTIMATE, REFERENCE, BALANCE) or (column == COST and not row.cost):
        return "text2"
    return "sandbox" if column == COST and row.is_play else "text"
