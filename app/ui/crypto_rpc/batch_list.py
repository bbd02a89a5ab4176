"""The calls of the batch as a table: id, method, parameters, tier and credits, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.formats import format_number
from app.translation import tr
from app.ui.crypto_rpc.state import TIER_WORDS, RowView
from app.ui.kit.icons import paint
from app.ui.kit.lists.rows import sanitized_row
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.badge import badge_size, paint_badge

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
TIER_TONES = {"standard": "neutral", "advanced": "accent", "large": "warn", "unknown": "outline"}
# Widths in px at 100 %: id, credits; tier takes what its longest words need.
ID, CREDITS, GAP = 44, 52, 10
CREDITS_WORD = tr("Credits")
_ROOT = QModelIndex()
_LINE = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_END = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class BatchModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[RowView, ...] = ()

    def set_rows(self, rows: tuple[RowView, ...]) -> None:
        """Resets only when rows came or went; else it says which changed."""
        rows = tuple(map(sanitized_row, rows))
        if len(rows) != len(self._rows):
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            return
        before, self._rows = self._rows, rows
        for place, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self.dataChanged.emit(self.index(place, 0), self.index(place, 0))

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            words = (
                tr("Call {id}", id=row.id),
                row.method,
                row.params,
                TIER_WORDS[row.tier],
                tr("{credits} credits", credits=row.credits),
            )
            return ", ".join(part for part in (*words, row.refusal or row.warning) if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(row.refusal or row.warning)
        return None


def column_rects(theme: Theme, rect: QRect) -> tuple[QRect, QRect, QRect, QRect, QRect]:
    """Where id, method, parameters, tier and credits stand in a row of this width."""
    inside = rect.adjusted(theme.px(16), 0, -theme.px(14), 0)
    gap = theme.px(GAP)
    number = QRect(inside.left(), inside.top(), theme.type_px(ID) - gap, inside.height())
    heading = QFontMetrics(theme.font("small")).horizontalAdvance(CREDITS_WORD)
    wide = max(theme.type_px(CREDITS), heading + gap)
    credits = QRect(inside.right() + 1 - wide, inside.top(), wide, inside.height())
    tier_width = badge_size(theme, max(TIER_WORDS.values(), key=len)).width()
    tier = QRect(credits.left() - tier_width, inside.top(), tier_width, inside.height())
    left = inside.left() + theme.type_px(ID)
    room = tier.left() - gap - left
    method_width = min(theme.type_px(190), room * 58 // 100)
    method = QRect(left, inside.top(), max(0, method_width - gap), inside.height())
    params = QRect(left + method_width, inside.top(), max(0, room - method_width), inside.height())
    return number, method, params, tier, credits


class BatchDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(option.rect.width(), self._theme.height_px(34))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, RowView):
            return
        theme, rect = self._theme, QRect(option.rect)
        painter.save()
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if row.refusal:
            painter.fillRect(rect, theme.color("bad_tint"))
        elif selected:
            painter.fillRect(rect, theme.color("accent_tint"))
        elif row.warning:
            painter.fillRect(rect, theme.color("warn_tint"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        if selected:
            painter.fillRect(QRect(rect.left(), rect.top(), theme.px(3), rect.height()), theme.color("accent"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.color("line"))
        number, method, params, tier, credits = column_rects(theme, rect)
        mono = theme.font("code")
        metrics = QFontMetrics(mono)
        painter.setFont(mono)
        painter.setPen(theme.color("text2"))
        painter.drawText(number, _END, str(row.id))
        painter.setPen(theme.color("bad" if row.refusal else "text"))
        painter.drawText(method, _LINE, metrics.elidedText(row.method, Qt.TextElideMode.ElideMiddle, method.width()))
        painter.setPen(theme.color("text2"))
        room = params.width()
        shown = metrics.elidedText(row.params[: max(1, room)], Qt.TextElideMode.ElideRight, room)
        painter.drawText(params, _LINE, shown)
        self._paint_price(painter, row, tier, credits)
        painter.restore()

    def _paint_price(self, painter: QPainter, row: RowView, tier: QRect, credits: QRect) -> None:
        theme = self._theme
        words, tone = (tr("Not supported"), "bad") if row.refusal else (TIER_WORDS[row.tier], TIER_TONES[row.tier])
        size = badge_size(theme, words)
        box = QRectF(tier.right() + 1 - size.width(), tier.center().y() - size.height() / 2, *size.toTuple())
        paint_badge(painter, theme, box, words, tone)
        if row.warning:
            side = theme.icon_px(14)
            mark = QRectF(box.left() - side - theme.px(4), tier.center().y() - side / 2, side, side)
            paint(painter, theme, "warning", mark, "warn")
        painter.setFont(theme.font("body", tabular=True))
        painter.setPen(theme.color("text3" if row.refusal else "text"))
        painter.drawText(credits, _END, "" if row.refusal else format_number(row.credits))


class BatchList(QListView):
    """Arrows select, Del removes, Alt+Shift+arrow moves, Enter goes to the call's editor."""

    selected = Signal(int)
    remove_requested = Signal(object)  # places
    move_requested = Signal(int, int)
    edit_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._quiet = False
        self.rows = BatchModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(BatchDelegate(theme, self))
        self.setAccessibleName(tr("Batch calls"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.selectionModel().currentChanged.connect(self._publish)
        self.doubleClicked.connect(lambda _index: self.edit_requested.emit())
        theme.changed.connect(self.doItemsLayout)

    def show_rows(self, rows: tuple[RowView, ...], selected: int) -> None:
        """Show the calls, one of them (by its place from 0) selected."""
        self._quiet = True
        self.rows.set_rows(rows)
        index = self.rows.index(selected, 0)
        if index != self.currentIndex():
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.scrollTo(index)
        self._quiet = False

    def _publish(self, now: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and now.isValid():
            self.selected.emit(now.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        place, key, held = self.currentIndex().row(), event.key(), event.modifiers()
        both = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
        if place >= 0 and key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_requested.emit(tuple(index.row() for index in self.selectedIndexes()) or (place,))
        elif place >= 0 and held == both and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.move_requested.emit(place, -1 if key == Qt.Key.Key_Up else 1)
        elif place >= 0 and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not held:
            self.edit_requested.emit()
        else:
            super().keyPressEvent(event)


class BatchHead(QWidget):
    """The names of the columns, over the list."""

    def __init__(self, theme: Theme, view: BatchList) -> None:
        super().__init__()
        self._theme = theme
        self._view = view
        view.verticalScrollBar().rangeChanged.connect(lambda: self.update())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setFixedHeight(self._theme.height_px(28, 17))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, bar = self._theme, self._view.verticalScrollBar()
        taken = bar.width() if bar.maximum() > 0 else 0
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text2"))
        number, method, params, tier, credits = column_rects(theme, self.rect().adjusted(0, 0, -taken, 0))
        for box, words, flags in (
            (number, "id", _END),
            (method, tr("Method"), _LINE),
            (params, tr("Params"), _LINE),
            (tier, tr("Tier"), _END),
            (credits, CREDITS_WORD, _END),
        ):
            painter.drawText(box, flags, words)
        painter.fillRect(QRect(0, self.height() - 1, self.width(), 1), theme.color("line"))
