"""The table of files to transcribe: format, price and progress; start, pause, continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.kit.lists.row_table import RowTable
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.qt_workarounds.claimed_shortcuts import DELETE_KEYS, claim_shortcut, deletes
from app.ui.kit.widgets.buttons import Button, PrimaryButton, QuietButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import Progress
from app.ui.kit.widgets.surfaces import STAY_ABOVE
from app.ui.transcription.session.exporting import length_words
from app.ui.transcription.state import Batch, BatchRow

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
COLUMNS = (tr("File"), tr("Type"), tr("Size"), tr("Length"), tr("Price"), tr("Status"))
FIELDS = ("title", "kind", "size", "length", "price", "status")
NUMBERS = frozenset({2, 3, 4})
TYPE, STATUS = 1, 5
NARROW_PX = 700  # at 100 %
_ROLES = {"": "text2", "ok": "ok", "warn": "warn", "bad": "bad", "accent": "accent"}


class BatchModel(QAbstractTableModel):
    """One file a row. Resets only when rows came or went."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[BatchRow, ...] = ()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section in NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return sanitize_line(str(getattr(row, FIELDS[index.column()])))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(str(getattr(row, FIELDS[index.column()])))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def set_rows(self, rows: tuple[BatchRow, ...]) -> None:
        if [row.id for row in rows] != [row.id for row in self.rows]:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
            return
        before, self.rows = self.rows, rows
        for number, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self.dataChanged.emit(self.index(number, 0), self.index(number, len(COLUMNS) - 1))


class StatusDelegate(QStyledItemDelegate):
    """Paints the cells, and a thin bar under the status of a file that is on its way."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(Qt.ItemDataRole.UserRole)
        text = row.status if isinstance(row, BatchRow) and index.column() == STATUS else str(index.data() or "")
        wide = QFontMetrics(self._theme.font("small", tabular=True)).horizontalAdvance(text) + self._theme.px(26)
        most = self._theme.type_px(260 if index.column() == STATUS else 140)
        return QSize(min(wide, most), self._theme.height_px(36))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme
        row = index.data(Qt.ItemDataRole.UserRole)
        assert isinstance(row, BatchRow)
        rect = QRectF(option.rect)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("accent_tint"))
        painter.fillRect(QRectF(rect.left(), rect.bottom() - 1, rect.width(), 1), theme.color("line"))
        inside = rect.adjusted(theme.px(12), 0, -theme.px(12), 0)
        column = index.column()
        role = _ROLES.get(row.tone, "text2") if column == STATUS else "text" if column == 0 else "text2"
        painter.setFont(theme.font("small" if column else "body", tabular=True))
        painter.setPen(theme.color(role))
        flags = Qt.AlignmentFlag.AlignVCenter | (
            Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
        )
        text = painter.fontMetrics().elidedText(
            str(index.data()),
            Qt.TextElideMode.ElideMiddle if column == 0 else Qt.TextElideMode.ElideRight,
            int(inside.width()),
        )
        painter.drawText(inside, int(flags), text)
        if column == STATUS and row.is_busy and row.share is not None:
            bar = QRectF(inside.left(), rect.bottom() - theme.px(5), inside.width(), theme.px(3))
            painter.fillRect(bar, theme.color("line"))
            painter.fillRect(
                QRectF(bar.left(), bar.top(), bar.width() * row.share, bar.height()), theme.color("accent")
            )
        painter.restore()


class BatchTable(RowTable):
    """Enter opens a file's page, Delete takes the file out of the table."""

    open_requested = Signal(str)
    drop_requested = Signal(str)

    def row_id(self) -> str:
        row = self.currentIndex().data(Qt.ItemDataRole.UserRole)
        return row.id if isinstance(row, BatchRow) else ""

    def event(self, event: QEvent) -> bool:
        """Del means the file one stands on, not the transcript that is open."""
        return claim_shortcut(event, *DELETE_KEYS) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row_id = self.row_id()
        if row_id and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_requested.emit(row_id)
        elif row_id and deletes(event):
            self.drop_requested.emit(row_id)
        else:
            super().keyPressEvent(event)


