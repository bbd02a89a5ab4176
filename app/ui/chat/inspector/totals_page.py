"""The inspector's third page: what this chat has used and cost, as a table that copies into a spreadsheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QVBoxLayout, QWidget

from app.core import money, number_format
from app.translation import tr, tr_n
from app.ui.chat.session.inspector_state import Totals, TotalsRow
from app.ui.kit.lists.row_table import RowTable
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class TotalsModel(QAbstractTableModel):
    """One row for each model, the sum last."""

    HEADINGS = (tr("Model"), tr("In"), tr("Out"), tr("Cost"))

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._totals = Totals()

    def set_totals(self, totals: Totals) -> None:
        self.beginResetModel()
        self._totals = totals
        self.endResetModel()

    def row_values(self, row: int) -> TotalsRow | None:
        rows = self._totals.rows
        if row < len(rows):
            return rows[row]
        return self._totals.total

    def rowCount(self, parent: Index = _ROOT) -> int:
        if parent.isValid() or self._totals.total is None:
            return 0
        rows = len(self._totals.rows)
        return rows + 1 if rows > 1 else rows

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.HEADINGS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        values = self.row_values(index.row())
        if values is None:
            return None
        is_sum = index.row() >= len(self._totals.rows)
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cells(values)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            words = tr_n(
                "{n} answer, {cached_tokens} tokens from the cache",
                "{n} answers, {cached_tokens} tokens from the cache",
                values.turns,
                cached_tokens=number_format.count(values.cached_tokens),
            )
            return plain_tip(f"{values.label}: {words}")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.FontRole:
            return self._theme.font("small", 600 if is_sum else None, tabular=True)
        return None

    @staticmethod
    def cells(values: TotalsRow) -> tuple[str, ...]:
        paid = values.cost_usd
        cost = money.short_cost(paid, values.cost_source) if paid is not None else tr("not stated")
        return (
            values.label,
            number_format.count(values.prompt_tokens),
            number_format.count(values.output_tokens),
            cost,
        )

    @staticmethod
    def _alignment(column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignLeading if column == 0 else Qt.AlignmentFlag.AlignTrailing
        return side | Qt.AlignmentFlag.AlignVCenter


class TotalsTable(RowTable):
    """Ctrl+C copies the table as tab-separated text."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        model = self.model()
        if event.matches(QKeySequence.StandardKey.Copy) and isinstance(model, TotalsModel):
            rows: list[tuple[str, ...]] = [model.HEADINGS]
            for place in range(model.rowCount()):
                values = model.row_values(place)
                if values is not None:
                    rows.append(model.cells(values))
            QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))
            return
        super().keyPressEvent(event)


class TotalsPage(QWidget):
    """Tokens and cost of every branch of the open chat."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        self.setAccessibleName(tr("Totals"))
        self._sum = Label(theme, "", "title", tabular=True)
        self._line = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.model = TotalsModel(theme, self)
        self.table = TotalsTable(tr("Tokens and cost by model"))
        self.table.setModel(self.model)
        self.table.setProperty("sizing", "narrow")
        self.table.setWordWrap(True)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)  # names may wrap
        self.table.verticalHeader().sectionResized.connect(self._fit)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._note = Label(
            theme,
            tr("Includes hidden branches, because they were paid for too."),
            "small",
            "text3",
            wrap=True,
        )
        self._above, self._below = QVBoxLayout(), QVBoxLayout()
        self._above.addWidget(self._sum)
        self._above.addWidget(self._line)
        self._below.addWidget(self._note)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._above)
        self._column.addWidget(self.table)
        self._column.addLayout(self._below)
        self._column.addStretch(1)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_totals(Totals())

    def _apply_theme(self) -> None:
        theme = self._theme
        edge, air = theme.px(8), theme.px(8)  # what stands in the table, with air of its own, is in line with the rest
        self._column.setContentsMargins(edge, theme.px(16), edge, theme.px(12))
        self._column.setSpacing(theme.px(8))
        for words in (self._above, self._below):
            words.setContentsMargins(air, 0, air, 0)
            words.setSpacing(theme.px(8))
        self.table.verticalHeader().setMinimumSectionSize(theme.height_px(30, 17))
        self.table.horizontalHeader().setFont(theme.font("small", 500))
        self._fit()

    def _fit(self) -> None:
        """Make the table as high as its rows."""
        height = self.table.horizontalHeader().sizeHint().height() + 2
        height += sum(self.table.rowHeight(row) for row in range(self.model.rowCount()))
        self.table.setFixedHeight(height)

    def show_totals(self, totals: Totals) -> None:
        """Show what a chat has used, or that it has used nothing."""
        self.model.set_totals(totals)
        total = totals.total
        self.table.setVisible(total is not None)
        self._note.setVisible(total is not None)
        if total is None:
            self._sum.set_text(tr("Nothing used yet"))
            self._line.set_text(tr("Tokens and cost appear here after the first answer."))
            return
        if total.cost_usd is None:
            self._sum.set_text(tr("Cost not stated"))
        else:
            self._sum.set_text(money.cost(total.cost_usd, total.cost_source))
        words = [tr("Play money.")] if totals.is_play else []
        if totals.play is not None and totals.play.cost_usd is not None:
            play = money.cost(totals.play.cost_usd, totals.play.cost_source)
            words = [tr("Plus {play} in play money.", play=play)]
        cached = number_format.count(total.cached_tokens)
        answers = (
            tr_n(
                "{n} answer, {cached_tokens} tokens from the cache.",
                "{n} answers, {cached_tokens} tokens from the cache.",
                total.turns,
                cached_tokens=cached,
            )
            if total.cached_tokens
            else tr_n("{n} answer.", "{n} answers.", total.turns)
        )
        self._line.set_text(" ".join([*words, answers]))
        self._fit()
