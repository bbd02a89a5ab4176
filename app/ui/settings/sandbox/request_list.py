"""The request log as a list that is painted: a model, a delegate and the heads of its columns."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.money import money
from app.core.time_format import clock, duration
from app.translation import tr
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import badge_size, paint_badge
from app.ui.kit.widgets.frames import solid_frame
from app.ui.settings.sandbox.state import RequestRow

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
_ID_FROM = 700  # px at 100 %: narrower lists leave the request id to the details
HEADS = (tr("Time"), tr("Status"), tr("Request"), tr("Duration"), tr("Charged"), tr("Request ID"))
_END = {3, 4}  # columns of numbers


class RequestModel(QAbstractListModel):
    """Rows newest first. New ones are inserted above, so that selection and scrolling stay where they are."""

    def __init__(self) -> None:
        super().__init__()
        self._all: tuple[RequestRow, ...] = ()
        self._shown: list[RequestRow] = []
        self._words = SearchTerms("")
        self._failed_only = False

    def set_rows(self, rows: tuple[RequestRow, ...]) -> None:
        if rows is not self._all:
            self._all = rows
            self._show(self._filtered())

    def set_filter(self, text: str, *, failed_only: bool) -> None:
        """Show the rows in which every word of `text` occurs, and only those that failed if so wanted."""
        self._words = SearchTerms(text)
        self._failed_only = failed_only
        self._show(self._filtered())

    def _filtered(self) -> list[RequestRow]:
        return [row for row in self._all if self._fits(row)]

    def _fits(self, row: RequestRow) -> bool:
        if self._failed_only and 200 <= row.status < 400:
            return False
        return self._words.are_in(row.method, row.path, str(row.status), row.model, row.request_id)

    def _show(self, rows: list[RequestRow]) -> None:
        old = self._shown
        fresh = next((at for at, row in enumerate(rows) if old and row == old[0]), len(rows)) if old else 0
        kept = len(rows) - fresh
        if not old or not kept or rows[fresh:] != old[:kept]:
            self.beginResetModel()
            self._shown = rows
            self.endResetModel()
            return
        if kept < len(old):
            self.beginRemoveRows(QModelIndex(), kept, len(old) - 1)
            self._shown = old[:kept]
            self.endRemoveRows()
        if fresh:
            self.beginInsertRows(QModelIndex(), 0, fresh - 1)
            self._shown = rows
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._shown[index.row()]
        if role == ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return ", ".join(part for part in cells(row) if part)
        return None


def cells(row: RequestRow) -> tuple[str, ...]:
    """The texts of a row in the order of `HEADS`."""
    return (
        clock(row.at),
        str(row.status) if row.status else tr("Cut"),
        f"{row.method} {row.path}",
        duration(row.duration_s),
        money(row.cost_usd) if row.cost_usd else "–",
        row.request_id,
    )


def columns(theme: Theme, width: int) -> tuple[tuple[int, int], ...]:
    """Return (left, width) of each column in a list of that width; a width of 0 hides one."""
    gap, side = theme.px(12), theme.px(16)
    wide = width >= theme.type_px(_ID_FROM)
    fixed = [theme.type_px(62), theme.type_px(46), 0, theme.type_px(60), theme.type_px(82)]
    fixed.append(theme.type_px(158) if wide else 0)
    gaps = gap * (len(HEADS) - (1 if wide else 2))
    fixed[2] = max(theme.type_px(80), width - 2 * side - sum(fixed) - gaps)
    placed, left = [], side
    for size in fixed:
        placed.append((left, size))
        left += size + (gap if size else 0)
    return tuple(placed)


class RequestHeads(QWidget):
    """The titles over the columns. Silent: each row says its values in the same order."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__()
        self._theme = theme
        self._view = view
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        view.verticalScrollBar().rangeChanged.connect(self.update)  # the bar takes room from the columns
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.type_px(320), self._theme.height_px(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._theme, QPainter(self)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text2"))
        for number, ((left, width), head) in enumerate(
            zip(columns(theme, self._view.viewport().width()), HEADS, strict=True)
        ):
            if width:
                _write(painter, self, QRect(left, 0, width, self.height()), head, at_end=number in _END)
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line"))


class RequestView(QListView):
    """`opened` tells the row that was clicked, or on which Enter was pressed."""

    opened = Signal(object)  # RequestRow

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rows = RequestModel()
        self.setModel(self.rows)
        self.setItemDelegate(_RequestDelegate(theme, self))
        self.setAccessibleName(tr("Requests, newest first"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.viewport().setAutoFillBackground(False)
        self.clicked.connect(self._open)
        self.activated.connect(self._open)
        theme.changed.connect(self.doItemsLayout)

    def _open(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if row is not None:
            self.opened.emit(row)

    def select(self, row: RequestRow) -> None:
        """Come back to a row, if it is still listed."""
        for number in range(self.rows.rowCount()):
            index = self.rows.index(number)
            if index.data(ROW) == row:
                self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
                return


class _RequestDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, view: RequestView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._theme.height_px(36))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW)
        if row is None:
            return
        theme, area, state = self._theme, QRect(option.rect), option.state
        painter.save()
        on = bool(state & QStyle.StateFlag.State_Selected) and bool(state & QStyle.StateFlag.State_HasFocus)
        if on or state & QStyle.StateFlag.State_MouseOver:
            inside = QRectF(area).adjusted(2, 1, -2, -2)
            solid_frame(painter, theme, inside, 4, "accent_tint" if on else "hover", "accent" if on else "", 2.0)
        for number, ((left, width), text) in enumerate(zip(columns(theme, area.width()), cells(row), strict=True)):
            if not width:
                continue
            box = QRect(area.left() + left, area.top(), width, area.height())
            if number == 1:
                self._status(painter, box, row, text)
                continue
            mono = number in (2, 5)
            painter.setFont(theme.font("code" if number == 2 else "small", mono=mono, tabular=not mono))
            painter.setPen(theme.color("text" if number == 2 else "text2"))
            _write(painter, self._view, box, text, at_end=number in _END, middle=number != 2)
        painter.fillRect(area.left() + 1, area.bottom(), area.width() - 2, 1, theme.color("line"))
        painter.restore()

    def _status(self, painter: QPainter, box: QRect, row: RequestRow, text: str) -> None:
        tone = "ok" if 200 <= row.status < 400 else "warn" if 400 <= row.status < 500 else "bad"
        size = badge_size(self._theme, text)
        at = QRect(box.left(), box.center().y() - size.height() // 2, size.width(), size.height())
        paint_badge(painter, self._theme, QRectF(_mirrored(self._view, at)), text, tone)


def _mirrored(widget: QWidget, box: QRect) -> QRect:
    return QStyle.visualRect(widget.layoutDirection(), widget.rect(), box)


def _write(
    painter: QPainter, widget: QWidget, box: QRect, text: str, *, at_end: bool = False, middle: bool = False
) -> None:
    """Write elided text; a path is cut in its middle, because its end says most."""
    how = Qt.TextElideMode.ElideRight if middle else Qt.TextElideMode.ElideMiddle
    shown = QFontMetrics(painter.font()).elidedText(text, how, box.width())
    side = Qt.AlignmentFlag.AlignRight if at_end else Qt.AlignmentFlag.AlignLeft
    flags = QStyle.visualAlignment(widget.layoutDirection(), side | Qt.AlignmentFlag.AlignVCenter)
    painter.drawText(_mirrored(widget, box), int(flags), shown)
