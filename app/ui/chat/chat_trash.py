"""The left pane while the trash is looked at: what is in it, bring back, delete for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from app.ui.chat.state import TrashEntry
from app.ui.shared.buttons import Button, IconButton
from app.ui.shared.flow import FlowLayout
from app.ui.shared.frames import solid_frame
from app.ui.shared.header import PaneHeader
from app.ui.shared.label import Label
from app.ui.shared.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ENTRY_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()
_START = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading).value)


class TrashModel(QAbstractListModel):
    """Chats in the trash, last thrown away first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[TrashEntry, ...] = ()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self._entries[index.row()] if index.isValid() and index.row() < len(self._entries) else None
        if entry is None:
            return None
        if role == ENTRY_ROLE:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return entry.title
        return f"{entry.title}, {entry.second_line}" if role == Qt.ItemDataRole.AccessibleTextRole else None

    def set_entries(self, entries: Sequence[TrashEntry]) -> None:
        self.beginResetModel()
        self._entries = tuple(entries)
        self.endResetModel()


class TrashView(QListView):
    """Enter brings back, Delete deletes for good."""

    restore_wanted = Signal()
    purge_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.restore_wanted.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.purge_wanted.emit()
        else:
            super().keyPressEvent(event)


class TrashDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self._theme.height_px(48, 36))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, entry = self._theme, index.data(ENTRY_ROLE)
        painter.save()
        body = QRect(option.rect).adjusted(theme.px(6), theme.px(1), -theme.px(6), -theme.px(1))
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or option.state & QStyle.StateFlag.State_MouseOver:
            ring = "accent" if chosen and option.state & QStyle.StateFlag.State_HasFocus else ""
            solid_frame(painter, theme, body.toRectF(), 6, "accent_tint" if chosen else "hover", ring, 2.0)
        inside = body.adjusted(theme.px(10), 0, -theme.px(10), 0)
        line, small = theme.line_px("body"), theme.line_px("small")
        top = inside.center().y() - (line + small) // 2
        for text, font, role, y, high in (
            (entry.title, theme.font("body", 500), "text", top, line),
            (entry.second_line, theme.font("small", tabular=True), "text3", top + line, small),
        ):
            painter.setFont(font)
            painter.setPen(theme.color(role))
            shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, inside.width())
            painter.drawText(QRect(inside.left(), y, inside.width(), high), _START, shown)
        painter.restore()


class TrashPane(QWidget):
    """Tells what is wanted; the page asks before anything is deleted for good."""

    restore_wanted = Signal(str)
    purge_wanted = Signal(str, str)  # chat id, its title
    empty_wanted = Signal(int)  # how many chats there are
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        self.back = IconButton(theme, "chevron-left", self.tr("Back to the chats"))
        self.header = PaneHeader(theme, self.tr("Trash"))
        self.header.add_before_title(self.back)
        self.model = TrashModel(self)
        self.view = TrashView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(TrashDelegate(theme, self.view))
        self.view.setAccessibleName(self.tr("Chats in the trash"))
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.note = Label(theme, "", "small", "text3", wrap=True)
        self.restore = Button(theme, self.tr("Bring back"), "undo", size="small")
        self.purge = Button(theme, self.tr("Delete for good…"), size="small", kind="danger")
        self.empty = Button(theme, self.tr("Empty the trash…"), size="small", kind="danger")
        buttons = QWidget()
        flow = FlowLayout(theme, gap=8, line_gap=8, parent=buttons)
        for button in (self.restore, self.purge, self.empty):
            flow.addWidget(button)
        self._below = QVBoxLayout()
        self._below.addWidget(self.note)
        self._below.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.view, 1)
        layout.addWidget(rule())
        layout.addLayout(self._below)
        self.back.clicked.connect(self.left)
        self.view.restore_wanted.connect(self._restore)
        self.view.purge_wanted.connect(self._purge)
        self.view.doubleClicked.connect(lambda _index: self._restore())
        self.restore.clicked.connect(self._restore)
        self.purge.clicked.connect(self._purge)
        self.empty.clicked.connect(lambda: self.empty_wanted.emit(self.model.rowCount()))
        theme.changed.connect(self._dress)
        self._dress()
        self.show_entries(())

    def _dress(self) -> None:
        theme = self._theme
        self._below.setContentsMargins(theme.px(16), theme.px(9), theme.px(16), theme.px(12))
        self._below.setSpacing(theme.px(8))
        self.view.doItemsLayout()

    def show_entries(self, entries: Sequence[TrashEntry]) -> None:
        """Show what is in the trash now."""
        row = max(0, self.view.currentIndex().row())
        self.model.set_entries(entries)
        number = len(entries)
        if number:
            self.view.setCurrentIndex(self.model.index(min(row, number - 1), 0))
        for button in (self.restore, self.purge, self.empty):
            button.setEnabled(bool(number))
        self.note.set_text(
            self.tr("Chats stay here until you delete them. Searches leave them out.")
            if number
            else self.tr("The trash is empty.")
        )

    def _entry(self) -> TrashEntry | None:
        entry = self.view.currentIndex().data(ENTRY_ROLE)
        return entry if isinstance(entry, TrashEntry) else None

    def _restore(self) -> None:
        entry = self._entry()
        if entry is not None:
            self.restore_wanted.emit(entry.id)

    def _purge(self) -> None:
        entry = self._entry()
        if entry is not None:
            self.purge_wanted.emit(entry.id, entry.title)