class BatchView(QWidget):
    """`start_requested` sends everything that can be sent; `pause_requested` lets the running one end."""

    start_requested = Signal()
    pause_requested = Signal()
    add_requested = Signal()
    clear_requested = Signal()
    open_requested = Signal(str)
    drop_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.model = BatchModel(self)
        self.table = BatchTable(tr("Files to transcribe"))
        self.table.setModel(self.model)
        self.table.setItemDelegate(StatusDelegate(theme, self.table))
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.words = Label(theme, "", "reading", weight=600, wrap=True, tabular=True)
        self.more = Label(theme, "", role="text2", wrap=True, tabular=True)
        self.bar = Progress(theme, tr("Files done"))
        self.start = PrimaryButton(theme, tr("Transcribe all"), "transcribe", size="large", hint="Ctrl+Enter")
        self.pause = Button(theme, tr("Pause"), "pause", size="large")
        self.add = Button(theme, tr("Add files…"), "plus", size="large")
        self.clear = QuietButton(theme, tr("Remove finished"))
        self._build()
        self.start.clicked.connect(self.start_requested)
        self.pause.clicked.connect(self.pause_requested)
        self.add.clicked.connect(self.add_requested)
        self.clear.clicked.connect(self.clear_requested)
        self.table.open_requested.connect(self.open_requested)
        self.table.drop_requested.connect(self.drop_requested)
        self.table.doubleClicked.connect(lambda _index: self.open_requested.emit(self.table.row_id()))
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        column = self._column = QVBoxLayout(self)
        column.addWidget(self.words)
        column.addWidget(self.more)
        column.addWidget(self.bar)
        column.addWidget(self.table, 1)
        holder = QWidget()
        holder.setObjectName(STAY_ABOVE)
        flow = FlowLayout(self._theme, parent=holder)
        for button in (self.start, self.pause, self.add, self.clear):
            flow.addWidget(button)
        row = QHBoxLayout()
        row.addWidget(holder, 1)
        column.addLayout(row)

    def _apply_theme(self) -> None:
        theme = self._theme
        self._column.setContentsMargins(theme.px(24), theme.px(16), theme.px(24), theme.px(16))
        self._column.setSpacing(theme.px(10))
        self.table.verticalHeader().setDefaultSectionSize(theme.height_px(36))
        self.table.horizontalHeader().setFont(theme.font("caption"))
        self.table.viewport().update()
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room the names need it more than the types."""
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        self.table.setColumnHidden(TYPE, self.width() < self._theme.type_px(NARROW_PX))

    def show_batch(self, batch: Batch) -> None:
        """Make the table and its buttons agree with what is."""
        self.model.set_rows(batch.rows)
        total = len(batch.rows)
        self.bar.set_share(batch.done / total if total else 0.0)
        self.bar.setVisible(bool(total))
        self.words.set_text(
            tr("{done} of {total} files transcribed", done=batch.done, total=total)
            if total
            else tr("Drop files or folders here")
        )
        parts = []
        if batch.left and batch.price:
            length = length_words(batch.seconds)
            parts.append(tr("Remaining: {length} of audio, {price}.", length=length, price=batch.price))
        if batch.waiting and not batch.running:
            parts.append(tr("{count} waiting. Nothing is sent until you choose Continue.", count=batch.waiting))
        self.more.set_text(" ".join(parts))
        self.more.setVisible(bool(parts))
        self.start.setText(tr("Continue") if batch.waiting and not batch.running else tr("Transcribe all"))
        self.start.setVisible(not batch.running)
        self.start.setEnabled(bool(batch.left) and not batch.why_not)
        self.start.setToolTip(plain_tip(batch.why_not if batch.left else ""))
        self.pause.setVisible(batch.running)
        self.clear.setVisible(bool(batch.done))
