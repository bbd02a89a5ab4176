"""The left pane: every request that was sent, newest first, a filter above, the credits of 24 hours below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.crypto_rpc.state import CallEntry, CapsView
from app.ui.shared import money
from app.ui.shared.badge import badge_size, paint_badge
from app.ui.shared.buttons import IconButton
from app.ui.shared.frames import solid_frame
from app.ui.shared.header import PaneHeader
from app.ui.shared.label import Label
from app.ui.shared.search_field import SearchField
from app.ui.shared.spinner import Progress
from app.ui.shared.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
TONES = {"warn": "warn", "bad": "bad", "replay": "outline", "": "neutral", "ok": "ok"}
LOW_SHARE = 0.9  # of a cap, from which on it is said in another colour
_ROOT = QModelIndex()
_LINE = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_END = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


class CallModel(QAbstractListModel):
    """Requests under the days on which they were sent; a day is a plain text."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[str | CallEntry, ...] = ()

    def set_entries(self, entries: Sequence[CallEntry]) -> None:
        rows: list[str | CallEntry] = []
        day = ""
        for entry in entries:
            if entry.group != day:
                day = entry.group
                rows.append(day)
            rows.append(entry)
        if [_key(row) for row in rows] != [_key(row) for row in self._rows]:
            self.beginResetModel()
            self._rows = tuple(rows)
            self.endResetModel()
            return
        before, self._rows = self._rows, tuple(rows)
        for place, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self.dataChanged.emit(self.index(place, 0), self.index(place, 0))

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def row(self, index: Index) -> str | CallEntry | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.row(index), CallEntry):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.spoken if isinstance(row, CallEntry) else row
        return None

    def index_of(self, call_id: str) -> QModelIndex:
        place = next((at for at, row in enumerate(self._rows) if isinstance(row, CallEntry) and row.id == call_id), -1)
        return self.index(place, 0)

    def calls(self) -> list[str]:
        return [row.id for row in self._rows if isinstance(row, CallEntry)]


def _key(row: str | CallEntry) -> tuple[str, str]:
    return ("call", row.id) if isinstance(row, CallEntry) else ("day", row)


class CallDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.open_id = ""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        if isinstance(index.data(ROW_ROLE), str):
            return QSize(option.rect.width(), theme.px(12) + theme.type_px(16) + theme.px(4))
        return QSize(option.rect.width(), theme.px(13) + theme.type_px(19) + theme.type_px(17))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, rect = index.data(ROW_ROLE), QRect(option.rect)
        painter.save()
        if isinstance(row, CallEntry):
            self._paint_entry(painter, rect, row, option.state)
        elif isinstance(row, str):
            painter.setFont(self._theme.font("small", weight=600))
            painter.setPen(self._theme.color("text2"))
            painter.drawText(rect.adjusted(self._theme.px(16), self._theme.px(8), 0, 0), _LINE, row)
        painter.restore()

    def _paint_entry(self, painter: QPainter, rect: QRect, row: CallEntry, state: QStyle.StateFlag) -> None:
        theme = self._theme
        is_open = row.id == self.open_id
        frame = QRectF(rect).adjusted(theme.px(6), 1, -theme.px(6), -1)
        if is_open or state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            solid_frame(painter, theme, frame, theme.px(6), "accent_tint" if is_open else "hover", "")
        if is_open:
            painter.fillRect(QRectF(frame.left(), frame.top() + 4, 3, frame.height() - 8), theme.color("accent"))
        inside = rect.adjusted(theme.px(16), theme.px(6), -theme.px(16), -theme.px(6))
        first = QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))
        if row.badge:
            sign = "replay" if row.tone == "replay" else ""
            size = badge_size(theme, row.badge, sign)
            box = QRectF(first.right() + 1 - size.width(), first.center().y() - size.height() / 2, *size.toTuple())
            paint_badge(painter, theme, box, row.badge, TONES[row.tone], sign)
            first.setRight(round(box.left()) - theme.px(6))
        font = theme.font("code") if row.mono else theme.font("body", weight=600)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        shown = QFontMetrics(font).elidedText(row.title, Qt.TextElideMode.ElideMiddle, first.width())
        painter.drawText(first, _LINE, shown)
        second = QRect(inside.left(), first.bottom() + 1, inside.width(), inside.bottom() - first.bottom())
        small = theme.font("small", tabular=True)
        painter.setFont(small)
        painter.setPen(theme.color("text2"))
        painter.drawText(second, _END, row.right)
        room = second.width() - QFontMetrics(small).horizontalAdvance(row.right) - theme.px(8)
        shown = QFontMetrics(small).elidedText(row.second, Qt.TextElideMode.ElideRight, room)
        painter.drawText(second, _LINE, shown)


class CallListPane(QWidget):
    """Shows the requests and says which one is wanted."""

    new_wanted = Signal()
    collections_wanted = Signal(object)  # the button
    open_wanted = Signal(str)
    trash_wanted = Signal(object)  # tuple of ids
    search_changed = Signal(str)
    menu_wanted = Signal(object, object)  # id, where on the screen

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        self.header = PaneHeader(theme, self.tr("Console"))
        self.folder = IconButton(theme, "folder", self.tr("Collections"))
        self.new = IconButton(theme, "plus", self.tr("New batch"), shortcut="Ctrl+N", framed=True)
        self.header.add(self.folder)
        self.header.add(self.new)
        self.filter = SearchField(theme, self.tr("Filter calls"), shortcut="Ctrl+F")
        self.filter.setProperty("sizing", "small")
        self.view = _CallView(theme)
        self.nothing = Label(theme, "", role="text2", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.credits_title = Label(theme, self.tr("Credits, last 24 h"), "small", "text2")
        self.credits = Label(theme, "", "small", weight=600, tabular=True)
        self.meter = Progress(theme, self.tr("Credits of the last 24 hours"))
        self._places = QStackedWidget()
        self._places.addWidget(self.view)
        self._places.addWidget(self.nothing)
        self._above = QHBoxLayout()
        self._above.addWidget(self.filter)
        line = QHBoxLayout()
        line.addWidget(self.credits_title, 1)
        line.addWidget(self.credits)
        self._below = QVBoxLayout()
        self._below.addLayout(line)
        self._below.addWidget(self.meter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addLayout(self._above)
        layout.addWidget(self._places, 1)
        layout.addWidget(rule())
        layout.addLayout(self._below)
        self.new.clicked.connect(self.new_wanted)
        self.folder.clicked.connect(lambda: self.collections_wanted.emit(self.folder))
        self.filter.search_changed.connect(self.search_changed)
        self.filter.left.connect(self.view.setFocus)
        self.view.open_wanted.connect(self.open_wanted)
        self.view.trash_wanted.connect(self.trash_wanted)
        self.view.customContextMenuRequested.connect(self._menu)
        theme.changed.connect(self._dress)
        self._dress()
        self.show_entries(())
        self.show_caps(CapsView())

    def show_entries(self, entries: Sequence[CallEntry]) -> None:
        self.view.rows.set_entries(entries)
        self._places.setCurrentIndex(0 if entries else 1)
        searched = self.filter.text().strip()
        self.nothing.set_text(
            self.tr("No call holds “{text}”.").format(text=searched)
            if searched
            else self.tr("Every call that you send is kept here, with what it cost.")
        )

    def show_open(self, call_id: str) -> None:
        """Mark the request that the canvas shows."""
        self.view.delegate.open_id = call_id
        self.view.viewport().update()

    def show_caps(self, caps: CapsView) -> None:
        share = min(1.0, caps.credits / caps.credits_limit)
        used, limit = money.short_count(caps.credits), money.short_count(caps.credits_limit)
        self.credits.set_text(f"{used} / {limit}")
        self.meter.set_share(share)
        self.meter.set_tone("warn" if share >= LOW_SHARE else "")

    def neighbour(self, call_id: str, step: int) -> str | None:
        """The request after (1) or before (-1) this one."""
        ids = self.view.rows.calls()
        if not ids:
            return None
        if call_id not in ids:
            return ids[0]
        return ids[max(0, min(len(ids) - 1, ids.index(call_id) + step))]

    def _menu(self, where: object) -> None:
        row = self.view.rows.row(self.view.indexAt(where))  # type: ignore[arg-type]  # Qt gives a QPoint
        if isinstance(row, CallEntry):
            self.menu_wanted.emit(row.id, self.view.viewport().mapToGlobal(where))  # type: ignore[call-overload]  # the same

    def _dress(self) -> None:
        px = self._theme.px
        self._above.setContentsMargins(px(12), px(10), px(12), px(2))
        self._below.setContentsMargins(px(16), px(10), px(16), px(12))
        self._below.setSpacing(px(6))
        self.nothing.setContentsMargins(px(16), px(16), px(16), px(16))


class _CallView(QListView):
    open_wanted = Signal(str)
    trash_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.rows = CallModel(self)
        self.delegate = CallDelegate(theme, self)
        self.setModel(self.rows)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName("Calls that were sent")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.clicked.connect(self._open)
        theme.changed.connect(self.doItemsLayout)

    def _open(self, index: QModelIndex) -> None:
        row = self.rows.row(index)
        if isinstance(row, CallEntry):
            self.open_wanted.emit(row.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        elif event.key() == Qt.Key.Key_Delete:
            rows = (self.rows.row(index) for index in self.selectedIndexes())
            ids = tuple(row.id for row in rows if isinstance(row, CallEntry))
            if ids:
                self.trash_wanted.emit(ids)
        else:
            super().keyPressEvent(event)
